// SPDX-License-Identifier: MIT

package ratio

const (
	// defaultLag is LTE FDD: a grant 4 ms after the BSR, the transmission 4
	// ms after the grant (TS 36.213 8.0).
	defaultLag = 8
	// defaultClose ends a window without a next BSR while T is unknown or
	// infinite; maxClose does while T is long: a starved sender must not
	// wait 2.56 s to be told.
	defaultClose, maxClose = 10, 20
	// maxWindow bounds a window, maxSilence how long a backlog is believed in
	// when the modem says nothing at all.
	maxWindow, maxSilence = 1000, 2000
	maxBorders            = 64
	// outage is the silence after which a backlog that must still be there
	// is told to starve although BSRs of before may yet come: B064 is up to
	// 102 ms late.
	outage = 20
)

// border is a BSR that begins a window: regular, periodic or retransmitted.
type border struct {
	tti       int64
	low, high int // high -1: no upper edge
}

// sample is a finished window in TTIs.
type sample struct {
	end, length        int64
	granted, high, low int
}

// windows cuts time at BSRs and sums the grants that answer each.
//
// The base station's view is kept: what the last BSR reported, less what was
// granted since. Decisions rest on what is known in TTIs alone, never on when
// it came, as long as it came before it was taken for known: grants through
// TTI known, BSRs through bsrKnown.
type windows struct {
	ring *ring
	// lag is L, period is T to close windows with; both in TTIs.
	lag, period int64

	pending []border
	busy    bool
	// start is where the open window begins; low and high are what was
	// reported there.
	start     int64
	low, high int
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
	w.lastBorder = max(w.lastBorder, tti-1)
}

// addBorder queues a BSR. Older than the last border it says nothing new.
func (w *windows) addBorder(b border) bool {
	if b.tti <= w.lastBorder {
		return false
	}
	if len(w.pending) == maxBorders {
		w.overflow++

		return false
	}
	i := len(w.pending)
	for i > 0 && w.pending[i-1].tti > b.tti {
		i--
	}
	w.pending = append(w.pending, b)
	copy(w.pending[i+1:], w.pending[i:])
	w.pending[i] = b

	return true
}

// addGrant takes in a grant that is in the ring. Others than late ones are
// looked at when they are known.
func (w *windows) addGrant(tti int64, bytes int) {
	w.newestTx = max(w.newestTx, tti)
	if w.busy && tti > w.start && tti <= w.scan {
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
	case w.scan >= w.need() && w.need() < next && w.quiet-w.start <= maxWindow && (bsrKnown >= w.lastTx || w.urgent(known)):
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

// urgent tells whether the phone starves for certain: no BSR that may still
// come can say that the queue is empty, and the silence is long.
func (w *windows) urgent(known int64) bool {
	at, ok := w.urgentAt()

	return ok && known >= at
}

func (w *windows) urgentAt() (int64, bool) {
	if len(w.pending) > 0 || w.drained+w.ring.sum(w.scan+1, w.newestTx) >= w.low {
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

// learnLag takes the first transmission after the first BSR of a busy period.
// Earlier than 4 ms it cannot be an answer (TS 36.213 8.0), later than 60 ms
// the cell was short of room.
func (w *windows) learnLag(d int64) {
	if d >= 4 && d <= 60 {
		w.lags.add(d)
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
	drained := w.ring.sum(w.start+1, end)
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
	w.begin(start, w.lastTx)
}

func (w *windows) begin(start, lastTx int64) {
	w.busy = true
	w.start, w.scan, w.lastTx = start, start, lastTx
	w.quiet = start + w.period
	w.drained = 0
}

// open begins a window at a BSR, or where the last one ended if that is later.
func (w *windows) open(b border) {
	learn := !w.busy && b.tti-w.lastEnd > 2*w.lag && b.high != 0
	w.lastBorder = b.tti
	start := max(b.tti, w.lastEnd)
	w.low, w.high = b.low, b.high
	lastTx := b.tti
	for t := b.tti + 1; t <= start; t++ {
		n, ok := w.ring.bytes(t)
		if !ok {
			continue
		}
		lastTx = t
		w.low = max(0, w.low-n)
		if w.high > 0 {
			w.high = max(0, w.high-n)
		}
	}
	if w.high == 0 {
		w.goIdle(start)

		return
	}
	w.begin(start, lastTx)
	if learn {
		w.lagFrom = b.tti
	}
}

// emit ends the open window. What was granted since the report counts, also the
// part that was on its way when the report was sent: the report counts those
// bytes as waiting. Where nothing was on its way, the first L TTIs could not
// bring anything and do not count as time.
func (w *windows) emit(end int64) {
	to := end + w.lag - 1
	s := sample{
		end: end, length: end - w.start,
		granted: w.ring.sum(w.start+1, to), high: w.high, low: w.low,
	}
	if w.ring.any(w.start+1, w.start+w.lag-1) {
		s.length += w.lag - 1
	}
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

// goIdle says once that the queue is empty and waits for a BSR.
func (w *windows) goIdle(at int64) {
	w.busy = false
	w.idle++
	w.out = append(w.out, sample{end: at, length: w.period})
	w.lastEnd = max(w.lastEnd, at)
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
	grants, bsrs = w.need(), w.lastTx
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
