// SPDX-License-Identifier: MIT

package gbr

import "math"

// The search for the offset, in ms from the least that it can be: fine where
// telemetry can be steered by, coarse where it only has to be recognised as late.
const (
	offsetFrom, offsetFine, offsetTo = -60, 240, 1600
	offsetStep                       = 4
	offsetSpan                       = offsetFine - offsetFrom + (offsetTo-offsetFine)/offsetStep
	// offsetRing is the ms of sent bytes kept, a power of two above offsetTo
	// and the distance of two reports.
	offsetRing = 2048
	// offsetMemory is how much of the sums one more report leaves: about 300
	// reports of a busy phone count, some seconds.
	offsetMemory = 0.993
	// offsetReports is how many reports the offset takes to be known.
	offsetReports = 15
	// offsetGap is the longest distance, in µs, of two reports that are compared.
	offsetGap = 200_000
	// offsetBytes is how many bytes must have come in for a report to tell.
	offsetBytes = 1000
	// offsetPrior is how much difference, as a share of what came in, a ms away
	// from the least has to be worth, up to offsetFar of them: frames of equal size
	// at equal distances fit with every shift of their distance as well.
	offsetPrior, offsetFar = 0.0008, 150
	// offsetDrift, in ms, is the same offset; for another one the difference has
	// to be at most this share of what it is now, and less by offsetClear: while
	// what is told fits, clocks do not jump, but frames at equal distances may fit
	// with a shift of that distance a little better for a while. One that is
	// farther from the least is believed, after offsetSettled reports, only when what
	// is told does not fit at all, by offsetMisfit: frames of equal size fit as well a
	// frame or two away.
	offsetDrift, offsetBetter, offsetClear, offsetMisfit = 5, 0.6, 0.1, 0.6
	offsetSettled                                        = 150
	// offsetWindow, in µs, is one of the two windows over which the least offset is
	// the greatest seen; the least is followed in steps of offsetSlide, and beyond
	// offsetJump, both in ms, it is another clock.
	offsetWindow            = 2_000_000
	offsetSlide, offsetJump = 4, 60
	// offsetDoubt, in ms, is how much fresher than ever telemetry may come before
	// the offset has to be found anew, with offsetDoubted of what has been gathered,
	// or offsetMisfits where all that is known is that it does not fit.
	offsetDoubt, offsetDoubted, offsetMisfits = 15, 0.02, 0.15
	// offsetStrange, in µs, is how far a stamp may be off before it is strange, and
	// offsetStrangers how many of those are another clock.
	offsetStrange, offsetStrangers = 1_000_000, 8
	// offsetFaults is the most changes that are remembered; one is forgotten after
	// offsetForgiven reports without any.
	offsetFaults, offsetForgiven = 6, 2000
	// offsetFits is the most difference with which the offset stays known, offsetFirst
	// with which it becomes so when it was wrong before: chance finds another one, too.
	// TDD fits with up to 0.4.
	offsetFits, offsetFirst = 0.75, 0.4
	// offsetBelow is how many times as far an offset below the least counts.
	offsetBelow = 4
	// offsetQuick is how much of the difference that the offset in use leaves is
	// kept from one report to the next, to know soon that it fits no more; with
	// offsetWrong, as a share of what came in, the clock is another one. Bursts at
	// the wrong time leave up to 2.
	offsetQuick, offsetWrong = 0.9, 1.2
)

// offset finds how far the modem's clock is ahead of the sender's, and whether
// the modem tells of this sender's bytes at all. Between two reports the phone
// took in
//
//	in = backlog after - backlog before + granted
//
// and the sender knows when it sent how much. The offset is the shift of one
// against the other that leaves the least difference.
//
// Nothing is told before it was. So the offset is at least what the freshest
// telemetry is ahead, and more by what that was on its way: some ms. The search
// begins there, wherever the modem's clock stands.
type offset struct {
	least               int64    // ms that the search begins at
	ahead               [2]int64 // greatest of this window and the one before, µs
	aheadAt             int64    // begin of the window
	newest              int64    // stamp
	heardAny, everHeard bool
	// strange is how many stamps in a row were far off, strangeAt the last of them.
	strange   int
	strangeAt int64

	ms    int64 // newest ms in sent
	total int64

	in float64 // what came in, with the same weights
	n  int

	at, mid, width int64 // the report before
	any            bool
	quick, quickIn float64 // difference by the offset in use, and what came in
	best           float64 // µs
	fit            float64 // its difference as a share of what came in
	at0            int     // its place in score
	jumped         bool    // best has moved by more than it drifts
	// told is what another one has found, µs, until telemetry comes to use it with.
	told   int64
	isTold bool
	// fits tells that what is told fits well enough, wrong that it once did not.
	fits, wrong bool
	// faults is how often lately the offset turned out to be another one, agreed
	// how many reports since have come.
	faults, agreed int

	sent [offsetRing]int64 // bytes sent by the end of each ms
	// score is the difference by shift, each report's the lesser one of the shift's
	// and of that a ms less: frames that leave within a ms of a report are on the
	// wrong side of it by any whole number of ms, if their distance is none.
	score [offsetSpan]float64
}

// nearMs is the ms at whose end a time is, to the nearest.
func nearMs(us int64) int64 { return (us - 500) / 1000 }

// heard takes the newest stamp of a batch, and tells whether the clock is another
// one than before. A stamp that is not newer than the last one says nothing: what
// it is of comes late, or again. One that is far off is believed when others have
// followed it.
func (o *offset) heard(now, at int64) (jumped bool) {
	d := at - now
	if off := d - o.least*1000; o.heardAny && (off > offsetStrange || off < -offsetStrange) {
		if o.strange > 0 && at <= o.strangeAt {
			return false
		}
		o.strange++
		o.strangeAt = at
		if o.strange < offsetStrangers {
			return false
		}
		o.heardAny = false
	}
	o.strange = 0
	if o.heardAny && at <= o.newest {
		return false
	}
	first := !o.heardAny
	o.heardAny, o.newest = true, at
	switch {
	case first || now-o.aheadAt > 2*offsetWindow:
		o.ahead, o.aheadAt = [2]int64{d, d}, now
	case now-o.aheadAt > offsetWindow:
		o.ahead, o.aheadAt = [2]int64{d, o.ahead[0]}, now
	default:
		o.ahead[0] = max(o.ahead[0], d)
	}
	least := int64(math.Floor(float64(max(o.ahead[0], o.ahead[1])+500) / 1000))
	by := least - o.least
	switch {
	case !o.everHeard:
		o.everHeard, o.least, o.best = true, least, float64(least*1000)
		o.believe()

		return true
	case by > offsetJump || by < -offsetJump:
		o.relearn(least)

		return true
	case by >= offsetSlide || by <= -offsetSlide:
		o.slide(by)
		if by >= offsetDoubt {
			o.doubt(offsetDoubted)
		}
	}

	return first
}

// tell takes what another one on the same phone has found, for as long as this one
// has found nothing. Who joins others that send frames at equal distances cannot
// tell by itself which of these is which.
func (o *offset) tell(us int64) {
	o.told, o.isTold = us, true
	if o.everHeard {
		o.believe()
	}
}

// believe begins with what was told, as if it had been found here.
func (o *offset) believe() {
	ms := o.told/1000 - o.least
	if !o.isTold || o.known() || ms <= offsetFrom || ms >= offsetFine {
		return
	}
	o.isTold = false
	o.score, o.in, o.any = [offsetSpan]float64{}, 0, false
	o.quick, o.quickIn = 0, 0
	o.at0, o.best, o.fit = shiftIndex(ms), float64(o.told), 0
	o.n, o.agreed = offsetSettled+1, offsetReports<<o.faults
	o.jumped = true
}

// relearn forgets all but what was sent.
func (o *offset) relearn(least int64) {
	o.least = least
	o.fault()
	o.score, o.in, o.n, o.any = [offsetSpan]float64{}, 0, 0, false
	o.at0, o.fit, o.best = 0, 0, float64(least*1000)
	o.quick, o.quickIn = 0, 0
}

// doubt lets what comes decide anew, with a share of what has been found.
func (o *offset) doubt(share float64) {
	for i := range o.score {
		o.score[i] *= share
	}
	o.in *= share
	o.fault()
	o.n, o.quick, o.quickIn = 0, 0, 0
}

// slide lets the search begin some ms later.
func (o *offset) slide(ms int64) {
	o.least += ms
	was := o.score
	for i := range o.score {
		o.score[i] = was[shiftIndex(shiftMs(i)+ms)]
	}
	o.at0 = shiftIndex(shiftMs(o.at0) - ms)
}

// shiftIndex is the place of a shift, or of the nearest one there is.
func shiftIndex(ms int64) int {
	if ms > offsetFine {
		return min(int(offsetFine-offsetFrom+(ms-offsetFine)/offsetStep), offsetSpan-1)
	}

	return max(int(ms-offsetFrom), 0)
}

func shiftMs(i int) int64 {
	if fine := offsetFine - offsetFrom; i >= fine {
		return offsetFine + int64(i-fine)*offsetStep
	}

	return offsetFrom + int64(i)
}

func (o *offset) onSent(at int64, size int) {
	o.advance(at / 1000)
	o.total += int64(min(max(size, 0), maxPacket))
	o.sent[o.ms&(offsetRing-1)] = o.total
}

// advance fills in the ms in which nothing was sent.
func (o *offset) advance(ms int64) {
	if ms-o.ms > offsetRing {
		o.ms = ms - offsetRing
	}
	for o.ms < ms {
		o.ms++
		o.sent[o.ms&(offsetRing-1)] = o.total
	}
}

// by is the bytes sent by a ms.
func (o *offset) by(ms int64) int64 {
	switch {
	case ms >= o.ms:
		return o.total
	case ms <= o.ms-offsetRing:
		return o.sent[(o.ms+1)&(offsetRing-1)]
	}

	return o.sent[ms&(offsetRing-1)]
}

// differs is by how much what came in is not what was sent from the end of one ms to
// that of another.
func (o *offset) differs(in float64, to, from int64) float64 {
	return math.Abs(in - float64(o.by(to)-o.by(from)))
}

// since is the bytes sent in the last us µs before a time.
func (o *offset) since(at, us int64) int64 {
	return o.by(at/1000) - o.by((at-us)/1000)
}

// onReport takes a report and what was granted since the one before.
func (o *offset) onReport(r *twinReport, granted int64) {
	last, lastMid, lastWidth, any := o.at, o.mid, o.width, o.any
	o.at, o.mid, o.width, o.any = r.at, (r.low+r.high)/2, r.high-r.low, r.high >= 0
	// An empty queue may have been granted more than it had.
	if !any || !o.any || r.high == 0 || r.at-last > offsetGap || r.at <= last {
		return
	}
	in := float64(o.mid - lastMid + granted)
	a, b := nearMs(r.at), nearMs(last)
	if best := int64(math.Round(o.best / 1000)); in < offsetBytes && o.by(a-best)-o.by(b-best) < offsetBytes {
		return
	}
	// Wide bins tell less.
	w := 1000 / float64(1000+o.width+lastWidth)
	if o.n >= offsetReports {
		s := int64(math.Floor(o.best / 1000)) // and the ms after it, as in score
		o.quick = o.quick*offsetQuick + w*min(o.differs(in, a-s, b-s), o.differs(in, a-s-1, b-s-1))
		o.quickIn = o.quickIn*offsetQuick + w*math.Max(in, 0)
		if o.n > 2*offsetReports && o.quick > offsetWrong*o.quickIn {
			o.doubt(offsetMisfits)
			o.wrong = true
			o.heardAny = false // the least may be another one, too

			return
		}
	}
	o.in = o.in*offsetMemory + w*math.Max(in, 0)
	least, cost := 0, math.Inf(1)
	before := math.Inf(1) // of the shift a ms less
	for i := range o.score {
		ms := shiftMs(i)
		s := o.least + ms
		if ms > offsetFine { // several ms from the one before, but held to no stricter measure
			before = o.differs(in, a-s+1, b-s+1)
		}
		d := o.differs(in, a-s, b-s)
		o.score[i] = o.score[i]*offsetMemory + w*min(d, before)
		before = d
		if c := o.cost(i); c < cost {
			least, cost = i, c
		}
	}
	o.n++
	if o.agreed++; o.agreed > offsetForgiven && o.faults > 0 {
		o.faults, o.agreed = o.faults-1, offsetReports<<offsetFaults
		o.wrong = o.wrong && o.faults > 0
	}
	o.settle(least)
}

// cost is by which shifts are compared.
func (o *offset) cost(i int) float64 {
	return o.score[i]/math.Max(o.in, 1) + offsetPrior*50/float64(50+o.n)*min(distance(i), offsetFar)
}

// distance is how far a shift is from the least that there can be, in ms.
func distance(i int) float64 {
	if ms := shiftMs(i); ms < 0 {
		return float64(-offsetBelow * ms)
	}

	return float64(shiftMs(i))
}

// settle takes a shift over, at once when it is a drift of the present one, and
// only when it is clearly better when it is another.
func (o *offset) settle(least int) {
	far := shiftMs(least)-shiftMs(o.at0) > offsetDrift || shiftMs(o.at0)-shiftMs(least) > offsetDrift
	farther := distance(least) > distance(o.at0)
	if far && o.n > offsetReports && (o.cost(least) > min(offsetBetter*o.cost(o.at0), o.cost(o.at0)-offsetClear) ||
		farther && o.n > offsetSettled && o.cost(o.at0) < offsetMisfit) {
		least = o.at0
	} else if far {
		o.jumped = true
		if o.n > offsetReports {
			o.fault()
		}
	}
	o.at0 = least
	o.fit = o.score[least] / math.Max(o.in, 1)
	o.best = o.centre(least)
	most := offsetFits
	if !o.fits && (o.wrong || o.faults > 1) {
		most = offsetFirst
	}
	o.fits = o.fit < most
}

// centre is the middle of the shifts that are as good as the best, in µs; each of
// them is the ms up to it.
func (o *offset) centre(least int) float64 {
	limit := o.score[least] * 1.02
	lo, hi := least, least
	for lo > 0 && o.score[lo-1] <= limit {
		lo--
	}
	for hi < offsetSpan-1 && o.score[hi+1] <= limit {
		hi++
	}

	return 500 * float64(2*o.least+shiftMs(lo)+shiftMs(hi)-1)
}

// fault is a change of the offset; it counts if that was relied on.
func (o *offset) fault() {
	if o.agreed >= offsetReports<<o.faults {
		o.faults = min(o.faults+1, offsetFaults)
	}
	o.agreed, o.fits = 0, false
}

// known tells whether the offset can be relied on: after each change it takes
// twice as long, so that who cannot be understood for long is not listened to.
func (o *offset) known() bool {
	return o.n >= offsetReports && o.agreed >= offsetReports<<o.faults && o.best < float64(o.least+offsetFine)*1000 && o.fits
}
