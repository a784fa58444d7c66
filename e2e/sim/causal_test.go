// SPDX-License-Identifier: MIT

package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// Knowing the past at once is worth goodput and latency against a controller
// that has it late and whose encoder follows a rate, and costs latency against
// knowing the future.
func TestCausalIsBetween(t *testing.T) {
	var theirs, bound, more, excess, share []float64
	for seed := uint64(1); seed <= 5; seed++ {
		sc := scenario(t, "synth-lte", 40*time.Second)
		r, c := run(t, sc, "gbrcc", seed, sim.Options{}), run(t, sc, "causal", seed, sim.Options{})
		frontier := frontier(t, sc, seed)
		c.SetOracle(frontier)
		more = append(more, c.GoodputMbps/r.GoodputMbps)
		theirs, bound = append(theirs, r.PlayoutP50), append(bound, c.PlayoutP50)
		excess = append(excess, c.PlayoutP50-c.OraclePlayoutAtGoodput)
		share = append(share, c.GoodputMbps/frontier[0].GoodputMbps)
	}
	for _, s := range [][]float64{theirs, bound, more, excess, share} {
		slices.Sort(s)
	}
	within(t, "goodput against gbrcc", more[2], 1.13, 0.12, "x")
	within(t, "playout p50 less than that of gbrcc", theirs[2]-bound[2], 18, 12, "ms")
	within(t, "playout p50 beyond the clairvoyant's at the same goodput", excess[2], 20, 12, "ms")
	within(t, "goodput against the clairvoyant", share[2], 0.93, 0.06, "x")
}

// What no one can know helps: the frontier is above the causal bound wherever
// the link does not change its mind behind the radio.
func TestCausalIsBelowTheFrontier(t *testing.T) {
	// Links alone: what others do beside a call, neither knows.
	scenarios, err := sim.Select("const-3,const-8,step-8-2-8,step-3-1-3,synth-lte,backhaul-3,backhaul-3-late,applimited-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range scenarios {
		sc.Duration = 30 * time.Second
		c := run(t, sc, "causal", 1, sim.Options{})
		most := 0.0
		for _, o := range frontier(t, sc, 1) {
			most = max(most, o.GoodputMbps)
		}
		if c.GoodputMbps > 1.01*most || c.GoodputMbps < 0.75*most {
			t.Errorf("%s: %.2f Mbit/s, want 0.75 to 1.01 of the clairvoyant's %.2f", sc.Name, c.GoodputMbps, most)
		}
		within(t, sc.Name+": queue", c.SenderQueueP95, 46, 14, "ms")
	}
}

func frontier(t *testing.T, sc sim.Scenario, seed uint64) []sim.Result {
	t.Helper()
	var f []sim.Result
	for _, h := range []int{33, 50, 66, 100} {
		r, err := sim.Run(sc, "oracle", seed, sim.Params{Horizon: time.Duration(h) * time.Millisecond}, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f = append(f, r)
	}

	return f
}
