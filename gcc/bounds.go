// SPDX-License-Identifier: MIT

package gcc

import (
	"fmt"
	"time"
)

// SetBounds changes the bounds of the estimate in mid call, in bit/s; what was
// learned of the path stays, and the estimate where it is if it may. The error
// wraps [ErrConfig]; then nothing has changed.
func (c *Controller) SetBounds(now time.Time, minBps, maxBps int) error {
	if minBps <= 0 || maxBps < minBps || maxBps > maxConfigBps {
		return fmt.Errorf("%w: bounds %d..%d bit/s are not ascending within 1..%d", ErrConfig, minBps, maxBps, maxConfigBps)
	}
	now = c.advance(now)
	if minBps == c.cfg.MinBps && maxBps == c.cfg.MaxBps {
		return nil
	}
	c.cfg.MinBps, c.cfg.MaxBps = minBps, maxBps
	low, high := float64(minBps), float64(maxBps)
	c.aimd.minBps, c.aimd.maxBps = low, high
	c.model.minBps, c.model.maxBps, c.model.upper = low, high, high
	c.probe.maxBps = high
	if bitrate := c.bitrate(); c.aimd.rate < low || c.aimd.rate > high || bitrate < minBps || bitrate > maxBps {
		c.SetEstimate(now, min(max(bitrate, minBps), maxBps))
	}

	return nil
}
