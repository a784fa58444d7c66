// SPDX-License-Identifier: MIT

package cell

import (
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

const (
	// firstPCI is the physical cell id of the first cell.
	firstPCI = 1
	// pcis is the number of physical cell ids of LTE. TS 36.211 6.11.
	pcis = 504
)

// Handover is a change to another cell. While it lasts nothing is on air and
// the modem has nothing to log; then the phone gets a first grant, as after a
// scheduling request, if it has data. The new cell has another physical id and
// counts its frames differently.
type Handover struct {
	// At is the beginning, after Start.
	At time.Duration
	// Interruption is the time without radio; 50 ms (TR 36.881: 49.5 ms).
	Interruption time.Duration
	// RateFactor is what the new cell can carry, in multiples of the trace,
	// until the next handover; 1.
	RateFactor float64
	// KeepQueue: RLC AM, all packets that have not been handed on are sent
	// again in full. TS 36.323 5.2.1.1. Otherwise RLC UM: they are dropped.
	KeepQueue bool
}

// RandomHandovers come at random, independently of one another.
type RandomHandovers struct {
	// PerMinute is how many on average, up to 60; 0 is none. Driving 1 to 4,
	// walking 0.3.
	PerMinute float64
	// Shortest and Longest bound the interruption, which is uniform; 30 and
	// 60 ms, as in LTE and NR. A change of the NR leg in EN-DC takes 100 to
	// 200 ms.
	Shortest, Longest time.Duration
	// Lowest and Highest bound RateFactor, uniform in its logarithm; 0.3 and 3.
	Lowest, Highest float64
	// Flush is the share of handovers that drop the queue, 0..1; 0.
	Flush float64
}

// Outage is a time without radio in the same cell, such as a tunnel. The phone
// keeps its queue and the base station its plans.
type Outage struct {
	At, For time.Duration
}

// Events counts what the optional parts of a cell did since the start.
type Events struct {
	// Handovers that have begun.
	Handovers int64
	// Flushed packets were dropped by handovers; they are in
	// Stats.PhoneDrops, too.
	Flushed int64
	// BlocksLost failed all their transmissions, see RLCConfig.
	BlocksLost int64
	// CoDelDrops is the share of Stats.PathDrops that CoDel dropped.
	CoDelDrops int64
}

// Events returns the counters of the optional parts.
func (c *Phone) Events() Events {
	e := c.events
	e.Handovers, e.BlocksLost, e.CoDelDrops = int64(c.visit), c.harq.lost, c.path.codel.drops
	return e
}

// setMobility fills in the defaults of handovers and outages.
func (c *Config) setMobility() {
	if len(c.Handovers) > 0 {
		list := make([]Handover, len(c.Handovers)) // the caller's stays as it is
		copy(list, c.Handovers)
		for i := range list {
			setDuration(&list[i].Interruption, 50*time.Millisecond)
			setFloat(&list[i].RateFactor, 1)
		}
		c.Handovers = list
	}
	if r := &c.RandomHandovers; r.PerMinute != 0 {
		setDuration(&r.Shortest, 30*time.Millisecond)
		setDuration(&r.Longest, max(60*time.Millisecond, r.Shortest))
		setFloat(&r.Lowest, 0.3)
		setFloat(&r.Highest, max(3, r.Lowest))
	}
}

func setFloat(v *float64, def float64) {
	if *v == 0 {
		*v = def
	}
}

const (
	// maxAway is the longest interruption or outage.
	maxAway = time.Hour
	// maxAt is the latest start of anything planned.
	maxAt = 1000 * time.Hour
)

// highestFactor is the best cell there may be, or 1.
func (c Config) highestFactor() float64 {
	highest := 1.0
	for _, h := range c.Handovers {
		highest = max(highest, h.RateFactor)
	}
	return max(highest, c.RandomHandovers.Highest)
}

func (c Config) validateMobility(bad func(string, ...any) error) error {
	factor := func(f float64) bool { return f >= 0.01 && f <= 100 } // false for NaN
	last := tti
	for _, h := range c.Handovers {
		if h.At < last || h.At > maxAt || h.Interruption < tti || h.Interruption > maxAway || !factor(h.RateFactor) {
			return bad("handover %+v: they must not overlap, begin at 1 ms or later, take 1 ms..1 h and leave 0.01..100 of the rate", h)
		}
		last = h.At + h.Interruption + tti
	}
	last = 0
	for _, o := range c.Outages {
		if o.At < last || o.At > maxAt || o.For < tti || o.For > maxAway {
			return bad("outage %+v: they must not overlap, and take 1 ms..1 h", o)
		}
		last = o.At + o.For
	}
	if r := c.RandomHandovers; r != (RandomHandovers{}) {
		switch {
		case len(c.Handovers) > 0:
			return bad("handovers both planned and at random")
		case !(r.PerMinute > 0 && r.PerMinute <= 60):
			return bad("%v random handovers per minute are not within 0..60", r.PerMinute)
		case r.Shortest < tti || r.Longest < r.Shortest || r.Longest > maxAway:
			return bad("random handovers take %v to %v", r.Shortest, r.Longest)
		case !factor(r.Lowest) || !factor(r.Highest) || r.Highest < r.Lowest:
			return bad("random handovers leave %v to %v of the rate, want 0.01..100", r.Lowest, r.Highest)
		case !(r.Flush >= 0 && r.Flush <= 1):
			return bad("a share of %v flushing handovers", r.Flush)
		}
	}
	return nil
}

// skip jumps over idle slots up to last: handovers in there interrupt nothing.
func (c *Phone) skip(last int64) {
	c.next = last + 1
	if n := c.air.visit(last); n != c.visit {
		c.visit = n
		v := c.air.at(n)
		c.away = last < v.to
		c.log.move(c.begin(last), v)
	}
}

// move runs the handovers that begin or end in slot k.
func (c *Phone) move(k int64) {
	if c.air.plain() {
		return
	}
	if n := c.air.visit(k); c.visit < n {
		c.visit, c.away = n, true
		c.leave(c.air.at(n), k)
	}
	if c.away && k >= c.air.at(c.visit).to {
		c.away = false
		c.join(k)
	}
}

// leave is the beginning of a handover: MAC is reset, RLC re-established.
// TS 36.331 5.3.5.4.
func (c *Phone) leave(v visit, k int64) {
	c.log.move(c.begin(k), v)
	c.station.reset()
	if v.keep {
		c.phone.restore(&c.harq.onAir)
	} else {
		c.flush(&c.harq.onAir)
		c.flush(&c.phone.q)
		c.phone.bytes = 0
	}
	c.harq.reset()
	c.bsr.regular = diag.TriggerUnknown
}

// join is the end of it: random access brings the first grant.
func (c *Phone) join(k int64) {
	if c.phone.bytes == 0 {
		return
	}
	c.bsr.regular = diag.TriggerRegular
	c.bsr.periodicAt, c.bsr.retxAt = k, k+c.bsr.retx
	c.station.blind = c.station.srGrant
}

// flush drops the packets of a queue.
func (c *Phone) flush(q *ring[queued]) {
	for q.n > 0 {
		p := q.pop()
		if p.other {
			continue
		}
		c.stats.BytesQueued -= int64(p.Size)
		c.stats.PhoneDrops++
		c.events.Flushed++
		c.drop(p.Packet)
	}
}

// restore puts the packets of sent blocks back in front, and all are whole
// again. The buffer may hold more than its limit then.
func (b *buffer) restore(sent *ring[queued]) {
	if b.q.n > 0 {
		p := b.q.front()
		b.bytes += p.Size - p.rest
		p.rest = p.Size
	}
	for sent.n > 0 {
		p := sent.popBack()
		p.rest = p.Size
		b.bytes += p.Size
		b.q.pushFront(p)
	}
}

// reset forgets the phone.
func (b *station) reset() {
	for b.reports.n > 0 {
		b.reports.pop()
	}
	b.plan = plan{}
	b.granted, b.last = -1, -1
	b.pending, b.blind, b.polls, b.saved = 0, 0, 0, [carriers]int{}
}
