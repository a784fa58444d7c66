// SPDX-License-Identifier: MIT

//go:build !race

package pionrun

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// What takes many minutes of calls: with the race detector it takes as many of the
// clock, and adds nothing to the short ones.

func median(vs ...float64) float64 {
	vs = slices.Sorted(slices.Values(vs))

	return vs[len(vs)/2]
}

// What the simulation says of gbrcc is what an application gets in the real
// stack: the same goodput and the same latency. The controller answers within
// milliseconds, so that on a changing link small differences of timing, of which
// the order of goroutines is one, add up in a single run: to 2.5 % (one sigma) of
// the playout's median and to four skipped frames. The medians of three seeds
// are held to less.
func TestSimulationAgrees(t *testing.T) {
	figures := []struct {
		name         string
		of           func(sim.Result) float64
		single, most float64 // of the simulation's, in one run and in the median
	}{
		{"goodput", func(r sim.Result) float64 { return r.GoodputMbps }, 0.2, 0.12},
		{"playout p50", func(r sim.Result) float64 { return r.PlayoutP50 }, 0.16, 0.08},
		{"phone queue p50", func(r sim.Result) float64 { return r.UEQueueP50 }, 0.15, 0.1},
		{"phone queue p95", func(r sim.Result) float64 { return r.UEQueueP95 }, 0.25, 0.2},
		{"rtt p50", func(r sim.Result) float64 { return r.RTTP50 }, 0.07, 0.05},
		{"frames sent", func(r sim.Result) float64 { return float64(r.FramesSent) }, 0.02, 0.01},
		{"samples", func(r sim.Result) float64 { return float64(r.Samples) }, 0.1, 0.05},
	}
	for _, name := range []string{"const-3", "synth-lte"} {
		ratios := make([][]float64, len(figures))
		for seed := uint64(1); seed <= 3; seed++ {
			sc := scenario(t, name, 60*time.Second)
			real := run(t, sc, Own, seed)
			simulated, err := sim.Run(sc, "gbrcc", seed, sim.Params{}, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			what := func(s string) string { return fmt.Sprintf("%s seed %d: %s", name, seed, s) }
			for i, f := range figures {
				ratio := f.of(real) / f.of(simulated)
				within(t, what(f.name), ratio, 1, f.single, "of the simulation's")
				ratios[i] = append(ratios[i], ratio)
			}
			if real.CapacityMbps != simulated.CapacityMbps {
				t.Errorf("%s", what(fmt.Sprintf("capacity %g, simulated %g", real.CapacityMbps, simulated.CapacityMbps)))
			}
			if real.Scenario != sc.Name || real.Class != sc.Class || real.CC != Own || real.Seed != seed || real.DurationS != 60 {
				t.Errorf("%s", what(fmt.Sprintf("named %+v", real)))
			}
		}
		for i, f := range figures {
			within(t, name+": median "+f.name, median(ratios[i]...), 1, f.most, "of the simulation's")
		}
	}
}

// Pion's estimator finds a constant link in its slow way, and keeps its queue. No
// two runs of the real stack are the same, and its leaky bucket sometimes holds a
// second of frames or two, which come late: medians of three seeds, whose sigma is
// 0.1 Mbit/s and 2.3 ms.
func TestPionFillsALink(t *testing.T) {
	for _, cc := range []string{Pion, PionLeaky} {
		var goodput, playout, frames []float64
		for seed := uint64(1); seed <= 3; seed++ {
			r := run(t, scenario(t, "const-3", 60*time.Second), cc, seed)
			goodput, playout = append(goodput, r.GoodputMbps), append(playout, r.PlayoutP50)
			frames = append(frames, float64(r.FramesRendered)/float64(r.FramesSent))
			if r.LossRatio != 0 || r.FreezeCount != 0 {
				t.Errorf("%s seed %d: lost %g, %d freezes", cc, seed, r.LossRatio, r.FreezeCount)
			}
		}
		within(t, cc+" goodput", median(goodput...), 2.1, 0.6, "Mbit/s")
		within(t, cc+" playout p50", median(playout...), 111, 15, "ms")
		lost := 0.03
		if cc == Pion {
			lost = 0.01
		}
		within(t, cc+" frames rendered", median(frames...), 1-lost, lost, "of those sent")
	}
}

// The leaky bucket holds packets back, and what it holds is counted. The sigma of
// three runs' mean is 0.5 ms.
func TestLeakyQueueIsCounted(t *testing.T) {
	const d, seeds = 20 * time.Second, 3
	held := 0.0
	for seed := uint64(1); seed <= seeds; seed++ {
		noop, leaky := run(t, scenario(t, "const-8", d), Pion, seed), run(t, scenario(t, "const-8", d), PionLeaky, seed)
		if noop.SenderQueueP95 != noop.UEQueueP95 {
			t.Errorf("a queue in the pacer that has none: %g ms, in the phone %g ms", noop.SenderQueueP95, noop.UEQueueP95)
		}
		held += (leaky.SenderQueueP95 - leaky.UEQueueP95) / seeds
	}
	within(t, "pacer p95", held, 3.7, 2.7, "ms")
}
