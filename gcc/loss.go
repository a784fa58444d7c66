// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"time"
)

// goog_cc: send_side_bandwidth_estimation, the loss rules used while loss v2
// has no estimate; the 250 ms are loss_based_bwe_v2's observation.
const (
	lossMinPackets  = 20
	lossMinInterval = 250 * time.Millisecond
	lossMaxInterval = 6 * time.Second
	lossCutGap      = 300 * time.Millisecond
	lossCutShare    = 0.5
	lossGrowth      = 1.08
	lossGrowthBps   = 1_000.0 // per second
)

// lossLimit bounds the rate after heavy loss.
//
// Deviation: goog_cc's loss rule owns the target and bounds its growth at all
// times. Here a limit comes into being with a cut and goes as soon as the delay
// rate is the lower one, so without loss there is none, and 2..10 % hold a
// limit that exists but do not make one: a radio link may lose that much with
// room to spare.
type lossLimit struct {
	low, high float64

	bps   float64 // 0 is no limit
	ratio float64 // of the last interval

	expected, lost int
	since          time.Time // begin of the interval
	open           bool      // since is set
	cutAt          time.Time
}

// count adds packets whose fate is known now; lost may be negative for packets
// that came after all.
func (l *lossLimit) count(now time.Time, expected, lost int) {
	if !l.open || now.Sub(l.since) > lossMaxInterval {
		l.begin(now) // what is older says nothing about now
	}
	l.expected += expected
	l.lost = max(0, l.lost+lost)
}

// update closes the interval when it is long enough. delayBps is the other
// limit; cut tells whether this one just came down.
func (l *lossLimit) update(now time.Time, rtt time.Duration, delayBps, minBps float64) (cut bool) {
	if l.expected < lossMinPackets || now.Sub(l.since) < lossMinInterval {
		return false
	}
	ratio := min(float64(l.lost)/float64(l.expected), 1)

	switch {
	case ratio > l.high:
		if !l.cutAt.IsZero() && now.Sub(l.cutAt) < lossCutGap+rtt {
			return false // the interval stays open: nothing is forgotten
		}
		base := delayBps
		if l.bps > 0 {
			base = min(base, l.bps)
		}
		l.bps = max(base*(1-lossCutShare*ratio), minBps)
		l.cutAt = now
		cut = true
	case ratio < l.low && l.bps > 0:
		dt := min(now.Sub(l.since), time.Second).Seconds()
		l.bps = l.bps*math.Pow(lossGrowth, dt) + lossGrowthBps*dt
	}
	l.ratio = ratio
	l.begin(now)

	return cut
}

func (l *lossLimit) begin(now time.Time) {
	l.expected, l.lost, l.since, l.open = 0, 0, now, true
}

// release drops a limit that the delay rate has undercut.
func (l *lossLimit) release(delayBps float64) (released bool) {
	if l.bps == 0 || l.bps <= delayBps {
		return false
	}
	l.bps = 0

	return true
}

// set moves an existing limit.
func (l *lossLimit) set(bps float64) {
	if l.bps > 0 {
		l.bps = bps
	}
}
