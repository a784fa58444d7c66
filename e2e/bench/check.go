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
	"time"

	"github.com/gbrcc/gbrcc/e2e/bench/pionrun"
	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/qoe"
)

// checkCC is what -check compares, if -cc does not say otherwise; of it, what can
// be run.
const checkCC = "gbrcc,gbrcc-budget,seed,published-rtc,published-bulk,gcc,pion,causal,causal-rate,oracle"

const (
	// stepName is the scenario whose seeds are phases, and checkPhases how many
	// -check runs of GBR-CC at least.
	stepName    = "step-20-5-20"
	checkPhases = 12
	// periodBase is the scenario of which the telemetry class has variants.
	periodBase = "synth-lte"
)

// reference is who knows all of the past at once and obeys the same interface: what
// it gets at the same threshold tells what of a miss is due to not knowing the
// future. It is one policy, which wants little queue; with -bound it is the best of
// several, see family.
func reference(cc string) string {
	if cc == "gbrcc-budget" {
		return "causal"
	}

	return "causal-rate"
}

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
	none            bool     // nothing was run that tells
	conditional     bool     // it holds only where a condition does
	reference       *verdict // of the row that knows the past exactly
	given           string   // what a reference has to keep for its figure to count
	unfair          bool     // it does not
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
	ran       []string            // labels, in their order
	out       []verdict
	losses    []string
	members   int // policies of a reference
}

// metric is one figure of a run.
type metric func(sim.Result) float64

func goodput(r sim.Result) float64     { return r.GoodputMbps }
func playoutP50(r sim.Result) float64  { return shown(r, r.PlayoutP50) }
func playoutP95(r sim.Result) float64  { return shown(r, r.PlayoutP95) }
func frozen(r sim.Result) float64      { return 100 * min(1, shown(r, r.FreezeRatio)) } // percent
func oracleRate(r sim.Result) float64  { return r.OracleGoodput }
func oracleDelay(r sim.Result) float64 { return r.OraclePlayoutP50 }
func excess(r sim.Result) float64      { return playoutP50(r) - r.OraclePlayoutAtGoodput }

// shown is a figure of what a viewer saw; who saw nothing at all, for whom the
// result has zeros, waits for ever.
func shown(r sim.Result, v float64) float64 {
	if r.PlayoutP50 == 0 {
		return math.Inf(1)
	}

	return v
}

// writeCheck prints each threshold with what was measured.
func writeCheck(w io.Writer, results []record, _ []failure) error {
	c := checker{runs: map[string][]record{}}
	for _, r := range results {
		if len(c.scenarios) == 0 || !slices.ContainsFunc(c.scenarios, func(s sim.Result) bool { return s.Scenario == r.Scenario }) {
			c.scenarios = append(c.scenarios, r.Result)
		}
		k := at(r.Scenario, r.variant())
		c.runs[k] = append(c.runs[k], r)
		if name := r.variant().name(); !slices.Contains(c.ran, name) {
			c.ran = append(c.ran, name)
		}
	}
	for _, cc := range []string{"gbrcc", "gbrcc-budget"} {
		if !slices.Contains(c.ran, cc) {
			continue
		}
		from := len(c.out)
		c.thresholds(cc)
		c.refer(from, reference(cc))
	}
	c.moves()
	if err := c.print(w); err != nil {
		return err
	}
	if err := c.writeContradictions(w); err != nil {
		return err
	}

	return c.writePublished(w, []string{"gbrcc", "gbrcc-budget"})
}

// thresholds are those of a row.
func (c *checker) thresholds(cc string) {
	for _, class := range c.held("trace", "cell") {
		c.frontier(cc, class)
		c.againstGCC(cc, class)
	}
	c.againstOthers(cc)
	c.steps(cc)
	c.guards(cc)
	c.telemetry(cc)
	c.flows(cc)
}

// held are classes, with those held-out ones that were run and are of the same
// kind.
func (c *checker) held(classes ...string) []string {
	for _, s := range c.scenarios {
		_, kind, random := strings.Cut(s.Class, "random-")
		if kind == "recorded" {
			kind = traceClass
		}
		if random && slices.Contains(classes, kind) && !slices.Contains(classes, s.Class) {
			classes = append(classes, s.Class)
		}
	}

	return classes
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
		c.nothing(v)

		return
	}
	vs := slices.Sorted(slices.Values(s.values))
	v.got = median(vs)
	v.note = fmt.Sprintf("median of %d", len(vs))
	c.out = append(c.out, v)
}

// nothing notes a threshold that nothing was run for: it is not met.
func (c *checker) nothing(v verdict) {
	v.none = true
	c.out = append(c.out, v)
}

func (c *checker) worst(v verdict, s spread) {
	if len(s.values) == 0 {
		c.nothing(v)

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
	uses := c.uses(cc, in)
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
	c.middle(verdict{cc: cc, class: class, what: "playout p50 - causal's, ms", limit: 10, most: true}.going(uses, usesGiven), c.over(in, c.pair(cc, "causal", playoutP50, difference)))
	c.worst(verdict{cc: cc, class: class, what: "playout p50 - clairvoyant's, ms", limit: 100, most: true}.going(uses, usesGiven), c.over(in, own(playoutP50, oracleDelay, difference)))
	c.middle(verdict{cc: cc, class: class, what: "playout p95 - causal's, ms", limit: 40, most: true}.going(uses, usesGiven), c.over(in, c.pair(cc, "causal", playoutP95, difference)))
	c.worst(verdict{cc: cc, class: class, what: "playout p95 / larger of the better GCC's and causal's", limit: 1.1, most: true}.going(uses, usesGiven), c.over(in, func(sc string) (float64, bool) {
		a, ok1 := c.value(sc, cc, playoutP95)
		g, ok2 := c.least(sc, playoutP95)
		b, ok3 := c.value(sc, "causal", playoutP95)

		return ratio(a, max(g, b)), ok1 && ok2 && ok3
	}))
	s = c.over(in, c.pair(cc, "causal", frozen, difference))
	c.middle(verdict{cc: cc, class: class, what: "frozen - causal's, points", limit: 0.3, most: true}.going(uses, usesGiven), s)
	c.worst(verdict{cc: cc, class: class, what: "frozen - causal's, points", limit: 1.5, most: true}.going(uses, usesGiven), s)
	target := targetDelay()
	c.middle(verdict{cc: cc, class: class, what: fmt.Sprintf("sender queue p95, ms (2.5 x %s)", number(target)), limit: 2.5 * target, most: true}.going(uses, usesGiven), c.over(in, func(sc string) (float64, bool) {
		return c.value(sc, cc, func(r sim.Result) float64 { return r.SenderQueueP95 })
	}))
}

// targetDelay is tau* of the preset that is measured, in ms.
func targetDelay() float64 {
	p, err := qoe.PresetByName("default")
	if err != nil {
		return math.NaN() // nothing is below it
	}

	return float64(p.TargetDelay) / float64(time.Millisecond)
}

// gccs are those to be beaten.
func gccs() []string { return []string{"gcc", pionrun.Pion} }

// most is the highest figure of the GCCs, least the lowest.
func (c *checker) most(sc string, m metric) (float64, bool) {
	v, ok := c.least(sc, func(r sim.Result) float64 { return -m(r) })

	return -v, ok
}

func (c *checker) least(sc string, m metric) (float64, bool) {
	least, any := math.Inf(1), false
	for _, g := range gccs() {
		if v, ok := c.value(sc, g, m); ok {
			least, any = min(least, v), true
		}
	}

	return least, any
}

func (c *checker) againstGCC(cc, class string) {
	in := inClass(class)
	uses := c.uses(cc, in)
	c.worst(verdict{cc: cc, class: class, what: "goodput / better GCC's", limit: 0.97}, c.over(in, func(sc string) (float64, bool) {
		a, ok1 := c.value(sc, cc, goodput)
		b, ok2 := c.most(sc, goodput)

		return ratio(a, b), ok1 && ok2
	}))
	if !strings.HasSuffix(class, "cell") {
		c.lead(cc, class)
	}
	// Each GCC that is near, on its own.
	near := func(f func(sc, g string) (float64, bool)) spread {
		var all spread
		for _, g := range gccs() {
			s := c.over(in, func(sc string) (float64, bool) {
				a, ok1 := c.value(sc, cc, goodput)
				b, ok2 := c.value(sc, g, goodput)
				if !ok1 || !ok2 || b < 0.8*a {
					return 0, false
				}

				return f(sc, g)
			})
			for i, name := range s.names {
				all.values, all.names = append(all.values, s.values[i]), append(all.names, name+" ("+g+")")
			}
		}

		return all
	}
	c.worst(verdict{cc: cc, class: class, what: "where a GCC is near: p50's excess / max(theirs, 15 ms)", limit: 0.68, most: true, conditional: true}.going(uses, usesGiven), near(func(sc, g string) (float64, bool) {
		a, _ := c.value(sc, cc, excess)
		b, _ := c.value(sc, g, excess)

		return a / max(b, 10/0.68), true
	}))
	c.worst(verdict{cc: cc, class: class, what: "where a GCC is near: frozen excess / theirs", limit: 0.4, most: true, conditional: true}.going(uses, usesGiven), near(func(sc, g string) (float64, bool) {
		bound, ok := c.value(sc, "oracle", frozen)
		a, _ := c.value(sc, cc, frozen)
		b, _ := c.value(sc, g, frozen)

		return (a - bound) / (b - bound), ok && b-bound > 0.5
	}))
}

// lead is either of two: much more than a GCC, or nearly all there is.
func (c *checker) lead(cc, class string) {
	more := c.over(inClass(class), func(sc string) (float64, bool) {
		a, ok1 := c.value(sc, cc, goodput)
		b, ok2 := c.most(sc, goodput)

		return ratio(a, b), ok1 && ok2
	})
	share := c.over(inClass(class), func(sc string) (float64, bool) {
		a, ok := c.value(sc, cc, goodput)
		o, _ := c.value(sc, cc, oracleRate)

		return ratio(a, o), ok
	})
	v := verdict{cc: cc, class: class, what: "goodput / better GCC's / 1.5, or / clairvoyant's / 0.9", limit: 1}
	if len(more.values) == 0 || len(share.values) == 0 {
		c.nothing(v)

		return
	}
	m, s := median(slices.Sorted(slices.Values(more.values))), median(slices.Sorted(slices.Values(share.values)))
	v.got, v.note = max(m/1.5, s/0.9), fmt.Sprintf("medians: x%.2f of the GCC's, %.2f of the clairvoyant's", m, s)
	c.out = append(c.out, v)
}

// laws are those to be beaten that are not GCC's.
func laws() []string { return []string{"seed", "published-rtc", "published-bulk"} }

// againstOthers wants to beat the laws that were published, in the median of each
// class.
func (c *checker) againstOthers(cc string) {
	var classes []string
	for _, s := range c.scenarios {
		if !slices.Contains(classes, s.Class) {
			classes = append(classes, s.Class)
		}
	}
	for _, other := range laws() {
		for _, class := range classes {
			// In the same scenarios: a law that shows no picture at all has no p95.
			both := func(f func(g, l float64) float64) spread {
				return c.over(inClass(class), func(sc string) (float64, bool) {
					g, ok1 := c.pair(cc, other, goodput, ratio)(sc)
					l, ok2 := c.pair(cc, other, playoutP95, ratio)(sc)
					if math.IsNaN(g) || math.IsNaN(l) {
						return 0, false
					}

					return f(g, l), ok1 && ok2
				})
			}
			rate, late := both(func(g, _ float64) float64 { return g }), both(func(_, l float64) float64 { return l })
			if len(rate.values) == 0 {
				c.nothing(verdict{cc: cc, class: class, what: "beats " + other + " (distance to it)"})

				continue
			}
			for i := range rate.values {
				if beats(rate.values[i], late.values[i]) < 0 {
					c.losses = append(c.losses, fmt.Sprintf("%s against %s on %s: goodput x%.2f, p95 x%.2f", cc, other, rate.names[i], rate.values[i], late.values[i]))
				}
			}
			g, l := median(slices.Sorted(slices.Values(rate.values))), median(slices.Sorted(slices.Values(late.values)))
			c.out = append(c.out, verdict{
				cc: cc, class: class, what: "beats " + other + " (distance to it)", got: beats(g, l), limit: 0,
				note: fmt.Sprintf("goodput x%.2f, p95 x%.2f", g, l),
			})
		}
	}
}

// beats is how far, as a share, both figures are from being lost by more than is
// allowed: below 0 one is. More at no later, or earlier at no less.
func beats(goodput, p95 float64) float64 {
	margin := min(goodput-(1-lossAllowed), 1+lossAllowed-p95)
	if goodput <= 1 && p95 >= 1 { // neither is better
		margin = min(margin, goodput-1, 1-p95)
	}

	return margin
}

// steps looks at the worst queue when the radio falls to a quarter, and at how
// soon the rate is back; seeds are phases.
func (c *checker) steps(cc string) {
	runs := c.runs[stepName+"|"+cc]
	for _, k := range []struct {
		what        string
		get         metric
		middle, any float64
	}{
		{"worst sender queue, ms", func(r sim.Result) float64 { return r.SenderQueueMax }, 150, 200},
		{"90 % of the new capacity after, s", func(r sim.Result) float64 { return r.RiseS }, 1.5, 1.5},
	} {
		v := verdict{cc: cc, class: "step", what: k.what, limit: k.middle, most: true, where: stepName}.going(c.uses(cc, named(stepName)), usesGiven)
		if len(runs) < checkPhases {
			v.note = fmt.Sprintf("%d of %d phases", len(runs), checkPhases)
			c.nothing(v)

			continue
		}
		var vs []float64
		for _, r := range runs {
			vs = append(vs, k.get(r.Result))
		}
		slices.Sort(vs)
		v.got, v.note = median(vs), fmt.Sprintf("median of %d phases", len(vs))
		c.out = append(c.out, v)
		v.got, v.limit, v.note = vs[len(vs)-1], k.any, "in any"
		c.out = append(c.out, v)
	}
}

// guards are the classes in which GCC must not be lost to.
func (c *checker) guards(cc string) {
	for _, class := range c.held("const", "step", "backhaul") {
		c.worst(verdict{cc: cc, class: class, what: "goodput / GCC's", limit: 0.95}, c.over(inClass(class), c.pair(cc, "gcc", goodput, ratio)))
	}
	for _, class := range c.held("backhaul") {
		c.worst(verdict{cc: cc, class: class, what: "playout p95 / GCC's", limit: 1.15, most: true}.going(c.keepsUp(cc, inClass(class)), keepsUpGiven), c.over(inClass(class), c.pair(cc, "gcc", playoutP95, ratio)))
	}
	for _, class := range []string{"handover", "applimited", "rmcat", "fairness", "stress"} {
		c.worst(verdict{cc: cc, class: class, what: "no collapse: goodput / GCC's", limit: 0.5}, c.over(inClass(class), c.pair(cc, "gcc", goodput, ratio)))
		c.worst(verdict{cc: cc, class: class, what: "no collapse: playout p95 / GCC's", limit: 2, most: true}, c.over(inClass(class), c.pair(cc, "gcc", playoutP95, ratio)))
	}
}

func (c *checker) telemetry(cc string) {
	const base = periodBase
	wrong := named("telemetry-none", "telemetry-frozen", "telemetry-late-1000", "telemetry-duplicated", "telemetry-reordered", "telemetry-silent", "telemetry-gap")
	lying := named("telemetry-x2", "telemetry-x0.5", "telemetry-x10", "telemetry-x0.1")
	for _, k := range []struct {
		name  string
		in    func(sim.Result) bool
		limit float64
	}{{"not right", wrong, 1.1}, {"lying", lying, 1.25}} {
		c.worst(verdict{cc: cc, class: "telemetry", what: k.name + ": playout p95 / GCC's", limit: k.limit, most: true}.going(c.keepsUp(cc, k.in), keepsUpGiven), c.over(k.in, c.pair(cc, "gcc", playoutP95, ratio)))
		c.worst(verdict{cc: cc, class: "telemetry", what: k.name + ": goodput / GCC's", limit: 0.95}, c.over(k.in, c.pair(cc, "gcc", goodput, ratio)))
	}
	c.worst(verdict{cc: cc, class: "telemetry", what: "120 ms late: share of the advantage kept", limit: 0.8}, c.over(named("telemetry-late-120"), func(sc string) (float64, bool) {
		late, ok1 := c.value(sc, cc, goodput)
		fresh, ok2 := c.value(base, cc, goodput)
		g, ok3 := c.value(base, "gcc", goodput)

		return ratio(late-g, fresh-g), ok1 && ok2 && ok3
	}))
	c.worst(verdict{cc: cc, class: "telemetry", what: "T of 5 to 40 ms: goodput / best", limit: 0.85},
		ofBest(c.over(named(base, "telemetry-t-10", "telemetry-t-20", "telemetry-t-40"), func(sc string) (float64, bool) { return c.value(sc, cc, goodput) })))
	// They do not give a phone the same: as a share of what is possible.
	var schedulers spread
	for _, load := range []string{"30", "70", "100"} {
		s := ofBest(c.over(named("cell-lte-fair-"+load, "cell-lte-pf-"+load, "cell-lte-split-"+load, "cell-lte-rr-"+load), func(sc string) (float64, bool) {
			a, ok := c.value(sc, cc, goodput)
			b, _ := c.value(sc, cc, oracleRate)

			return ratio(a, b), ok
		}))
		schedulers.values, schedulers.names = append(schedulers.values, s.values...), append(schedulers.names, s.names...)
	}
	c.worst(verdict{cc: cc, class: "cell", what: "schedulers: share of the clairvoyant's goodput / best", limit: 0.85}, schedulers)
}

// ofBest makes a spread one of shares of its best; one alone is no spread.
func ofBest(s spread) spread {
	if len(s.values) < 2 {
		return spread{}
	}
	best := slices.Max(s.values)
	for i := range s.values {
		s.values[i] /= best
	}

	return s
}

// sameKind tells whether all flows of a scenario of several have one algorithm.
func sameKind(scenario string) bool {
	return !strings.Contains(scenario, "gcc") && !strings.Contains(scenario, "cubic")
}

// flows looks at who gets what.
func (c *checker) flows(cc string) {
	same := func(r sim.Result) bool {
		return r.Flows > 1 && (r.Class == "fairness" || r.Class == "rmcat") && sameKind(r.Scenario) &&
			!strings.Contains(r.Scenario, "5.6") && !strings.Contains(r.Scenario, "5.7")
	}
	c.worst(verdict{cc: cc, class: "fairness, rmcat", what: "Jain index among its own", limit: leastJain}, c.over(same, func(sc string) (float64, bool) {
		return c.value(sc, cc, func(r sim.Result) float64 { return r.JainIndex })
	}))
	mixed := func(r sim.Result) bool {
		return r.Class == "fairness" && !sameKind(r.Scenario) || strings.Contains(r.Scenario, "rmcat-5.6") && strings.Contains(r.Scenario, "backhaul")
	}
	// Of two flows none can have more than twice its share: that the other one is
	// not starved shows in its own.
	share := func(get func([]float64) float64) spread {
		return c.over(mixed, func(sc string) (float64, bool) {
			return c.value(sc, cc, func(r sim.Result) float64 { return get(shares(r.FlowGoodputs)) })
		})
	}
	mine := func(s []float64) float64 { return s[0] }
	others := func(s []float64) float64 { return slices.Min(s[1:]) }
	c.worst(verdict{cc: cc, class: "fairness, rmcat", what: "own share beside GCC and CUBIC", limit: leastShare}, share(mine))
	c.worst(verdict{cc: cc, class: "fairness, rmcat", what: "own share beside GCC and CUBIC", limit: mostOwn, most: true}, share(mine))
	c.worst(verdict{cc: cc, class: "fairness, rmcat", what: "least share of a GCC or CUBIC beside it", limit: leastShare}, share(others))
}

// shares are flows' goodputs over their mean, the measured one's first, of what
// sim.Result.FlowGoodputs tells of those in its direction.
func shares(flows string) []float64 {
	all := ahead(flows)
	if len(all) < 2 {
		return []float64{math.NaN(), math.NaN()}
	}
	sum, n := together(flows)
	for i := range all {
		all[i] *= float64(n) / sum
	}

	return all
}

// together is the sum of the goodputs in the measured one's direction, and how many.
func together(flows string) (mbps float64, n int) {
	for _, v := range ahead(flows) {
		mbps += v
		n++
	}

	return mbps, n
}

// ahead are the goodputs in the measured one's direction, which is first.
func ahead(flows string) []float64 {
	var all []float64
	for f := range strings.FieldsSeq(flows) {
		if strings.HasPrefix(f, "<-") {
			continue
		}
		_, text, _ := strings.Cut(f, "=")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			v = math.NaN()
		}
		all = append(all, v)
	}

	return all
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
	head := "\tcc\tclass\twhat\tmeasured\twanted\treference\twhere"
	if c.members > 1 {
		head += "\tthe reference's best is\tof those with"
	}
	fmt.Fprintln(tw, head)
	met, none, empty, both := 0, 0, 0, 0
	slices.SortStableFunc(c.out, func(a, b verdict) int { return cmp.Compare(a.cc, b.cc) })
	for _, v := range c.out {
		word, sign, got := "MISSED", ">=", short(v.got)
		switch {
		case v.none:
			if !c.looked(v.class) {
				none++

				continue // nobody has asked for it
			}
			if word, got = "not run", "-"; v.conditional && c.ranBeside(v.cc, v.class) {
				word = "no case"
				empty++
			} else {
				none++
			}
		case v.met():
			word = "met"
			met++
		}
		if v.most {
			sign = "<="
		}
		ref := "-"
		if r := v.reference; r != nil && !r.none {
			ref = short(r.got)
			if word == "MISSED" && !r.met() {
				both++
			}
		} else if word == "MISSED" && c.members > 1 && v.given != "" {
			both++ // none keeps what goes with it
		}
		where := v.note
		if v.where != "" {
			where = strings.TrimSuffix(v.where+", "+v.note, ", ")
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s %s\t%s\t%s", word, v.cc, v.class, v.what, got, sign, short(v.limit), ref, where)
		if c.members > 1 {
			fmt.Fprintf(tw, "\t%s\t%s", v.best(), v.given)
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, l := range c.losses {
		fmt.Fprintln(w, "not beaten:", l)
	}
	who := "the reference"
	legend := "The reference, causal-rate or with budgets causal, knows the past exactly."
	if c.members > 1 {
		who = fmt.Sprintf("all of %d policies", c.members)
		legend = fmt.Sprintf("The reference is the best of %d policies, causal-rate or with budgets causal, that know the past exactly, its own queue and the capacity without delay, of those that keep what the last column says: "+
			"what all of them miss is out of reach of these, which is no proof for every other policy; where one of them meets it there is room.", c.members)
	}
	_, err := fmt.Fprintf(w, "\n%d of %d thresholds met, %d missed (%d of them by %s too), %d without a case, %d not run. %s Speed and memory: go test -bench . ./gbr\n",
		met, len(c.out), len(c.out)-met-empty-none, both, who, empty, none, legend)

	return err
}

// looked tells whether any scenario of the classes was run.
func (c *checker) looked(classes string) bool {
	return slices.ContainsFunc(c.scenarios, func(s sim.Result) bool {
		return slices.Contains(strings.Split(classes, ", "), s.Class)
	})
}

// ranBeside tells whether an algorithm was run with a GCC and the references, in
// some scenario of a class.
func (c *checker) ranBeside(cc, class string) bool {
	return slices.ContainsFunc(c.scenarios, func(s sim.Result) bool {
		if s.Class != class {
			return false
		}
		_, ok := c.least(s.Scenario, goodput)
		for _, who := range []string{cc, "causal", "oracle"} {
			_, there := c.value(s.Scenario, who, goodput)
			ok = ok && there
		}

		return ok
	})
}

// short is a number with three digits that tell.
func short(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}

	return strconv.FormatFloat(v, 'f', 2, 64)
}
