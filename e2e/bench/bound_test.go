// SPDX-License-Identifier: MIT

package main

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// The family is policies that differ, with parameters that exist.
func TestFamily(t *testing.T) {
	scs, err := sim.Select("const-3")
	if err != nil {
		t.Fatal(err)
	}
	sc := scs[0]
	for _, cc := range []string{"causal", "causal-rate"} {
		names := map[string]bool{cc: true}
		for i, v := range family(cc) {
			if v.label != familyMembers()[i] {
				t.Errorf("%q is kept as %q", familyMembers()[i], v.label)
			}
			if names[v.name()] || v.params == (sim.Params{}) {
				t.Errorf("%s is there twice, or is the reference itself", v.name())
			}
			names[v.name()] = true
			if err := sim.Check(sc, cc, v.params); err != nil {
				t.Error(err)
			}
		}
		if n := len(names); n < 8 || n > 12 {
			t.Errorf("%d policies, want 8 to 12: enough to tell, few enough to wait for", n)
		}
	}
	if _, err := parse([]string{"-bound"}, io.Discard); err == nil {
		t.Error("-bound without -check is taken")
	}
	o, err := parse([]string{"-check", "-bound", "-seeds", "1"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	members := 0
	for _, j := range o.plan([]sim.Scenario{sc}) {
		if knowsPast(j.variant.cc) {
			members++
		}
	}
	if want := 2 * (1 + len(familyMembers())); members != want {
		t.Errorf("%d runs of policies that know the past, want %d", members, want)
	}
}

// The best of the family is shown: of those with what goes with the figure, and
// never worse than the reference where that has it.
func TestBound(t *testing.T) {
	run := func(cc, params string, goodput, p50 float64) record {
		return record{Result: sim.Result{
			Scenario: "a", Class: "trace", CC: cc, GoodputMbps: goodput, PlayoutP50: p50, PlayoutP95: p50 + 10,
			SenderQueueP95: p50 / 2, OracleGoodput: 2, OraclePlayoutP50: 90, Flows: 1,
		}, Params: params}
	}
	base := []record{run("gbrcc", "", 1.9, 240), run("gcc", "", 1, 110), run("causal", "", 1.8, 200)}
	for _, c := range []struct {
		members []record
		want    []string
	}{
		// Who uses too little does not count, however early.
		{
			[]record{run("causal-rate", "", 1.85, 230), run("causal-rate", "past_share=0.5", 1, 95), run("causal-rate", "past_queue_ms=10", 1.9, 220)},
			[]string{
				"MISSED gbrcc trace playout p50 - clairvoyant's, ms 150 <= 100 130 a, 1 of 1 miss it past_queue_ms=10 0.90 of the clairvoyant's goodput",
				"met gbrcc trace goodput / clairvoyant's 0.95 >= 0.90 0.95 median of 1 past_queue_ms=10",
				"MISSED gbrcc trace sender queue p95, ms (2.5 x 20) 120 <= 50.00 110 median of 1 past_queue_ms=10 0.90 of the clairvoyant's goodput",
			},
		},
		// What is worse than the reference does not make it worse.
		{
			[]record{run("causal-rate", "past_queue_ms=40", 1.8, 300), run("causal-rate", "", 1.85, 180)},
			[]string{"MISSED gbrcc trace playout p50 - clairvoyant's, ms 150 <= 100 90.00 a, 1 of 1 miss it itself 0.90 of the clairvoyant's goodput"},
		},
		// None keeps what is wanted at the same time.
		{
			[]record{run("causal-rate", "past_queue_ms=40", 1.2, 100), run("causal-rate", "", 1.1, 100)},
			[]string{"MISSED gbrcc trace playout p50 - clairvoyant's, ms 150 <= 100 - a, 1 of 1 miss it none 0.90 of the clairvoyant's goodput"},
		},
	} {
		var b strings.Builder
		if err := writeCheck(&b, append(append([]record(nil), base...), c.members...), nil); err != nil {
			t.Fatal(err)
		}
		lines := map[string]bool{}
		for line := range strings.SplitSeq(b.String(), "\n") {
			lines[strings.Join(strings.Fields(line), " ")] = true
		}
		for _, want := range c.want {
			if !lines[want] {
				t.Errorf("no line %q in\n%s", want, b.String())
			}
		}
		if !strings.Contains(b.String(), "the best of "+string(rune('0'+len(c.members)))+" policies") {
			t.Errorf("the legend does not say how many policies there are in\n%s", b.String())
		}
	}
}

// A fair flow's largest goodput is where the Jain index, or what it leaves others,
// is just enough; no division of the same total gives it more.
func TestFairMost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 2; n <= 5; n++ {
		ownMost, besideMost := fairMost(1, n, true), fairMost(1, n, false)
		rest := (1 - ownMost) / float64(n-1)
		if jain := 1 / (float64(n) * (ownMost*ownMost + float64(n-1)*rest*rest)); jain < 0.8999 || jain > 0.9001 {
			t.Errorf("%d flows: index %.4f, want %g", n, jain, leastJain)
		}
		own, beside := 0.0, 0.0 // the most that was found
		for range 200_000 {
			x := make([]float64, n)
			sum, squares, least := 0.0, 0.0, 1.0
			// Around what is extreme, so that it is nearly found.
			for i := range x {
				x[i] = 0.5 + 0.1*r.Float64()
			}
			x[0] = 0.5 + 2.5*r.Float64()
			for i := range x {
				sum += x[i]
			}
			for i := range x {
				x[i] /= sum
				squares += x[i] * x[i]
				if i > 0 {
					least = min(least, x[i])
				}
			}
			if 1/(float64(n)*squares) >= leastJain {
				own = max(own, x[0])
			}
			if x[0]*float64(n) <= mostOwn && least*float64(n) >= leastShare {
				beside = max(beside, x[0])
			}
		}
		if own > ownMost+1e-9 || own < 0.97*ownMost {
			t.Errorf("%d flows: %.4f of all beside its own kind, want just under %.4f", n, own, ownMost)
		}
		if beside > besideMost+1e-9 || beside < 0.97*besideMost {
			t.Errorf("%d flows: %.4f of all beside others, want just under %.4f", n, beside, besideMost)
		}
	}
}

// A law that takes nearly all cannot be beaten by a fair one; one that is fair can.
func TestContradiction(t *testing.T) {
	run := func(scenario, cc string, goodput float64, flows string) record {
		return record{Result: sim.Result{
			Scenario: scenario, Class: "fairness", CC: cc, GoodputMbps: goodput, PlayoutP50: 90, PlayoutP95: 100,
			OracleGoodput: 4, Flows: 2, JainIndex: 1, FlowGoodputs: flows,
		}}
	}
	var b strings.Builder
	if err := writeCheck(&b, []record{
		run("fairness-x", "gbrcc", 1.9, "main=1.900 gbrcc-1=1.900"), run("fairness-x", "seed", 3.6, "main=3.600 seed-1=0.200"),
		run("fairness-x", "published-rtc", 2, "main=2.000 published-rtc-1=1.700"),
		run("fairness-gcc", "gbrcc", 1.9, "main=1.900 gcc-1=1.900 <-back=9.000"), run("fairness-gcc", "seed", 3.6, "main=3.600 gcc-1=0.200"),
		run("fairness-gcc", "published-rtc", 2, "main=2.000 gcc-1=1.700"),
	}, nil); err != nil {
		t.Fatal(err)
	}
	// Of 3.8: two thirds beside one's own, three quarters beside another.
	want := "contradiction: fairness beats seed (distance at most -0.23)"
	if !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "at most x0.75 of its goodput in the median of 2, x0.70 to x0.79") {
		t.Errorf("no %q in\n%s", want, b.String())
	}
	if strings.Contains(b.String(), "beats published-rtc (distance at most") {
		t.Errorf("a fair law is no contradiction:\n%s", b.String())
	}
}
