// SPDX-License-Identifier: MIT

package gcc

import "math"

// goog_cc: trendline_estimator.
const (
	minThreshold   = 6.0
	maxThreshold   = 600.0
	thresholdUp    = 0.0087
	thresholdDown  = 0.039
	maxAdaptOffset = 15.0
	maxAdaptMs     = 100.0
	overuseMs      = 10.0
)

// overuse turns a trend into a hypothesis with a threshold that adapts, so
// that flows which fill the queue do not starve this one.
type overuse struct {
	threshold float64
	usage     Usage

	prevSlope float64
	timing    bool    // above the threshold, or just reported so
	overMs    float64 // time spent above it since the last report
	overCount int
	lastUs    int64
	started   bool
}

func newOveruse(threshold float64) overuse { return overuse{threshold: threshold} }

// update takes the trendline after one more group that was sent sendUs after
// the previous one and whose successor arrived at arrivalUs.
func (o *overuse) update(t *trendline, sendUs, arrivalUs int64) {
	if t.deltas < 2 {
		o.usage = UsageNormal

		return
	}

	mod := t.modified()
	switch {
	case mod > o.threshold:
		o.above(t.slope, usToMs(sendUs))
	case mod < -o.threshold:
		o.usage = UsageUnder
		o.below()
	default:
		o.usage = UsageNormal
		o.below()
	}
	o.prevSlope = t.slope
	o.adapt(math.Abs(mod), arrivalUs)
}

// above requires the trend to stay above the threshold for a while, and not to
// fall back, before it says overuse.
func (o *overuse) above(slope, sendMs float64) {
	if !o.timing {
		o.timing = true
		sendMs /= 2 // it crossed somewhere within this group
	}
	o.overMs += sendMs
	o.overCount++
	if o.overMs > overuseMs && o.overCount > 1 && slope >= o.prevSlope {
		o.overMs, o.overCount = 0, 0
		o.usage = UsageOver
	}
}

func (o *overuse) below() { o.timing, o.overMs, o.overCount = false, 0, 0 }

// restart forgets the trend but keeps the threshold, which belongs to the path
// and not to the remote clock.
func (o *overuse) restart() {
	*o = overuse{threshold: o.threshold}
}

func (o *overuse) adapt(mod float64, arrivalUs int64) {
	if !o.started {
		o.lastUs, o.started = arrivalUs, true
	}
	dt := usToMs(arrivalUs - o.lastUs)
	o.lastUs = arrivalUs

	// A sudden capacity drop is far above the threshold; learning from it would
	// make the detector deaf.
	if mod > o.threshold+maxAdaptOffset {
		return
	}
	k := thresholdUp
	if mod < o.threshold {
		k = thresholdDown
	}
	// Deviation: the elapsed time is not negative, a remote clock may step back.
	dt = min(max(dt, 0), maxAdaptMs)
	o.threshold = min(max(o.threshold+k*(mod-o.threshold)*dt, minThreshold), maxThreshold)
}
