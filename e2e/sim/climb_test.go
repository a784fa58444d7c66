// SPDX-License-Identifier: MIT

package sim_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// How soon a faster radio is used: at once by who does not care, in the queue that
// has waited for it not at all, never by who has no use for it.
func TestRise(t *testing.T) {
	for name, want := range map[string]sim.Rise{
		"step-8-2-8": {At: 40 * time.Second, Bps: 8e6}, "step-10x": {At: 25 * time.Second, Bps: 10e6}, "const-3": {},
	} {
		if got := scenario(t, name, time.Minute).Rise; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	sc := scenario(t, "step-3-1-3", time.Minute)
	rise := func(cc string, seed uint64, bps int) float64 {
		r, err := sim.Run(sc, cc, seed, sim.Params{FixedBps: bps}, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}

		return r.RiseS
	}
	for seed := uint64(1); seed <= 3; seed++ {
		// 0.9 Mbit/s fits at all times, so nothing waits; a window and the way are the least.
		sc.Rise.Bps = 900_000
		within(t, "nothing to climb", rise("fixed", seed, 900_000), 0.26, 0.08, "s")
		sc.Rise.Bps = 3_000_000
		within(t, "never", rise("fixed", seed, 900_000), 19.4, 0.65, "s")
	}
	// 15 s of 0.9 Mbit/s too much have piled up: they come first, at 3 Mbit/s.
	if got := rise("fixed", 1, 2_800_000); got < 1 {
		t.Errorf("%.1f s after the leap the queue that had waited is taken for use", got)
	}
	within(t, "gbrcc", rise("gbrcc", 1, 0), 1, 0.7, "s")
}
