// SPDX-License-Identifier: MIT

package qoe

import "time"

// rtpTicksPerMs is the clock rate of video. RFC 3551 5.
const rtpTicksPerMs = 90

// rtpUnwrapper makes RTP timestamps, which wrap every 13 hours, into numbers
// that do not. Each is taken as the nearest to the one before.
type rtpUnwrapper struct {
	started bool
	last    int64
}

func (u *rtpUnwrapper) unwrap(rtp uint32) int64 {
	u.last, u.started = u.peek(rtp), true

	return u.last
}

// peek is unwrap without a memory of it.
func (u *rtpUnwrapper) peek(rtp uint32) int64 {
	if !u.started {
		return int64(rtp)
	}

	return u.last + int64(int32(rtp-uint32(u.last))) // wraps
}

// rtpTicks is the duration of ticks of the RTP clock, in whole microseconds.
func rtpTicks(ticks int64) time.Duration {
	return time.Duration(ticks*100/9) * time.Microsecond
}

// roundMs is d in ms, rounded to the nearest, halves up. libwebrtc:
// TimeDelta::ms.
func roundMs(d time.Duration) int64 {
	us := d.Microseconds() + 500
	whole := us / 1000
	if us%1000 < 0 {
		whole--
	}

	return whole
}

// fractionalMs is ms in whole microseconds.
func fractionalMs(ms float64) time.Duration {
	return time.Duration(ms*1000) * time.Microsecond
}
