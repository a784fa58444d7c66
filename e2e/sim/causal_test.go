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

// What no one can know helps: the frontier is above the causal bound, all over the
// catalogue. How far depends on how much a cell changes from frame to frame. The
// telemetry is nothing that either listens to: one scenario stands for its class.
func TestCausalIsBelowTheFrontier(t *testing.T) {
	for _, sc := range sim.Catalogue() {
		sc.Duration, sc.Warmup = 12*time.Second, 4*time.Second
		if sc.From > sc.Warmup || sc.Class == "telemetry" && sc.Name != "telemetry-t-20" {
			continue
		}
		ahead, err := sim.Foresee(sc, 1)
		if err != nil {
			t.Fatal(err)
		}
		opts := sim.Options{Foresight: ahead}
		c := run(t, sc, "causal", 1, opts)
		most := 0.0
		for _, h := range []time.Duration{33 * time.Millisecond, 100 * time.Millisecond} {
			r, err := sim.Run(sc, "oracle", 1, sim.Params{Horizon: h}, opts)
			if err != nil {
				t.Fatal(err)
			}
			plausible(t, sc, r)
			most = max(most, r.GoodputMbps)
		}
		plausible(t, sc, c)
		least := 0.6
		if sc.Class == "const" || sc.Class == "step" || sc.Class == "backhaul" {
			least = 0.75
		}
		if c.GoodputMbps > 1.01*most || c.GoodputMbps < least*most {
			t.Errorf("%s: %.2f Mbit/s, want %g to 1.01 of the clairvoyant's %.2f", sc.Name, c.GoodputMbps, least, most)
		}
		if sc.Class == "const" {
			within(t, sc.Name+": queue", c.SenderQueueP95, 46, 14, "ms")
		}
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

// What knows the past but has to tell its encoder a rate, 20 ms before and within
// 15 %, is later than what gives each frame its bytes, and has as much; without lag
// and noise it hardly is.
func TestCausalRate(t *testing.T) {
	for _, name := range []string{"const-3", "synth-lte"} {
		s := scenario(t, name, 30*time.Second)
		budget := run(t, s, "causal", 1, sim.Options{})
		rate := run(t, s, "causal-rate", 1, sim.Options{})
		within(t, name+": goodput", rate.GoodputMbps/budget.GoodputMbps, 1, 0.08, "of causal's")
		within(t, name+": playout p50", rate.PlayoutP50-budget.PlayoutP50, 20, 15, "ms above causal's")
		s.Source.Lag, s.Source.Noise = -1, 0
		exact := run(t, s, "causal-rate", 1, sim.Options{})
		within(t, name+": playout p50 of an encoder that obeys at once", exact.PlayoutP50-budget.PlayoutP50, 2, 6, "ms above causal's")
	}
}

// What is known late is known of another radio: the queue in front of it is longer.
func TestCausalLate(t *testing.T) {
	sc := scenario(t, "synth-lte", 30*time.Second)
	queue := func(age time.Duration) float64 {
		var sum float64
		for seed := uint64(1); seed <= 3; seed++ {
			r, err := sim.Run(sc, "causal", seed, sim.Params{Age: age}, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			plausible(t, sc, r)
			sum += r.SenderQueueP95 / 3
		}

		return sum
	}
	at, late := queue(0), queue(12*time.Millisecond)
	within(t, "sender queue p95 more, 12 ms late", late-at, 4, 3, "ms")
	if err := sim.Check(sc, "causal", sim.Params{Age: -time.Millisecond}); err == nil {
		t.Error("the causal sender takes a negative age")
	}
	if _, err := sim.Run(sc, "causal", 1, sim.Params{Age: 40 * time.Millisecond}, sim.Options{}); err == nil {
		t.Error("the causal sender takes an age of more than a frame")
	}
}
