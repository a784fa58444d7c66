// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
)

// checkCC is what -check compares, if -cc does not say otherwise.
const checkCC = "gbrcc,gbrcc-budget,seed,published-rtc,published-bulk,gcc,causal"

// calm is GBR-CC for a conversation, which -check adds on recorded traces.
func calm() variant {
	return variant{cc: gbr.Default.String(), label: "preset=call", params: sim.Params{GBR: gbr.Config{Preset: "call"}}}
}

// verdict is one threshold and how far it is.
type verdict struct {
	cc, class, what string
	got             float64
	limit           float64
	most            bool   // limit is the most, not the least
	where           string // the scenario it is from; empty for a median over them
	note            string
}

func (v verdict) met() bool {
	if v.most {
		return v.got <= v.limit
	}

	return v.got >= v.limit
}

// checker holds the medians over the seeds.
type checker struct {
	// runs are in the order of the scenarios.
	scenarios []sim.Result
	runs      map[string][]record // by scenario and label
	out       []verdict
	losses    []string
}

// metric is one figure of a run.
type metric func(sim.Result) float64

func goodput(r sim.Result) float64     { return r.GoodputMbps }
func playoutP50(r sim.Result) float64  { return r.PlayoutP50 }
func playoutP95(r sim.Result) float64  { return r.PlayoutP95 }
func frozen(r sim.Result) float64      { return 100 * r.FreezeRatio } // percent
func oracleRate(r sim.Result) float64  { return r.OracleGoodput }
func oracleDelay(r sim.Result) float64 { return r.OraclePlayoutP50 }
func excess(r sim.Result) float64      { return r.PlayoutP50 - r.OraclePlayoutAtGoodput }

// writeCheck prints each threshold with what was measured.
func writeCheck(w io.Writer, results []record, _ []failure) error {
	c := checker{runs: map[string][]record{}}
	for _, r := range results {
		if len(c.scenarios) == 0 || !slices.ContainsFunc(c.scenarios, func(s sim.Result) bool { return s.Scenario == r.Scenario }) {
			c.scenarios = append(c.scenarios, r.Result)
		}
		k := at(r.Scenario, r.variant())
		c.runs[k] = append(c.runs[k], r)
	}
	for _, cc := range []string{"gbrcc", "gbrcc-budget"} {
		for _, class := range []string{"trace", "cell"} {
			c.frontier(cc, class)
			c.againstGCC(cc, class)
		}
		c.againstOthers(cc)
		c.steps(cc)
		c.guards(cc)
		c.telemetry(cc)
		c.flows(cc)
	}
	c.moves()

	return c.print(w)
}

func at(scenario string, v variant) string {
	return scenario + "|" + strings.TrimSpace(v.cc+" "+v.label)
}

// value is a metric's median over the seeds.
func (c *checker) value(scenario, who string, m metric) (float64, bool) {
	var vs []float64
	for _, r := range c.runs[scenario+"|"+who] {
		vs = append(vs, m(r.Result))
	}
	if len(vs) == 0 {
		return 0, false
	}
	slices.Sort(vs)

	return median(vs), true
}

// spread is a figure over scenarios.
type spread struct {
	values []float64
	names  []string
}

// over compares who with the others in all scenarios that were run with all of
// them and that the filter takes.
func (c *checker) over(filter func(sim.Result) bool, f func(scenario string) (float64, bool)) spread {
	var s spread
	for _, sc := range c.scenarios {
		if !filter(sc) {
			continue
		}
		if v, ok := f(sc.Scenario); ok && !math.IsNaN(v) {
			s.values, s.names = append(s.values, v), append(s.names, sc.Scenario)
		}
	}

	return s
}

func inClass(class string) func(sim.Result) bool {
	return func(r sim.Result) bool { return r.Class == class }
}

func named(names ...string) func(sim.Result) bool {
	return func(r sim.Result) bool { return slices.Contains(names, r.Scenario) }
}

// pair applies f to a metric of two algorithms.
func (c *checker) pair(a, b string, m metric, f func(a, b float64) float64) func(string) (float64, bool) {
	return func(sc string) (float64, bool) {
		x, ok1 := c.value(sc, a, m)
		y, ok2 := c.value(sc, b, m)

		return f(x, y), ok1 && ok2
	}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}

	return a / b
}

func difference(a, b float64) float64 { return a - b }

// middle adds the median scenario, worst the worst one.
func (c *checker) middle(v verdict, s spread) {
	if len(s.values) == 0 {
		return
	}
	vs := slices.Sorted(slices.Values(s.values))
	v.got = median(vs)
	v.note = fmt.Sprintf("median of %d", len(vs))
	c.out = append(c.out, v)
}

func (c *checker) worst(v verdict, s spread) {
	if len(s.values) == 0 {
		return
	}
	i := 0
	missed := 0
	for j, x := range s.values {
		if v.most && x > s.values[i] || !v.most && x < s.values[i] {
			i = j
		}
		v.got = x
		if !v.met() {
			missed++
		}
	}
	v.got, v.where = s.values[i], s.names[i]
	v.note = fmt.Sprintf("worst of %d", len(s.values))
	if missed > 0 {
		v.note = fmt.Sprintf("%d of %d miss it", missed, len(s.values))
	}
	c.out = append(c.out, v)
}

// frontier compares with the clairvoyant and the causal bound.
func (c *checker) frontier(cc, class string) {
	in := inClass(class)
	own := func(m, n metric, f func(a, b float64) float64) func(string) (float64, bool) {
		return func(sc string) (float64, bool) {
			a, ok := c.value(sc, cc, m)
			b, _ := c.value(sc, cc, n)

			return f(a, b), ok
		}
	}
	s := c.over(in, own(goodput, oracleRate, ratio))
	c.middle(verdict{cc: cc, class: class, what: "goodput / clairvoyant's", limit: 0.9}, s)
	c.worst(verdict{cc: cc, class: class, what: "goodput / clairvoyant's", limit: 0.75}, s)
	c.middle(verdict{cc: cc, class: class, what: "playout p50 - causal's, ms", limit: 10, most: true}, c.over(in, c.pair(cc, "causal", playoutP50, difference)))
	c.worst(verdict{cc: cc, class: class, what: "playout p50 - clairvoyant's, ms", limit: 100, most: true}, c.over(in, own(playoutP50, oracleDelay, difference)))
	c.middle(verdict{cc: cc, class: class, what: "playout p95 - causal's, ms", limit: 40, most: true}, c.over(in, c.pair(cc, "causal", playoutP95, difference)))
	c.worst(verdict{cc: cc, class: class, what: "playout p95 / larger of GCC's and causal's", limit: 1.1, most: true}, c.over(in, func(sc string) (float64, bool) {
		a, ok1 := c.value(sc, cc, playoutP95)
		g, ok2 := c.better(sc, playoutP95)
		b, ok3 := c.value(sc, "causal", playoutP95)

		return ratio(a, max(g, b)), ok1 && ok2 && ok3
	}))
	s = c.over(in, c.pair(cc, "causal", frozen, difference))
	c.middle(verdict{cc: cc, class: class, what: "frozen - causal's, points", limit: 0.3, most: true}, s)
	c.worst(verdict{cc: cc, class: class, what: "frozen - causal's, points", limit: 1.5, most: true}, s)
	c.middle(verdict{cc: cc, class: class, what: "sender queue p95, ms (2.5 x 20)", limit: 50, most: true}, c.over(in, func(sc string) (float64, bool) {
		return c.value(sc, cc, func(r sim.Result) float64 { return r.SenderQueueP95 })
	}))
}

// better is the figure of the GCC that has more goodput.
func (c *checker) better(sc string, m metric) (float64, bool) {
	best, got, any := 0.0, 0.0, false
	for _, g := range []string{"gcc", "pion"} {
		rate, ok := c.value(sc, g, goodput)
		if v, _ := c.value(sc, g, m); ok && (!any || rate > best) {
			best, got, any = rate, v, true
		}
	}

	return got, any
}

func (c *checker) againstGCC(cc, class string) {
	in := inClass(class)
	s := c.over(in, func(sc string) (float64, bool) {
		a, ok1 := c.value(sc, cc, goodput)
		b, ok2 := c.better(sc, goodput)

		return ratio(a, b), ok1 && ok2
	})
	c.worst(verdict{cc: cc, class: class, what: "goodput / better GCC's", limit: 0.97}, s)
	if class == "trace" {
		c.middle(verdict{cc: cc, class: class, what: "goodput / 1.5 of the better GCC's or 0.9 of the clairvoyant's", limit: 1}, c.over(in, func(sc string) (float64, bool) {
			a, ok1 := c.value(sc, cc, goodput)
			b, ok2 := c.better(sc, goodput)
			o, _ := c.value(sc, cc, oracleRate)

			return max(ratio(a, 1.5*b), ratio(a, 0.9*o)), ok1 && ok2
		}))
	}
	near := func(sc string) (ours, theirs float64, ok bool) {
		a, ok1 := c.value(sc, cc, goodput)
		b, ok2 := c.better(sc, goodput)

		return a, b, ok1 && ok2 && b >= 0.8*a
	}
	c.worst(verdict{cc: cc, class: class, what: "where GCC is near: p50's excess / max(theirs, 15 ms)", limit: 0.68, most: true}, c.over(in, func(sc string) (float64, bool) {
		_, _, ok := near(sc)
		a, _ := c.value(sc, cc, excess)
		b, _ := c.better(sc, excess)

		return a / max(b, 10/0.68), ok
	}))
	c.worst(verdict{cc: cc, class: class, what: "where GCC is near: frozen excess / theirs", limit: 0.4, most: true}, c.over(in, func(sc string) (float64, bool) {
		_, _, ok := near(sc)
		bound, _ := c.value(sc, "causal", frozen)
		a, _ := c.value(sc, cc, frozen)
		b, _ := c.better(sc, frozen)

		return (a - bound) / (b - bound), ok && b-bound > 0.5
	}))
}

// againstOthers wants to beat the laws that were published, in the median of each
// class.
func (c *checker) againstOthers(cc string) {
	const tolerance = 0.02
	var classes []string
	for _, s := range c.scenarios {
		if !slices.Contains(classes, s.Class) {
			classes = append(classes, s.Class)
		}
	}
	for _, other := range []string{"seed", "published-rtc", "published-bulk"} {
		for _, class := range classes {
			rate := c.over(inClass(class), c.pair(cc, other, goodput, ratio))
			late := c.over(inClass(class), c.pair(cc, other, playoutP95, ratio))
			if len(rate.values) == 0 || len(late.values) != len(rate.values) {
				continue
			}
			for i := range rate.values {
				if beats(rate.values[i], late.values[i], tolerance) < 0 {
					c.losses = append(c.losses, fmt.Sprintf("%s against %s on %s: goodput x%.2f, p95 x%.2f", cc, other, rate.names[i], rate.values[i], late.values[i]))
				}
			}
			g, l := median(slices.Sorted(slices.Values(rate.values))), median(slices.Sorted(slices.Values(late.values)))
			c.out = append(c.out, verdict{
				cc: cc, class: class, what: "beats " + other + " (distance to it)", got: beats(g, l, tolerance), limit: 0,
				note: fmt.Sprintf("goodput x%.2f, p95 x%.2f", g, l),
			})
		}
	}
}

// beats is how far, as a share, both figures are from being lost by more than the
// tolerance: below 0 one is. More at no later, or earlier at no less.
func beats(goodput, p95, tolerance float64) float64 {
	margin := min(goodput-(1-tolerance), 1+tolerance-p95)
	if goodput < 1 && p95 > 1 { // neither is better
		margin = min(margin, max(goodput-1, 1-p95))
	}

	return margin
}

// steps looks at the worst queue when the radio falls to a quarter; seeds are
// phases.
func (c *checker) steps(cc string) {
	const name = "step-20-5-20"
	var vs []float64
	for _, r := range c.runs[name+"|"+cc] {
		vs = append(vs, r.SenderQueueMax)
	}
	if len(vs) == 0 {
		return
	}
	slices.Sort(vs)
	note := fmt.Sprintf("median of %d phases", len(vs))
	c.out = append(c.out, verdict{cc: cc, class: "step", what: "worst sender queue, ms", got: median(vs), limit: 150, most: true, where: name, note: note},
		verdict{cc: cc, class: "step", what: "worst sender queue, ms", got: vs[len(vs)-1], limit: 200, most: true, where: name, note: "in any"})
}

// guards are the classes in which GCC must not be lost to.
func (c *checker) guards(cc string) {
	for _, class := range []string{"const", "step", "backhaul"} {
		c.worst(verdict{cc: cc, class: class, what: "goodput / GCC's", limit: 0.95}, c.over(inClass(class), c.pair(cc, "gcc", goodput, ratio)))
	}
	c.worst(verdict{cc: cc, class: "backhaul", what: "playout p95 / GCC's", limit: 1.15, most: true}, c.over(inClass("backhaul"), c.pair(cc, "gcc", playoutP95, ratio)))
	for _, class := range []string{"handover", "applimited", "rmcat", "fairness", "stress"} {
		c.worst(verdict{cc: cc, class: class, what: "no collapse: goodput / GCC's", limit: 0.5}, c.over(inClass(class), c.pair(cc, "gcc", goodput, ratio)))
		c.worst(verdict{cc: cc, class: class, what: "no collapse: playout p95 / GCC's", limit: 2, most: true}, c.over(inClass(class), c.pair(cc, "gcc", playoutP95, ratio)))
	}
}

func (c *checker) telemetry(cc string) {
	const base = "synth-lte"
	wrong := named("telemetry-none", "telemetry-frozen", "telemetry-late-1000", "telemetry-duplicated", "telemetry-reordered", "telemetry-silent", "telemetry-gap")
	lying := named("telemetry-x2", "telemetry-x0.5", "telemetry-x10", "telemetry-x0.1")
	for _, k := range []struct {
		name  string
		in    func(sim.Result) bool
		limit float64
	}{{"not right", wrong, 1.1}, {"lying", lying, 1.25}} {
		c.worst(verdict{cc: cc, class: "telemetry", what: k.name + ": playout p95 / GCC's", limit: k.limit, most: true}, c.over(k.in, c.pair(cc, "gcc", playoutP95, ratio)))
		c.worst(verdict{cc: cc, class: "telemetry", what: k.name + ": goodput / GCC's", limit: 0.95}, c.over(k.in, c.pair(cc, "gcc", goodput, ratio)))
	}
	c.worst(verdict{cc: cc, class: "telemetry", what: "120 ms late: share of the advantage kept", limit: 0.8}, c.over(named("telemetry-late-120"), func(sc string) (float64, bool) {
		late, ok1 := c.value(sc, cc, goodput)
		fresh, ok2 := c.value(base, cc, goodput)
		g, ok3 := c.value(base, "gcc", goodput)

		return ratio(late-g, fresh-g), ok1 && ok2 && ok3
	}))
	periods := c.over(named(base, "telemetry-t-10", "telemetry-t-20", "telemetry-t-40"), func(sc string) (float64, bool) { return c.value(sc, cc, goodput) })
	if len(periods.values) > 1 {
		best := slices.Max(periods.values)
		for i := range periods.values {
			periods.values[i] /= best
		}
		c.worst(verdict{cc: cc, class: "telemetry", what: "T of 5 to 40 ms: goodput / best", limit: 0.85}, periods)
	}
}

// flows looks at who gets what.
func (c *checker) flows(cc string) {
	same := func(r sim.Result) bool {
		return r.Flows > 1 && (r.Class == "fairness" || r.Class == "rmcat") && !strings.Contains(r.Scenario, "gcc") && !strings.Contains(r.Scenario, "cubic") &&
			!strings.Contains(r.Scenario, "5.6") && !strings.Contains(r.Scenario, "5.7") && !strings.Contains(r.Scenario, "8869")
	}
	c.worst(verdict{cc: cc, class: "fairness, rmcat", what: "Jain index among its own", limit: 0.9}, c.over(same, func(sc string) (float64, bool) {
		return c.value(sc, cc, func(r sim.Result) float64 { return r.JainIndex })
	}))
	mixed := func(r sim.Result) bool {
		return r.Class == "fairness" && (strings.Contains(r.Scenario, "gcc") || strings.Contains(r.Scenario, "cubic")) || strings.Contains(r.Scenario, "rmcat-5.6") && strings.Contains(r.Scenario, "backhaul")
	}
	share := c.over(mixed, func(sc string) (float64, bool) {
		return c.value(sc, cc, func(r sim.Result) float64 { return r.FairShare })
	})
	c.worst(verdict{cc: cc, class: "fairness, rmcat", what: "share beside GCC and CUBIC", limit: 0.5}, share)
	c.worst(verdict{cc: cc, class: "fairness, rmcat", what: "share beside GCC and CUBIC", limit: 2, most: true}, share)
}

// moves are the encoder's.
func (c *checker) moves() {
	moves := func(who string) spread {
		return c.over(inClass("trace"), func(sc string) (float64, bool) {
			return c.value(sc, who, func(r sim.Result) float64 { return r.TargetMoves })
		})
	}
	c.middle(verdict{cc: "gbrcc", class: "trace", what: "moves of the encoder's target a second", limit: 8, most: true}, moves("gbrcc"))
	who := calm().cc + " " + calm().label
	c.middle(verdict{cc: who, class: "trace", what: "moves of the encoder's target a second", limit: 2, most: true}, moves(who))
	c.middle(verdict{cc: who, class: "trace", what: "goodput / clairvoyant's", limit: 0.8}, c.over(inClass("trace"), func(sc string) (float64, bool) {
		a, ok := c.value(sc, who, goodput)
		b, _ := c.value(sc, who, oracleRate)

		return ratio(a, b), ok
	}))
}

func (c *checker) print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\tcc\tclass\twhat\tmeasured\twanted\t\twhere")
	met := 0
	slices.SortStableFunc(c.out, func(a, b verdict) int { return cmp.Compare(a.cc, b.cc) })
	for _, v := range c.out {
		word, sign := "MISSED", ">="
		if v.met() {
			word = "met"
			met++
		}
		if v.most {
			sign = "<="
		}
		where := v.note
		if v.where != "" {
			where = v.where + ", " + v.note
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s %s\t\t%s\n", word, v.cc, v.class, v.what, short(v.got), sign, short(v.limit), where)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, l := range c.losses {
		fmt.Fprintln(w, "not beaten:", l)
	}
	_, err := fmt.Fprintf(w, "\n%d of %d thresholds met.\n", met, len(c.out))

	return err
}

// short is a number with three digits that tell.
func short(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}

	return strconv.FormatFloat(v, 'f', 2, 64)
}
