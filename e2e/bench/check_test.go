// SPDX-License-Identifier: MIT

package main

import (
	"strings"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

func TestBeats(t *testing.T) {
	for _, c := range []struct {
		goodput, p95 float64
		want         bool
	}{
		{1.2, 1, true},
		{1.2, 1.01, true},
		{1.2, 1.03, false}, // later
		{0.99, 0.8, true},
		{0.97, 0.8, false}, // less
		{0.99, 1.01, false},
		{1, 1, true}, // equal, within the tolerance
		{0.985, 1, false},
	} {
		if got := beats(c.goodput, c.p95) >= 0; got != c.want {
			t.Errorf("goodput x%g, p95 x%g: %v, want %v", c.goodput, c.p95, got, c.want)
		}
	}
}

// Thresholds tell what was measured, where, and on which side it is.
func TestCheck(t *testing.T) {
	run := func(scenario, class, cc string, goodput, p50 float64) record {
		return record{Result: sim.Result{Scenario: scenario, Class: class, CC: cc, GoodputMbps: goodput, PlayoutP50: p50, PlayoutP95: p50 + 10, OracleGoodput: 2, OraclePlayoutP50: 90, Flows: 1}}
	}
	var b strings.Builder
	if err := writeCheck(&b, []record{
		run("a", "trace", "gbrcc", 1.9, 120), run("a", "trace", "gcc", 1, 110), run("a", "trace", "causal", 1.8, 115),
		run("b", "trace", "gbrcc", 1.4, 100), run("b", "trace", "gcc", 1.5, 100), run("b", "trace", "causal", 1.8, 100),
		run("a", "trace", "causal-rate", 1.9, 140), run("b", "trace", "causal-rate", 1.2, 100),
	}, nil); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.SplitSeq(b.String(), "\n") {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"MISSED gbrcc trace goodput / clairvoyant's 0.82 >= 0.90 0.77 median of 2",
		"MISSED gbrcc trace goodput / clairvoyant's 0.70 >= 0.75 0.60 b, 1 of 2 miss it",
		"met gbrcc trace playout p50 - causal's, ms 2.50 <= 10.00 12.50 median of 2",
		"MISSED gbrcc trace goodput / better GCC's 0.93 >= 0.97 0.80 b, 1 of 2 miss it",
	} {
		if !lines[want] {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
	if !strings.Contains(b.String(), "5 missed (5 of them by the reference too)") {
		t.Errorf("who missed what is not counted in\n%s", b.String())
	}
}

// A threshold for which nothing was run is not met, and says so; a GCC that is
// starved shows; the medians of an alternative are not mixed scenario by scenario.
func TestCheckIsNotLax(t *testing.T) {
	run := func(scenario, class, cc string, r sim.Result) record {
		r.Scenario, r.Class, r.CC = scenario, class, cc
		if r.OracleGoodput == 0 {
			r.OracleGoodput = 4
		}

		return record{Result: r}
	}
	rate := func(g float64) sim.Result {
		return sim.Result{GoodputMbps: g, PlayoutP50: 90, PlayoutP95: 100, Flows: 1}
	}
	var records []record
	// In three of four scenarios one of the two is so, but neither in the median.
	for i, g := range []float64{3.7, 3.7, 2.9, 2.9} {
		name := string(rune('a' + i))
		gcc := []float64{3.6, 3.6, 1, 2.8}[i]
		records = append(records, run(name, "trace", "gbrcc", rate(g)), run(name, "trace", "gcc", rate(0.1)), run(name, "trace", "pion", rate(gcc)))
	}
	frozen := func(f float64) sim.Result {
		return sim.Result{GoodputMbps: 2, PlayoutP50: 100, PlayoutP95: 110, FreezeRatio: f, Flows: 1}
	}
	records = append(records,
		run("c1", "cell", "gbrcc", frozen(0.02)), run("c1", "cell", "gcc", frozen(0.04)), run("c1", "cell", "causal", frozen(0.019)), run("c1", "cell", "oracle", frozen(0)),
		run("c2", "cell", "gbrcc", sim.Result{GoodputMbps: 2, Flows: 1}), run("c2", "cell", "causal", frozen(0)),
		run("fairness-backhaul-gcc", "fairness", "gbrcc", sim.Result{GoodputMbps: 3, Flows: 2, FairShare: 1.8, FlowGoodputs: "main=3.600 gcc-1=0.400 <-back=9.000"}),
		run(stepName, "step", "gbrcc", sim.Result{SenderQueueMax: 100, RiseS: 1}),
	)
	records = append(records, run("random-cell-1", "random-cell", "gbrcc", frozen(0)), run("random-cell-1", "random-cell", "gcc", frozen(0)),
		run("random-cell-1", "random-cell", "causal", frozen(0)), run("random-cell-1", "random-cell", "oracle", frozen(0)))
	var b strings.Builder
	if err := writeCheck(&b, records, nil); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.SplitSeq(b.String(), "\n") {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"no case gbrcc random-cell where a GCC is near: frozen excess / theirs - <= 0.40 -",
		"MISSED gbrcc trace goodput / better GCC's / 1.5, or / clairvoyant's / 0.9 0.92 >= 1.00 - medians: x1.03 of the GCC's, 0.82 of the clairvoyant's",
		"MISSED gbrcc cell where a GCC is near: frozen excess / theirs 0.50 <= 0.40 - c1 (gcc), 1 of 1 miss it",
		"met gbrcc fairness, rmcat own share beside GCC and CUBIC 1.80 <= 2.00 - fairness-backhaul-gcc, worst of 1",
		"MISSED gbrcc fairness, rmcat least share of a GCC or CUBIC beside it 0.20 >= 0.50 - fairness-backhaul-gcc, 1 of 1 miss it",
		"not run gbrcc trace where a GCC is near: frozen excess / theirs - <= 0.40 -",
		"not run gbrcc step worst sender queue, ms - <= 150 - step-20-5-20, 1 of 12 phases",
		"MISSED gbrcc cell frozen - causal's, points 100 <= 1.50 - c2, 1 of 2 miss it",
	} {
		if !lines[want] {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
	for _, other := range []string{" gbrcc-budget", "telemetry"} {
		if strings.Contains(b.String(), other) {
			t.Errorf("thresholds of %s, which nobody has asked for", other)
		}
	}
}
