// SPDX-License-Identifier: MIT

package gbr

import "math"

const (
	// capacityRing is the TTIs whose grants are remembered, a power of two.
	capacityRing = 512
	// capacityReports bounds the reports that the base station has not read yet.
	capacityReports = 64
	// defaultLag is from a report on air to the first transmission that
	// answers it, in TTIs, until the modem's side has learned it: LTE FDD, and
	// TDD of NR, one pattern of 5 ms or two of 2.5 ms.
	defaultLag, defaultLagNR = 8, 5
)

// capacity measures what the radio carries: the grants of all TTIs, the empty
// ones too, in which the base station knew of a backlog. It knows of what the
// last report said that it could have answered, less what it has granted since.
//
//	report  R=9 kB                     R'=0
//	lag     :<---- 8 TTIs ---->:
//	grants  . . . . . . . . . . 2 . 3 . 2 . 2 (2) . .
//	counted                     └────────────┘ └ only if above the mean: it was
//	                              9 kB / 7 ms    all there was to grant
//
// TTIs are ms on the modem's clock.
type capacity struct {
	grants  [capacityRing]int32
	reports [capacityReports]twinReport // not yet answerable; at in TTIs
	pattern pattern

	// What is looked at all the time is side by side, in all of grantLaw.
	capacityConfig

	newest   int64 // TTI in grants
	done     int64 // newest TTI counted
	nReports int
	belief   int64 // bytes that the base station knows to wait
	lag      int64
	mu       float64 // bytes per TTI, 0 while unknown
	// quick is mu with a memory of quickMemory, variance that of single TTIs
	// about mu: a quick mean that far below is a fall, not noise.
	quick, variance float64
	// counted is the TTIs that mu was made from since it began or last fell: a
	// mean over few of them moves faster than the memory lets it.
	counted float64
	// silent is the TTIs in a row without a grant, before mu at the last one.
	silent, before float64
	shortfall      shortfall
	// total is all that were counted.
	total int64
}

// capacityConfig is what does not change by what is measured.
type capacityConfig struct {
	memory                 float64 // TTIs
	share                  float64 // of one TTI in a mean with that memory
	noQuickFall, noOutages bool
}

func newCapacityConfig(c Config) capacityConfig {
	return capacityConfig{
		memory: c.CapacityMemory, share: 1 - math.Exp(-1/c.CapacityMemory),
		noQuickFall: c.Without.Has(QuickFall), noOutages: c.Without.Has(Outages),
	}
}

const (
	// quickShare is what one TTI has in a mean with that memory.
	quickMemory, quickShare = 4, 0.22119921692859512
	// fallSigmas is how unlikely a quick mean has to be to be believed at once.
	// The variance of an exponential mean, in which the newest sample has the share
	// q, is that of one sample times q / (2 - q).
	fallSigmas = 4

	// outageTTIs in a row without a grant, about two frames, are no gap that the
	// scheduler leaves.
	outageTTIs = 60
	// outageShare of what was before is expected after one: it may have ended in
	// another cell, and what waits comes on top. It has the weight of
	// outageCounted TTIs.
	outageShare, outageCounted = 0.4, 8
)

// onGrant takes a first transmission; one that is told after its TTI was
// counted comes too late.
func (c *capacity) onGrant(tti int64, bytes int) {
	c.reach(tti)
	if tti > c.newest-capacityRing {
		c.grants[tti&(capacityRing-1)] += int32(min(bytes, 1<<24))
	}
}

func (c *capacity) reach(tti int64) {
	if tti-c.newest > capacityRing {
		c.newest = tti - capacityRing
	}
	for c.newest < tti {
		c.newest++
		c.grants[c.newest&(capacityRing-1)] = 0
	}
}

func (c *capacity) onReport(tti int64, r *twinReport) {
	if c.nReports == capacityReports {
		c.nReports = copy(c.reports[:], c.reports[1:])
	}
	i := c.nReports
	for i > 0 && c.reports[i-1].at > tti {
		c.reports[i] = c.reports[i-1]
		i--
	}
	c.reports[i] = twinReport{at: tti, low: r.low, high: r.high}
	c.nReports++
}

// between is what was granted after TTI from until TTI to.
func (c *capacity) between(from, to int64) (bytes int64) {
	for m := max(from+1, c.newest-capacityRing+1); m <= min(to, c.newest); m++ {
		bytes += int64(c.grants[m&(capacityRing-1)])
	}

	return bytes
}

// count goes through the TTIs until to, of which all is known.
func (c *capacity) count(to int64) {
	c.reach(to)
	if to-c.done > capacityRing {
		c.done = to - capacityRing
	}
	for m := c.done + 1; m <= to; m++ {
		for c.nReports > 0 && c.reports[0].at+c.lag <= m {
			r := c.reports[0]
			c.nReports = copy(c.reports[:], c.reports[1:c.nReports])
			c.belief = max(0, max(r.high, r.low)-c.between(r.at, m-1))
		}
		c.tti(m, int64(c.grants[m&(capacityRing-1)]))
	}
	c.done = max(c.done, to)
}

// tti counts one, for itself and those before it in which the phone cannot send.
func (c *capacity) tti(m, granted int64) {
	if c.belief <= 0 {
		return
	}
	c.pattern.on(m, granted > 0)
	if granted == 0 && c.pattern.closed(m) {
		return
	}
	span := float64(c.pattern.span(m))
	all := granted >= c.belief // there was no more to grant
	c.belief = max(0, c.belief-max(0, granted-blockHeader))
	g := float64(granted) / span
	if all && g <= c.mu {
		return
	}
	c.total++
	if c.mu == 0 {
		c.mu, c.quick, c.counted = g, g, span

		return
	}
	c.shortfall.add(g*span, span, c.mu)
	c.outage(granted > 0, span)
	c.counted += span
	a, q := c.share, quickShare
	if span > 1 {
		a, q = 1-math.Exp(-span/c.memory), 1-math.Exp(-span/quickMemory)
	}
	a = max(a, span/c.counted)
	d := g - c.mu
	c.quick += q * (g - c.quick)
	if fall := c.mu - c.quick; !c.noQuickFall && fall > 0.2*c.mu && fall*fall > fallSigmas*fallSigmas*c.variance*q/(2-q) {
		c.mu, c.counted = c.quick, quickMemory

		return
	}
	c.mu += a * d
	c.variance += a * (d*d - c.variance)
}

// outage notices the end of one: what the radio carried before is a better guess
// than what it carried in it, which was nothing. The mean goes on from a share of
// that, and from few TTIs, so that it soon is that of the new ones.
func (c *capacity) outage(granted bool, ttis float64) {
	if !granted {
		c.silent += ttis

		return
	}
	if c.silent > outageTTIs && !c.noOutages {
		c.mu = max(c.mu, outageShare*c.before)
		c.quick, c.counted = max(c.quick, c.mu), outageCounted
	}
	c.silent, c.before = 0, c.mu
}

// atLeast takes what the radio is known to carry, in bytes per TTI.
func (c *capacity) atLeast(rate float64) {
	if c.mu > 0 && rate > c.mu {
		c.mu += 0.5 * (rate - c.mu)
		c.quick = c.mu
	}
}

// handover forgets what the old cell knew.
func (c *capacity) handover() { c.belief, c.nReports, c.pattern = 0, 0, pattern{} }

// restart forgets all but the rate: the next TTI is the first one of another
// count.
func (c *capacity) restart(tti int64) {
	c.handover()
	c.grants = [capacityRing]int32{}
	c.newest, c.done = tti-1, tti-1
}
