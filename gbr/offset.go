// SPDX-License-Identifier: MIT

package gbr

import "math"

// The search for the offset, in ms: fine where telemetry can be steered by,
// coarse where it only has to be recognised as late.
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
	// from 0 has to be worth: frames of equal size at equal distances fit with
	// every shift of their distance as well.
	offsetPrior = 0.0008
	// offsetDrift, in ms, is the same offset; for another one the difference has
	// to be at most this share of what it is now, and less by offsetClear: while
	// what is told fits, clocks do not jump, but frames at equal distances may fit
	// with a shift of that distance a little better for a while. One that is
	// farther from 0 is believed only when what is told does not fit at all, by
	// offsetMisfit: frames of equal size fit as well a frame or two away.
	offsetDrift, offsetBetter, offsetClear, offsetMisfit = 5, 0.6, 0.1, 0.6
)

// offset finds how far the modem's clock is ahead of the sender's, and whether
// the modem tells of this sender's bytes at all. Between two reports the phone
// took in
//
//	in = backlog after - backlog before + granted
//
// and the sender knows when it sent how much. The offset is the shift of one
// against the other that leaves the least difference.
type offset struct {
	sent  [offsetRing]int64 // bytes sent by the end of each ms
	ms    int64             // newest ms in sent
	total int64

	score [offsetSpan]float64 // difference by shift
	in    float64             // what came in, with the same weights
	n     int

	at, mid, width int64 // the report before
	any            bool
	best           float64 // µs
	fit            float64 // its difference as a share of what came in
	at0            int     // its place in score
	jumped         bool    // best has moved by more than it drifts
}

// nearMs is the ms at whose end a time is, to the nearest.
func nearMs(us int64) int64 { return (us - 500) / 1000 }

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
	o.in = o.in*offsetMemory + w*math.Max(in, 0)
	least, cost := 0, math.Inf(1)
	for i := range o.score {
		s := shiftMs(i)
		o.score[i] = o.score[i]*offsetMemory + w*math.Abs(in-float64(o.by(a-s)-o.by(b-s)))
		if c := o.cost(i); c < cost {
			least, cost = i, c
		}
	}
	o.n++
	o.settle(least)
}

// cost is by which shifts are compared.
func (o *offset) cost(i int) float64 {
	return o.score[i]/math.Max(o.in, 1) + offsetPrior*50/float64(50+o.n)*math.Abs(float64(shiftMs(i)))
}

// settle takes a shift over, at once when it is a drift of the present one, and
// only when it is clearly better when it is another.
func (o *offset) settle(least int) {
	far := shiftMs(least)-shiftMs(o.at0) > offsetDrift || shiftMs(o.at0)-shiftMs(least) > offsetDrift
	farther := math.Abs(float64(shiftMs(least))) > math.Abs(float64(shiftMs(o.at0)))
	if far && o.n > offsetReports && (o.cost(least) > min(offsetBetter*o.cost(o.at0), o.cost(o.at0)-offsetClear) ||
		farther && o.cost(o.at0) < offsetMisfit) {
		least = o.at0
	} else if far {
		o.jumped = true
	}
	o.at0 = least
	o.fit = o.score[least] / math.Max(o.in, 1)
	o.best = o.centre(least)
}

// centre is the middle of the shifts that are as good as the best, in µs.
func (o *offset) centre(least int) float64 {
	limit := o.score[least] * 1.02
	lo, hi := least, least
	for lo > 0 && o.score[lo-1] <= limit {
		lo--
	}
	for hi < offsetSpan-1 && o.score[hi+1] <= limit {
		hi++
	}

	return 500 * float64(shiftMs(lo)+shiftMs(hi))
}

// known tells whether the offset can be relied on.
func (o *offset) known() bool {
	return o.n >= offsetReports && o.best < offsetFine*1000 && o.fit < 0.75
}
