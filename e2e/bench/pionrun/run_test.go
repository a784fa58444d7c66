// SPDX-License-Identifier: MIT

package pionrun

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

func run(t *testing.T, sc sim.Scenario, cc string, seed uint64) sim.Result {
	t.Helper()
	r, err := Run(t, Job{Scenario: sc, CC: cc, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Points) > 0 {
		t.Errorf("%d points that nobody asked for", len(r.Points))
	}

	return r.Result
}

// What the simulation says of gbrcc is what an application gets in the real
// stack: the same goodput and the same latency, run by run. The controller
// answers within milliseconds, so that on a changing link small differences of
// timing add up to some percent in a single run.
func TestSimulationAgrees(t *testing.T) {
	for _, name := range []string{"const-3", "synth-lte"} {
		var ratios []float64
		for seed := uint64(1); seed <= 3; seed++ {
			sc := scenario(t, name, 60*time.Second)
			real := run(t, sc, Own, seed)
			simulated, err := sim.Run(sc, "gbrcc", seed, sim.Params{}, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			what := func(s string) string { return fmt.Sprintf("%s seed %d: %s", name, seed, s) }
			within(t, what("goodput"), real.GoodputMbps, simulated.GoodputMbps, 0.2*simulated.GoodputMbps, "Mbit/s")
			ratios = append(ratios, real.GoodputMbps/simulated.GoodputMbps)
			within(t, what("playout p50"), real.PlayoutP50, simulated.PlayoutP50, 0.08*simulated.PlayoutP50, "ms")
			within(t, what("phone queue p50"), real.UEQueueP50, simulated.UEQueueP50, 0.15*simulated.UEQueueP50, "ms")
			within(t, what("phone queue p95"), real.UEQueueP95, simulated.UEQueueP95, 0.25*simulated.UEQueueP95, "ms")
			within(t, what("rtt p50"), real.RTTP50, simulated.RTTP50, 5, "ms")
			within(t, what("frames sent"), float64(real.FramesSent), float64(simulated.FramesSent), 10, "")
			within(t, what("samples"), float64(real.Samples), float64(simulated.Samples), 0.1*float64(simulated.Samples), "")
			if real.CapacityMbps != simulated.CapacityMbps {
				t.Errorf("%s", what(fmt.Sprintf("capacity %g, simulated %g", real.CapacityMbps, simulated.CapacityMbps)))
			}
			if real.Scenario != sc.Name || real.Class != sc.Class || real.CC != Own || real.Seed != seed || real.DurationS != 60 {
				t.Errorf("%s", what(fmt.Sprintf("named %+v", real)))
			}
		}
		slices.Sort(ratios)
		within(t, name+": median goodput, real to simulated", ratios[1], 1, 0.12, "")
	}
}

// Pion's estimator finds a constant link in its slow way, and keeps its queue.
func TestPionFillsALink(t *testing.T) {
	for _, cc := range []string{Pion, PionLeaky} {
		r := run(t, scenario(t, "const-3", 60*time.Second), cc, 1)
		within(t, cc+" goodput", r.GoodputMbps, 2, 0.4, "Mbit/s")
		within(t, cc+" playout p50", r.PlayoutP50, 95, 20, "ms")
		// Its leaky bucket sometimes holds a second of frames or two, and they come
		// late; no two runs of the real stack are the same.
		frames, off := 1485.0, 22.0
		if cc == PionLeaky {
			frames, off = 1465, 42
		}
		within(t, cc+" frames rendered", float64(r.FramesRendered), frames, off, "")
		if r.LossRatio != 0 || r.FreezeCount != 0 {
			t.Errorf("%s: lost %g, %d freezes", cc, r.LossRatio, r.FreezeCount)
		}
	}
}

// The leaky bucket holds packets back, and what it holds is counted.
func TestLeakyQueueIsCounted(t *testing.T) {
	const d = 20 * time.Second
	noop, leaky := run(t, scenario(t, "const-8", d), Pion, 1), run(t, scenario(t, "const-8", d), PionLeaky, 1)
	if noop.SenderQueueP95 != noop.UEQueueP95 {
		t.Errorf("a queue in the pacer that has none: %g ms, in the phone %g ms", noop.SenderQueueP95, noop.UEQueueP95)
	}
	within(t, "pacer p95", leaky.SenderQueueP95-leaky.UEQueueP95, 8, 7, "ms")
}

// Resends get through the pacers, and past SRTP's replay protection.
func TestLossIsRepaired(t *testing.T) {
	for _, cc := range Names() {
		sc := scenario(t, "const-8", 40*time.Second)
		sc.Cell.Path.Loss = 0.02
		r := run(t, sc, cc, 1)
		within(t, cc+" loss", r.LossRatio, 0.02, 0.006, "")
		within(t, cc+" frames rendered", float64(r.FramesRendered)/float64(r.FramesSent), 1, 0.01, "")
		if r.GoodputMbps > r.TargetMean {
			t.Errorf("%s: %g Mbit/s of goodput at a target of %g: copies count", cc, r.GoodputMbps, r.TargetMean)
		}
	}
}

// A run leaves nothing behind, in particular nothing that another one sees.
func TestRunsAreIndependent(t *testing.T) {
	sc := scenario(t, "step-3-1-3", 40*time.Second)
	before := runtime.NumGoroutine()
	for _, cc := range []string{Pion, Own} {
		first := run(t, sc, cc, 1)
		other := run(t, sc, cc, 2)
		again := run(t, sc, cc, 1)
		// Goroutines take turns as they like.
		within(t, cc+" goodput of seed 1 again", again.GoodputMbps, first.GoodputMbps, 0.05*first.GoodputMbps, "Mbit/s")
		if other.Seed = 1; other == first {
			t.Errorf("%s: seeds 1 and 2 give the same", cc)
		}
	}
	for wait := 0; runtime.NumGoroutine() > before; wait++ {
		if wait == 100 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond) // they may be on their way out
	}
}

func TestPoints(t *testing.T) {
	sc := scenario(t, "const-3", 15*time.Second)
	for _, cc := range Names() {
		r, err := Run(t, Job{Scenario: sc, CC: cc, Seed: 1, ObserveEvery: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Points) != 150 {
			t.Fatalf("%s: %d points of 15 s", cc, len(r.Points))
		}
		good, late := 0, 0
		for i, p := range r.Points {
			if i == 0 && p.TargetBps == 0 {
				p.TargetBps = sc.Limits.StartBps // looked at before the estimator was made
				r.Points[0] = p
			}
			if p.TargetBps < sc.Limits.MinBps || p.TargetBps > sc.Limits.MaxBps || p.CapacityBps != 3_000_000 || p.At != time.Duration(i)*100*time.Millisecond {
				t.Errorf("%s: %+v", cc, p)
			}
			good += p.GoodputBps / len(r.Points)
			if p.Playout > 0 {
				late++
			}
		}
		if good < 300_000 || late < 140 || r.Points[0].TargetBps != sc.Limits.StartBps {
			t.Errorf("%s: goodput %d bit/s, %d points with frames, the first target %d", cc, good, late, r.Points[0].TargetBps)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		job  Job
		want string
	}{
		{"unknown row", Job{Scenario: scenario(t, "const-3", time.Minute), CC: "gcc"}, "pion-leaky"},
		{"other class", Job{Scenario: scenario(t, "applimited-1", time.Minute), CC: Pion}, "const step trace backhaul rmcat"},
		{"bad parameter", Job{Scenario: scenario(t, "const-3", time.Minute), CC: Own, Params: badParams()}, "Beta"},
		{"too short", Job{Scenario: scenario(t, "const-3", time.Second), CC: Pion}, "warm-up"},
		{"bad cell", Job{Scenario: badCell(t), CC: Pion}, "path loss"},
	} {
		if _, err := Run(t, c.job); err == nil || !contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func badParams() (p sim.Params) {
	p.GBR.Beta = -1

	return p
}

func badCell(t *testing.T) sim.Scenario {
	sc := scenario(t, "const-3", 20*time.Second)
	sc.Cell.Path = cell.PathConfig{Loss: 2}

	return sc
}

// BenchmarkRun is a minute of a call.
func BenchmarkRun(b *testing.B) {
	for _, cc := range Names() {
		for _, name := range []string{"const-3", "const-8"} {
			b.Run(cc+"/"+name, func(b *testing.B) {
				p := NewPool() // a bubble wants a *testing.T, which a benchmark has none of
				defer p.Close()
				for b.Loop() {
					if _, err := p.Run(b.Context(), Job{Scenario: scenario(b, name, time.Minute), CC: cc, Seed: 1}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
