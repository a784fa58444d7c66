// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// classFigures are one variant over the scenarios of one class: medians over the
// scenarios of medians over the seeds.
type classFigures struct {
	class   string
	variant variant
	// goodput is a share of the clairvoyant's; latencies are in ms; frozen is a
	// share of the time.
	goodput, p50, p95, frozen float64
	scenarios                 int
}

// cell is how tables show it: goodput, p50, p95, and frozen time where there is
// any.
func (f classFigures) cell() string {
	text := fmt.Sprintf("%.2f / %.0f / %.0f", f.goodput, f.p50, f.p95)
	if f.frozen >= 0.0005 {
		text += fmt.Sprintf(" / %.1f %%", 100*f.frozen)
	}

	return text
}

// classTable is all classes and variants that were run, in their order.
type classTable struct {
	classes  []string
	counts   map[string]int
	variants []variant
	figures  map[string]classFigures // by class and variant's name
}

func (t classTable) at(class string, v variant) (classFigures, bool) {
	f, ok := t.figures[class+"|"+v.name()]

	return f, ok
}

// byClass sums records up. A scenario without a variant is left out of it: the
// rows of the real stack do not run everywhere, and then their medians are over
// fewer.
func byClass(records []record) classTable {
	t := classTable{counts: map[string]int{}, figures: map[string]classFigures{}}
	classOf := map[string]string{}
	runs := map[string]map[string][]record{} // by variant and scenario
	var scenarios []string
	for _, r := range records {
		if !slices.Contains(t.classes, r.Class) {
			t.classes = append(t.classes, r.Class)
		}
		if _, ok := classOf[r.Scenario]; !ok {
			classOf[r.Scenario] = r.Class
			scenarios = append(scenarios, r.Scenario)
			t.counts[r.Class]++
		}
		name := r.variant().name()
		if runs[name] == nil {
			runs[name] = map[string][]record{}
			t.variants = append(t.variants, r.variant())
		}
		runs[name][r.Scenario] = append(runs[name][r.Scenario], r)
	}
	for _, v := range t.variants {
		for _, class := range t.classes {
			f := classFigures{class: class, variant: v}
			for _, m := range []struct {
				to  *float64
				get metric
			}{
				{&f.goodput, func(r sim.Result) float64 { return over(r.GoodputMbps, r.OracleGoodput) }},
				{&f.p50, playoutP50},
				{&f.p95, playoutP95},
				{&f.frozen, func(r sim.Result) float64 { return r.FreezeRatio }},
			} {
				var mids []float64
				for _, s := range scenarios {
					if rs := runs[v.name()][s]; classOf[s] == class && len(rs) > 0 {
						mids = append(mids, medianOf(rs, m.get))
					}
				}
				if f.scenarios = len(mids); f.scenarios > 0 {
					slices.Sort(mids)
					*m.to = median(mids)
				}
			}
			if f.scenarios > 0 {
				t.figures[class+"|"+v.name()] = f
			}
		}
	}

	return t
}

func medianOf(rs []record, m metric) float64 {
	vs := make([]float64, len(rs))
	for i, r := range rs {
		vs[i] = m(r.Result)
	}
	slices.Sort(vs)

	return median(vs)
}

// writeClasses is a table in Markdown: a row for each class, or, where there are
// more variants than classes, for each variant.
func writeClasses(w io.Writer, records []record, failed []failure) error {
	t := byClass(records)
	class := func(c string) string { return fmt.Sprintf("%s (%d)", c, t.counts[c]) }
	var grid [][]string
	if len(t.variants) > len(t.classes) {
		head := []string{"algorithm"}
		for _, c := range t.classes {
			head = append(head, class(c))
		}
		grid = append(grid, head)
		for _, v := range t.variants {
			row := []string{v.name()}
			for _, c := range t.classes {
				row = append(row, t.text(c, v))
			}
			grid = append(grid, row)
		}
	} else {
		head := []string{"class"}
		for _, v := range t.variants {
			head = append(head, v.name())
		}
		grid = append(grid, head)
		for _, c := range t.classes {
			row := []string{class(c)}
			for _, v := range t.variants {
				row = append(row, t.text(c, v))
			}
			grid = append(grid, row)
		}
	}
	var b strings.Builder
	for i, row := range grid {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	b.WriteString("\nGoodput as a share of the clairvoyant's / playout latency p50 / p95 in ms / frozen time where there is any; " +
		"medians over the class's scenarios of medians over the seeds.\n")
	for _, f := range failed {
		fmt.Fprintf(&b, "\nFailed: %s\n", f)
	}
	_, err := io.WriteString(w, b.String())

	return err
}

func (t classTable) text(class string, v variant) string {
	f, ok := t.at(class, v)
	if !ok {
		return ""
	}

	return f.cell()
}

// classMaps are an algorithm's heat maps over the values of one key and the
// classes. Each row has shades of its own: classes differ by nature.
func classMaps(o options, cc string, axis sweep, t classTable) []heatMap {
	var maps []heatMap
	for _, m := range []struct {
		title string
		get   func(classFigures) float64
		show  string
		more  bool // is better
	}{
		{"goodput, % of the clairvoyant's", func(f classFigures) float64 { return 100 * f.goodput }, "%.0f", true},
		{"playout p50, ms", func(f classFigures) float64 { return f.p50 }, "%.0f", false},
		{"playout p95, ms", func(f classFigures) float64 { return f.p95 }, "%.0f", false},
		{"frozen, %", func(f classFigures) float64 { return 100 * f.frozen }, "%.1f", false},
	} {
		h := heatMap{Title: m.title, Across: axis.param.key, Down: "class"}
		for _, v := range axis.values {
			h.Columns = append(h.Columns, axis.param.word(v))
		}
		for _, class := range t.classes {
			var values []float64
			for _, v := range o.variants(cc) {
				if f, ok := t.at(class, v); ok {
					values = append(values, m.get(f))
				}
			}
			if len(values) != len(axis.values) {
				continue // a row with holes
			}
			h.Rows = append(h.Rows, heatRow{class, shades(values, m.show, m.more)})
		}
		if len(h.Rows) > 0 {
			maps = append(maps, h)
		}
	}

	return maps
}

// shades are a row's cells, without any where all are shown the same.
func shades(values []float64, show string, more bool) []heatCell {
	worst, best := slices.Max(values), slices.Min(values)
	if more {
		worst, best = best, worst
	}
	var cells []heatCell
	for _, v := range values {
		c := heatCell{Text: fmt.Sprintf(show, v)}
		if top := fmt.Sprintf(show, best); top != fmt.Sprintf(show, worst) {
			c.Best, c.Shade = c.Text == top, int(100*(v-worst)/(best-worst))
		}
		cells = append(cells, c)
	}

	return cells
}
