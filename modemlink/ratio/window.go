// SPDX-License-Identifier: MIT

package ratio

const (
	// defaultLag is LTE FDD: a grant 4 ms after the BSR, the transmission 4
	// ms after the grant (TS 36.213 8.0). minLag is the least that can be an
	// answer.
	defaultLag, minLag = 8, 4
	// defaultLagNR is TDD: the uplink slots of the pattern after, of 5 ms or
	// two of 2.5 ms. In FDD an answer may come in the next ms.
	defaultLagNR, minLagNR = 5, 1
	// maxLearned is the longest lag that is learned: the cell was short of
	// room when it is longer.
	maxLearned = 60
	// defaultClose ends a window without a next BSR while T is unknown or
	// infinite; maxClose does while T is long: a starved sender must not
	// wait 2.56 s to be told.
	// minCloseNR ends it while T is shorter than the pattern of a TDD cell.
	defaultClose, maxClose, minCloseNR = 10, 20, 5
	// maxWindow bounds a window, maxSilence how long a backlog is believed in
	// when the modem says nothing at all.
	maxWindow, maxSilence = 1000, 2000
	maxBorders            = 64
	// outage is the silence after which a backlog that must still be there
	// is told to starve although BSRs of before may yet come: B064 is up to
	// 102 ms late.
	outage = 20
	// blindSilence is how long nothing was sent, at least, before a BSR that a
	// scheduling request brought.
	blindSilence = 20
)

// border is a BSR that begins a window: regular, periodic or retransmitted; or
// what is taken for one.
type border struct {
	tti       int64
	part      int
	low, high int // high -1: no upper edge
	inferred  bool
	// since is tti, or that of the first border of a busy period whose queue
	// the phone tells by itself (own), without being granted anything.
	own   bool
	since int64
}

// sample is a finished window in TTIs. Its grants are those after a part of TTI
// start through TTI to.
type sample struct {
	start, end, to     int64
	part               int
	length             int64
	granted, high, low int
	// flight is the last TTI whose grants were on their way at the start; with
	// one the length is flight - start longer.
	flight          int64
	first, inferred bool
	// idle: the queue was empty at the end; the length is nominal.
	idle bool
}

// windows cuts time at BSRs and sums the grants that answer each.
//
// The base station's view is kept: what the last BSR reported, less what was
// granted since. Decisions rest on what is known in TTIs alone, never on when
// it came, as long as it came before it was taken for known: grants through
// TTI known, BSRs through bsrKnown.
type windows struct {
	ring *ring
	// lag is L, period is T to close windows with, minLag the least lag that
	// is learned; all in TTIs.
	lag, period, minLag int64
	// polled: borders come without transmissions, see own.
	polled bool

	pending []border
	busy    bool
	// start is where the open window begins; low and high are what was
	// reported there.
	start     int64
	part      int
	low, high int
	// bsr is the last one that opened a window; resumed tells that the open
	// one began with what remained of that.
	bsr     border
	resumed bool
	// begun is the first TTI of this cell.
	begun int64
	// scan is how far the open window's grants were looked at and drained
	// their bytes; lastTx is the last transmission of this window or before;
	// quiet is the earliest end without a next BSR: a period after start, and
	// after lastTx.
	scan, lastTx, quiet int64
	drained             int
	// newestTx is the newest first transmission at all.
	newestTx int64
	// lastEnd is the end of the last window, lastTo the last TTI whose grant
	// was counted, lastBorder the newest BSR that was a border.
	lastEnd, lastTo, lastBorder int64
	// borderPart is the slot of lastBorder.
	borderPart int
	// lagFrom: the first grant after it shows the lag; 0 for none.
	lagFrom int64
	lags    votes

	out []sample
	// starved counts samples of 0, abandoned backlogs that nobody spoke of
	// any more, overflow BSRs without room.
	starved, idle, abandoned, overflow uint64
}

// reset forgets everything before TTI tti: another cell.
func (w *windows) reset(tti int64) {
	w.pending = w.pending[:0]
	w.busy = false
	w.lagFrom = 0
	w.lastEnd = max(w.lastEnd, tti-1)
	w.lastTo = max(w.lastTo, tti-1)
	if tti-1 > w.lastBorder {
		w.lastBorder, w.borderPart = tti-1, lastPart
	}
	w.begun = tti
}

// addBorder queues a BSR. Older than the last border it says nothing new. Of
// several in one TTI the last counts.
func (w *windows) addBorder(b border) {
	if b.tti < w.lastBorder || b.tti == w.lastBorder && b.part <= w.borderPart {
		return
	}
	if b.tti == w.lastBorder && w.busy {
		if w.start == b.tti && !w.resumed {
			w.open(b)
		}

		return
	}
	i := len(w.pending)
	for i > 0 && w.pending[i-1].tti > b.tti {
		i--
	}
	if i > 0 && w.pending[i-1].tti == b.tti {
		if w.pending[i-1].part < b.part {
			w.pending[i-1] = b
		}

		return
	}
	if len(w.pending) == maxBorders {
		w.overflow++

		return
	}
	w.pending = append(w.pending, b)
	copy(w.pending[i+1:], w.pending[i:])
	w.pending[i] = b
}

// addGrant takes in a grant that is in the ring. Others than late ones are
// looked at when they are known.
func (w *windows) addGrant(tti int64, part, bytes int) {
	w.newestTx = max(w.newestTx, tti)
	if w.busy && tti <= w.scan && (tti > w.start || tti == w.start && part > w.part) {
		w.drained += bytes
		w.lastTx = max(w.lastTx, tti)
		w.quiet = max(w.quiet, tti+1)
	}
}

// advance finishes all windows that are known. spoken is the newest TTI that
// the modem told anything about.
func (w *windows) advance(known, bsrKnown, spoken int64) {
	for w.step(known, bsrKnown, spoken) {
	}
}

func (w *windows) step(known, bsrKnown, spoken int64) bool {
	if len(w.pending) > 0 && (!w.busy || w.pending[0].tti <= w.start) {
		w.open(w.pop())

		return true
	}
	if !w.busy {
		return false
	}
	next := int64(1<<62 - 1)
	if len(w.pending) > 0 {
		next = w.pending[0].tti
	}
	w.look(min(known, next-1))
	switch {
	case w.scan >= w.need() && w.need() < next && w.quiet-w.start <= maxWindow && (bsrKnown >= w.bsrNeed() || w.urgent(known)):
		w.closeQuiet(spoken)

		return true
	case next-w.start > maxWindow && known >= w.start+maxWindow+w.lag-1 && bsrKnown >= w.start+maxWindow:
		w.cut()

		return true
	case next-w.start <= maxWindow && known >= next+w.lag-1:
		w.emit(next)
		w.open(w.pop())

		return true
	}

	return false
}

// need is the TTI that has to be known, and silent back to quiet, to end the
// window without a next BSR. A queue whose lower edge is granted is most
// likely empty, so a longer silence decides that.
func (w *windows) need() int64 {
	need := w.quiet + w.lag - 1
	if w.drained >= w.low && !w.covered() {
		need = max(need, w.lastTx+w.period+1)
	}

	return need
}

// bsrNeed is the TTI through which borders have to be known for that. A BSR
// needs a transmission, so that there is none in silence.
func (w *windows) bsrNeed() int64 {
	if w.polled {
		return w.need()
	}

	return w.lastTx
}

// urgent tells whether the phone starves for certain: no BSR that may still
// come can say that the queue is empty, and the silence is long.
func (w *windows) urgent(known int64) bool {
	at, ok := w.urgentAt()

	return ok && known >= at
}

func (w *windows) urgentAt() (int64, bool) {
	if w.polled || len(w.pending) > 0 || w.drained+w.ring.sum(w.scan+1, w.newestTx) >= w.low {
		return 0, false
	}

	return max(w.need(), w.newestTx+outage), true
}

func (w *windows) covered() bool { return w.high >= 0 && w.drained >= w.high }

// look takes grants into the open window up to TTI to, or until the silence
// that ends it is complete.
func (w *windows) look(to int64) {
	for w.scan < to && w.scan < w.need() {
		w.scan++
		n, ok := w.ring.bytes(w.scan)
		if !ok {
			continue
		}
		if w.lagFrom != 0 {
			w.learnLag(w.scan - w.lagFrom)
		}
		w.drained += n
		w.lastTx = w.scan
		w.quiet = max(w.quiet, w.scan+1)
	}
}

// learnLag takes the first transmission after the first BSR of a busy period,
// unless another one of its TTI was still to come.
func (w *windows) learnLag(d int64) {
	if _, more := w.ring.after(w.lagFrom, w.bsr.part); !more && d >= w.minLag && d <= maxLearned {
		w.lags.add(d)
	}
	w.lagFrom = 0
}

// answered is called for a border in TTI tti: what carries it is the first
// transmission after the last one's if none was before. Where uplink slots are
// far apart, as in TDD, a BSR rides on each of them, and on the answer as well.
func (w *windows) answered(tti int64) {
	if w.lagFrom == 0 || tti <= w.lagFrom {
		return
	}
	if _, ok := w.ring.bytes(tti); ok {
		w.learnLag(tti - w.lagFrom)
	}
	w.lagFrom = 0
}

// closeQuiet ends the window where the base station believes that the queue is
// empty, or at a period's end where it does not and sends no grant.
func (w *windows) closeQuiet(spoken int64) {
	switch {
	case w.low == 0 && w.drained == 0: // only what was granted before is left over
		w.goIdle(w.start)

		return
	case w.drained >= w.low: // and silent for long enough, see need
		end := max(w.start+w.period, w.lastTx-w.lag+1)
		w.emit(end)
		w.goIdle(end)

		return
	case w.quiet-spoken > maxSilence:
		w.busy = false
		w.abandoned++

		return
	}
	end := w.quiet
	w.emit(end)
	w.resume(end, w.drained)
}

// cut ends an overlong window.
func (w *windows) cut() {
	end := w.start + maxWindow
	drained := w.granted(end)
	w.emit(end)
	if w.high >= 0 && drained >= w.high {
		// More was sent than reported, and no BSR for a second: nothing is
		// known of the queue.
		w.busy = false
		w.abandoned++

		return
	}
	w.resume(end, drained)
}

// resume opens a window without a BSR, on what is left of the last one.
func (w *windows) resume(start int64, drained int) {
	w.low = max(0, w.low-drained)
	if w.high >= 0 {
		w.high -= drained
	}
	w.begin(start, w.lastTx, lastPart)
	w.resumed = true
}

// begin opens a window after a part of TTI start.
func (w *windows) begin(start, lastTx int64, part int) {
	w.busy = true
	w.start, w.scan, w.lastTx, w.part, w.resumed = start, start, lastTx, part, false
	w.quiet = start + w.period
	w.drained, _ = w.ring.after(start, part)
}

// granted is the first transmissions of the open window through TTI to.
func (w *windows) granted(to int64) int {
	n, _ := w.ring.after(w.start, w.part)

	return n + w.ring.sum(w.start+1, to)
}

// open begins a window at a BSR, or where the last one ended if that is later.
func (w *windows) open(b border) {
	// What comes first after the phone's own word answers a scheduling request.
	learn := !b.own && !w.busy && b.tti-w.lastEnd > 2*w.lag && b.high != 0
	w.answered(b.tti)
	w.lastBorder, w.borderPart = b.tti, b.part
	w.low, w.high, w.bsr = b.low, b.high, b
	start, part, lastTx := b.tti, b.part, b.tti
	if w.lastEnd > b.tti {
		start, part = w.lastEnd, lastPart
		n, _ := w.ring.after(b.tti, b.part)
		w.drain(n)
	}
	for t := b.tti + 1; t <= start; t++ {
		if n, ok := w.ring.bytes(t); ok {
			lastTx = t
			w.drain(n)
		}
	}
	if w.high == 0 {
		w.goIdle(start)

		return
	}
	w.begin(start, lastTx, part)
	if learn {
		w.lagFrom = b.tti
	}
}

// drain takes n bytes from what was reported.
func (w *windows) drain(n int) {
	w.low = max(0, w.low-n)
	if w.high > 0 {
		w.high = max(0, w.high-n)
	}
}

// emit ends the open window. What was granted since the report counts, also the
// part that was on its way when the report was sent: the report counts those
// bytes as waiting. Where nothing was on its way, the first L TTIs could not
// bring anything and do not count as time.
func (w *windows) emit(end int64) {
	to := end + w.lag - 1
	s := sample{
		start: w.start, part: w.part, end: end, to: to, flight: w.start + w.lag - 1,
		high: w.high, low: w.low, first: w.blind(), inferred: w.bsr.inferred,
	}
	w.ring.fill(&s)
	w.lastEnd, w.lastTo = end, to
	if s.high < 0 {
		s.high = s.low // at least this much
	}
	if s.granted == 0 {
		if w.low == 0 {
			return // perhaps there was nothing to grant
		}
		w.starved++
	}
	w.out = append(w.out, s)
}

// blind tells whether the window's BSR went out on the first transmission after
// a silence, which nobody but a scheduling request ends (TS 36.321 5.4.4,
// TS 38.321 5.4.4).
func (w *windows) blind() bool {
	silent := max(2*w.lag, blindSilence)

	from := w.bsr.since - silent

	return !w.resumed && w.bsr.tti-w.bsr.since < silent && from >= w.begun && !w.ring.any(from, w.bsr.tti-1) &&
		!w.ring.before(w.bsr.tti, w.bsr.part)
}

// fill sums the grants of a window.
func (r *ring) fill(s *sample) {
	n, inFlight := r.after(s.start, s.part)
	s.granted = n + r.sum(s.start+1, s.to)
	s.length = s.end - s.start
	if inFlight || r.any(s.start+1, s.flight) {
		s.length += s.flight - s.start
	}
	s.inferred = s.inferred || r.inferred(s.start+1, s.to) || inFlight && r.inferred(s.start, s.start)
}

// goIdle says once that the queue is empty and waits for a BSR.
func (w *windows) goIdle(at int64) {
	w.busy, w.lagFrom = false, 0
	w.idle++
	w.out = append(w.out, sample{
		idle: true, start: at, part: lastPart, end: at, to: at, length: w.period, inferred: w.bsr.inferred,
	})
	w.lastEnd = max(w.lastEnd, at)
}

// newestBorder is the TTI of the newest BSR that was taken for a border.
func (w *windows) newestBorder() int64 {
	if n := len(w.pending); n > 0 {
		return w.pending[n-1].tti
	}

	return w.lastBorder
}

func (w *windows) pop() border {
	b := w.pending[0]
	w.pending = w.pending[:copy(w.pending, w.pending[1:])]

	return b
}

// wait returns the TTIs through which grants and BSRs must be known for
// advance to have something to do, or grants alone through urgent (0: none);
// not ok when only a record can.
func (w *windows) wait() (grants, bsrs, urgent int64, ok bool) {
	if !w.busy {
		return 0, 0, 0, false
	}
	urgent, _ = w.urgentAt()
	grants, bsrs = w.need(), w.bsrNeed()
	if len(w.pending) > 0 && grants >= w.pending[0].tti {
		grants, bsrs = w.pending[0].tti+w.lag-1, 0
		urgent = 0
	}
	if limit := w.start + maxWindow; limit+w.lag-1 < grants {
		grants, bsrs = limit+w.lag-1, limit
	}
	if w.quiet-w.start > maxWindow {
		urgent = 0
	}

	return grants, bsrs, urgent, true
}
