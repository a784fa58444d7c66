// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// causal is what a sender could do that knows the past exactly and at once, but
// not the future: each frame gets what the link is taken to carry, less what is
// still queued. A real controller sees the same later and less exactly: with an age,
// each frame gets what was known that long before, and what that says of the queue.
type causal struct {
	deaf
	past
	limits Limits

	age      time.Duration
	about    time.Time // the capture that the following is for
	bps      float64   // predicted
	left     float64   // bytes
	pathRoom float64
}

func newCausal(p Past, age time.Duration, v *view, l Limits) (*causal, error) {
	if age < 0 || v.fps > 0 && age > v.frameInterval() {
		return nil, fmt.Errorf("sim: causal's knowledge cannot be %v old, at most a frame interval", age)
	}

	return &causal{past: newPast(p, v, l), limits: l, age: age}, nil
}

// NextTimeout is when what is known of the next frame's link becomes too new.
func (c *causal) NextTimeout() time.Time {
	if c.age == 0 {
		return time.Time{}
	}
	if t := c.view.nextCapture().Add(-c.age); t.After(c.view.route.w.now) {
		return t
	}

	return time.Time{}
}

// Rates has no meaning for the encoder, which obeys the budget.
func (c *causal) Rates() Rates {
	if next := c.view.nextCapture(); c.age > 0 && next != c.about && !c.view.route.w.now.Before(next.Add(-c.age)) {
		c.about = next
		c.look()
	}

	return Rates{c.limits.MaxBps, 1_000_000_000}
}

// look notes what there is to know.
func (c *causal) look() {
	c.bps, c.left, c.pathRoom = c.predict(), c.view.backlog(), c.view.pathRoomNow(c.Share, c.Queue)
}

func (c *causal) frameBudget(time.Time) (int, bool) {
	if c.age == 0 {
		c.look()
	}
	left := max(0, c.left-c.bps/8*c.age.Seconds())

	return mediaBudget(min(c.room(c.bps, left), c.pathRoom), c.limits, c.view.frameInterval()), true
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
