// SPDX-License-Identifier: MIT

package cell

import (
	"math"
	"time"
)

// AQM is how the bottleneck of a path manages its queue.
type AQM uint8

const (
	// DropTail drops what does not fit into QueueBytes.
	DropTail AQM = iota
	// CoDel also drops at the head while packets have waited too long.
	// RFC 8289.
	CoDel
)

// String names the AQM.
func (a AQM) String() string {
	switch a {
	case DropTail:
		return "drop-tail"
	case CoDel:
		return "CoDel"
	}
	return "unknown"
}

const (
	codelTarget   = 5 * time.Millisecond   // RFC 8289 4.2, 4.4: 5 % of the interval
	codelInterval = 100 * time.Millisecond // RFC 8289 4.2, 4.3
	codelMTU      = 1500                   // RFC 8289 4.4: a queue of one packet is none
)

// codel is the queue of a bottleneck under CoDel. Times are those at which the
// link takes a packet, hence exact however seldom anyone looks.
type codel struct {
	q     ring[waiting]
	bytes int

	aboveAt  time.Time // when a delay above target is a standing queue; zero: it is not above
	dropping bool
	dropNext time.Time
	drops    int64
	count    int // drops since the dropping state began
	lastRun  int // count when it began
}

// waiting is a packet in the bottleneck.
type waiting struct {
	queued
	in time.Time
}

// enqueue puts a packet in the queue.
func (p *path) enqueue(at time.Time, q queued) bool {
	if !p.schedule.limits(at) && p.codel.q.n == 0 {
		return p.forward(later(p.free, at), q)
	}
	if p.codel.bytes+q.Size > p.cfg.QueueBytes {
		return false
	}
	p.codel.q.push(waiting{q, at})
	p.codel.bytes += q.Size
	return true
}

// nextServe is when the link takes the next packet.
func (p *path) nextServe() (time.Time, bool) {
	if p.codel.q.n == 0 {
		return time.Time{}, false
	}
	return later(p.free, p.codel.q.front().in), true
}

// serve lets the link take every packet that it can by a time.
func (p *path) serve(now time.Time) {
	for {
		at, ok := p.nextServe()
		if !ok || at.After(now) {
			return
		}
		w, ok := p.dequeue(at)
		if !ok {
			continue
		}
		p.free = p.schedule.finish(at, w.Size)
		if !p.forward(p.free, w.queued) {
			p.lost.push(w.queued)
		}
	}
}

// take removes the head and says whether it may be dropped: the queue has been
// above target for an interval. RFC 8289 5.5: dodequeue.
func (c *codel) take(at time.Time) (w waiting, drop bool) {
	w = c.q.pop()
	c.bytes -= w.Size
	switch {
	case at.Sub(w.in) < codelTarget || c.bytes <= codelMTU:
		c.aboveAt = time.Time{}
	case c.aboveAt.IsZero():
		c.aboveAt = at.Add(codelInterval)
	default:
		drop = !at.Before(c.aboveAt)
	}
	return w, drop
}

// dequeue is the packet that the link takes at a time; ok is false if all were
// dropped. RFC 8289 5.5: dequeue.
func (p *path) dequeue(at time.Time) (waiting, bool) {
	c := &p.codel
	w, drop := c.take(at)
	next := func() bool {
		c.drops++
		p.lost.push(w.queued)
		if c.q.n == 0 {
			c.dropping, c.aboveAt = false, time.Time{}
			return false
		}
		w, drop = c.take(at)
		return true
	}
	if c.dropping {
		for drop && !at.Before(c.dropNext) {
			c.count++
			if !next() {
				return waiting{}, false
			}
			if drop {
				c.dropNext = controlLaw(c.dropNext, c.count)
			}
		}
		c.dropping = drop
		return w, true
	}
	if !drop {
		return w, true
	}
	if !next() {
		return waiting{}, false
	}
	// Soon after the last time it goes on from the drop rate of then.
	// RFC 8289 5.5: 16 intervals.
	delta := c.count - c.lastRun
	c.count = 1
	if delta > 1 && at.Sub(c.dropNext) < 16*codelInterval {
		c.count = delta
	}
	c.dropping = true
	c.dropNext = controlLaw(at, c.count)
	c.lastRun = c.count
	return w, true
}

// controlLaw spaces the drops ever closer. RFC 8289 3.3.
func controlLaw(t time.Time, count int) time.Time {
	return t.Add(time.Duration(float64(codelInterval) / math.Sqrt(float64(count))))
}
