// SPDX-License-Identifier: MIT

package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

func runPast(t *testing.T, sc sim.Scenario, alg string, p sim.Past) sim.Result {
	t.Helper()
	r, err := sim.Run(sc, alg, 1, sim.Params{Past: p}, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return r
}

// twoLevels is a radio that falls to a quarter just as a frame is captured, which
// no one who does not know the future can see in that frame.
func twoLevels(t *testing.T) sim.Scenario {
	t.Helper()
	sc := scenario(t, "step-20-5-20", 14*time.Second)
	sc.Warmup = 4 * time.Second
	sc.Trace = func(uint64, time.Duration) cell.Trace {
		return cell.Steps(cell.Step{Bps: 12_000_000, For: 8 * time.Second}, cell.Step{Bps: 3_000_000, For: 6 * time.Second})
	}

	return sc
}

// All that the link was to carry until the frame after, and the queue that was to be
// left then, goes at the lower rate: four times as long, whatever the predictor.
func TestPastAtAFall(t *testing.T) {
	sc := twoLevels(t)
	for _, p := range []sim.Past{
		{},
		{Share: 0.85, Queue: 20 * time.Millisecond},
		{Queue: 10 * time.Millisecond},
		{Queue: 40 * time.Millisecond},
		{Window: 200 * time.Millisecond, By: sim.ByMedian, Queue: 20 * time.Millisecond},
		{Window: 200 * time.Millisecond, By: sim.ByLeast, Queue: 20 * time.Millisecond},
	} {
		r := runPast(t, sc, "causal", p)
		share := p.Share
		if share == 0 {
			share = 1
		}
		want := share * 4 * (33 + float64(p.Queue.Milliseconds()))
		// The grant loop's 4 ms, and what a frame is rounded by: a packet is 3 ms.
		within(t, fmt.Sprintf("%+v: worst queue", p), r.SenderQueueMax, want+3, 6, "ms")
	}
}

// Who lets one packet more wait does not come out better: neither sooner, nor, where
// the link is full already, with more.
func TestPastQueueCosts(t *testing.T) {
	sc := scenario(t, "const-3", 20*time.Second)
	sc.Source.Noise = 0
	packet := 1250 * 8 * time.Second / 3_000_000
	for _, alg := range []string{"causal", "causal-rate"} {
		last := runPast(t, sc, alg, sim.Past{Queue: 20 * time.Millisecond})
		first := last
		for n := 1; n <= 6; n++ {
			r := runPast(t, sc, alg, sim.Past{Queue: 20*time.Millisecond + time.Duration(n)*packet})
			if r.PlayoutP50 < last.PlayoutP50-0.5 || r.SenderQueueP95 < last.SenderQueueP95-0.5 || r.GoodputMbps > 1.005*last.GoodputMbps {
				t.Errorf("%s: %d packets more wait: %.2f Mbit/s, %.1f ms, queue %.1f ms after %.2f Mbit/s, %.1f ms, queue %.1f ms",
					alg, n, r.GoodputMbps, r.PlayoutP50, r.SenderQueueP95, last.GoodputMbps, last.PlayoutP50, last.SenderQueueP95)
			}
			last = r
		}
		within(t, alg+": queue of 6 packets", last.SenderQueueP95-first.SenderQueueP95, 6*packet.Seconds()*1000, 6, "ms")
	}
}

// A constant link is predicted the same by all; of one that fades, a low quantile
// takes the less the lower it is.
func TestPredictors(t *testing.T) {
	by := func(name string) (rates []float64) {
		sc := scenario(t, name, 20*time.Second)
		for i := range sim.Predictors() {
			p := sim.Past{Window: 200 * time.Millisecond, By: sim.Predictor(i), Queue: 20 * time.Millisecond}
			r := runPast(t, sc, "causal", p)
			if again := runPast(t, sc, "causal", p); again != r {
				t.Errorf("%s by %s: %+v, then %+v", name, sim.Predictors()[i], r, again)
			}
			rates = append(rates, r.GoodputMbps)
		}

		return rates
	}
	flat := by("const-3")
	if slices.Min(flat) < 0.99*slices.Max(flat) {
		t.Errorf("of a constant link %v Mbit/s by %v", flat, sim.Predictors())
	}
	fading := by("synth-lte")
	within(t, "EWMA of a fading link", fading[1]/fading[0], 1, 0.06, "of the mean's goodput")
	within(t, "median of a fading link", fading[2]/fading[0], 1, 0.06, "of the mean's goodput")
	if !(fading[4] < 0.97*fading[3] && fading[3] < 0.99*fading[2]) {
		t.Errorf("of a fading link %v Mbit/s by %v", fading, sim.Predictors())
	}
}

// Who leaves frames out at a fall has a shorter queue at its end, and fewer frames.
func TestPastSkips(t *testing.T) {
	sc := twoLevels(t)
	all := runPast(t, sc, "causal", sim.Past{Queue: 40 * time.Millisecond})
	some := runPast(t, sc, "causal", sim.Past{Queue: 40 * time.Millisecond, Skip: 100 * time.Millisecond})
	within(t, "frames left out after the fall", float64(all.FramesSent-some.FramesSent), 5, 3, "")
	within(t, "worst queue, which was there before", some.SenderQueueMax-all.SenderQueueMax, 0, 4, "ms")
}

// Wrong knobs are refused.
func TestPastIsChecked(t *testing.T) {
	sc := scenario(t, "const-3", 20*time.Second)
	for _, p := range []sim.Past{
		{Share: -1}, {Share: 3}, {Window: time.Microsecond}, {Window: time.Minute}, {By: 99}, {Queue: -1}, {Queue: time.Minute}, {Skip: -1}, {Skip: time.Hour},
	} {
		if err := sim.Check(sc, "causal", sim.Params{Past: p}); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
}
