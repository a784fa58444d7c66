// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/media"
)

// causalRate knows what causal knows, but tells the encoder a rate, which the
// encoder obeys as late and as roughly as the scenario's does. What lies between
// the two is the price of a rate; no controller of rates can count on less.
type causalRate struct {
	deaf
	past
	limits Limits
	lag    time.Duration // of the encoder
}

func newCausalRate(p Past, v *view, l Limits, src media.Config) *causalRate {
	lag := src.Lag
	if lag == 0 {
		lag = media.DefaultLag
	}

	return &causalRate{past: newPast(p, v, l), limits: l, lag: max(0, lag)}
}

// NextTimeout is when the next frame's rate is decided.
func (c *causalRate) NextTimeout() time.Time {
	if t := c.view.nextCapture().Add(-c.lag); t.After(c.view.route.w.now) {
		return t
	}

	return time.Time{}
}

// Rates is what the link is taken to carry, less what will be queued at the
// capture that obeys it.
func (c *causalRate) Rates() Rates {
	bps := c.predict()
	left := max(0, c.view.backlog()-bps/8*c.lag.Seconds())
	room := min(c.room(bps, left), c.view.pathRoomNow(c.Share, c.Queue))
	target := int(8 * room / c.view.frameInterval().Seconds())

	return Rates{max(c.limits.MinBps, min(target, c.limits.MaxBps)), 1_000_000_000}
}
