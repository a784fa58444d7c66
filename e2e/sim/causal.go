// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// causal is what a sender could do that knows the past exactly and at once, but
// not the future: each frame gets what the link is taken to carry, less what is
// still queued. A real controller sees the same later and less exactly.
type causal struct {
	deaf
	past
	limits Limits
}

func newCausal(p Past, v *view, l Limits) *causal {
	return &causal{past: newPast(p, v, l), limits: l}
}

// Rates has no meaning for the encoder, which obeys the budget.
func (c *causal) Rates() Rates { return Rates{c.limits.MaxBps, 1_000_000_000} }

func (c *causal) frameBudget(time.Time) (int, bool) {
	return mediaBudget(c.room(c.predict(), c.view.backlog()), c.limits, c.view.frameInterval()), true
}

// minBudget keeps a frame a frame.
const minBudget = 100

// mediaBudget is the payload of a frame that may have room bytes on the link,
// but not more than the limits allow in one frame interval.
func mediaBudget(room float64, l Limits, frame time.Duration) int {
	room = min(room, float64(l.MaxBps)/8*frame.Seconds())
	packets := int(room)/(maxPayload+headerBytes) + 1

	return max(minBudget, int(room)-packets*headerBytes)
}

// deaf is an algorithm's ears when it looks at the world instead.
type deaf struct{}

func (deaf) OnPacketSent(time.Time, gcc.SentPacket) {}
func (deaf) OnFeedback(time.Time, gcc.Feedback)     {}
func (deaf) OnTelemetry(time.Time, gbr.Telemetry)   {}
func (deaf) OnTimeout(time.Time)                    {}
func (deaf) NextTimeout() time.Time                 { return time.Time{} }
