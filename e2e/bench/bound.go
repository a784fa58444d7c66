// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// familyMembers are the policies that -bound adds to a reference: what else can be
// made of the past. They differ in how much of the capacity they use, in the queue
// that they want, in the memory and the kind of the prediction, and in whether they
// leave frames out. The share and the queue move a policy along its frontier; a short
// memory is what a fall of the capacity wants, a long one what fades fast.
func familyMembers() []string {
	return []string{
		"past_share=0.85 past_queue_ms=10",
		"past_share=0.85 past_queue_ms=20",
		"past_share=0.85 past_queue_ms=40",
		"past_queue_ms=10",
		"past_queue_ms=20",
		"past_queue_ms=40",
		"past_ms=200 past_by=ewma past_queue_ms=20",
		"past_ms=33 past_queue_ms=10",
		"past_ms=33 past_queue_ms=20 past_skip_ms=50",
	}
}

// family are the members of a reference, without the one that is run anyway.
func family(cc string) []variant {
	var all []variant
	for _, text := range familyMembers() {
		o := options{}
		for word := range strings.FieldsSeq(text) {
			s, err := parseSetting(word)
			if err != nil {
				panic("bench: " + err.Error()) // a test reads them all
			}
			o.settings = append(o.settings, s)
		}
		all = append(all, o.variants(cc)...)
	}

	return all
}

// policies are the names of a reference's runs, the one without parameters first.
func (c *checker) policies(cc string) []string {
	var all []string
	for _, name := range c.ran {
		if name == cc {
			all = slices.Insert(all, 0, name)
		} else if strings.HasPrefix(name, cc+" ") {
			all = append(all, name)
		}
	}

	return all
}

// refer fills in what the reference has at the thresholds from one on: the best of
// all its policies that keep what the threshold goes with, where there are several.
func (c *checker) refer(from int, cc string) {
	all := c.policies(cc)
	c.members = max(c.members, len(all))
	if len(all) == 0 {
		all = []string{cc} // it has figures nowhere
	}
	for _, name := range all {
		ref := checker{scenarios: c.scenarios, runs: c.runs, ran: c.ran}
		ref.thresholds(name)
		for i := range ref.out { // the same ones, in the same order
			v := &c.out[from+i]
			v.reference = better(v.reference, &ref.out[i], len(all) > 1)
		}
	}
}

// better is the best of the reference's policies, nil while none of them keeps what
// goes with the figure. One policy alone counts whatever it gives for it.
func better(best, v *verdict, several bool) *verdict {
	switch {
	case !several:
		return v
	case v.none && best == nil:
		return v // there is nothing to tell by
	case v.none || v.unfair:
		return best
	case best == nil || best.none || v.most && v.got < best.got || !v.most && v.got > best.got:
		return v
	}

	return best
}

// best says which policy of the reference's is the one that is shown.
func (v verdict) best() string {
	r := v.reference
	switch {
	case r == nil && v.given != "":
		return "none"
	case r == nil:
		return "-"
	case r.none:
		return "-"
	}
	if _, label, some := strings.Cut(r.cc, " "); some {
		return label
	}

	return "itself"
}

// going notes what a policy has to keep for its figure to count: it is part of
// what is wanted at the same time.
func (v verdict) going(keeps bool, given string) verdict {
	v.given, v.unfair = given, !keeps

	return v
}

// uses tells whether an algorithm has nine tenths of the clairvoyant's goodput in
// the median of a class. A queue is easily short for who sends little.
func (c *checker) uses(cc string, filter func(sim.Result) bool) bool {
	s := c.over(filter, func(sc string) (float64, bool) {
		a, ok := c.value(sc, cc, goodput)
		o, _ := c.value(sc, cc, oracleRate)

		return ratio(a, o), ok
	})

	return len(s.values) > 0 && median(slices.Sorted(slices.Values(s.values))) >= 0.9
}

const usesGiven = "0.90 of the clairvoyant's goodput"

// keepsUp tells whether an algorithm has nearly GCC's goodput in all scenarios.
func (c *checker) keepsUp(cc string, filter func(sim.Result) bool) bool {
	s := c.over(filter, c.pair(cc, "gcc", goodput, ratio))

	return len(s.values) > 0 && slices.Min(s.values) >= 0.95
}

const keepsUpGiven = "0.95 of GCC's goodput"

// leastJain and the shares are what a class with others in it is held to.
const (
	leastJain   = 0.9
	leastShare  = 0.5
	mostOwn     = 2
	lossAllowed = 0.02 // of goodput or latency, by who beats another
)

// fairMost is the largest goodput that a flow may have of a total that n flows
// share: beside its own kind by the Jain index, beside others by what it must leave
// them.
func fairMost(total float64, n int, own bool) float64 {
	mean := total / float64(n)
	if own {
		// One has mean*(1+d), the others share the rest evenly, which leaves the
		// index highest: it is then 1 / (1 + d^2/(n-1)).
		return mean * (1 + math.Sqrt(float64(n-1)*(1/leastJain-1)))
	}

	return mean * min(mostOwn, float64(n)-leastShare*float64(n-1))
}

// total is the most that all flows of a scenario had together in any run of any
// algorithm: what goes through where it is shared, at its best. Who was there alone
// for a while has more of the total the less it leaves the others, but by less than
// they lose: where they have their share, the total is at most that of fair runs.
func (c *checker) total(scenario string) (mbps float64, flows int) {
	for k, runs := range c.runs {
		if sc, _, _ := strings.Cut(k, "|"); sc != scenario {
			continue
		}
		for _, r := range runs {
			sum, n := together(r.FlowGoodputs)
			mbps, flows = max(mbps, sum), max(flows, n)
		}
	}

	return mbps, flows
}

// contradiction is what the wish to be fair leaves of the wish to have as much as
// another law has.
type contradiction struct {
	class, other string
	ratios       []float64
	// at most this far is the other one beaten, at no latency at all.
	distance float64
}

// contradictions are the classes in which a fair share is too little to beat a law
// that takes more.
func (c *checker) contradictions() []contradiction {
	var out []contradiction
	for _, other := range laws() {
		k := contradiction{class: "fairness", other: other}
		s := c.over(inClass(k.class), func(sc string) (float64, bool) {
			theirs, ok := c.value(sc, other, goodput)
			all, n := c.total(sc)
			if !ok || n < 2 || theirs == 0 {
				return 0, false
			}

			return fairMost(all, n, sameKind(sc)) / theirs, true
		})
		if len(s.values) == 0 {
			continue
		}
		k.ratios = slices.Sorted(slices.Values(s.values))
		if k.distance = beats(median(k.ratios), 0); k.distance < 0 {
			out = append(out, k)
		}
	}

	return out
}

// writeContradictions says which thresholds no law at all can meet together.
func (c *checker) writeContradictions(w io.Writer) error {
	for _, k := range c.contradictions() {
		if _, err := fmt.Fprintf(w, "contradiction: %s beats %s (distance at most %s): a fair share, Jain index >= %g among its own, beside others at most %g times and leaving them >= %g of the mean, is at most x%.2f of its goodput in the median of %d, x%.2f to x%.2f, and x%.2f is wanted\n",
			k.class, k.other, short(k.distance), leastJain, float64(mostOwn), leastShare, median(k.ratios), len(k.ratios), k.ratios[0], k.ratios[len(k.ratios)-1], 1-lossAllowed); err != nil {
			return err
		}
	}

	return nil
}
