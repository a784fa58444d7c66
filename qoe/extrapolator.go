// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"time"
)

// Constants of the extrapolator. libwebrtc: timestamp_extrapolator.
const (
	clockStartup      = 2 // samples until the fit is used
	clockSlopeVar     = 1
	clockOffsetVar    = 1e10
	clockSilence      = 10 * time.Second
	clockJump         = 900_000 // ticks, 10 s
	outlierStartup    = 300     // samples until outliers are refused
	outlierSD         = 2
	outlierForgetting = 0.999
	outlierRun        = 150           // refused in a row, 5 s at 30 fps
	residualVar       = 3000.0 * 3000 // ticks^2
	residualVarMin    = 1
	alarmLimit        = 60_000 // ticks, 667 ms
	alarmDrift        = 6_600  // ticks per frame that are no reason for alarm
	alarmErrorMax     = 7_000  // ticks per frame that count at most
	clockSlopeMin     = 1e-3   // ticks per ms
	clockReach        = 1e12   // ms that an extrapolation may reach
)

// extrapolator learns when, on the local clock, a frame with an RTP timestamp
// is due: the time at which its last packet comes on average.
//
//	ticks = slope * ms since start + offset      least squares over all frames
//
// It follows drift between the clocks and not the network. After 300 frames it
// refuses frames that deviate by more than two standard deviations; so a lasting
// change of delay reaches the fit after 150 frames, and until then it is the
// current delay, see [playoutTiming], that makes room.
type extrapolator struct {
	start, last time.Duration
	slope       float64 // ticks per ms
	offset      float64 // ticks
	p           [2][2]float64
	clock       rtpUnwrapper
	first, rtp  int64 // first timestamp and latest one in the fit
	started     bool
	samples     int

	mean, variance float64 // of the residuals, ticks
	refused        int     // in a row
	above, below   float64 // sums of the alarm
}

func newExtrapolator(start time.Duration) extrapolator {
	return extrapolator{
		start: start, last: start,
		slope:    rtpTicksPerMs,
		p:        [2][2]float64{{clockSlopeVar, 0}, {0, clockOffsetVar}},
		variance: residualVar,
	}
}

// update takes a frame whose last packet was received at.
func (x *extrapolator) update(at time.Duration, rtp uint32) {
	if at-x.last > clockSilence {
		*x = newExtrapolator(at)
	}
	x.last = at
	unwrapped := x.clock.unwrap(rtp)
	// Time since the last frame is not allowed for: silence of 10 s has reset
	// the fit already.
	if x.started && abs(unwrapped-x.rtp) > clockJump {
		*x = newExtrapolator(at)
		// Deviation: libwebrtc keeps the number of wraps here and resets once
		// more on the next frame if it was not 0.
		unwrapped = x.clock.unwrap(rtp)
	}
	t := float64(roundMs(at - x.start))
	if !x.started {
		x.started, x.first = true, unwrapped
		x.offset = -x.slope * t
	}
	residual := float64(unwrapped-x.first) - t*x.slope - x.offset
	if x.outlier(residual) {
		x.refused++
		if x.refused <= outlierRun {
			return
		}
		x.p[1][1] = clockOffsetVar
	}
	x.refused = 0
	if x.alarm(residual) && x.samples >= clockStartup {
		x.p[1][1] = clockOffsetVar
	}
	x.fit(t, residual)
	x.rtp = unwrapped
	x.samples = min(x.samples+1, outlierStartup)
}

// fit is a step of recursive least squares without forgetting.
func (x *extrapolator) fit(t, residual float64) {
	p0 := x.p[0][0]*t + x.p[0][1]
	p1 := x.p[1][0]*t + x.p[1][1]
	scale := 1 + t*p0 + p1
	k0, k1 := p0/scale, p1/scale
	x.slope += k0 * residual
	x.offset += k1 * residual
	h0 := t*x.p[0][0] + x.p[1][0]
	h1 := t*x.p[0][1] + x.p[1][1]
	x.p[0][0] -= k0 * h0
	x.p[0][1] -= k0 * h1
	x.p[1][0] -= k1 * h0
	x.p[1][1] -= k1 * h1
}

// outlier judges a residual, and learns from it unless it is one.
func (x *extrapolator) outlier(residual float64) bool {
	if x.samples >= outlierStartup && math.Abs(residual-x.mean) > outlierSD*math.Sqrt(x.variance) {
		return true
	}
	x.mean = outlierForgetting*x.mean + (1-outlierForgetting)*residual
	d := residual - x.mean
	x.variance = max(outlierForgetting*x.variance+(1-outlierForgetting)*d*d, residualVarMin)

	return false
}

// alarm tells of a sum of residuals to one side.
func (x *extrapolator) alarm(residual float64) bool {
	residual = min(max(residual, -alarmErrorMax), alarmErrorMax)
	x.above = max(x.above+residual-alarmDrift, 0)
	x.below = min(x.below+residual+alarmDrift, 0)
	if x.above <= alarmLimit && x.below >= -alarmLimit {
		return false
	}
	x.above, x.below = 0, 0

	return true
}

// localTime is when a frame with this timestamp is due, not ok before the first
// update.
func (x *extrapolator) localTime(rtp uint32) (due time.Duration, ok bool) {
	if !x.started {
		return 0, false
	}
	unwrapped := x.clock.peek(rtp)
	switch {
	case x.samples < clockStartup:
		return x.last + rtpTicks(unwrapped-x.rtp), true
	case x.slope < clockSlopeMin:
		return x.start, true
	}
	ms := (float64(unwrapped-x.first)-x.offset)/x.slope + 0.5
	if !(math.Abs(ms) < clockReach) { // NaN too
		return 0, false
	}

	return x.start + time.Duration(ms)*time.Millisecond, true
}

func abs(v int64) int64 { return max(v, -v) }
