// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/qoe"
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
func (r *run) observe() {
	if r.pointed < len(r.points) {
		r.observeState(r.now, r.alg.Rates(), r.cell.Backlog(), r.pacer.Bytes())
	}
}

func (r *run) observeState(now time.Time, rates Rates, backlog, pacer int) {
	at := now.Sub(r.start)
	for ; r.pointed < len(r.points) && r.points[r.pointed].At <= at; r.pointed++ {
		p := &r.points[r.pointed]
		p.TargetBps, p.PacingBps = rates.TargetBps, rates.PacingBps
		p.Backlog, p.PacerBacklog = backlog, pacer
		p.CapacityBps = r.trace.MeanBps(p.At, p.At+r.opts.ObserveEvery)
	}
}

// pointAt is the interval that an instant is in; nil outside of the run, and
// when nobody looks.
func (r *run) pointAt(at time.Time) *Point {
	if len(r.points) == 0 || at.Before(r.start) {
		return nil
	}
	i := int(at.Sub(r.start) / r.opts.ObserveEvery)
	if i >= len(r.points) {
		return nil
	}

	return &r.points[i]
}

func (r *run) observeDelivery(d cell.Delivery, sent *packet, first bool) {
	if p := r.pointAt(d.LeftPhone); p != nil {
		p.PhoneDelay = max(p.PhoneDelay, d.LeftPhone.Sub(d.Queued))
		p.SenderDelay = max(p.SenderDelay, d.LeftPhone.Sub(sent.queuedAt))
	}
	if p := r.pointAt(d.At); p != nil && first {
		p.GoodputBps += int(float64(sent.media*8) / r.opts.ObserveEvery.Seconds())
	}
}

// frozenTime finds out which gaps between frames are freezes.
type frozenTime struct {
	detector qoe.FreezeDetector
	last     time.Time
	count    int
}

func (r *run) observeFrame(f *frozenTime, render time.Time, latency time.Duration) {
	if len(r.points) == 0 {
		return
	}
	if p := r.pointAt(render); p != nil {
		p.Playout = max(p.Playout, latency)
	}
	f.detector.OnFrameRendered(render)
	if n := f.detector.Stats().Count; n > f.count {
		f.count = n
		r.observeFreeze(f.last, render)
	}
	f.last = render
}

// observeEnd is the freeze that the run ends in, if it does.
func (r *run) observeEnd(f *frozenTime) {
	if len(r.points) > 0 && f.detector.StatsAt(r.end).Count > f.count {
		r.observeFreeze(f.last, r.end)
	}
}

// observeFreeze spreads a freeze over the intervals it covers.
func (r *run) observeFreeze(from, to time.Time) {
	for from.Before(to) {
		p := r.pointAt(from)
		if p == nil {
			return
		}
		end := r.start.Add(p.At + r.opts.ObserveEvery)
		if end.After(to) {
			end = to
		}
		p.Frozen += end.Sub(from)
		from = end
	}
}
