// SPDX-License-Identifier: MIT

package interceptor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

func TestCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		var got []int
		slow := time.Duration(0)
		r.OnTargetBitrateChange(func(bitrate int) {
			got = append(got, bitrate)
			time.Sleep(slow)
			if r.GetTargetBitrate() <= 0 { // no lock is held
				t.Error("no target")
			}
		})
		synctest.Wait()
		first := r.GetTargetBitrate()
		for _, bps := range []int{2_000_000, 2_000_000, 500_000} {
			r.set(bps, bps)
			synctest.Wait()
		}
		if want := []int{first, 2_000_000, 500_000}; !slices.Equal(got, want) {
			t.Errorf("called with %v, want %v", got, want)
		}
		// A slow encoder misses values in between, not the last one, and does
		// not delay packets.
		got, slow = nil, 200*time.Millisecond
		w := r.video()
		for i := range 20 {
			r.set(1_000_000+i, 10_000_000)
			mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(100))
			time.Sleep(10 * time.Millisecond)
		}
		within(t, "packets sent beside the callback", float64(len(r.wire.sent())), 20, 0, "packets")
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []int{1_000_000, 1_000_019}; !slices.Equal(got, want) {
			t.Errorf("slow one called with %v, want %v", got, want)
		}
		// A new callback is told the present value; none is none.
		slow = 0
		var second []int
		r.OnTargetBitrateChange(func(bitrate int) { second = append(second, bitrate) })
		synctest.Wait()
		r.OnTargetBitrateChange(nil)
		r.set(3_000_000, 3_000_000)
		synctest.Wait()
		if !slices.Equal(second, []int{1_000_019}) {
			t.Errorf("second one called with %v", second)
		}
	})
}

func TestCloseFromCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		calls := 0
		r.OnTargetBitrateChange(func(int) {
			calls++
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		r.set(2_000_000, 2_000_000)
		synctest.Wait()
		if calls != 1 {
			t.Errorf("%d calls, want 1", calls)
		}
	})
}

// Close at any moment: the queue is dropped, nothing is called afterwards,
// nothing panics, every resend is given back.
func TestCloseAtAnyPoint(t *testing.T) {
	for at := time.Duration(0); at < 60*time.Millisecond; at += 3 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1_000_000)
			w := r.video()
			var resends []*resend
			closed := false
			r.OnTargetBitrateChange(func(int) {
				if closed {
					t.Error("called after Close")
				}
			})
			go func() {
				for i := range 100 {
					x := &resend{}
					resends = append(resends, x)
					_, err := w.Write(header(rtxSSRC, uint16(i)), payloadFor(1250), pion.Attributes{1: x})
					if err != nil && !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					r.set(1_000_000+i, 1_000_000)
					time.Sleep(time.Millisecond)
				}
			}()
			time.Sleep(at)
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					if err := r.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			closed = true
			sent := len(r.wire.sent())
			time.Sleep(time.Second)
			synctest.Wait()
			if len(r.wire.sent()) != sent {
				t.Error("sent after Close")
			}
			if _, err := w.Write(header(mediaSSRC, 1), nil, nil); !errors.Is(err, ErrClosed) || !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("write after Close: %v", err)
			}
			for i, x := range resends {
				if n := x.count(); n.retained != 1 || n.released != 1 {
					t.Errorf("resend %d: %+v", i, n)
				}
			}
			r.PushTelemetry(gbr.Telemetry{})
			r.OnTargetBitrateChange(nil)
			if err := r.WriteRTCP([]rtcp.Packet{&rtcp.TransportLayerCC{}}, nil); err != nil {
				t.Error(err)
			}
			if r.GetTargetBitrate() == 0 || len(r.GetStats()) == 0 {
				t.Error("no target after Close")
			}
		})
	}
}

// A core that is always due must not take the processor.
func TestTimersDoNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		r.mu.Lock()
		r.outer.next = r.now()
		r.mu.Unlock()
		r.set(1_000_000, 1_000_000)
		time.Sleep(time.Second)
		synctest.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		within(t, "calls of OnTimeout in 1 s", float64(r.outer.timeouts), 500, 10, "calls")
	})
}

func TestTimeoutComesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		r.mu.Lock()
		r.outer.next = r.now().Add(30 * time.Millisecond)
		r.mu.Unlock()
		r.set(1_000_000, 1_000_000) // calls OnTimeout once
		time.Sleep(29 * time.Millisecond)
		synctest.Wait()
		r.mu.Lock()
		before := r.outer.timeouts
		r.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		r.mu.Lock()
		after := r.outer.timeouts
		r.outer.next = time.Time{}
		r.mu.Unlock()
		if before != 1 || after < 2 {
			t.Errorf("%d calls before, %d after the time, want 1 and more", before, after)
		}
	})
}

func TestSilenceIsSaidOnce(t *testing.T) {
	receiverReport := []rtcp.Packet{&rtcp.ReceiverReport{}}
	for name, c := range map[string]struct {
		rtcp     bool
		feedback bool
		up       bool
		want     string
	}{
		"no RTCP":          {up: true, want: "loop on RTPSender.Read for every sender"},
		"no feedback":      {up: true, rtcp: true, want: "webrtc.ConfigureTWCCSender"},
		"feedback stops":   {up: true, feedback: true, want: "the link is down"},
		"not connected":    {want: ""},
		"feedback all way": {up: true, rtcp: true, feedback: true, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 10_000_000)
				if !c.up {
					r.wire.result = func(*rtp.Header) (int, error) { return 0, nil }
				}
				w, rec := r.video(), twcc.NewRecorder(1)
				for i := range 300 { // 3 s
					mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(500))
					time.Sleep(10 * time.Millisecond)
					if c.rtcp {
						if err := r.WriteRTCP(receiverReport, nil); err != nil {
							t.Fatal(err)
						}
					}
					if c.feedback && (i < 50 || c.rtcp) {
						rec.Record(mediaSSRC, uint16(i), int64(i)*10_000)
						if err := r.WriteRTCP(viaBytes(t, rec.BuildFeedbackPacket()...), nil); err != nil {
							t.Fatal(err)
						}
					}
				}
				got := r.log.warnings()
				if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
					t.Errorf("log says %q, want one line with %q", got, c.want)
				}
			})
		})
	}
}

func TestUntrackedStreamIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		r.video()
		if got := r.log.warnings(); got != "" {
			t.Errorf("log says %q of a good stream", got)
		}
		w := r.AddStream(&pion.StreamInfo{SSRC: 5, MimeType: "video/H264"}, r.wire)
		r.AddStream(&pion.StreamInfo{SSRC: 6, MimeType: "video/H264"}, r.wire)
		got := r.log.warnings()
		if !strings.Contains(got, "ConfigureTWCCHeaderExtensionSender") || strings.Count(got, "\n") > 0 {
			t.Errorf("log says %q", got)
		}
		mustWrite(t, w, header(5, 1), payloadFor(100))
		time.Sleep(5 * time.Second)
		if r.stat(StatPacketsUntracked) != 1 || len(r.tracked()) != 0 {
			t.Errorf("%d untracked, the core knows of %d", r.stat(StatPacketsUntracked), len(r.tracked()))
		}
	})
}

func TestMalformedFeedbackIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		err := r.WriteRTCP([]rtcp.Packet{
			nil, (*rtcp.TransportLayerCC)(nil), (*rtcp.CCFeedbackReport)(nil), &rtcp.PictureLossIndication{},
			&rtcp.TransportLayerCC{PacketStatusCount: 9}, &rtcp.TransportLayerCC{PacketStatusCount: 1},
		}, nil)
		if err != nil || r.stat(StatFeedbackMalformed) != 2 || r.stat(StatFeedbackReports) != 0 {
			t.Errorf("%v, %d malformed, %d reports", err, r.stat(StatFeedbackMalformed), r.stat(StatFeedbackReports))
		}
	})
}

// The real core and outer loop: telemetry raises the rate, its loss hands over.
func TestTelemetrySteers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := NewEstimator(WithBitrateBounds(100_000, 300_000, 5_000_000), WithPreset("call"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		if got := e.GetTargetBitrate(); got != 300_000 {
			t.Errorf("start is %d bit/s", got)
		}
		wire := &wire{}
		w, rec := e.AddStream(videoInfo(), wire), twcc.NewRecorder(1)
		number, reported := uint16(0), 0
		for step := range 2000 { // 10 s of 5 ms
			if step%2 == 0 {
				size := e.GetTargetBitrate() / 8 / 100
				for ; size > 0; size -= 1200 {
					mustWrite(t, w, header(mediaSSRC, number), make([]byte, min(size, 1200)))
					number++
				}
			}
			time.Sleep(5 * time.Millisecond)
			e.PushSample(gbr.Sample{At: time.Now().Add(-3 * time.Millisecond), Window: 5 * time.Millisecond, Granted: 1000, Reported: 1000})
			if step%20 == 19 {
				sent := wire.sent()
				for ; reported < len(sent); reported++ {
					rec.Record(mediaSSRC, sent[reported].transportNumber(t), sent[reported].at.UnixMicro()%1e9)
				}
				if err := e.WriteRTCP(viaBytes(t, rec.BuildFeedbackPacket()...), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		target := e.Target()
		if target.Mode != gbr.Dual || target.BitrateBps < 1_000_000 || target.BitrateBps > 5_000_000 {
			t.Errorf("after 10 s of room: %v at %d bit/s", target.Mode, target.BitrateBps)
		}
		stats := e.GetStats()
		if stats[StatSamplesUsed] == int64(0) || stats[StatAckedBitrate] == 0 || stats[StatMode] != "dual" {
			t.Errorf("stats: %v", stats)
		}
		if _, err := json.Marshal(stats); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		if got := e.Target().Mode; got != gbr.OuterOnly {
			t.Errorf("2 s without telemetry: %v", got)
		}
	})
}

func TestOptions(t *testing.T) {
	errOuter := errors.New("outer fails")
	for name, opt := range map[string]Option{
		"bounds":    WithBitrateBounds(3, 2, 1),
		"zero":      WithBitrateBounds(0, 1, 1),
		"queue":     WithMaxQueue(0),
		"outer":     WithOuter(nil),
		"no outer":  WithOuter(func() (gbr.Outer, error) { return nil, nil }), //nolint:nilnil // on purpose
		"bad outer": WithOuter(func() (gbr.Outer, error) { return nil, errOuter }),
		"preset":    WithPreset("nonsense"),
		"algorithm": WithAlgorithm(99),
		"writer":    WithEventWriter(nil),
		"config":    WithConfig(gbr.Config{Beta: math.NaN()}),
	} {
		e, err := Factory(opt)()
		if err == nil || e != nil {
			t.Errorf("%s: no error", name)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "interceptor: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		for name, opts := range map[string][]Option{
			"none":     nil,
			"nil":      {nil, WithLoggerFactory(nil), WithRecorder(nil)},
			"low max":  {WithConfig(gbr.Config{MaxBps: 50_000})},
			"high min": {WithConfig(gbr.Config{MinBps: 40_000_000})},
		} {
			e, err := NewEstimator(opts...)
			if err != nil {
				t.Errorf("%s: %v", name, err)

				continue
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestEventLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		counts := &counter{}
		r := newRig(t, 1_000_000, WithEventWriter(&out), WithRecorder(counts), WithMaxQueue(time.Millisecond))
		w := r.video()
		for i := range 3 {
			mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(1250))
		}
		time.Sleep(eventFlushInterval + 50*time.Millisecond)
		synctest.Wait()
		if out.Len() == 0 {
			t.Error("nothing is written before Close")
		}
		r.PushSample(gbr.Sample{At: time.Now(), Window: 5 * time.Millisecond, Granted: 1, Reported: 2})
		if err := r.WriteRTCP([]rtcp.Packet{&rtcp.TransportLayerCC{PacketStatusCount: 9}}, nil); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		last := -1.0
		for line := range strings.Lines(out.String()) {
			var ev struct {
				Time *float64
				Name string
				Data map[string]any
			}
			if err := json.Unmarshal([]byte(line), &ev); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if ev.Time == nil || *ev.Time < last || ev.Data == nil {
				t.Fatalf("bad line after %v ms: %s", last, line)
			}
			last = *ev.Time
			seen[ev.Name]++
		}
		for name, n := range map[string]int{
			"log:started": 1, "interceptor:stream_added": 1, "interceptor:packet_refused": 2, "gbr:packet_sent": 1,
			"gbr:telemetry": 1, "interceptor:feedback_malformed": 1,
		} {
			if seen[name] != n {
				t.Errorf("%d events %s, want %d (all: %v)", seen[name], name, n, seen)
			}
		}
		within(t, "time of the last event", last, 250, 1, "ms")
		if counts.n < 6 {
			t.Errorf("the other recorder has %d events", counts.n)
		}
	})
}

type counter struct{ n int }

func (c *counter) Record(time.Time, gcc.Event) { c.n++ }

type bigEvent struct{ Text string }

func (bigEvent) EventName() string { return "test:big" }

type badEvent struct{ V float64 }

func (badEvent) EventName() string { return "test:bad" }

type failing struct{ err error }

func (f *failing) Write(p []byte) (int, error) { return len(p), f.err }

func TestEventLogUnderPressure(t *testing.T) {
	var out bytes.Buffer
	l := NewEventLog(&out)
	big := bigEvent{strings.Repeat("x", 1<<20)}
	for range 6 {
		l.Record(epoch(), big)
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	l.Record(epoch(), badEvent{math.NaN()})
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "test:big"); n != 3 {
		t.Errorf("%d of 6 MB kept, want 3", n)
	}
	if !strings.Contains(text, `"log:dropped","data":{"events":3}`) || !strings.Contains(text, `"test:bad","data":{"error":`) {
		t.Errorf("end of the log: %s", text[len(text)-300:])
	}
	f := &failing{err: io.ErrShortWrite}
	l = NewEventLog(f)
	l.Record(epoch(), badEvent{})
	if err := l.Flush(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("failed write: %v", err)
	}
	f.err = nil
	if err := l.Flush(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("after a failed write: %v", err)
	}
}
