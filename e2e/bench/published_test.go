// SPDX-License-Identifier: MIT

package main

import (
	"strings"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// Changes are medians over the scenarios that both ran in; time frozen is what the
// clairvoyant has not got, of all scenarios together.
func TestPublished(t *testing.T) {
	run := func(scenario, cc string, goodput, p50, froze float64) record {
		return record{Result: sim.Result{Scenario: scenario, Class: "trace", CC: cc, GoodputMbps: goodput, PlayoutP50: p50, PlayoutP95: 2 * p50, FreezeRatio: froze, OracleGoodput: 3}}
	}
	var b strings.Builder
	if err := writeCheck(&b, []record{
		run("a", "gbrcc", 2, 90, 0.01), run("a", "gcc", 1, 100, 0.03), run("a", "oracle", 3, 80, 0.01),
		run("b", "gbrcc", 3, 120, 0.02), run("b", "gcc", 2, 100, 0.02), run("b", "oracle", 3, 80, 0),
		run("c", "gbrcc", 3, 80, 0), run("c", "gcc", 3, 100, 0), run("c", "oracle", 3, 80, 0),
		run("d", "gbrcc", 9, 10, 0), // nobody to compare with
	}, nil); err != nil {
		t.Fatal(err)
	}
	want := "gcc gbrcc trace +50 % -10 % -10 % -50 % (of 4.00 points)"
	if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}
