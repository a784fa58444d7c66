// SPDX-License-Identifier: MIT

package browser

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/qoe"
)

// recorded is a comparison that once was: what Chromium was sent and what it
// said. It keeps the model true where no browser is.
const recorded = "testdata/chromium.json.gz"

// run is what is known of one script once it was played: all that the model
// needs, and what the browser said.
type run struct {
	script, about string
	log           []sent
	rtts          []roundTrip
	decode        time.Duration // mean
	tick          time.Time     // one of the ticks of the browser's metronome
	at            []time.Time   // of the browser's samples
	browser       figures       // the last sample
}

// config is the model of the browser that played the run.
func (r *run) config() qoe.ReceiverConfig {
	return qoe.ReceiverConfig{
		DecodeTime: r.decode, DecodeTick: qoe.ChromiumTick, DecodeTickAt: r.tick,
		NACKHistory: time.Second, // libwebrtc: media/engine, with NACK
	}
}

// recording is a run as it is stored: columns, times in us since the first
// packet. Frames, sizes and timestamps are stored per packet, so that a change
// of the scripts does not matter.
type recording struct {
	Script string     `json:"script"`
	About  string     `json:"about"`
	At     []int64    `json:"at"` // since the packet before
	Frame  []int      `json:"frame"`
	Index  []int      `json:"index"`
	Count  []int      `json:"count"`
	Size   []int      `json:"size"`
	RTP    []uint32   `json:"rtp"`
	Key    []int      `json:"key"`   // numbers of packets
	Asked  []int      `json:"asked"` // numbers of packets
	RTTs   [][2]int64 `json:"rtts"`
	Decode int64      `json:"decode"`
	Tick   int64      `json:"tick"`
	End    int64      `json:"end"`
	Result figures    `json:"result"`
}

func record(r run) recording {
	log := inOrder(r.log)
	start := log[0].at
	since := func(t time.Time) int64 { return t.Sub(start).Microseconds() }
	out := recording{
		Script: r.script, About: r.about, Decode: r.decode.Microseconds(), Tick: since(r.tick),
		End: since(r.at[len(r.at)-1]), Result: r.browser,
	}
	out.Result.Timestamp = 0
	last := int64(0)
	for i, p := range log {
		out.At = append(out.At, since(p.at)-last)
		last = since(p.at)
		out.Frame = append(out.Frame, p.frame)
		out.Index = append(out.Index, p.index)
		out.Count = append(out.Count, p.count)
		out.Size = append(out.Size, p.size)
		out.RTP = append(out.RTP, p.rtp)
		if p.key {
			out.Key = append(out.Key, i)
		}
		if p.asked {
			out.Asked = append(out.Asked, i)
		}
	}
	for _, t := range r.rtts {
		out.RTTs = append(out.RTTs, [2]int64{since(t.at), t.rtt.Microseconds()})
	}

	return out
}

// run is the run again, to the microsecond, at a time of its own.
func (s *recording) run() run {
	start := time.Unix(1e9, 0)
	after := func(us int64) time.Time { return start.Add(time.Duration(us) * time.Microsecond) }
	r := run{
		script: s.Script, about: s.About, decode: time.Duration(s.Decode) * time.Microsecond,
		tick: after(s.Tick), at: []time.Time{after(s.End)}, browser: s.Result,
	}
	us := int64(0)
	for i := range s.At {
		us += s.At[i]
		r.log = append(r.log, sent{
			at: after(us), frame: s.Frame[i], index: s.Index[i], count: s.Count[i], size: s.Size[i], rtp: s.RTP[i],
			key: slices.Contains(s.Key, i), asked: slices.Contains(s.Asked, i),
		})
	}
	for _, t := range s.RTTs {
		r.rtts = append(r.rtts, roundTrip{after(t[0]), time.Duration(t[1]) * time.Microsecond})
	}

	return r
}

func store(path string, all []recording) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression) // the level is known
	err = json.NewEncoder(z).Encode(all)
	for _, c := range []func() error{z.Close, f.Close} {
		if e := c(); err == nil {
			err = e
		}
	}

	return err
}

func load(path string) ([]recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var all []recording

	return all, json.NewDecoder(z).Decode(&all)
}

// judge compares the end of a run. The model's figures are at the times of the
// samples.
func judge(r run, cfg qoe.ReceiverConfig) (o outcome, model []figures) {
	model = replay(cfg, r.log, r.rtts, r.at)

	return outcome{Script: r.script, About: r.about, Browser: r.browser, Model: model[len(model)-1]}, model
}

// The model agrees with the Chromium of the recording, which had a machine to
// itself: closer than the tolerances of any run.
func TestReceiverAgainstRecording(t *testing.T) {
	all, err := load(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(scripts()) {
		t.Errorf("%d recordings of %d scripts", len(all), len(scripts()))
	}
	for _, s := range all {
		t.Run(s.Script, func(t *testing.T) {
			r := s.run()
			o, _ := judge(r, r.config())
			got, want := o.Model, o.Browser
			for _, c := range []struct {
				what      string
				got, want int
			}{
				{"freezes", got.FreezeCount, want.FreezeCount},
				{"pauses", got.PauseCount, want.PauseCount},
				{"frames decoded", got.FramesDecoded, want.FramesDecoded},
				{"key frames decoded", got.KeyFramesDecoded, want.KeyFramesDecoded},
				{"frames dropped", got.FramesDropped, want.FramesDropped},
				{"frames out of the jitter buffer", got.JitterBufferEmittedCount, want.JitterBufferEmittedCount},
			} {
				if c.got != c.want {
					t.Errorf("%d %s, the browser says %d", c.got, c.what, c.want)
				}
			}
			for _, c := range []struct {
				what                 string
				got, want, tolerance float64
				unit                 string
			}{
				{"mean jitter buffer delay", got.meanDelay(), want.meanDelay(), 2, "ms"},
				{"mean target", got.meanTarget(), want.meanTarget(), 1, "ms"},
				// The model has no requests but those of its timeouts.
				{"key frame requests", float64(got.PliCount), float64(want.PliCount), 1, ""},
				{"frozen", got.TotalFreezesDuration, want.TotalFreezesDuration, 0.02, "s"},
				{"between frames", got.TotalInterFrameDelay, want.TotalInterFrameDelay, 0.02, "s"},
			} {
				if !(math.Abs(c.got-c.want) <= c.tolerance) {
					t.Errorf("%s %.3f %s, the browser says %.3f", c.what, c.got, c.unit, c.want)
				}
			}
		})
	}
}

// Other models would not pass: the recording tells them apart.
func TestRecordingTellsModelsApart(t *testing.T) {
	all, err := load(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*run, *qoe.ReceiverConfig)
		min    float64 // ms of delay more than the browser's, on average
		max    float64
	}{
		{"the model itself", func(*run, *qoe.ReceiverConfig) {}, -0.5, 0.5},
		{"no metronome", func(_ *run, c *qoe.ReceiverConfig) { c.DecodeTick = 0 }, 2, 8},
		{"ticks half a period later", func(_ *run, c *qoe.ReceiverConfig) {
			c.DecodeTickAt = c.DecodeTickAt.Add(qoe.ChromiumTick / 2)
		}, -2, 2},
		{"no round trip time", func(r *run, _ *qoe.ReceiverConfig) { r.rtts = nil }, -12, -3},
		{"100 ms more at least", func(_ *run, c *qoe.ReceiverConfig) { c.MinPlayout = 100 * ms }, 30, 100},
	} {
		sum := 0.0
		for _, s := range all {
			r := s.run()
			cfg := r.config()
			c.change(&r, &cfg)
			o, _ := judge(r, cfg)
			sum += o.Model.meanDelay() - o.Browser.meanDelay()
		}
		if got := sum / float64(len(all)); got < c.min || got > c.max {
			t.Errorf("%s: %.2f ms more delay than the browser, want %v..%v ms", c.name, got, c.min, c.max)
		} else {
			t.Logf("%s: %.2f ms", c.name, got)
		}
	}
}

func TestRecordingRoundTrip(t *testing.T) {
	start := time.Unix(1e9, 0)
	want := run{
		script: "a", about: "b", decode: 3 * ms, tick: start.Add(-time.Hour), at: []time.Time{start.Add(time.Second)},
		browser: figures{FreezeCount: 3},
		log: []sent{
			{at: start, frame: 1, count: 2, size: 100, rtp: 1 << 31, key: true},
			{at: start.Add(5 * ms), frame: 1, index: 1, count: 2, size: 101, rtp: 1 << 31, key: true},
			{at: start.Add(5 * ms), frame: 0, count: 1, size: 7, rtp: 5, asked: true},
		},
		rtts: []roundTrip{{start.Add(ms), 60 * ms}},
	}
	path := filepath.Join(t.TempDir(), "x", "r.json.gz")
	if err := store(path, []recording{record(want)}); err != nil {
		t.Fatal(err)
	}
	got, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || !reflect.DeepEqual(got[0].run(), want) {
		t.Errorf("%+v, want %+v", got[0].run(), want)
	}
}
