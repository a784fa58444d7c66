// SPDX-License-Identifier: MIT

package ratio

import "github.com/gbrcc/gbrcc/modemlink/diag"

const (
	// ownAfter is how long grants must come without transport blocks until the
	// phone's own queue is taken for reports: when there have been none at all,
	// and when there have been some. B064 alone is 102 ms late, and up to 700
	// ms in a buffer that nobody drains.
	ownAfter, ownAgain = 1000, 2000
	// ownPeriod is how often the queue borders while T is unknown.
	ownPeriod = 5
	// ownSlack is how far the TTI of a sample may lie from where its age puts
	// it, before it is one of another cell.
	ownSlack = 20
)

// own is the phone's own queue (B066): one sample a TTI, of which some are taken
// for reports where the modem does not tell of the BSRs.
type own struct {
	// alone: B139 has told of grants since aloneAt, and B064 of nothing.
	alone   bool
	aloneAt int64
	// busy: the queue is not empty since TTI since; border is the last one.
	busy          bool
	since, border int64
	// anchorTTI is when a packet with stamp anchorRef ended, to time packets
	// that do not tell.
	anchored             bool
	anchorTTI, anchorRef int64
}

// hear notes which of LTE's codes tell of grants. B064 tells of the BSRs that the
// base station had, so it wins as soon as it comes.
func (l *leg) hear(src source, r *diag.Record) {
	switch {
	case l.nr:
	case src == sourceSlow:
		l.own.alone, l.win.polled = false, false
	case !l.own.alone && r.Retx == 0 && r.Bytes > 0:
		l.own.alone, l.own.aloneAt = true, l.now
	}
}

// ownWanted tells whether nobody else tells what waits.
func (l *leg) ownWanted() bool {
	after := int64(ownAfter)
	if l.seen[sourceSlow] {
		after = ownAgain
	}

	return l.own.alone && l.now-l.own.aloneAt >= after*microsPerTTI
}

// onQueue takes in one sample of the phone's own queue. Unless it is wanted
// nothing changes, not even the clock.
func (l *leg) onQueue(r *diag.Record) {
	if !l.live() {
		return
	}
	tti, ok := l.ownTTI(r)
	if !ok || l.now-l.clock.micros(tti) > staleAge*microsPerTTI {
		return
	}
	o := &l.own
	if !l.win.polled {
		if !l.ownWanted() {
			return
		}
		l.win.polled, o.busy = true, false
		l.newest[sourceOwn] = tti - 1
	}
	l.clock.local.add(l.now, l.now-tti*microsPerTTI)
	l.late[sourceOwn].add(l.now, l.clock.micros(tti)-l.now)
	if tti <= l.newest[sourceOwn] {
		return
	}
	l.newest[sourceOwn], l.whole[sourceOwn], l.seen[sourceOwn] = tti, true, true
	waits := max(0, r.Queued-r.Signalling)
	switch {
	case waits > 0 && !o.busy:
		o.busy, o.since = true, tti
		l.ownBorder(tti, waits)
	case waits > 0 && tti >= o.border+l.ownPeriod():
		l.ownBorder(tti, waits)
	case waits == 0 && o.busy:
		o.busy, o.since = false, tti
		l.ownBorder(tti, 0)
	}
	l.advance(1)
}

// ownBorder takes the queue after TTI tti for a report.
func (l *leg) ownBorder(tti int64, waits int) {
	l.stats.Own++
	l.own.border = tti
	rep := report{tti: tti, low: waits, high: waits}
	l.reports = append(l.reports, rep)
	l.queues.add(rep)
	l.ring.mark(l.ring.slot(tti))
	l.border(border{tti: tti, low: waits, high: waits, own: true, since: l.own.since})
}

func (l *leg) ownPeriod() int64 {
	if l.period > 0 {
		return l.period
	}

	return ownPeriod
}

// ownTTI places a sample on the time line. The packets follow each other by
// their stamps, which tells the time of one in which nothing was sent.
func (l *leg) ownTTI(r *diag.Record) (int64, bool) {
	age := int64(r.AgeMs)
	ref, stamped := l.clock.reference(l.now, r.Logged), l.clock.logged && r.Logged != 0
	o := &l.own
	if r.TTI < 0 {
		return o.anchorTTI + floorDiv(ref-o.anchorRef+microsPerTTI/2, microsPerTTI) - age, o.anchored && stamped
	}
	at := ref - age*microsPerTTI
	tti, ok := l.clock.fit(&l.clock.cur, at, r.TTI)
	if off := tti*microsPerTTI + l.clock.cur.phase.min() - at; stamped && max(off, -off) > ownSlack*microsPerTTI {
		ok = false
	}
	if ok && stamped {
		o.anchored, o.anchorTTI, o.anchorRef = true, tti+age, ref
	}

	return tti, ok
}
