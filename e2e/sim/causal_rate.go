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
	view   *view
	limits Limits
	lag    time.Duration // of the encoder
}

func newCausalRate(v *view, l Limits, src media.Config) *causalRate {
	lag := src.Lag
	if lag == 0 {
		lag = media.DefaultLag
	}

	return &causalRate{view: v, limits: l, lag: max(0, lag)}
}

// NextTimeout is when the next frame's rate is decided.
func (c *causalRate) NextTimeout() time.Time {
	if t := c.view.nextCapture().Add(-c.lag); t.After(c.view.route.w.now) {
		return t
	}

	return time.Time{}
}

// Rates is what the link carried lately, less what will be queued at the capture
// that obeys it.
func (c *causalRate) Rates() Rates {
	to := c.view.since()
	recent := float64(c.limits.StartBps)
	if from := max(0, to-causalWindow); to.Milliseconds() > from.Milliseconds() {
		recent = c.view.recentBps(to - from)
	}
	frame := c.view.frameInterval()
	left := max(0, c.view.backlog()-recent/8*c.lag.Seconds())
	room := min(recent/8*max(frame, defaultHorizon).Seconds()-left, c.view.pathRoomNow())
	bps := int(8 * room / frame.Seconds())

	return Rates{max(c.limits.MinBps, min(bps, c.limits.MaxBps)), 1_000_000_000}
}
