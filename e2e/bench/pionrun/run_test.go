// SPDX-License-Identifier: MIT

package pionrun

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
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

// Resends get through the pacers, and past SRTP's replay protection.
func TestLossIsRepaired(t *testing.T) {
	const loss = 0.02
	for _, cc := range Names() {
		sc := scenario(t, "const-8", 40*time.Second)
		sc.Cell.Path.Loss = loss
		// Left to itself Pion may send so few packets that their loss is a matter of luck.
		sc.Limits.StartBps, sc.Limits.MinBps = 3_000_000, 3_000_000
		r := run(t, sc, cc, 1)
		// Each is lost or not by itself: five sigma of as many as the goodput needs.
		packets := r.GoodputMbps * 1e6 / 8 * (sc.Duration - sc.Warmup).Seconds() / media.DefaultPayloadBytes
		if packets < 7500 {
			t.Errorf("%s: about %.0f packets are too few to tell", cc, packets)
		}
		within(t, cc+" loss", r.LossRatio, loss, 5*math.Sqrt(loss*(1-loss)/packets), "")
		// Those of the last 0.4 s may still be on their way, or asked for again.
		within(t, cc+" frames rendered", float64(r.FramesRendered)/float64(r.FramesSent), 0.9935, 0.0065, "")
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
