// SPDX-License-Identifier: MIT

package qoe

import "time"

// Constants of the release. libwebrtc: frame_decode_timing,
// video_receive_stream2, video_stream_buffer_controller.
const (
	fastForward       = 5 * time.Millisecond // how late a frame may be and still be decoded
	crowdedQueue      = 8                    // frames, of the low latency mode
	maxWaitKeyFrame   = 200 * time.Millisecond
	maxWaitFrame      = 3 * time.Second
	inactiveAfter     = 5 * time.Second // without a packet
	nackHistoryFactor = 3
)

// schedule is a frame on its way to the decoder. Once made it stays, whatever
// comes meanwhile.
type schedule struct {
	id     int64
	at     time.Duration
	render due
}

// plan drops frames that are too late if a newer one can be decoded, and says
// when the first of the others is to be released: at its time, or before the
// timeout in maxWait.
func plan(now, maxWait time.Duration, b *frameBuffer, timing *playoutTiming) (s schedule, ok bool) {
	for {
		next, newest, ok := b.decodable()
		if !ok {
			return schedule{}, false
		}
		f := &b.frames[next]
		render := timing.render(now, f.RTPTimestamp)
		wait := timing.wait(now, render, len(b.frames) > crowdedQueue)
		if wait > -fastForward || next == newest {
			return schedule{f.ID, now + min(max(wait, 0), maxWait), render}, true
		}
		b.drop(next)
	}
}

// metronome has frames decoded at ticks, so that the streams of a process wake
// it up together. The zero value is off. libwebrtc: decode_synchronizer, which
// Chromium gives a timer of 1/64 s.
//
//	tick            tick            tick            tick
//	 |       scheduled                |               |
//	 |               released at the last tick before due
//	 |                                |  due
type metronome struct{ period, phase time.Duration }

// release is when a frame that is scheduled now and due at a time goes to the
// decoder: at once if the next tick is too late for it, else at the last tick
// before it is due, and at the next one at the earliest. That may be up to
// fastForward late.
func (m metronome) release(now, due time.Duration) time.Duration {
	if m.period <= 0 || due <= now {
		return due
	}
	into := (now - m.phase) % m.period
	if into < 0 {
		into += m.period
	}
	next := now - into + m.period
	switch {
	case due < next-fastForward:
		return now
	case due < next+m.period:
		return next
	default:
		return due - (due-next)%m.period
	}
}

// timeouts watches over the time without a frame. libwebrtc:
// video_receive_stream_timeout_tracker.
type timeouts struct {
	forKey, forFrame time.Duration
	running          bool
	waitingForKey    bool
	at               time.Duration
}

func newTimeouts(forKey, forFrame, nackHistory time.Duration) timeouts {
	if forKey <= 0 {
		forKey = maxWaitKeyFrame
	}
	if forFrame <= 0 {
		forFrame = maxWaitFrame
	}
	// What the sender no longer has is not worth waiting for.
	if nackHistory > 0 && nackHistory < forFrame/nackHistoryFactor {
		forKey, forFrame = nackHistory, nackHistoryFactor*nackHistory
	}

	return timeouts{forKey: max(micros(forKey), time.Millisecond), forFrame: max(micros(forFrame), time.Millisecond)}
}

func (t *timeouts) wait() time.Duration {
	if t.waitingForKey {
		return t.forKey
	}

	return t.forFrame
}

// onReady starts the clock, or shortens it for a key frame.
func (t *timeouts) onReady(now time.Duration, needKey bool) {
	if !t.running {
		t.running, t.waitingForKey = true, needKey
		t.at = now + t.wait()
	}
	if needKey {
		t.waitingForKey = true
		t.at = min(t.at, now+t.forKey)
	}
}

func (t *timeouts) onRelease(now time.Duration) {
	t.waitingForKey = false
	t.at = now + t.wait()
}

// skip leaves out timeouts before now that would change nothing.
func (t *timeouts) skip(now time.Duration) {
	if late := now - t.at; late > 0 {
		t.at = now - late%t.wait()
	}
}

// left is the longest that a frame may be held.
func (t *timeouts) left(now time.Duration) time.Duration {
	return max(t.at-now-time.Millisecond, 0)
}

// micros is d in whole microseconds, rounded down for d >= 0: the resolution of
// libwebrtc's clock.
func micros(d time.Duration) time.Duration { return d.Truncate(time.Microsecond) }
