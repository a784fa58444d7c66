// SPDX-License-Identifier: MIT

package gbr

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// ceilingMargin is how far below a known ceiling the inner loop still
	// grows: the outer loop cuts to 0.85 of what arrives.
	ceilingMargin = 0.8
	// ceilingPacing is how fast bursts are, in multiples of a ceiling.
	ceilingPacing = 2.5
	// ceilingGone is the acknowledged rate, in multiples of a ceiling, that
	// shows that it is not there any more.
	ceilingGone = 1.1
	// ceilingMemory is how long a ceiling is believed in without a cut that
	// confirms it. One that is gone shows sooner by ceilingGone, since the outer
	// loop goes on growing by itself.
	ceilingMemory = 5 * time.Minute
)

// ceiling is a rate at which the path, not the radio, was full: the outer loop
// cut while the radio had room. Near it the inner loop must not grow, since
// its signal cannot see that bottleneck; the outer loop does, and carefully.
type ceiling struct {
	bps int // 0: none known
	at  time.Time
	// resume is up to where the inner loop grows again.
	resume float64
}

// found tells of a rate at which something was full, and what share of it to go
// back to.
func (c *ceiling) found(now time.Time, ackedBps int, share float64) {
	if ackedBps > 0 {
		c.bps, c.at, c.resume = ackedBps, now, share*float64(ackedBps)
	}
}

// limits tells whether growth from est is the outer loop's alone. Where nothing is
// narrow, frames that arrive at carries bit/s, 0 for unknown, tell that it is gone
// before the rate has come there; beside others they arrive faster than one's share.
func (c *ceiling) limits(now time.Time, est gcc.Estimate, narrow bool, carries float64) bool {
	if c.bps == 0 {
		return false
	}
	was := float64(c.bps)
	gone := !narrow && (carries > trainFaster*was || float64(est.AckedBps) > ceilingGone*was)
	if gone || now.Sub(c.at) > ceilingMemory {
		c.bps = 0

		return false
	}

	return float64(est.BitrateBps) > c.resume
}
