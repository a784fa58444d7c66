// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// Point is one interval of a run, for plots: the state at its beginning, and
// what happened within it. A delay is 0 when nothing happened that has one.
type Point struct {
	// At is the beginning, since the start of the run.
	At time.Duration
	// TargetBps, PacingBps, Backlog (bytes in the phone) and PacerBacklog are
	// those at the run's first event that is not before At.
	TargetBps, PacingBps, Backlog, PacerBacklog int
	// CapacityBps is the radio's mean, GoodputBps the media payload that
	// arrived for the first time.
	CapacityBps, GoodputBps int
	// PhoneDelay and SenderDelay (pacer and phone) are the longest of the
	// packets that left the phone.
	PhoneDelay, SenderDelay time.Duration
	// Playout is the longest latency of the frames rendered, Frozen how much
	// of the interval a freeze takes.
	Playout, Frozen time.Duration
}

func newPoints(sc Scenario, opts Options) []Point {
	if opts.Observe == nil || opts.ObserveEvery <= 0 {
		return nil
	}
	n := (sc.Duration + opts.ObserveEvery - 1) / opts.ObserveEvery
	points := make([]Point, n)
	for i := range points {
		points[i].At = time.Duration(i) * opts.ObserveEvery
	}

	return points
}

// observe fills in the state. It takes what instants the run has anyway, so that
// a run that is looked at is the same as one that is not.
func (w *world) observe() {
	at := w.now.Sub(w.start)
	for ; w.pointed < len(w.points) && w.points[w.pointed].At <= at; w.pointed++ {
		p := &w.points[w.pointed]
		rates := w.main.alg.Rates()
		p.TargetBps, p.PacingBps = rates.TargetBps, rates.PacingBps
		p.Backlog, p.PacerBacklog = w.main.phone.up.Backlog(), w.main.pacer.Bytes()+w.main.held
	}
	// The capacity of an interval is known when it is over.
	over := func(p *Point) bool { return p.At+w.opts.ObserveEvery <= at || at >= w.sc.Duration }
	for ; w.metered < len(w.points) && over(&w.points[w.metered]); w.metered++ {
		p := &w.points[w.metered]
		p.CapacityBps = w.main.phone.capacityBps(p.At+w.opts.ObserveEvery, w.opts.ObserveEvery)
	}
}

// pointAt is the interval that an instant is in; nil outside of the run, and
// when nobody looks.
func (w *world) pointAt(at time.Time) *Point {
	if len(w.points) == 0 || at.Before(w.start) {
		return nil
	}
	i := int(at.Sub(w.start) / w.opts.ObserveEvery)
	if i >= len(w.points) {
		return nil
	}

	return &w.points[i]
}

func (w *world) observeDelivery(c *call, d *cell.Delivery, sent *packet, first bool) {
	if c != w.main {
		return
	}
	if p := w.pointAt(d.LeftPhone); p != nil {
		p.PhoneDelay = max(p.PhoneDelay, d.LeftPhone.Sub(d.Queued))
		p.SenderDelay = max(p.SenderDelay, d.LeftPhone.Sub(w.start.Add(time.Duration(sent.queuedAt))))
	}
	if p := w.pointAt(d.At); p != nil && first {
		p.GoodputBps += int(float64(int(c.pieces[sent.piece].media)*8) / w.opts.ObserveEvery.Seconds())
	}
}

func (w *world) observeFrame(render time.Time, latency time.Duration) {
	if p := w.pointAt(render); p != nil {
		p.Playout = max(p.Playout, latency)
	}
}

// observeFreeze spreads a freeze over the intervals it covers.
func (w *world) observeFreeze(from, to time.Time) {
	for from.Before(to) {
		p := w.pointAt(from)
		if p == nil {
			return
		}
		end := w.start.Add(p.At + w.opts.ObserveEvery)
		if end.After(to) {
			end = to
		}
		p.Frozen += end.Sub(from)
		from = end
	}
}
