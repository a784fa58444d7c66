// SPDX-License-Identifier: MIT

package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"gotest.tools/v3/golden"

	"github.com/gbrcc/gbrcc/gbr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

var errDone = errors.New("test is done")

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "samples.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// emitted is one batch with its moment.
type emitted struct {
	after time.Duration
	gbr.Telemetry
}

// play runs a source in virtual time until it ends, or for a limit.
func play(t *testing.T, s Source, limit time.Duration) (out []emitted, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errDone)
		defer cancel()
		begin := time.Now()
		err = s.Run(ctx, func(tel gbr.Telemetry) {
			now := time.Now()
			c := gbr.Telemetry{Samples: slices.Clone(tel.Samples), Grants: slices.Clone(tel.Grants), Reports: slices.Clone(tel.Reports)}
			if tel.Config != nil {
				cfg := *tel.Config
				c.Config = &cfg
			}
			for _, smp := range c.Samples {
				if smp.At.After(now) {
					t.Errorf("sample from the future by %v", smp.At.Sub(now))
				}
			}
			out = append(out, emitted{now.Sub(begin), c})
		})
	})

	return out, err
}

// full leaves out the signs of life.
func full(in []emitted) []emitted {
	return slices.DeleteFunc(slices.Clone(in), func(e emitted) bool {
		return len(e.Samples)+len(e.Grants)+len(e.Reports) == 0
	})
}

const three = `{"t_ms":1000,"sfn":512,"bsr_bytes":1552,"bsr_bytes_low":1326,"grant_bytes":700,"ratio":0.451,"period_ms":5,"rat":"lte","flags":[]}

{"t_ms":1005,"sfn":-1,"bsr_bytes":0,"bsr_bytes_low":0,"grant_bytes":0,"ratio":null,"period_ms":5,"rat":"lte","flags":["idle"],"new_key":{"a":1}}
{"kind":"later","t_ms":1006}
{"t_ms":2005.5,"bsr_bytes":900,"grant_bytes":0,"rat":"nr","period_ms":10,"window_ms":20}
`

func TestFileReplaysInRealTime(t *testing.T) {
	s, err := File(write(t, three), FileConfig{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := play(t, s, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	out := full(all)
	if len(out) != 3 {
		t.Fatalf("%d batches with samples, want 3", len(out))
	}
	for i, want := range []time.Duration{0, 5 * ms, 1005500 * time.Microsecond} {
		if out[i].after != want {
			t.Errorf("batch %d after %v, want %v", i, out[i].after, want)
		}
	}
	a, b, c := out[0].Samples[0], out[1].Samples[0], out[2].Samples[0]
	if a.Granted != 700 || a.Reported != 1552 || a.ReportedLow != 1326 || a.Window != 5*ms {
		t.Errorf("first sample %+v", a)
	}
	if !b.Idle() || b.At.Sub(a.At) != 5*ms {
		t.Errorf("second sample %+v", b)
	}
	if c.Reported != 900 || c.ReportedLow != 900 || c.Window != 20*ms {
		t.Errorf("third sample %+v", c)
	}
	if cfg := out[0].Config; cfg == nil || *cfg != (gbr.RadioConfig{RAT: gbr.RATLTE, Period: 5 * ms, PCI: -1}) {
		t.Errorf("first configuration %+v", cfg)
	}
	if out[1].Config != nil {
		t.Error("the configuration is told twice")
	}
	if cfg := out[2].Config; cfg == nil || cfg.RAT != gbr.RATNR || cfg.Period != 10*ms {
		t.Errorf("second configuration %+v", cfg)
	}
	// The second of nothing is an idle modem, not a dead one.
	for i := 1; i < len(all); i++ {
		if gap := all[i].after - all[i-1].after; gap > aliveEvery {
			t.Errorf("silent for %v", gap)
		}
	}
}

func TestFileSpeedAndLoop(t *testing.T) {
	s, err := File(write(t, three), FileConfig{Speed: 2, Loop: true})
	if err != nil {
		t.Fatal(err)
	}
	out, err := play(t, s, 2*time.Second)
	if !errors.Is(err, errDone) {
		t.Fatalf("Run returned %v, want the cause", err)
	}
	out = full(out)
	// A round is 1005.5 ms of recording and the last window of 20 ms, at twice
	// the speed.
	const round = (1005500*time.Microsecond + 20*ms) / 2
	var at []time.Duration
	for i := range 3 {
		at = append(at, round*time.Duration(i), round*time.Duration(i)+2500*time.Microsecond, round*time.Duration(i+1)-10*ms)
	}
	for i, want := range at {
		if out[i].after != want {
			t.Errorf("batch %d after %v, want %v", i, out[i].after, want)
		}
	}
	if w := out[2].Samples[0].Window; w != 10*ms {
		t.Errorf("window %v, want 10 ms at twice the speed", w)
	}
}

func TestFileErrors(t *testing.T) {
	const good = `{"t_ms":1,"bsr_bytes":1,"grant_bytes":1}` + "\n"
	for _, tc := range []struct{ name, content, want string }{
		{"empty", "", "no sample"},
		{"blank", "\n \n", "no sample"},
		{"not JSON", good + "hello\n", ":2: not JSON"},
		{"CSV", "t_ms,sfn\n1,2\n", ":1: not JSON"},
		{"cut", good + good + `{"t_ms":1,"bsr_b`, ":3: not JSON"},
		{"array", "[1]\n", ":1: want a JSON object, not a array"},
		{"no time", `{"bsr_bytes":1}`, ":1: t_ms is missing"},
		{"no grant", `{"t_ms":1,"bsr_bytes":1}`, ":1: a sample needs"},
		{"text", `{"t_ms":"x"}`, ":1: t_ms cannot be a string"},
		{"fraction of a byte", `{"t_ms":1,"bsr_bytes":1.5}`, ":1: bsr_bytes cannot be a number"},
		{"negative", `{"t_ms":1,"bsr_bytes":-1,"grant_bytes":1}`, ":1: bsr_bytes is -1"},
		{"huge", `{"t_ms":1,"bsr_bytes":1,"grant_bytes":9223372036854775807}`, ":1: grant_bytes is 9223372036854775807"},
		{"huge time", `{"t_ms":1e300,"bsr_bytes":1,"grant_bytes":1}`, ":1: t_ms is 1e+300"},
		{"flags", `{"t_ms":1,"bsr_bytes":1,"grant_bytes":1,"flags":"idle"}`, ":1: flags cannot be a string"},
		{"sum", `{"t_ms":1,"bsr_bytes":1,"grant_bytes":1,"sum_bsr_bytes":-1}`, ":1: sum_bsr_bytes is -1"},
		{"edges", `{"t_ms":1,"bsr_bytes":1,"bsr_bytes_low":2,"grant_bytes":1}`, ":1: bsr_bytes_low 2 is above"},
		{"rat", `{"t_ms":1,"bsr_bytes":1,"grant_bytes":1,"rat":"gsm"}`, ":1: rat is"},
		{"back in time", `{"t_ms":5000,"bsr_bytes":1,"grant_bytes":1}` + "\n" + good, ":2: time goes back by 4.999s"},
		{"long line", good + strings.Repeat(" ", MaxLine+1), ":2: a line is longer than 64 KiB"},
		{"grant", `{"t_ms":1,"kind":"grant"}`, ":1: a grant needs"},
		{"report", `{"t_ms":1,"kind":"report"}`, ":1: a report needs"},
		{"pci", `{"t_ms":1,"kind":"config","pci":2000}`, ":1: pci is 2000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := File(write(t, tc.content), FileConfig{}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := File(filepath.Join(t.TempDir(), "none"), FileConfig{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	for _, speed := range []float64{-1, math.NaN(), math.Inf(1), 1e9} {
		if _, err := File(write(t, good), FileConfig{Speed: speed}); err == nil {
			t.Errorf("speed %g accepted", speed)
		}
	}
}

func recordingOf(epoch time.Time) []emitted {
	at := func(d time.Duration) time.Time { return epoch.Add(d) }

	return []emitted{
		{20 * ms, gbr.Telemetry{
			Samples: []gbr.Sample{
				{
					At: at(5 * ms), Window: 5 * ms, Granted: 700, Reported: 1552, ReportedLow: 1326,
					SumGranted: 700, SumReported: 1552, RAT: gbr.RATLTE, SFN: 1023, Flags: gbr.FlagFirstGrant,
				},
				{
					At: at(10 * ms), Window: 5 * ms, Reported: 1552, ReportedLow: 1326,
					SumGranted: 700, SumReported: 3104, Flags: gbr.FlagCorrected | gbr.FlagInferred | gbr.FlagSummed,
				},
			},
			Grants:  []gbr.Grant{{At: at(3 * ms), Bytes: 300}, {At: at(4 * ms), Bytes: 400, Cell: 1}},
			Reports: []gbr.Report{{At: at(0), Low: 1326, High: 1552}, {At: at(1 * ms), Low: 150_001, High: -1, Padding: true}},
			Config:  &gbr.RadioConfig{RAT: gbr.RATLTE, Period: 5 * ms, Lag: 8 * ms, PCI: 77},
		}},
		{20 * ms, gbr.Telemetry{}},
		{31250 * time.Microsecond, gbr.Telemetry{Samples: []gbr.Sample{{At: at(30 * ms), Window: 20 * ms, RAT: gbr.RATNR, SFN: -1}}}},
		{40 * ms, gbr.Telemetry{Config: &gbr.RadioConfig{PCI: -1}}},
	}
}

func TestWriterFormat(t *testing.T) {
	epoch := time.Now()
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, b := range recordingOf(epoch) {
		if err := w.Write(epoch.Add(b.after), b.Telemetry); err != nil {
			t.Fatal(err)
		}
	}
	golden.Assert(t, out.String(), "recording.golden")
	// Every sample has the nine keys.
	for l := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		if m["kind"] != nil {
			continue
		}
		for _, key := range strings.Fields("t_ms sfn bsr_bytes bsr_bytes_low grant_bytes ratio period_ms rat flags") {
			if _, ok := m[key]; !ok {
				t.Errorf("%s is missing in %s", key, l)
			}
		}
	}
}

// What is recorded comes back as it was, at the same distances in time.
func TestRecordAndReplay(t *testing.T) {
	epoch := time.Now()
	var rec bytes.Buffer
	w := NewWriter(&rec)
	in := recordingOf(epoch)
	for _, b := range in {
		if err := w.Write(epoch.Add(b.after), b.Telemetry); err != nil {
			t.Fatal(err)
		}
	}
	s, err := File(write(t, rec.String()), FileConfig{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := play(t, s, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	in = slices.Delete(in, 1, 2) // the empty one
	if len(out) != len(in) {
		t.Fatalf("%d batches, want %d", len(out), len(in))
	}
	shift := out[0].Samples[0].At.Sub(in[0].Samples[0].At)
	for i := range in {
		if got, want := out[i].after-out[0].after, in[i].after-in[0].after; got != want {
			t.Errorf("batch %d came after %v, want %v", i, got, want)
		}
		if got, want := text(out[i].Telemetry, -shift), text(in[i].Telemetry, 0); got != want {
			t.Errorf("batch %d is\n%s\nwant\n%s", i, got, want)
		}
	}
}

// text prints a batch with times from the epoch of recordingOf.
func text(t gbr.Telemetry, shift time.Duration) string {
	var b strings.Builder
	stamp := func(at time.Time) int64 { return at.Add(shift).Round(time.Microsecond).UnixMicro() }
	for _, s := range t.Samples {
		at := stamp(s.At)
		s.At = time.Time{}
		fmt.Fprintf(&b, "sample %d %+v\n", at, s)
	}
	for _, g := range t.Grants {
		at := stamp(g.At)
		g.At = time.Time{}
		fmt.Fprintf(&b, "grant %d %+v\n", at, g)
	}
	for _, r := range t.Reports {
		at := stamp(r.At)
		r.At = time.Time{}
		fmt.Fprintf(&b, "report %d %+v\n", at, r)
	}
	if t.Config != nil {
		fmt.Fprintf(&b, "config %+v\n", *t.Config)
	}

	return b.String()
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriterKeepsItsError(t *testing.T) {
	w := NewWriter(brokenWriter{})
	one := gbr.Telemetry{Grants: []gbr.Grant{{}}}
	first := w.Write(time.Now(), one)
	if first == nil || !strings.Contains(first.Error(), "disk full") {
		t.Errorf("got %v", first)
	}
	if again := w.Write(time.Now(), gbr.Telemetry{}); !reflect.DeepEqual(again, first) {
		t.Errorf("then %v", again)
	}
}

func TestOpen(t *testing.T) {
	for spec, want := range map[string]string{
		"": "none given", "file:": "needs a path", "nonsense": "unknown", "sim:x": "nothing after", "file:/no/such": "no such file",
		"serial:": "needs a device", "serial:/dev/ttyUSB0,x": "baud", "serial:/dev/ttyUSB0,-1": "baud", "tcp:": "HOST:PORT",
		"tcp:1.2.3.4": "HOST:PORT", "diag:x": "nothing after",
	} {
		if _, err := Open(spec, Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", spec, err, want)
		}
	}
	if _, err := Open("file:"+write(t, three), Config{}); err != nil {
		t.Error(err)
	}
}

func FuzzLine(f *testing.F) {
	for l := range strings.Lines(three) {
		f.Add([]byte(l))
	}
	f.Add([]byte(`{"t_ms":-1,"kind":"config","rat":"nr","period_ms":5,"lag_ms":8,"pci":3}`))
	f.Add([]byte(`{"t_ms":1,"bsr_bytes":9,"grant_bytes":5,"rat":"nr","sfn":7,"flags":["summed","new"],"sum_bsr_bytes":9}`))
	f.Add([]byte(`{"t_ms":1,"kind":"grant","grant_bytes":5,"cell":1,"age_ms":3}`))
	f.Add([]byte(`{"t_ms":1,"kind":"report","bsr_bytes":null,"bsr_bytes_low":7,"padding":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		it, ok, err := ParseLine(data)
		if err != nil || !ok {
			return
		}
		s, g, r, c := it.Sample, it.Grant, it.Report, it.Config
		if s.Granted < 0 || s.Reported < 0 || s.ReportedLow < 0 || s.ReportedLow > s.Reported || s.Window < 0 ||
			s.SumGranted < 0 || s.SumReported < 0 || s.SFN < -1 || s.SFN > MaxSFN ||
			g.Bytes < 0 || g.Cell < 0 || r.Low < 0 || r.High < -1 || r.High >= 0 && r.High < r.Low ||
			c.Period < 0 || c.Lag < 0 || c.PCI < -1 || it.Out < it.At || it.At.Abs() > 116*24*time.Hour {
			t.Errorf("%s gives %+v", data, it)
		}
		line := AppendLine(nil, &it)
		if again, ok, err := ParseLine(line); err != nil || !ok || again != it {
			t.Errorf("%s gives %+v, but as %s it is %+v, %t, %v", data, it, line, again, ok, err)
		}
	})
}

// Writing a line costs no memory.
func TestAppendLineDoesNotAllocate(t *testing.T) {
	it := Item{Sample: gbr.Sample{Reported: 9, Flags: gbr.FlagCorrected | gbr.FlagSummed}, Config: gbr.RadioConfig{RAT: gbr.RATNR, PCI: -1}}
	buf := make([]byte, 0, 512)
	if n := testing.AllocsPerRun(100, func() { buf = AppendLine(buf[:0], &it) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
	if !bytes.Contains(buf, []byte(`"flags":["starved","corrected","summed"]`)) {
		t.Errorf("%s", buf)
	}
}
