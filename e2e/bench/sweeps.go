// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"slices"
)

// sweepFigure is what one algorithm does in one scenario over the values of one
// key (curves, drawn by the script) or two (heat maps).
type sweepFigure struct {
	CC, Scenario string // "" for all classes
	Keys         []string
	Docs         []string
	ID           string    // of the curves
	Maps         []heatMap // of two keys, or of one and the classes
	Wide         bool      // they need the page's width
}

// heatMap has the first key's values from left to right, the second's from top
// to bottom.
type heatMap struct {
	Title, Across, Down string
	Columns             []string
	Rows                []heatRow
}

type heatRow struct {
	Head  string
	Cells []heatCell
}

// heatCell has a shade from 0, the worst, to 100, the best.
type heatCell struct {
	Text  string
	Shade int
	Best  bool
}

// curveChart is figures over the values of one key.
type curveChart struct {
	ID     string    `json:"id"`
	Key    string    `json:"key"`
	Values []float64 `json:"values"`
	Panels []panel   `json:"panels"`
}

type panel struct {
	Title string  `json:"title"`
	Lines []curve `json:"lines"`
}

type curve struct {
	Name  string       `json:"name"`
	Color string       `json:"color"`
	Y     [][3]float64 `json:"y"` // low, median, high
}

// Names of figures that the report picks out of the table.
const (
	goodputFigure = "goodput Mbit/s"
	playoutFigure = "playout p50 ms"
	p95Figure     = "p95 ms"
	frozenFigure  = "frozen %"
)

// figure finds a figure by its name.
func (r row) figure(name string) figure {
	for _, f := range r.figures {
		if f.name == name {
			return f
		}
	}

	return figure{}
}

// spread is a figure's low, median and high, as shown.
func (f figure) spread() [3]float64 {
	scale := 1.0
	if f.percentages {
		scale = 100
	}

	return [3]float64{round(scale*f.low, 3), round(scale*f.median, 3), round(scale*f.high, 3)}
}

// classSweeps makes the figures over classes of everything that is swept over one
// key.
func classSweeps(o options, records []record) []sweepFigure {
	var figures []sweepFigure
	t := byClass(records)
	for _, cc := range o.cc {
		axes := o.axes(cc)
		if len(axes) != 1 {
			continue
		}
		if maps := classMaps(o, cc, axes[0], t); len(maps) > 0 {
			figures = append(figures, sweepFigure{CC: cc, Keys: []string{axes[0].param.key}, Docs: []string{axes[0].param.doc}, Maps: maps, Wide: len(axes[0].values) > 4})
		}
	}

	return figures
}

// axes are the keys that are swept for an algorithm.
func (o options) axes(cc string) []sweep {
	var axes []sweep
	for _, sw := range o.sweeps {
		if sw.param.of(cc) {
			axes = append(axes, sw)
		}
	}

	return axes
}

// sweeps makes the figures of everything that is swept over one or two keys.
// More have no picture; the tables show them.
func sweeps(o options, scenarios []reportScenario, medians []row) ([]sweepFigure, []curveChart) {
	var figures []sweepFigure
	var charts []curveChart
	for _, cc := range o.cc {
		axes := o.axes(cc)
		// Names have no place on an axis; their figure is the one over classes.
		if len(axes) == 0 || len(axes) > 2 || slices.ContainsFunc(axes, func(a sweep) bool { return len(axes) == 1 && a.param.named() }) {
			continue
		}
		for _, s := range scenarios {
			if !s.whole(o.variants(cc), medians) {
				continue
			}
			f := sweepFigure{CC: cc, Scenario: s.Name}
			for _, a := range axes {
				f.Keys, f.Docs = append(f.Keys, a.param.key), append(f.Docs, a.param.doc)
			}
			at := func(values ...float64) row {
				label := ""
				for _, v := range o.variants(cc) {
					if slices.Equal(v.swept, values) {
						label = v.label
					}
				}
				i := slices.IndexFunc(medians, func(r row) bool { return r.scenario == s.Name && r.cc == cc && r.params == label })

				return medians[i]
			}
			if len(axes) == 1 {
				f.ID = fmt.Sprintf("curve%d", len(charts)+1)
				charts = append(charts, curves(f.ID, axes[0], at))
			} else {
				f.Maps = heatMaps(axes[0], axes[1], at)
			}
			figures = append(figures, f)
		}
	}

	return figures, charts
}

// whole tells whether all variants have medians: a grid with holes has no picture.
func (s reportScenario) whole(vs []variant, medians []row) bool {
	for _, v := range vs {
		if !slices.ContainsFunc(medians, func(r row) bool { return r.scenario == s.Name && r.cc == v.cc && r.params == v.label }) {
			return false
		}
	}

	return true
}

func curves(id string, sw sweep, at func(...float64) row) curveChart {
	c := curveChart{ID: id, Key: sw.param.key, Values: slices.Sorted(slices.Values(sw.values))}
	line := func(name, color, fig string) curve {
		l := curve{Name: name, Color: color}
		for _, v := range c.Values {
			l.Y = append(l.Y, at(v).figure(fig).spread())
		}

		return l
	}
	c.Panels = []panel{
		{"goodput, Mbit/s", []curve{line("goodput", "blue", goodputFigure)}},
		{"playout latency, ms", []curve{line("p50", "teal", playoutFigure), line("p95", "orange", p95Figure)}},
		{"frozen, %", []curve{line("frozen", "red", frozenFigure)}},
	}

	return c
}

func heatMaps(across, down sweep, at func(...float64) row) []heatMap {
	var maps []heatMap
	for _, name := range []string{goodputFigure, playoutFigure, p95Figure, frozenFigure} {
		m := heatMap{Title: name, Across: across.param.key, Down: down.param.key}
		if name == p95Figure {
			m.Title = "playout p95 ms"
		}
		var all []float64
		for _, x := range across.values {
			m.Columns = append(m.Columns, across.param.word(x))
			for _, y := range down.values {
				all = append(all, at(x, y).figure(name).median)
			}
		}
		worst, best := slices.Max(all), slices.Min(all)
		if name == goodputFigure {
			worst, best = best, worst
		}
		for _, y := range down.values {
			r := heatRow{Head: down.param.word(y)}
			for _, x := range across.values {
				f := at(x, y).figure(name)
				c := heatCell{Text: f.value(f.median), Shade: 100, Best: f.value(f.median) == f.value(best)}
				if best != worst {
					c.Shade = int(100 * (f.median - worst) / (best - worst))
				}
				r.Cells = append(r.Cells, c)
			}
			m.Rows = append(m.Rows, r)
		}
		maps = append(maps, m)
	}

	return maps
}
