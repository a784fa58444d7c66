// SPDX-License-Identifier: MIT

package tcp

import (
	"math"
	"time"
)

const (
	// cubicC scales the growth, segments/s^3, and beta is what a loss leaves of
	// the window. RFC 9438 4.1, 4.6.
	cubicC = 0.4
	beta   = 0.7
	// alpha is the additive increase that is on average as large as Reno's
	// when a loss leaves beta. RFC 9438 4.3.
	alpha = 3 * (1 - beta) / (1 + beta)
	// minWindow is the least a loss leaves, segments. RFC 9438 4.6.
	minWindow = 2
)

// cubic is a congestion window, in segments.
type cubic struct {
	cwnd, ssthresh float64

	wMax  float64   // where the plateau is
	prior float64   // cwnd before the latest reduction
	epoch time.Time // the current congestion avoidance began; zero: not yet
	k     float64   // seconds from epoch to the plateau
	wEst  float64   // what Reno would have
	last  time.Time // the window was allowed to grow
}

func newCubic(initial int) cubic { return cubic{cwnd: float64(initial), ssthresh: math.Inf(1)} }

func (c *cubic) slowStart() bool { return c.cwnd < c.ssthresh }

// onAck grows the window for so many segments that arrived. RFC 9438 4.2-4.5.
// Deviation: growth counts segments, not acknowledgements, so that delayed
// acknowledgements do not slow it down; as deployed.
func (c *cubic) onAck(now time.Time, rtt time.Duration, acked float64) {
	if c.epoch.IsZero() {
		c.begin(now)
	}
	c.last = now
	a := alpha
	if c.wEst >= c.prior {
		a = 1
	}
	c.wEst += a * acked / c.cwnd
	t := now.Sub(c.epoch).Seconds()
	if c.plateau(t) < c.wEst {
		c.cwnd = max(c.cwnd, c.wEst)

		return
	}
	target := min(max(c.plateau(t+rtt.Seconds()), c.cwnd), 1.5*c.cwnd)
	c.cwnd += (target - c.cwnd) * min(acked/c.cwnd, 1)
}

// begin opens an epoch.
func (c *cubic) begin(now time.Time) {
	c.epoch, c.last, c.wEst = now, now, c.cwnd
	// After a timeout, or slow start without a loss: the plateau is here. RFC
	// 9438 4.8.
	if c.wMax < c.cwnd {
		c.wMax = c.cwnd
	}
	c.k = math.Cbrt((c.wMax - c.cwnd) / cubicC)
}

// plateau is W_cubic(t).
func (c *cubic) plateau(t float64) float64 {
	d := t - c.k

	return cubicC*d*d*d + c.wMax
}

// onIdle is an acknowledgement while the window was not the limit: time in which
// it could not grow does not count. RFC 9438 5.8.
func (c *cubic) onIdle(now time.Time) {
	if c.epoch.IsZero() {
		return
	}
	if d := now.Sub(c.last); d > 0 {
		c.epoch, c.last = c.epoch.Add(d), now
	}
}

// onLoss makes room. RFC 9438 4.6, 4.7.
func (c *cubic) onLoss() {
	c.epoch, c.prior = time.Time{}, c.cwnd
	if c.cwnd < c.wMax {
		// Fast convergence: the share is shrinking, leave room for others.
		c.wMax = c.cwnd * (1 + beta) / 2
	} else {
		c.wMax = c.cwnd
	}
	c.ssthresh = max(c.cwnd*beta, minWindow)
	c.cwnd = c.ssthresh
}

// onTimeout starts over; again is a timeout within a recovery, for which the
// reduction has been made. RFC 9438 4.8, RFC 5681 3.1.
func (c *cubic) onTimeout(again bool) {
	if !again {
		c.prior, c.ssthresh = c.cwnd, max(c.cwnd*beta, minWindow)
	}
	c.epoch, c.wMax, c.cwnd = time.Time{}, 0, 1
}
