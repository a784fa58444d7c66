// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"time"
)

// Constants of the estimator. libwebrtc: jitter_estimator.
const (
	startupFrames  = 30  // until the estimate is held, and the frame rate trusted
	startupSizes   = 5   // frames in the first average of sizes
	initialSize    = 500 // bytes
	initialSizeVar = 100 // bytes^2
	sizeFactor     = 0.97
	sizeMaxDecay   = 0.9999

	delayClampSD        = 3.5
	delayOutlierSD      = 15
	sizeOutlierSD       = 3
	congestionRejection = -0.25 // of the largest frame

	noiseSamplesMax = 400
	initialNoiseVar = 4    // ms^2
	noiseSD         = 2.33 // 1 % of a normal distribution is above
	noiseTolerance  = 30   // ms

	estimateMin  = time.Millisecond
	estimateMax  = 10 * time.Second
	systemJitter = 10 * time.Millisecond // timers and threads of the receiver

	fpsMax       = 200
	fpsNoJitter  = 5  // frames that rare are shown when they come
	fpsAllJitter = 10 // from here on all jitter counts
)

// jitterEstimator says how much delay evens out the jitter of frames: the time
// by which the largest frame takes longer than an average one on the slowest
// link, and a quantile of what is left.
//
//	variation, size --> outlier? --> Kalman filter --> slope ----+--> slope * (max - avg size)
//	                       |                 | residual          |    + noise threshold
//	                       +--- +- 15 sd ----+--> noise (avg, var)     + 10 ms (+ NACK add-on)
type jitterEstimator struct {
	filter variationFilter

	sizeAvg, sizeVar, sizeMax float64 // bytes, bytes^2, bytes
	sizeLast                  float64
	sizeSum                   float64
	sizes                     int // of startupSizes
	sized                     bool

	noiseAvg, noiseVar float64 // ms, ms^2
	noiseSamples       int

	frames   int           // of startupFrames
	previous time.Duration // 0 is none
	held     time.Duration

	rate  frameRate
	nacks nackHistory
}

func newJitterEstimator() jitterEstimator {
	return jitterEstimator{
		filter:  newVariationFilter(),
		sizeAvg: initialSize, sizeVar: initialSizeVar, sizeMax: initialSize,
		noiseVar: initialNoiseVar, noiseSamples: 1,
	}
}

// update takes a frame that did not wait for a retransmission.
func (e *jitterEstimator) update(now, variation time.Duration, size int) {
	if size <= 0 {
		return
	}
	bytes := float64(size)
	sizeDelta := bytes - e.sizeLast
	e.updateSizes(bytes)
	first := !e.sized
	e.sizeLast, e.sized = bytes, true
	if first {
		return
	}

	sd := math.Sqrt(e.noiseVar)
	limit := fractionalMs(delayClampSD*sd + 0.5)
	variationMs := float64(roundMs(min(max(variation, -limit), limit)))
	deviation := variationMs - e.filter.predict(sizeDelta)
	switch {
	// A large frame that is late tells about the slope, not about noise.
	case math.Abs(deviation) < delayOutlierSD*sd, bytes > e.sizeAvg+sizeOutlierSD*math.Sqrt(e.sizeVar):
		e.updateNoise(now, deviation)
		// A frame right behind a large one came in its wake: its own size had
		// no part in that.
		if sizeDelta > congestionRejection*e.sizeMax {
			e.filter.update(variationMs, sizeDelta, e.sizeMax, e.noiseVar)
		}
	default:
		e.updateNoise(now, math.Copysign(delayOutlierSD*sd, deviation))
	}
	if e.frames < startupFrames {
		e.frames++
	} else {
		e.held = e.estimate()
	}
}

func (e *jitterEstimator) updateSizes(bytes float64) {
	if e.sizes < startupSizes {
		e.sizeSum += bytes
		e.sizes++
	} else if e.sizes == startupSizes {
		e.sizeAvg = e.sizeSum / startupSizes
		e.sizes++
	}
	avg := sizeFactor*e.sizeAvg + (1-sizeFactor)*bytes
	if bytes < e.sizeAvg+2*math.Sqrt(e.sizeVar) { // hardly a key frame
		e.sizeAvg = avg
	}
	// The variance knows the average with this frame even if that was refused.
	d := bytes - avg
	e.sizeVar = max(sizeFactor*e.sizeVar+(1-sizeFactor)*d*d, 1)
	e.sizeMax = max(sizeMaxDecay*e.sizeMax, bytes)
}

func (e *jitterEstimator) updateNoise(now time.Duration, deviation float64) {
	e.rate.add(now)
	alpha := float64(e.noiseSamples-1) / float64(e.noiseSamples)
	e.noiseSamples = min(e.noiseSamples+1, noiseSamplesMax)
	if fps := e.rate.fps(); fps > 0 {
		// The same memory in seconds at any frame rate. The rate is believed
		// bit by bit.
		scale := 30 / fps
		if n := float64(e.noiseSamples); n < startupFrames {
			scale = (n*scale + startupFrames - n) / startupFrames
		}
		alpha = math.Pow(alpha, scale)
	}
	d := deviation - e.noiseAvg // before the average moves
	e.noiseAvg = alpha*e.noiseAvg + (1-alpha)*deviation
	// With a floor, or all that follows would be outliers.
	e.noiseVar = max(alpha*e.noiseVar+(1-alpha)*d*d, 1)
}

// noiseThreshold in ms.
func (e *jitterEstimator) noiseThreshold() float64 {
	return max(noiseSD*math.Sqrt(e.noiseVar)-noiseTolerance, 1)
}

func (e *jitterEstimator) estimate() time.Duration {
	d := fractionalMs(e.filter.sizePart(e.sizeMax-e.sizeAvg) + e.noiseThreshold())
	if d < estimateMin {
		d = max(e.previous, estimateMin)
	}
	e.previous = min(d, estimateMax)

	return e.previous
}

// delay is the jitter delay at now.
func (e *jitterEstimator) delay(now time.Duration) time.Duration {
	d := max(e.estimate()+systemJitter, e.held) + e.nacks.addOn(now)
	fps := e.rate.fps()
	switch {
	case fps == 0 || fps >= fpsAllJitter:
		return d
	case fps < fpsNoJitter:
		return 0
	default:
		part := (fps - fpsNoJitter) / (fpsAllJitter - fpsNoJitter)

		return time.Duration(part * float64(d)).Truncate(time.Microsecond)
	}
}

// frameRate is the mean over the last 30 frames.
type frameRate struct {
	started bool
	last    time.Duration
	gaps    [30]time.Duration
	n, next int
	sum     time.Duration
}

func (r *frameRate) add(now time.Duration) {
	if r.started {
		gap := now - r.last
		r.sum += gap - r.gaps[r.next] // 0 while the window fills
		r.gaps[r.next] = gap
		r.next = (r.next + 1) % len(r.gaps)
		r.n = min(r.n+1, len(r.gaps))
	}
	r.started, r.last = true, now
}

// fps is 0 while it is not known.
func (r *frameRate) fps() float64 {
	if r.n == 0 {
		return 0
	}
	mean := (r.sum / time.Duration(r.n)).Truncate(time.Microsecond)
	if mean <= 0 {
		return 0
	}

	return min(1/mean.Seconds(), fpsMax)
}
