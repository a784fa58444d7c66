// SPDX-License-Identifier: MIT

package vp8

import "math"

// Constants of the rate control; times are in frames.
const (
	// firstSlope is how the logarithm of a frame's size falls with the quantizer: AC
	// steps rise from 4 to 284 over libvpx's 63 (RFC 6386 14.1), and sizes fall a
	// little faster than steps rise. The video's own, between minSlope and maxSlope,
	// is learned from two frames whose quantizers are slopeSteps apart.
	firstSlope, minSlope, maxSlope = 0.085, 0.05, 0.14
	slopeSteps, learnSlope         = 4, 0.4
	// learn is the weight of the newest frame in what is known of the video.
	learn = 0.6
	// repay is in how many frames a debt is paid back, maxCredit how many frames
	// may be saved up, and maxDebt from how many on a frame is left out.
	repay     = 10
	maxCredit = 1
	maxDebt   = 6
	// leastShare keeps a frame a frame while a debt is paid back.
	leastShare = 0.4
	// firstBytes is what a pixel of a first key frame takes at quantizer 0.
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
	slope  float64  // 0: the first one
	lastQ  int      // of the frame before, unless a key frame, and the log of its size
	last   float64
	debt   float64 // bytes sent beyond the rate; negative: saved up
}

// known is the log of the size that a frame has at a quantizer.
type known struct {
	q    int
	size float64 // 0: not yet
}

func kind(key bool) int {
	if key {
		return 1
	}

	return 0
}

// resized takes over what is known to pictures of another size.
func (r *rateControl) resized(pixels int) {
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
		return max(mean-r.debt/repay, leastShare*mean), true
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
	q := float64(f.q) + math.Round((f.size-math.Log(max(bytes, 1)))/r.falls())

	return int(min(max(q, float64(r.minQ)), float64(r.maxQ)))
}

// falls is the slope.
func (r *rateControl) falls() float64 {
	if r.slope == 0 {
		return firstSlope
	}

	return r.slope
}

// encoded tells how large a frame became; mean as of want, or what it should have
// had when that was given.
func (r *rateControl) encoded(size, q int, key bool, mean float64) {
	k := kind(key)
	log := math.Log(float64(max(size, 1)))
	if !key {
		if d := q - r.lastQ; r.last > 0 && (d >= slopeSteps || d <= -slopeSteps) {
			now := min(max((r.last-log)/float64(d), minSlope), maxSlope)
			r.slope = r.falls() + learnSlope*(now-r.falls())
		}
		r.last, r.lastQ = log, q
	}
	if f := r.frames[k]; f.size > 0 {
		expected := f.size - r.falls()*float64(q-f.q)
		log = learn*log + (1-learn)*expected
	}
	r.frames[k] = known{q, log}
	r.debt += float64(size) - mean
}
