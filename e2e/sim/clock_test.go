// SPDX-License-Identifier: MIT

package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// Whatever is wrong with the times of telemetry, it costs next to nothing: any
// offset, any drift that a crystal has, and an agent that starts anew with another
// idea of the time.
func TestWrongClocks(t *testing.T) {
	const ms = time.Millisecond
	errors := map[string]sim.ClockError{}
	for _, d := range []time.Duration{-5 * time.Second, -200 * ms, -75 * ms, 33 * ms, 100 * ms, 240 * ms, 500 * ms, time.Hour} {
		errors[fmt.Sprintf("off by %v", d)] = sim.ClockError{Offset: d}
	}
	for _, ppm := range []float64{-200, 200} {
		errors[fmt.Sprintf("drift of %v ppm", ppm)] = sim.ClockError{DriftPPM: ppm}
	}
	for _, d := range []time.Duration{-time.Hour, -3 * time.Second, -250 * ms, -60 * ms, -20 * ms, 20 * ms, 60 * ms, 250 * ms, 3 * time.Second, time.Hour} {
		errors[fmt.Sprintf("step of %v", d)] = sim.ClockError{Offset: 40 * ms, Steps: []sim.ClockStep{{At: 15 * time.Second, Ahead: d}}}
	}
	// Medians of five seeds: how soon frames meet reports after a step is chance.
	median := func(sc sim.Scenario, cc string) (goodput, p95 float64) {
		var gs, ps []float64
		for seed := uint64(1); seed <= 5; seed++ {
			r := run(t, sc, cc, seed, sim.Options{})
			gs, ps = append(gs, r.GoodputMbps), append(ps, r.PlayoutP95)
		}
		slices.Sort(gs)
		slices.Sort(ps)

		return gs[2], ps[2]
	}
	for name, cc := range map[string]string{"const-8": "gbrcc", "synth-lte": "gbrcc-budget"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := scenario(t, name, 25*time.Second)
			gcc, gccP95 := median(sc, "gcc")
			right, rightP95 := median(sc, cc)
			for what, e := range errors {
				sc.TelemetryClock = e
				goodput, p95 := median(sc, cc)
				if goodput < 0.95*gcc || goodput < 0.75*right {
					t.Errorf("%s, telemetry's clock %s: %.2f Mbit/s; %.2f with a right one, gcc %.2f", cc, what, goodput, right, gcc)
				}
				if most := max(1.25*rightP95, gccP95); p95 > most {
					t.Errorf("%s, telemetry's clock %s: p95 %.0f ms, want %.0f at most", cc, what, p95, most)
				}
			}
		})
	}
}
