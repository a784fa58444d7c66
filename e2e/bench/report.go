// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/bench/pionrun"
	"github.com/gbrcc/gbrcc/e2e/cell/ns3"
	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/interceptor/dashboard"
)

//go:embed assets
var assets embed.FS

// crowd is how many variants are too many to tell apart: beyond it colours are
// those of the algorithms, and one variant of each is plotted over time.
const crowd = 9

// report is what report.html is made from. The file is the same for the same
// runs: it bears no date.
type report struct {
	Command, Code, Go  string
	Seeds              int
	Duration, Warmup   string
	Algorithms         int
	Failed             []failure
	Stack              bool // there are rows of the real Pion stack
	Variants, Legend   []reportVariant
	Crowded            bool
	Glance             []glance
	Worst              []worstList
	Classes            []reportClass
	Sweeps             []sweepFigure
	Scenarios          []reportScenario
	Figures            []figure  // column heads
	Cell               textTable // against ns-3
	Charts             charts
	Script, UPlot      template.JS
	Style, UPlotStyles template.CSS
}

type reportVariant struct {
	Name, Color string
	Reference   bool
}

type reportClass struct {
	Name      string
	Glance    []glance
	Scenarios []reportScenario
}

type reportScenario struct {
	ID, Name, Class, Doc string
	Capacity             float64
	Rows                 []reportRow
}

type reportRow struct {
	reportVariant
	Figures []figure
}

// charts is the JSON that the script draws from.
type charts struct {
	Warmup  float64      `json:"warmup"`
	Time    []timeChart  `json:"time"`
	Scatter []scatter    `json:"scatter"`
	Curves  []curveChart `json:"curves"`
}

type timeChart struct {
	ID       string     `json:"id"`
	Every    float64    `json:"every"`
	Capacity []int      `json:"capacity"` // kbit/s
	Lines    []timeLine `json:"lines"`
}

// timeLine has one value an interval; null where there was nothing.
type timeLine struct {
	Name    string       `json:"name"`
	Color   string       `json:"color"`
	Target  []int        `json:"target"` // kbit/s
	Queue   []*int       `json:"queue"`  // ms
	Playout []*int       `json:"playout"`
	Frozen  [][2]float64 `json:"frozen"` // from, to in s
}

// scatter is one scenario: goodput against latency, medians with their spread.
type scatter struct {
	ID       string         `json:"id"`
	Capacity float64        `json:"capacity"`
	Names    bool           `json:"names"` // beside the points
	Points   []scatterPoint `json:"points"`
	Frontier [][2]float64   `json:"frontier"` // ms, Mbit/s
}

type scatterPoint struct {
	Name  string     `json:"name"`
	Color string     `json:"color"`
	X     [3]float64 `json:"x"` // low, median, high
	Y     [3]float64 `json:"y"`
}

// glance is one algorithm over all scenarios.
type glance struct {
	reportVariant
	Goodput, Late, Frozen float64
	WorstGoodput          string
	WorstLate             string
	WorstFrozen           string
}

// FrozenPercent is Frozen as shown.
func (g glance) FrozenPercent() string { return fmt.Sprintf("%.1f", 100*g.Frozen) }

// GoodputPercent is Goodput as shown.
func (g glance) GoodputPercent() string { return fmt.Sprintf("%.0f", 100*g.Goodput) }

// worstList is the worst cases by one measure, the worst first.
type worstList struct {
	Title, Doc string
	Cases      []worstCase
}

type worstCase struct {
	reportVariant
	Scenario, ID, Text string
	badness            float64
}

func (e *engine) writeReport(w io.Writer, o options, jobs []job, records []record, failed []failure) error {
	r := e.report(o, jobs, records)
	r.Failed = failed
	own, shared := fs.FS(assets), dashboard.Assets()
	for _, f := range []struct {
		fs   fs.FS
		name string
		put  func(string)
	}{
		{own, "assets/report.js", func(s string) { r.Script = template.JS(s) }},
		{own, "assets/report.css", func(s string) { r.Style = template.CSS(s) }},
		{shared, "uPlot.iife.min.js", func(s string) { r.UPlot = template.JS(s) }},
		{shared, "uPlot.min.css", func(s string) { r.UPlotStyles = template.CSS(s) }},
	} {
		text, err := fs.ReadFile(f.fs, f.name)
		if err != nil {
			return err
		}
		f.put(string(text))
	}
	t, err := template.New("report.html").Funcs(template.FuncMap{
		"fixed": func(decimals int, v float64) string { return fmt.Sprintf("%.*f", decimals, v) },
		"join":  strings.Join,
	}).ParseFS(assets, "assets/report.html")
	if err != nil {
		return err
	}

	return t.Execute(w, r)
}

// report gathers all figures; records are those of the jobs, in their order.
func (e *engine) report(o options, jobs []job, records []record) *report {
	r := &report{
		Command: o.command, Code: codeVersion(), Go: runtime.Version(), Seeds: o.seeds, Duration: o.length(),
		Warmup: seconds(jobs[0].scenario.Warmup), Figures: figures(), Algorithms: len(o.cc),
	}
	r.Charts.Curves = []curveChart{} // [] in JSON, as all lists there
	r.Charts.Warmup = jobs[0].scenario.Warmup.Seconds()
	byName := map[string]reportVariant{}
	var variants []variant
	for _, cc := range o.cc {
		variants = append(variants, o.variants(cc)...)
	}
	r.Crowded = len(variants) >= crowd && len(variants) > len(o.cc)
	plotted := variants
	if r.Crowded {
		plotted = nil
	}
	r.Stack = slices.ContainsFunc(o.cc, pionrun.Known)
	for i, color := range colors(variants, r.Crowded) {
		v := reportVariant{variants[i].name(), color, isReference(variants[i].cc)}
		byName[v.Name] = v
		r.Variants = append(r.Variants, v)
		switch first := i == 0 || variants[i].cc != variants[i-1].cc; {
		case !r.Crowded:
			r.Legend = append(r.Legend, v)
		case first:
			plotted = append(plotted, variants[i])
			r.Legend = append(r.Legend, reportVariant{variants[i].cc, color, v.Reference})
		}
	}

	medians := rows(records)
	for i, j := range firsts(jobs) {
		s := reportScenario{ID: fmt.Sprintf("s%d", i+1), Name: j.scenario.Name, Class: j.scenario.Class, Doc: j.scenario.Doc}
		sc := scatter{ID: s.ID, Names: !r.Crowded, Frontier: e.frontierMedians(o, j)}
		for _, m := range medians {
			if m.scenario != s.Name {
				continue
			}
			v := byName[variant{cc: m.cc, label: m.params}.name()]
			s.Rows = append(s.Rows, reportRow{v, m.figures})
			good, late := m.figure(goodputFigure), m.figure(playoutFigure)
			sc.Points = append(sc.Points, scatterPoint{v.Name, v.Color, late.spread(), good.spread()})
		}
		s.Capacity = capacityOf(records, s.Name)
		sc.Capacity = round(s.Capacity, 3)
		r.Scenarios = append(r.Scenarios, s)
		r.Charts.Scatter = append(r.Charts.Scatter, sc)
		r.Charts.Time = append(r.Charts.Time, e.overTime(s.ID, *j.scenario, plotted, byName))
		c := slices.IndexFunc(r.Classes, func(c reportClass) bool { return c.Name == s.Class })
		if c < 0 {
			c = len(r.Classes)
			r.Classes = append(r.Classes, reportClass{Name: s.Class})
		}
		r.Classes[c].Scenarios = append(r.Classes[c].Scenarios, s)
	}
	cases := judge(r, records)
	r.Worst = worstLists(r, cases)
	r.Glance = glances(r, cases, func(string) bool { return true })
	for i, c := range r.Classes {
		r.Classes[i].Glance = glances(r, cases, func(name string) bool {
			return slices.ContainsFunc(c.Scenarios, func(s reportScenario) bool { return s.Name == name })
		})
	}
	r.Cell = tableOf(ns3.Checked())
	var curves []curveChart
	r.Sweeps, curves = sweeps(o, r.Scenarios, medians)
	r.Sweeps = append(classSweeps(o, records), r.Sweeps...)
	r.Charts.Curves = append(r.Charts.Curves, curves...)

	return r
}

// firsts is the first job of each scenario.
func firsts(jobs []job) []job {
	var out []job
	for _, j := range jobs {
		if len(out) == 0 || out[len(out)-1].scenario.Name != j.scenario.Name {
			out = append(out, j)
		}
	}

	return out
}

// colors gives each variant one, the well-known ones always the same; in a crowd
// those of one algorithm share it.
func colors(vs []variant, crowded bool) []string {
	known := map[string]string{
		"gbrcc": "blue", "gcc": "orange", "seed": "purple", "gcc-burst": "amber", "fixed": "grey", "causal": "teal", "oracle": "green",
		pionrun.Pion: "red", pionrun.PionLeaky: "rust", pionrun.Own: "sky", pionrun.OnPion: "plum",
	}
	others := []string{"pink", "olive", "brown", "plum", "sky", "rust"}
	out := make([]string, len(vs))
	n := 0
	for i, v := range vs {
		first := i == 0 || vs[i-1].cc != v.cc
		switch c := known[v.cc]; {
		case !first && crowded:
			out[i] = out[i-1]
		case first && c != "":
			out[i] = c
		default:
			out[i] = others[n%len(others)]
			n++
		}
	}

	return out
}

func capacityOf(records []record, scenario string) float64 {
	var vs []float64
	for _, r := range records {
		if r.Scenario == scenario {
			vs = append(vs, r.CapacityMbps)
		}
	}
	slices.Sort(vs)

	return median(vs)
}

// frontierMedians are the clairvoyant's medians over the seeds, one a horizon.
func (e *engine) frontierMedians(o options, j job) [][2]float64 {
	var out [][2]float64
	for _, v := range frontierVariants() {
		var late, good []float64
		for seed := 1; seed <= o.seeds; seed++ {
			r := e.store.frontier.rows[job{scenario: j.scenario, variant: v, seed: uint64(seed)}.key()]
			late, good = append(late, r.PlayoutP50), append(good, r.GoodputMbps)
		}
		slices.Sort(late)
		slices.Sort(good)
		out = append(out, [2]float64{round(median(late), 1), round(median(good), 3)})
	}

	return undominated(out)
}

// undominated keeps the points that no other one beats in both ways, the
// earliest first: a longer horizon is not always later.
func undominated(points [][2]float64) [][2]float64 {
	slices.SortFunc(points, func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(b[1], a[1])) })
	var out [][2]float64
	for _, p := range points {
		if len(out) == 0 || p[1] > out[len(out)-1][1] {
			out = append(out, p)
		}
	}

	return out
}

// overTime is what the runs of seed 1 look like.
func (e *engine) overTime(id string, sc sim.Scenario, vs []variant, byName map[string]reportVariant) timeChart {
	c := timeChart{ID: id, Every: pointEvery(sc.Duration).Seconds()}
	for _, v := range vs {
		points := e.looks[job{scenario: &sc, variant: v, seed: 1}.key()]
		if len(points) == 0 {
			continue // it was not run here, or has failed
		}
		rv := byName[v.name()]
		l := timeLine{Name: rv.Name, Color: rv.Color, Frozen: [][2]float64{}} // [] in JSON, not null
		for i, p := range points {
			if i == len(c.Capacity) {
				c.Capacity = append(c.Capacity, p.CapacityBps/1000)
			}
			l.Target = append(l.Target, p.TargetBps/1000)
			l.Queue = append(l.Queue, millis(p.PhoneDelay))
			l.Playout = append(l.Playout, millis(p.Playout))
			if p.Frozen > 0 {
				l.addFrozen(p.At.Seconds(), c.Every)
			}
		}
		// It has no target: its encoder obeys a budget for each frame.
		if v.cc == "causal" || v.cc == "oracle" {
			l.Target = nil
			for _, p := range points {
				l.Target = append(l.Target, p.GoodputBps/1000)
			}
		}
		c.Lines = append(c.Lines, l)
	}

	return c
}

func (l *timeLine) addFrozen(at, every float64) {
	if n := len(l.Frozen); n > 0 && at-l.Frozen[n-1][1] < every/2 {
		l.Frozen[n-1][1] = round(at+every, 3)

		return
	}
	l.Frozen = append(l.Frozen, [2]float64{round(at, 3), round(at+every, 3)})
}

func seconds(d time.Duration) string { return number(d.Seconds()) + " s" }

func millis(d time.Duration) *int {
	if d <= 0 {
		return nil
	}
	ms := int(max(1, d.Round(time.Millisecond).Milliseconds()))

	return &ms
}

func round(v float64, decimals int) float64 {
	f := math.Pow(10, float64(decimals))

	return math.Round(v*f) / f
}

// measure is one way of comparing a run with what is possible.
type measure struct {
	title, doc string
	get        func(record) float64
	show       func(float64) string
	low        bool // the lower, the worse
}

// measures are frozen time, latency and goodput, in this order.
func measures() [3]measure {
	return [3]measure{
		{
			title: "Frozen", doc: "share of the time that the picture stood still",
			get:  func(r record) float64 { return r.FreezeRatio },
			show: func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
		},
		{
			title: "Late", doc: "playout latency p95 beyond the clairvoyant's",
			get:  func(r record) float64 { return r.PlayoutP95 - r.OraclePlayoutP95 },
			show: func(v float64) string { return fmt.Sprintf("%+.0f ms", v) },
		},
		{
			title: "Slow", doc: "goodput as a share of the clairvoyant's",
			get:  func(r record) float64 { return over(r.GoodputMbps, r.OracleGoodput) },
			show: func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }, low: true,
		},
	}
}

// judge gives each variant's cases in the scenarios, one for each measure and
// scenario it was run in: the medians over the seeds.
func judge(r *report, records []record) map[string][3][]worstCase {
	type key struct{ scenario, variant string }
	runs := map[key][]record{}
	for _, rec := range records {
		k := key{rec.Scenario, rec.variant().name()}
		runs[k] = append(runs[k], rec)
	}
	out := map[string][3][]worstCase{}
	for _, v := range r.Variants {
		var all [3][]worstCase
		for _, s := range r.Scenarios {
			recs := runs[key{s.Name, v.Name}]
			if len(recs) == 0 {
				continue
			}
			for i, m := range measures() {
				vs := make([]float64, len(recs))
				for n, rec := range recs {
					vs[n] = m.get(rec)
				}
				slices.Sort(vs)
				c := worstCase{v, s.Name, s.ID, m.show(median(vs)), median(vs)}
				if m.low {
					c.badness = -c.badness
				}
				all[i] = append(all[i], c)
			}
		}
		out[v.Name] = all
	}

	return out
}

// glances sums up each variant over some of the scenarios.
func glances(r *report, cases map[string][3][]worstCase, in func(scenario string) bool) []glance {
	var out []glance
	for _, v := range r.Variants {
		var mid [3]float64
		var worst [3]worstCase
		some := false
		for i, all := range cases[v.Name] {
			var vs []float64
			for _, c := range all {
				if !in(c.Scenario) {
					continue
				}
				if vs = append(vs, c.badness); len(vs) == 1 || c.badness > worst[i].badness {
					worst[i] = c
				}
			}
			if some = len(vs) > 0; some {
				slices.Sort(vs)
				mid[i] = median(vs)
			}
		}
		if !some {
			continue
		}
		at := func(c worstCase) string { return c.Text + " in " + c.Scenario }
		g := glance{v, -mid[2], mid[1], mid[0], at(worst[2]), at(worst[1]), at(worst[0])}
		if worst[0].badness == 0 {
			g.WorstFrozen = "never"
		}
		out = append(out, g)
	}

	return out
}

// worstLists finds the worst cases of the controllers. References are not judged.
func worstLists(r *report, cases map[string][3][]worstCase) []worstList {
	const most = 8
	var out []worstList
	for i, m := range measures() {
		l := worstList{Title: m.title, Doc: m.doc}
		for _, v := range r.Variants {
			for _, c := range cases[v.Name][i] {
				if !v.Reference && (m.low || c.badness > 0) {
					l.Cases = append(l.Cases, c)
				}
			}
		}
		slices.SortStableFunc(l.Cases, func(a, b worstCase) int { return cmp.Compare(b.badness, a.badness) })
		l.Cases = l.Cases[:min(most, len(l.Cases))]
		out = append(out, l)
	}

	return out
}

// textTable is a table in Markdown, taken apart.
type textTable struct {
	Head []string
	Rows [][]string
}

func tableOf(markdown string) textTable {
	var t textTable
	for line := range strings.Lines(markdown) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(c)
		}
		switch {
		case strings.HasPrefix(line, "|-"):
		case t.Head == nil:
			t.Head = cells
		default:
			t.Rows = append(t.Rows, cells)
		}
	}

	return t
}

func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}

	return a / b
}
