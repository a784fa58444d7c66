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
	} {
		if got := beats(c.goodput, c.p95, 0.02) >= 0; got != c.want {
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
	}, nil); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.SplitSeq(b.String(), "\n") {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"MISSED gbrcc trace goodput / clairvoyant's 0.82 >= 0.90 median of 2",
		"MISSED gbrcc trace goodput / clairvoyant's 0.70 >= 0.75 b, 1 of 2 miss it",
		"met gbrcc trace playout p50 - causal's, ms 2.50 <= 10.00 median of 2",
		"MISSED gbrcc trace goodput / better GCC's 0.93 >= 0.97 b, 1 of 2 miss it",
	} {
		if !lines[want] {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
}
