// SPDX-License-Identifier: MIT

package vp8

import "math"

// acSteps are the steps of AC coefficients at libvpx's quantizers 0..63: RFC 6386
// 14.1 (ac_qlookup), by way of libvpx: vp8 onyx_if (q_trans). Sizes are about a
// power of these; by the number of the quantizer they fall four times as fast at
// one end as at the other.
//
//nolint:gochecknoglobals // constant table
var acSteps = [64]float64{
	4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 19, 21, 22, 23,
	24, 25, 27, 28, 29, 30, 31, 32, 33, 34, 35, 37, 39, 41, 43, 45,
	47, 49, 51, 53, 55, 57, 60, 64, 68, 72, 78, 84, 90, 96, 102, 108,
	114, 122, 131, 140, 149, 158, 167, 177, 189, 201, 213, 225, 239, 254, 269, 284,
}

// Constants of the rate control; times are in frames.
const (
	// firstPower is that power, negative: the video's own, between minPower and
	// maxPower, is learned from two frames whose steps are powerSteps apart, as a
	// factor.
	firstPower, minPower, maxPower = 1.3, 0.7, 2.5
	powerSteps, learnPower         = 1.2, 0.4
	// learnMore and learnLess are the weights of the newest frame in what is known
	// of the video when it was larger than expected, or smaller: a picture that
	// stands still for a frame is cheap, and the next one moves again. What is too
	// large costs more than what is too small: the viewer's jitter buffer holds
	// frames for as long as the largest one takes, for minutes. leastLess bounds
	// what one frame is believed, as a factor.
	learnMore, learnLess, leastLess = 0.6, 0.25, 0.85
	// A key frame is coarse. The first afterKey frames after one refine by at most
	// refine, as a factor of the step: all at once would be a frame as large as the
	// key frame was not.
	afterKey, refine = 5, 1.25
	// repay is in how many frames a debt is paid back, maxCredit how many frames
	// may be saved up, and maxDebt from how many on a frame is left out.
	repay     = 10
	maxCredit = 2
	maxDebt   = 6
	// leastShare keeps a frame a frame while a debt is paid back, mostShare keeps
	// what was saved up from making one large.
	leastShare, mostShare = 0.4, 1.15
	// firstBytes is what a pixel of a first key frame takes at the finest step.
	firstBytes = 1.0
	// keyShare is how much larger than others a key frame is at the same
	// quantizer, before there was one.
	keyShare = 4.0
)

// rateControl chooses the quantizer of each frame so that it gets the size that
// it should have: from how large the frame before it was at its quantizer.
// libvpx's own follows a mean over half a second, and takes no notice of what
// one frame may have. It has no codec in it and can be tested without.
//
// Sizes are bytes. Not safe for concurrent use.
type rateControl struct {
	minQ, maxQ int
	keyPercent int

	pixels int
	frames [2]known // key frames apart: by kind
	power  float64  // 0: the first one
	lastQ  int      // of the frame before, unless a key frame, and the log of its size
	last   float64
	debt   float64 // bytes sent beyond the rate; negative: saved up

	sinceKey int // frames
	coarse   int // quantizer of the frame before, a key frame or not
}

// known is the log of the size that a frame has at a quantizer.
type known struct {
	q    int
	size float64 // 0: not yet
}

// step is the log of a quantizer's step.
func step(q int) float64 { return math.Log(acSteps[min(max(q, 0), len(acSteps)-1)]) }

// nearest is the quantizer of about a step, given as its log.
func nearest(log float64) int {
	q := 0
	for q < len(acSteps)-1 && step(q)+step(q+1) < 2*log {
		q++
	}

	return q
}

func kind(key bool) int {
	if key {
		return 1
	}

	return 0
}

// resized takes over what is known to pictures of another size. It is called for
// each frame.
func (r *rateControl) resized(pixels int) {
	if pixels == r.pixels {
		return
	}
	if r.pixels > 0 {
		shift := math.Log(float64(pixels) / float64(r.pixels))
		for k := range r.frames {
			if r.frames[k].size > 0 {
				r.frames[k].size += shift
			}
		}
		r.last = 0
	}
	r.pixels = pixels
}

// want is how large a frame should be, where frames have mean bytes at the
// target rate. It is not ok when the frame is to be left out.
func (r *rateControl) want(mean float64, key bool) (bytes float64, ok bool) {
	// A rate that fell makes the debts of the old one unpayable.
	r.debt = min(max(r.debt, -maxCredit*mean), (maxDebt+4)*mean)
	switch {
	case key:
		return mean * float64(r.keyPercent) / 100, true
	case r.debt > maxDebt*mean:
		r.debt -= mean

		return 0, false
	default:
		return min(max(mean-r.debt/repay, leastShare*mean), mostShare*mean), true
	}
}

// quantizer is that of a frame that should have so many bytes.
func (r *rateControl) quantizer(bytes float64, key bool) int {
	f := r.frames[kind(key)]
	if other := r.frames[kind(!key)]; f.size <= 0 {
		switch {
		case other.size <= 0:
			f.size = math.Log(firstBytes * float64(max(r.pixels, 1)))
		case key:
			f = known{other.q, other.size + math.Log(keyShare)}
		default:
			f = known{other.q, other.size - math.Log(keyShare)}
		}
	}
	to := step(f.q) + (f.size-math.Log(max(bytes, 1)))/r.falls()
	if !key && r.sinceKey < afterKey && r.frames[kind(true)].size > 0 {
		to = max(to, step(r.coarse)-math.Log(refine))
	}

	return min(max(nearest(to), r.minQ), r.maxQ)
}

// falls is the power.
func (r *rateControl) falls() float64 {
	if r.power == 0 {
		return firstPower
	}

	return r.power
}

// encoded tells how large a frame became; mean as of want, or what it should have
// had when that was given.
func (r *rateControl) encoded(size, q int, key bool, mean float64) {
	k := kind(key)
	log := math.Log(float64(max(size, 1)))
	if r.sinceKey++; key {
		r.sinceKey = 0
	} else {
		if d := step(q) - step(r.lastQ); r.last > 0 && math.Abs(d) >= math.Log(powerSteps) {
			now := min(max((r.last-log)/d, minPower), maxPower)
			r.power = r.falls() + learnPower*(now-r.falls())
		}
		r.last, r.lastQ = log, q
	}
	r.coarse = q
	if f := r.frames[k]; f.size > 0 {
		expected := f.size - r.falls()*(step(q)-step(f.q))
		if log > expected {
			log = expected + learnMore*(log-expected)
		} else {
			log = expected + max(learnLess*(log-expected), math.Log(leastLess))
		}
	}
	r.frames[k] = known{q, log}
	r.debt += float64(size) - mean
}
