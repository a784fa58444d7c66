// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"time"
)

// Constants of the filter. libwebrtc: frame_delay_variation_kalman_filter.
const (
	initialSlope     = 1.0 / 64_000 // ms per byte
	minSlope         = 1e-6         // ms per byte, 8 Gbit/s
	initialSlopeVar  = 1e-4
	initialOffsetVar = 1e2
	slopeDrift       = 2.5e-10 // added to the variances per frame
	offsetDrift      = 1e-10
	noiseOfSameSize  = 300 // how much less a frame of the same size as the last one tells
)

// delayVariation is how much later, or earlier, each frame comes than its
// timestamp and the frame before promise. libwebrtc:
// inter_frame_delay_variation_calculator.
type delayVariation struct {
	started  bool
	clock    rtpUnwrapper
	rtp      int64
	received time.Duration
}

// next is not ok for a frame that is not newer than the one before. The first
// frame is on time by definition.
func (v *delayVariation) next(rtp uint32, received time.Duration) (variation time.Duration, ok bool) {
	unwrapped := v.clock.unwrap(rtp)
	switch {
	case !v.started:
		v.started = true
	case unwrapped <= v.rtp:
		return 0, false
	default:
		variation = received - v.received - rtpTicks(unwrapped-v.rtp)
	}
	v.rtp, v.received = unwrapped, received

	return variation, true
}

// variationFilter splits the delay variation of frames into a part that grows
// with the difference of their sizes, which is the time on the slowest link,
// and the rest:
//
//	variation = slope * (size - size before) + offset + noise
//
// It is a Kalman filter whose state does not move by itself, with the quirks of
// libwebrtc, which shape what a browser shows: the noise enters the variance of
// the innovation as a standard deviation, and the first slope is 1000 times
// that of the 512 kbit/s it was meant to be.
type variationFilter struct {
	slope, offset float64 // ms per byte, ms
	p             [2][2]float64
}

func newVariationFilter() variationFilter {
	return variationFilter{slope: initialSlope, p: [2][2]float64{{initialSlopeVar, 0}, {0, initialOffsetVar}}}
}

// sizePart is the part of the variation in ms that comes from sizeDelta bytes.
func (f *variationFilter) sizePart(sizeDelta float64) float64 { return f.slope * sizeDelta }

// predict is the expected variation in ms.
func (f *variationFilter) predict(sizeDelta float64) float64 { return f.sizePart(sizeDelta) + f.offset }

// update learns from one frame. noiseVar is the variance of the noise in ms^2.
func (f *variationFilter) update(variationMs, sizeDelta, maxSize, noiseVar float64) {
	if maxSize < 1 || noiseVar <= 0 {
		return
	}
	f.p[0][0] += slopeDrift
	f.p[1][1] += offsetDrift

	// A difference of sizes near zero says nothing about the slope.
	noise := (noiseOfSameSize*math.Exp(-math.Abs(sizeDelta)/maxSize) + 1) * math.Sqrt(noiseVar)
	p0 := f.p[0][0]*sizeDelta + f.p[0][1]
	p1 := f.p[1][0]*sizeDelta + f.p[1][1]
	variance := sizeDelta*p0 + p1 + max(noise, 1)
	if math.Abs(variance) < 1e-9 {
		return
	}
	surprise := variationMs - f.predict(sizeDelta)
	k0, k1 := p0/variance, p1/variance
	f.slope = max(f.slope+k0*surprise, minSlope)
	f.offset += k1 * surprise

	// P - K H P with H = [sizeDelta 1].
	h0 := sizeDelta*f.p[0][0] + f.p[1][0]
	h1 := sizeDelta*f.p[0][1] + f.p[1][1]
	f.p[0][0] -= k0 * h0
	f.p[0][1] -= k0 * h1
	f.p[1][0] -= k1 * h0
	f.p[1][1] -= k1 * h1
}
