// SPDX-License-Identifier: MIT

package sim_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

func observe(t *testing.T, sc sim.Scenario, cc string, every time.Duration) (sim.Result, []sim.Point) {
	t.Helper()
	var points []sim.Point
	r := run(t, sc, cc, 1, sim.Options{ObserveEvery: every, Observe: func(p sim.Point) { points = append(points, p) }})

	return r, points
}

// Looking does not change what is looked at.
func TestObservingChangesNothing(t *testing.T) {
	sc := scenario(t, "synth-lte", 20*time.Second)
	for _, cc := range []string{"gbrcc", "gcc", "causal"} {
		want := run(t, sc, cc, 1, sim.Options{})
		for _, every := range []time.Duration{time.Millisecond, 70 * time.Millisecond, time.Minute} {
			got, points := observe(t, sc, cc, every)
			if got != want {
				t.Errorf("%s, looked at every %v:\n%+v\nalone:\n%+v", cc, every, got, want)
			}
			if n := int((sc.Duration + every - 1) / every); len(points) != n {
				t.Errorf("%s: %d points every %v, want %d", cc, len(points), every, n)
			}
		}
	}
}

// The points add up to the result.
func TestPoints(t *testing.T) {
	// An outage of 2 s that a fixed rate runs into.
	sc := scenario(t, "const-3", 30*time.Second)
	sc.Trace = func(uint64, time.Duration) cell.Trace {
		return cell.Steps(cell.Step{Bps: 3_000_000, For: 15 * time.Second},
			cell.Step{Bps: 0, For: 2 * time.Second}, cell.Step{Bps: 3_000_000, For: 13 * time.Second})
	}
	r, points := observe(t, sc, "fixed", 100*time.Millisecond)
	var queue, playout, frozen, goodput float64
	for i, p := range points {
		if p.At != time.Duration(i)*100*time.Millisecond {
			t.Fatalf("point %d is at %v", i, p.At)
		}
		wantCapacity := 3.0
		if p.At >= 15*time.Second && p.At < 17*time.Second {
			wantCapacity = 0
		}
		within(t, "capacity", float64(p.CapacityBps)/1e6, wantCapacity, 0.01, "Mbit/s")
		within(t, "target", float64(p.TargetBps)/1e6, 2, 0, "Mbit/s")
		if p.At < sc.Warmup {
			continue
		}
		queue, playout = max(queue, p.PhoneDelay.Seconds()*1000), max(playout, p.Playout.Seconds()*1000)
		frozen += p.Frozen.Seconds()
		goodput += float64(p.GoodputBps) / 1e6 / 10 / 20
	}
	within(t, "longest time in the phone", queue, r.UEQueueMax, 0.001, "ms")
	within(t, "longest playout latency", playout, 2100, 100, "ms")
	within(t, "goodput", goodput, r.GoodputMbps, 0.01, "Mbit/s")
	within(t, "frozen time", frozen, r.FreezeRatio*20, 0.1, "s")
	if r.FreezeCount == 0 {
		t.Error("no freeze in the outage")
	}
}

// A run that ends frozen says so over time too.
func TestPointsOfALastFreeze(t *testing.T) {
	sc := scenario(t, "const-3", 30*time.Second)
	sc.Trace = func(uint64, time.Duration) cell.Trace {
		return cell.Steps(cell.Step{Bps: 3_000_000, For: 25 * time.Second}, cell.Step{Bps: 0, For: 5 * time.Second})
	}
	_, points := observe(t, sc, "fixed", 100*time.Millisecond)
	within(t, "frozen in the last interval", points[len(points)-1].Frozen.Seconds(), 0.1, 0.001, "s")
	within(t, "frozen at 20 s", points[200].Frozen.Seconds(), 0, 0, "s")
}
