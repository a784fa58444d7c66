// SPDX-License-Identifier: MIT

package main

import (
	"strings"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// Medians over a class are of its scenarios, whatever the seeds; what was not run
// is left out; rows are what there is more of.
func TestClasses(t *testing.T) {
	run := func(scenario, class, cc, params string, goodput, p50 float64) record {
		return record{Result: sim.Result{Scenario: scenario, Class: class, CC: cc, GoodputMbps: goodput, PlayoutP50: p50, PlayoutP95: p50 + 10, OracleGoodput: 2, FreezeRatio: 0.01 * (p50 - 100)}, Params: params}
	}
	records := []record{
		run("a", "trace", "gbrcc", "", 1, 100), run("a", "trace", "gbrcc", "", 1.2, 100), run("a", "trace", "gbrcc", "", 9, 100),
		run("b", "trace", "gbrcc", "", 1.6, 102), run("c", "trace", "gbrcc", "", 2, 104), run("c", "trace", "gcc", "", 0.5, 100),
		run("d", "step", "gbrcc", "", 3, 100),
	}
	table := func(records []record) string {
		var b strings.Builder
		if err := writeClasses(&b, records, []failure{{Scenario: "e", CC: "pion", Error: "no"}}); err != nil {
			t.Fatal(err)
		}

		return b.String()
	}
	want := "| class | gbrcc | gcc |\n|---|---|---|\n| trace (3) | 0.80 / 102 / 112 / 2.0 % | 0.25 / 100 / 110 |\n| step (1) | 1.50 / 100 / 110 |  |\n"
	if got := table(records); !strings.HasPrefix(got, want) || !strings.Contains(got, "Failed: e, pion") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// More variants than classes: they are the rows.
	records = append(records, run("a", "trace", "gbrcc", "without=path", 1, 100))
	want = "| algorithm | trace (3) | step (1) |\n|---|---|---|\n| gbrcc | 0.80 / 102 / 112 / 2.0 % | 1.50 / 100 / 110 |\n| gcc | 0.25 / 100 / 110 |  |\n| gbrcc without=path | 0.50 / 100 / 110 |  |\n"
	if got := table(records); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A row's best is marked, whichever way is better, and differences that are not
// shown have no shade.
func TestShades(t *testing.T) {
	text := func(cells []heatCell) string {
		var b strings.Builder
		for _, c := range cells {
			b.WriteString(c.Text)
			if c.Best {
				b.WriteString("*")
			}
			b.WriteString(" " + number(float64(c.Shade)) + " ")
		}

		return b.String()
	}
	for _, c := range []struct {
		values []float64
		more   bool
		want   string
	}{
		{[]float64{50, 100, 75}, true, "50 0 100* 100 75 50 "},
		{[]float64{50, 100, 75}, false, "50* 100 100 0 75 50 "},
		{[]float64{1.1, 1.2}, true, "1 0 1 0 "},
	} {
		if got := text(shades(c.values, "%.0f", c.more)); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

// What is swept by name is written by name, and "each" is every one.
func TestNamedValues(t *testing.T) {
	sw, err := parseSweep("without=each")
	if err != nil || len(sw.values) < 8 || sw.values[0] != 0 || sw.values[1] != 1 {
		t.Errorf("%v, %v", sw.values, err)
	}
	for text, want := range map[string]string{
		"without=none": "without=none", "without=path+correction": "without=correction+path", "bsr_table=nr-short": "bsr_table=nr-short", "bsr_ms=10": "bsr_ms=10",
	} {
		if s, err := parseSetting(text); err != nil || s.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, s, err, want)
		}
	}
}
