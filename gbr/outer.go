// SPDX-License-Identifier: MIT

package gbr

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// Outer is the end-to-end loop under the inner one. What can be said at once
// and what may be held back are two calls: the acknowledged rate, loss and
// round-trip time come from OnAcked as soon as feedback is there; the delay
// detector sees the same packets through OnDelay, perhaps later and perhaps
// with arrival times from which the radio's share was taken (see [Corrected]).
//
// [gcc.Controller] is one.
type Outer interface {
	OnPacketSent(now time.Time, p gcc.SentPacket)
	OnAcked(now time.Time, results []gcc.PacketResult)
	OnDelay(now time.Time, results []gcc.PacketResult)
	OnTimeout(now time.Time)
	// NextTimeout is when OnTimeout wants to be called; zero for never.
	NextTimeout() time.Time
	Estimate() gcc.Estimate
	// SetEstimate moves the loop to a rate that the inner loop chose, so that
	// its next cut or growth starts from there. A loop that cannot be moved
	// ignores it and then acts as a plain upper bound.
	SetEstimate(now time.Time, bitrateBps int)
}

// Corrected is an [Outer] whose delay detector itself subtracts
// gcc.PacketResult.RadioDelay, so that the rest of it sees the true arrivals,
// and that takes a whole report at once. [gcc.Controller] is one. For any other
// Outer the correction is taken from Arrival before OnDelay.
type Corrected interface {
	Outer
	// OnFeedback is OnAcked and, unless fb.DelayHeld, OnDelay.
	OnFeedback(now time.Time, fb gcc.Feedback)
}

// Prober is an [Outer] that measures the path with bursts above its rate. It is
// let do so while growth is its own business: the inner loop needs no probes and
// takes none of their results.
type Prober interface {
	Outer
	// NextProbe is the next cluster to send, until it is not ok.
	NextProbe() (gcc.ProbeCluster, bool)
	// SetProbing turns probing on or off; it is on at first.
	SetProbing(now time.Time, on bool)
}

var (
	_ Corrected = (*gcc.Controller)(nil)
	_ Prober    = (*gcc.Controller)(nil)
)

// feed hands a report to an outer loop; fb.DelayHeld keeps it from the delay
// detector.
func feed(o Outer, now time.Time, fb gcc.Feedback) {
	if c, ok := o.(Corrected); ok {
		c.OnFeedback(now, fb)

		return
	}
	o.OnAcked(now, fb.Packets)
	if !fb.DelayHeld {
		feedDelay(o, now, fb.Packets)
	}
}

// feedDelay hands results to the delay detector of an outer loop. It changes
// them when the loop does not know RadioDelay.
func feedDelay(o Outer, now time.Time, results []gcc.PacketResult) {
	if _, ok := o.(Corrected); !ok {
		for i := range results {
			results[i].Arrival = results[i].Arrival.Add(-results[i].RadioDelay)
			results[i].RadioDelay = 0
		}
	}
	o.OnDelay(now, results)
}
