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
// with arrival times from which the radio's share was taken.
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
