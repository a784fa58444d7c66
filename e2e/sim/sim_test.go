// SPDX-License-Identifier: MIT

package sim_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

func scenario(t testing.TB, name string, d time.Duration) sim.Scenario {
	t.Helper()
	s, err := sim.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(s) != 1 {
		t.Fatalf("%d scenarios for %q", len(s), name)
	}
	s[0].Duration = d

	return s[0]
}

func run(t testing.TB, sc sim.Scenario, cc string, seed uint64, opts sim.Options) sim.Result {
	t.Helper()
	r, err := sim.Run(sc, cc, seed, sim.Params{}, opts)
	if err != nil {
		t.Fatal(err)
	}

	return r
}

func within(t *testing.T, what string, got, want, tolerance float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.4g %s, want %.4g ± %.4g", what, got, unit, want, tolerance)
	}
}

// goldenDuration is of the runs in the golden file.
const goldenDuration = 40 * time.Second

// Some scenarios of each class and every algorithm on one seed, to the rounded
// figure. A change of any model or controller shows here.
func TestGolden(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-19s %-7s %8s %8s %8s %8s %7s %7s\n", "scenario", "cc", "kbit/s", "p50 ms", "p95 ms", "queue ms", "freezes", "frames")
	for _, sc := range representative(t) {
		sc.Duration = goldenDuration
		for _, cc := range sim.Algorithms() {
			r := run(t, sc, cc, 1, sim.Options{})
			fmt.Fprintf(&b, "%-19s %-7s %8.0f %8.0f %8.0f %8.0f %7d %7d\n", sc.Name, cc,
				10*math.Round(r.GoodputMbps*100), r.PlayoutP50, r.PlayoutP95, r.SenderQueueP95, r.FreezeCount, r.FramesRendered)
		}
	}
	golden.Assert(t, b.String(), "catalogue.golden")
}

func TestSameSeedSameResult(t *testing.T) {
	sc := scenario(t, "synth-lte", 20*time.Second)
	for _, cc := range sim.Algorithms() {
		a, b, c := run(t, sc, cc, 7, sim.Options{}), run(t, sc, cc, 7, sim.Options{}), run(t, sc, cc, 8, sim.Options{})
		if a != b {
			t.Errorf("%s: two runs of one seed differ:\n%+v\n%+v", cc, a, b)
		}
		if c.Seed = a.Seed; a == c {
			t.Errorf("%s: seeds 7 and 8 give the same", cc)
		}
	}
}

// The diagnostic bytes, decoded, steer the sender exactly as the records do
// that they were made from.
func TestBytesSteerLikeRecords(t *testing.T) {
	sc := scenario(t, "synth-lte", 20*time.Second)
	for seed := range uint64(3) {
		sc.Cell.Telemetry.Encoded = false
		records := run(t, sc, "gbrcc", seed, sim.Options{})
		sc.Cell.Telemetry.Encoded = true
		bytes := run(t, sc, "gbrcc", seed, sim.Options{})
		if records != bytes {
			t.Errorf("seed %d:\nrecords %+v\nbytes   %+v", seed, records, bytes)
		}
		if records.Samples < 1000 {
			t.Errorf("seed %d: only %d samples in 20 s", seed, records.Samples)
		}
	}
}

// Whoever does not listen to telemetry is not touched by it: the comparison is
// on equal terms.
func TestTelemetryDoesNotTouchOthers(t *testing.T) {
	for _, cc := range []string{"gcc", "fixed", "causal", "oracle"} {
		var all []sim.Result
		for _, name := range []string{"synth-lte", "telemetry-late", "telemetry-none"} {
			r := run(t, scenario(t, name, 20*time.Second), cc, 3, sim.Options{})
			r.Scenario, r.Class, r.Samples = "", "", 0
			all = append(all, r)
		}
		if all[0] != all[1] || all[0] != all[2] {
			t.Errorf("%s:\n%+v\n%+v\n%+v", cc, all[0], all[1], all[2])
		}
	}
}

// A sender without telemetry is its outer loop, to the bit.
func TestWithoutTelemetryIsGCC(t *testing.T) {
	sc := scenario(t, "telemetry-none", 30*time.Second)
	want := run(t, sc, "gcc", 1, sim.Options{})
	for _, cc := range []string{"gbrcc", "seed"} {
		got := run(t, sc, cc, 1, sim.Options{})
		got.CC = want.CC
		if got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", cc, got, want)
		}
	}
}

// modes notes the changes of mode and the rate at each.
type modes struct {
	start   time.Time
	changes []gbr.ModeEvent
	at      []time.Duration
}

func (m *modes) Record(now time.Time, ev gcc.Event) {
	if m.start.IsZero() {
		m.start = now
	}
	if e, ok := ev.(gbr.ModeEvent); ok {
		m.changes = append(m.changes, e)
		m.at = append(m.at, now.Sub(m.start))
	}
}

// With the agent dead from 25 s to 40 s the call goes on, and picks the signal
// up again within a heartbeat.
func TestAgentDies(t *testing.T) {
	var m modes
	r := run(t, scenario(t, "telemetry-gap", 60*time.Second), "gbrcc", 1, sim.Options{Recorder: &m})
	want := []struct {
		to gbr.Mode
		at time.Duration
	}{{gbr.Dual, 0}, {gbr.Hold, 25150 * time.Millisecond}, {gbr.OuterOnly, 25300 * time.Millisecond}, {gbr.Dual, 40 * time.Second}}
	if len(m.changes) != len(want) {
		t.Fatalf("changes of mode: %+v at %v", m.changes, m.at)
	}
	for i, w := range want {
		if m.changes[i].To != w.to {
			t.Errorf("change %d is to %v, want %v", i, m.changes[i].To, w.to)
		}
		within(t, fmt.Sprintf("time of the change to %v", w.to), m.at[i].Seconds(), w.at.Seconds(), 0.11, "s")
	}
	within(t, "frames rendered", float64(r.FramesRendered), 1500, 75, "")
	within(t, "freeze ratio", r.FreezeRatio, 0, 0.02, "")
}

// medians runs seeds and returns the medians of goodput and playout p50.
func medians(t *testing.T, name, cc string) (goodput, playout float64) {
	t.Helper()
	var gs, ps []float64
	for seed := uint64(1); seed <= 5; seed++ {
		r := run(t, scenario(t, name, 40*time.Second), cc, seed, sim.Options{})
		gs, ps = append(gs, r.GoodputMbps), append(ps, r.PlayoutP50)
	}
	slices.Sort(gs)
	slices.Sort(ps)

	return gs[2], ps[2]
}

// On a cell that changes, the signal is worth more than half as much goodput
// again, at a playout latency that stays conversational.
func TestSignalIsWorthIt(t *testing.T) {
	ours, ourDelay := medians(t, "synth-lte", "gbrcc")
	theirs, _ := medians(t, "synth-lte", "gcc")
	within(t, "goodput against GCC", ours/theirs, 2.7, 0.5, "x")
	within(t, "playout p50", ourDelay, 130, 35, "ms")
}

// A constant link is filled and not overfilled, at any rate: an encoder that
// follows a rate, whose frames vary, leaves a seventh.
func TestConstantLinks(t *testing.T) {
	for _, mbps := range []float64{1, 3, 8} {
		sc := scenario(t, "const-3", 40*time.Second)
		sc.Trace = func(uint64, time.Duration) cell.Trace { return cell.Constant(int(mbps * 1e6)) }
		r := run(t, sc, "gbrcc", 1, sim.Options{})
		within(t, fmt.Sprintf("utilization of %g Mbit/s", mbps), r.Utilization, 0.86, 0.05, "")
		within(t, fmt.Sprintf("playout p95 at %g Mbit/s", mbps), r.PlayoutP95, 110, 30, "ms")
	}
}

// A bottleneck that the radio does not know of is the outer loop's: found, and
// kept to.
func TestBackhaulIsRespected(t *testing.T) {
	r := run(t, scenario(t, "backhaul-3", 60*time.Second), "gbrcc", 1, sim.Options{})
	within(t, "goodput", r.GoodputMbps, 2.5, 0.3, "Mbit/s")
	within(t, "playout p95", r.PlayoutP95, 180, 80, "ms")
}

// What goes in comes out: a fixed rate below capacity arrives whole, with the
// delay of the parts.
func TestFixedRateArrives(t *testing.T) {
	sc := scenario(t, "const-8", 40*time.Second)
	r := run(t, sc, "fixed", 1, sim.Options{})
	within(t, "goodput", r.GoodputMbps, 2*1200./1250, 0.06, "Mbit/s")
	within(t, "rendered", float64(r.FramesRendered), float64(r.FramesSent), 5, "frames")
	if r.LossRatio != 0 || r.FreezeCount != 0 {
		t.Errorf("loss %g, %d freezes", r.LossRatio, r.FreezeCount)
	}
}

// The path loses packets at random: they are sent again and few frames are
// lost.
func TestLossIsRepaired(t *testing.T) {
	sc := scenario(t, "const-8", 40*time.Second)
	sc.Cell.Path.Loss = 0.02
	r := run(t, sc, "fixed", 1, sim.Options{})
	within(t, "loss", r.LossRatio, 0.02, 0.006, "")
	within(t, "rendered", float64(r.FramesRendered)/float64(r.FramesSent), 1, 0.01, "")
}

// When packets are lost too often to be had again, the viewer asks for a key
// frame, and goes on from there.
func TestKeyFramesOnRequest(t *testing.T) {
	sc := scenario(t, "const-8", 60*time.Second)
	sc.Cell.Path.Loss = 0.5
	r := run(t, sc, "fixed", 1, sim.Options{})
	within(t, "requests for key frames", float64(r.KeyFrameRequests), 9, 5, "")
	within(t, "rendered", float64(r.FramesRendered)/float64(r.FramesSent), 0.5, 0.3, "")

	r = run(t, scenario(t, "const-8", 60*time.Second), "fixed", 1, sim.Options{})
	within(t, "requests for key frames without loss", float64(r.KeyFrameRequests), 0, 0, "")
}

// Feedback takes space on the way back, and may be late or lost there.
func TestReturnPath(t *testing.T) {
	sc := scenario(t, "const-3", 40*time.Second)
	want := run(t, sc, "gcc", 1, sim.Options{})
	sc.Return.RateBps = 100_000_000
	free := run(t, sc, "gcc", 1, sim.Options{})
	within(t, "RTT with room on the way back", free.RTTP50, want.RTTP50, 1, "ms")
	within(t, "goodput with room on the way back", free.GoodputMbps, want.GoodputMbps, 0.1, "Mbit/s")
	sc.Return = cell.PathConfig{Loss: 0.3}
	lossy := run(t, sc, "gcc", 1, sim.Options{})
	within(t, "goodput with a third of the feedback lost", lossy.GoodputMbps, want.GoodputMbps, 0.5, "Mbit/s")
	if lossy == want {
		t.Error("lost feedback changes nothing")
	}
	// 20 reports a second of 20 + 42 + 2 B for about a dozen packets are 13 kbit/s.
	sc.Return = cell.PathConfig{RateBps: 10_000, QueueBytes: 3000}
	if full := run(t, sc, "gcc", 1, sim.Options{}); full.GoodputMbps > 0.9*want.GoodputMbps {
		t.Errorf("%.2f Mbit/s with a way back that is full, %.2f without", full.GoodputMbps, want.GoodputMbps)
	}
}

func TestBadRuns(t *testing.T) {
	sc := scenario(t, "const-3", 5*time.Second)
	if _, err := sim.Run(sc, "gcc", 1, sim.Params{}, sim.Options{}); err == nil {
		t.Error("a run shorter than its warm-up ran")
	}
	sc.Duration = 20 * time.Second
	if _, err := sim.Run(sc, "nonesuch", 1, sim.Params{}, sim.Options{}); err == nil || !strings.Contains(err.Error(), "gbrcc") {
		t.Errorf("unknown algorithm: %v", err)
	}
	if _, err := sim.Run(sc, "gbrcc", 1, sim.Params{GBR: gbr.Config{Beta: -1}}, sim.Options{}); err == nil {
		t.Error("a bad parameter ran")
	}
}

// Nothing is allocated per packet, but for what a run keeps of each, which grows
// in steps.
func TestRunAllocates(t *testing.T) {
	for _, cc := range []string{"gbrcc", "gcc"} {
		sc := scenario(t, "synth-lte", 60*time.Second)
		if n := testing.AllocsPerRun(1, func() { run(t, sc, cc, 1, sim.Options{}) }); n > 1000 {
			t.Errorf("%s: %v allocations a minute", cc, n)
		}
	}
}

// BenchmarkRun is a minute of a call at about 5 Mbit/s.
func BenchmarkRun(b *testing.B) {
	for _, cc := range []string{"gbrcc", "gcc"} {
		b.Run(cc, func(b *testing.B) {
			sc := scenario(b, "const-8", 60*time.Second)
			b.ReportAllocs()
			for b.Loop() {
				run(b, sc, cc, 1, sim.Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/60/float64(b.N), "ms/virtual-s")
		})
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}

	return v
}

// The inner loop stands on an end-to-end loop that does nothing, too: where that
// loop's rate fits it changes nothing, where the radio falls below it is all that
// keeps the queue short.
func TestOverAFixedRate(t *testing.T) {
	fits, falls := scenario(t, "const-3", time.Minute), scenario(t, "step-3-1-3", time.Minute)
	for _, cc := range []string{"fixed", "gbrcc-fixed"} {
		within(t, cc+" where it fits: goodput", run(t, fits, cc, 1, sim.Options{}).GoodputMbps, 1.9, 0.06, "Mbit/s")
	}
	alone, under := run(t, falls, "fixed", 1, sim.Options{}), run(t, falls, "gbrcc-fixed", 1, sim.Options{})
	within(t, "alone, where the radio falls below it: queue", alone.SenderQueueMax, 10_000, 4_000, "ms")
	within(t, "under the inner loop: queue", under.SenderQueueMax, 150, 100, "ms")
	within(t, "goodput", under.GoodputMbps, 1.65, 0.15, "Mbit/s")
}
