// SPDX-License-Identifier: MIT

package gcc

import "math"

// goog_cc: bitrate_estimator, acknowledged_bitrate_estimator.
const (
	bayesFirstUs      = 500_000
	bayesWindowUs     = 150_000
	bayesUncertainty  = 10.0
	bayesVariance     = 50.0
	bayesProcess      = 5.0
	bayesFastVariance = 200.0
)

// bayesRate measures the acknowledged rate by windows of 150 ms and weighs each
// by how far it lies from what is known. It is the older estimator: quicker and
// noisier than ackedRate.
type bayesRate struct {
	kbps, variance float64
	known          bool

	begun  bool
	prevUs int64
	spanUs int64
	bytes  int64

	alrEndedUs int64
	alrEnded   bool
}

// onALREnd makes the next samples count for more: the rate is about to change.
func (b *bayesRate) onALREnd(nowUs int64) { b.alrEndedUs, b.alrEnded = nowUs, true }

// add takes received packets in order of arrival.
func (b *bayesRate) add(s sample) {
	if b.alrEnded && s.sentUs > b.alrEndedUs {
		b.variance += bayesFastVariance
		b.alrEnded = false
	}
	kbps, ok := b.window(s)
	if !ok {
		return
	}
	if !b.known {
		b.kbps, b.variance, b.known = kbps, bayesVariance+b.variance, true

		return
	}
	u := bayesUncertainty * math.Abs(b.kbps-kbps) / max(b.kbps, 1)
	sample, predicted := u*u, b.variance+bayesProcess
	b.kbps = (sample*b.kbps + predicted*kbps) / (sample + predicted)
	b.variance = sample * predicted / (sample + predicted)
}

// window is ok when one has passed.
func (b *bayesRate) window(s sample) (kbps float64, ok bool) {
	length := int64(bayesWindowUs)
	if !b.known {
		length = bayesFirstUs
	}
	switch dt := s.arrivalUs - b.prevUs; {
	case !b.begun:
	case dt < 0: // the remote clock stepped back
		b.spanUs, b.bytes = 0, 0
	case dt > length:
		// Nothing came for a whole window: the sum belongs to before that.
		b.spanUs, b.bytes = (b.spanUs+dt)%length, 0
	default:
		b.spanUs += dt
	}
	b.begun, b.prevUs = true, s.arrivalUs
	if b.spanUs >= length {
		kbps, ok = float64(b.bytes)*8000/float64(length), true
		b.spanUs -= length
		b.bytes = 0
	}
	b.bytes += int64(s.size)

	return kbps, ok
}

// bps is not ok before the first window has passed.
func (b *bayesRate) bps() (rate float64, ok bool) { return b.kbps * 1000, b.known }
