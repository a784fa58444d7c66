// SPDX-License-Identifier: MIT

package gcc

import "math"

// goog_cc: robust_throughput_estimator.
const (
	ackedRequired    = 10 // packets
	ackedMinPackets  = 20
	ackedMaxPackets  = 500
	ackedMinWindowUs = 1_000_000
	ackedMaxWindowUs = 5_000_000
	ackedReorderUs   = 1_000_000
	ackedMinSpanUs   = 1_000
	ackedRing        = 512 // above ackedMaxPackets+1, a power of two
)

// ackedRate measures the rate at which bytes arrive over about a second. It
// takes the lower of the rates at which the window's packets were sent and
// arrived, so neither a burst from a queue that empties at last nor a burst of
// frames by the sender reads as capacity.
type ackedRate struct {
	head, n int // of ring

	// What bps would find by going through the ring: its bytes, the gaps between
	// neighbours, and how many were sent before their left neighbour. stale: the
	// last two are to be found anew.
	bytes    int64
	gaps     largest
	descents int
	stale    bool

	// discardedUs is the latest sending time that left the window.
	discardedUs int64
	discarded   bool

	ring [ackedRing]sample // ascending arrival
}

func (a *ackedRate) at(i int) *sample { return &a.ring[(a.head+i)%ackedRing] }

// add takes one received packet, each at most once.
func (a *ackedRate) add(s sample) {
	if a.n > 0 && !a.stale {
		a.pair(a.at(a.n-1), &s, 1)
		a.stale = a.at(a.n-1).arrivalUs > s.arrivalUs
	}
	a.bytes += int64(s.size)
	i := a.n
	a.n++
	*a.at(i) = s
	for ; i > 0 && a.at(i-1).arrivalUs > s.arrivalUs; i-- {
		*a.at(i) = *a.at(i - 1)
		*a.at(i - 1) = s
	}

	if a.at(a.n-1).arrivalUs-s.arrivalUs > ackedReorderUs {
		// The remote clock stepped back, or the reordering is absurd.
		a.head, a.n, a.discarded = 0, 0, false
		a.bytes, a.gaps, a.descents, a.stale = 0, largest{}, 0, false

		return
	}
	for a.full() {
		if sent := a.at(0).sentUs; !a.discarded || sent > a.discardedUs {
			a.discardedUs, a.discarded = sent, true
		}
		if a.n > 1 && !a.stale {
			a.pair(a.at(0), a.at(1), -1)
		}
		a.bytes -= int64(a.at(0).size)
		a.head = (a.head + 1) % ackedRing
		a.n--
	}
}

// pair counts two neighbours, or with -1 takes them out.
func (a *ackedRate) pair(p, q *sample, by int) {
	if gap := q.arrivalUs - p.arrivalUs; by > 0 {
		a.gaps.add(gap)
	} else {
		a.gaps.remove(gap)
	}
	if q.sentUs < p.sentUs {
		a.descents += by
	}
}

// recount goes through all neighbours.
func (a *ackedRate) recount() {
	a.gaps, a.descents, a.stale = largest{}, 0, false
	for i := 1; i < a.n; i++ {
		a.pair(a.at(i-1), a.at(i), 1)
	}
}

// full tells whether the oldest packet may leave.
func (a *ackedRate) full() bool {
	if a.n == 0 {
		return false
	}
	span := a.at(a.n-1).arrivalUs - a.at(0).arrivalUs

	return a.n > ackedMaxPackets || span > ackedMaxWindowUs ||
		(a.n > ackedMinPackets && span > ackedMinWindowUs)
}

// bps is the lower of the two rates; not ok before there are enough packets.
func (a *ackedRate) bps() (rate float64, ok bool) {
	arrival, sending, ok := a.rates()

	return min(arrival, sending), ok
}

// since tells whether something of the window was sent before us.
func (a *ackedRate) since(us int64) bool { return a.n > 0 && a.at(0).sentUs <= us }

// rates are those of arrival and of sending.
//
// The rate of arrival leaves out the first packet, whose transmission lies before
// the window, and counts the largest gap as long as the second largest: one pause
// of the network is no fall of its rate.
//
// The rate of sending leaves out the packet sent last, whose pacing interval lies
// after the window. It is infinite when too few packets are in order.
func (a *ackedRate) rates() (arrival, sending float64, ok bool) {
	if a.n < ackedRequired {
		return 0, 0, false
	}

	gap, second, ok := a.gaps.two(a.n - 1)
	if a.stale || !ok {
		a.recount()
		gap, second, _ = a.gaps.two(a.n - 1)
	}
	first, last := a.at(0), a.at(a.n-1)
	arrival, sending = bps(a.bytes-int64(first.size), last.arrivalUs-first.arrivalUs-gap+second), math.Inf(1)
	if sent, ok := a.sendingBps(); ok {
		sending = sent
	}

	return arrival, sending, true
}

// sendingBps is the rate of sending.
func (a *ackedRate) sendingBps() (rate float64, ok bool) {
	if first := a.at(0).sentUs; a.descents == 0 && (!a.discarded || first >= a.discardedUs) {
		// All are in order: of those sent last the first is left out.
		i := a.n - 1
		for i > 0 && a.at(i-1).sentUs == a.at(i).sentUs {
			i--
		}

		return bps(a.bytes-int64(a.at(i).size), a.at(i).sentUs-first), true
	}
	var bytes, from, to int64
	var lastSize, inOrder int
	for i := range a.n {
		p := a.at(i)
		if a.discarded && p.sentUs < a.discardedUs {
			continue // overtaken by what has left: it would stretch the span
		}
		if inOrder == 0 || p.sentUs > to {
			to, lastSize = p.sentUs, p.size
		}
		if inOrder == 0 || p.sentUs < from {
			from = p.sentUs
		}
		bytes += int64(p.size)
		inOrder++
	}

	return bps(bytes-int64(lastSize), to-from), inOrder >= ackedRequired
}

func bps(bytes, us int64) float64 {
	return float64(bytes) * 8e6 / float64(max(us, ackedMinSpanUs))
}
