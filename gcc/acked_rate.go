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
	ring    [ackedRing]sample // ascending arrival
	head, n int

	// discardedUs is the latest sending time that left the window.
	discardedUs int64
	discarded   bool
}

func (a *ackedRate) at(i int) *sample { return &a.ring[(a.head+i)%ackedRing] }

// add takes one received packet, each at most once.
func (a *ackedRate) add(s sample) {
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

		return
	}
	for a.full() {
		if sent := a.at(0).sentUs; !a.discarded || sent > a.discardedUs {
			a.discardedUs, a.discarded = sent, true
		}
		a.head = (a.head + 1) % ackedRing
		a.n--
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

	first := a.at(0)
	var bytes, largest, second int64
	var sentBytes, from, to int64
	var lastSize, inOrder int
	prev := first.arrivalUs
	// The ring in two pieces: this runs over some hundred packets a report.
	end := min(a.head+a.n, ackedRing)
	for _, piece := range [2][]sample{a.ring[a.head:end], a.ring[:a.n-(end-a.head)]} {
		for i := range piece {
			p := &piece[i]
			bytes += int64(p.size)
			if gap := p.arrivalUs - prev; gap > largest {
				largest, second = gap, largest
			} else if gap > second {
				second = gap
			}
			prev = p.arrivalUs
			if a.discarded && p.sentUs < a.discardedUs {
				continue // overtaken by what has left: it would stretch the span
			}
			if inOrder == 0 || p.sentUs > to {
				to, lastSize = p.sentUs, p.size
			}
			if inOrder == 0 || p.sentUs < from {
				from = p.sentUs
			}
			sentBytes += int64(p.size)
			inOrder++
		}
	}
	arrival, sending = bps(bytes-int64(first.size), prev-first.arrivalUs-largest+second), math.Inf(1)
	if inOrder >= ackedRequired {
		sending = bps(sentBytes-int64(lastSize), to-from)
	}

	return arrival, sending, true
}

func bps(bytes, us int64) float64 {
	return float64(bytes) * 8e6 / float64(max(us, ackedMinSpanUs))
}
