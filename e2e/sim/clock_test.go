// SPDX-License-Identifier: MIT

package sim_test

import (
	"fmt"
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
	for name, cc := range map[string]string{"const-8": "gbrcc", "synth-lte": "gbrcc-budget"} {
		sc := scenario(t, name, 25*time.Second)
		gcc, right := run(t, sc, "gcc", 1, sim.Options{}), run(t, sc, cc, 1, sim.Options{})
		for what, e := range errors {
			sc.TelemetryClock = e
			r := run(t, sc, cc, 1, sim.Options{})
			if r.GoodputMbps < 0.95*gcc.GoodputMbps || r.GoodputMbps < 0.75*right.GoodputMbps {
				t.Errorf("%s, %s, telemetry's clock %s: %.2f Mbit/s; %.2f with a right one, gcc %.2f", name, cc, what, r.GoodputMbps, right.GoodputMbps, gcc.GoodputMbps)
			}
			if most := max(1.25*right.PlayoutP95, gcc.PlayoutP95); r.PlayoutP95 > most {
				t.Errorf("%s, %s, telemetry's clock %s: p95 %.0f ms, want %.0f at most", name, cc, what, r.PlayoutP95, most)
			}
		}
	}
}
