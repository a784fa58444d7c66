// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"time"
)

// Defaults of [JitterBufferConfig].
const (
	DefaultRenderDelay = 10 * time.Millisecond // libwebrtc: timing
	DefaultDecay       = 0.01
	DefaultMaxDelay    = 10 * time.Second // libwebrtc: timing, maximum playout delay
)

// JitterBufferConfig shapes a [JitterBuffer]. A field that is zero or out of
// range stands for its default.
type JitterBufferConfig struct {
	// RenderDelay is the time from decoding to the screen. Default 10 ms.
	RenderDelay time.Duration
	// Decay, 0..1, is the share of the difference between the playout delay
	// and a frame's own delay by which the former shrinks with each frame
	// that is in time. Default 0.01: a time constant of 3.3 s at 30 fps.
	Decay float64
	// MaxDelay bounds the playout delay above the fastest frame. A later
	// frame is shown when it arrives. Default 10 s.
	MaxDelay time.Duration
	// Epoch is the instant at which the sender's clock was 0, on the local
	// clock, if that is known, as in a simulation. It makes
	// [JitterBuffer.Latency] and [JitterBuffer.Delay] absolute. It has no
	// influence on render times.
	Epoch time.Time
}

// JitterBufferStats counts what became of the frames.
type JitterBufferStats struct {
	// Rendered frames got a render time. Incomplete ones never had all of
	// their packets. Late ones came when a newer frame was out already.
	Rendered, Incomplete, Late int
	// Restarts counts jumps of the sender's clock.
	Restarts int
}

// JitterBuffer is a model of a video receiver: from when a frame was complete
// to when it is on the screen.
//
//	capture --- D, the playout delay ---> due
//	      \_____ network _____> arrival
//	render = max(arrival, due) + RenderDelay, never before the frame before it
//
//	D jumps up to the delay of a frame that comes after it was due,
//	and decays by 1 % of the difference with each frame in time.
//
// It is simpler than libwebrtc's timing, whose delay comes from a filter of
// the jitter and frame sizes, see the package comment.
//
// Frames are given in the order of capture, each once: when its last packet has
// arrived, or when it is given up. A frame that is not complete is skipped and
// the next one is shown in spite of it, as if every frame could be decoded on
// its own: the picture stands for the gap, and the [FreezeDetector] says
// whether that is a freeze. A frame that is not newer than the last one shown
// is skipped too.
//
// The offset between the sender's clock and the local one may be anything: D
// and the delays all contain it, so it cancels. Not safe for concurrent use.
type JitterBuffer struct {
	cfg    JitterBufferConfig
	origin time.Time // the sender's 0 if Epoch is known, else the first arrival

	started bool
	delay   time.Duration // D, from the sender's clock to the one since origin
	fastest time.Duration // the least delay of a frame

	capture time.Duration // of the last frame shown
	render  time.Time
	latency time.Duration
	stats   JitterBufferStats
}

// NewJitterBuffer returns an empty buffer.
func NewJitterBuffer(cfg JitterBufferConfig) *JitterBuffer {
	if cfg.RenderDelay <= 0 {
		cfg.RenderDelay = DefaultRenderDelay
	}
	if !(cfg.Decay > 0 && cfg.Decay <= 1) { // NaN too
		cfg.Decay = DefaultDecay
	}
	if cfg.MaxDelay <= 0 {
		cfg.MaxDelay = DefaultMaxDelay
	}

	return &JitterBuffer{cfg: cfg, origin: cfg.Epoch}
}

// OnFrame takes a frame: the local arrival of its last packet, the sender's
// capture time, and whether it is complete. It returns when the frame is on
// the screen, not before the frame before it; not ok if it never is. The
// arrival of an incomplete frame is not looked at.
func (j *JitterBuffer) OnFrame(arrival time.Time, capture time.Duration, complete bool) (render time.Time, ok bool) {
	if !complete {
		j.stats.Incomplete++

		return time.Time{}, false
	}
	if !j.started && j.cfg.Epoch.IsZero() {
		j.origin = arrival
	}
	delay := minus(arrival.Sub(j.origin), capture)
	switch {
	case !j.started:
		j.start(delay)
	case capture <= j.capture && minus(j.capture, capture) <= j.cfg.MaxDelay:
		j.stats.Late++

		return time.Time{}, false
	case capture <= j.capture, minus(j.delay, delay) > j.cfg.MaxDelay:
		// Hardly a network: the sender's clock has jumped.
		j.stats.Restarts++
		j.start(delay)
	}
	j.fastest = min(j.fastest, delay)

	wait := time.Duration(0)
	if early := minus(j.delay, delay); early > 0 {
		wait = early
		j.delay -= time.Duration(j.cfg.Decay * float64(early))
	} else {
		j.delay = min(delay, plus(j.fastest, j.cfg.MaxDelay))
	}
	render = arrival.Add(plus(wait, j.cfg.RenderDelay))
	if render.Before(j.render) {
		render = j.render
	}
	j.latency = plus(delay, render.Sub(arrival))
	j.render, j.capture = render, capture
	j.stats.Rendered++

	return render, true
}

// Latency is the time from capture to screen of the last frame shown: absolute
// if the epoch is known, else above the network delay of the fastest frame so
// far. It is not ok before the first frame.
func (j *JitterBuffer) Latency() (latency time.Duration, ok bool) {
	return minus(j.latency, j.base()), j.started
}

// Delay is the playout delay D, by the same measure as Latency and without
// RenderDelay.
func (j *JitterBuffer) Delay() time.Duration { return minus(j.delay, j.base()) }

// Stats is what was counted so far.
func (j *JitterBuffer) Stats() JitterBufferStats { return j.stats }

func (j *JitterBuffer) start(delay time.Duration) {
	j.started, j.delay, j.fastest = true, delay, delay
}

func (j *JitterBuffer) base() time.Duration {
	if j.cfg.Epoch.IsZero() {
		return j.fastest
	}

	return 0
}

// plus and minus saturate: a sender's clock can be anything.
func plus(a, b time.Duration) time.Duration {
	c := a + b
	switch {
	case a > 0 && b > 0 && c < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && c >= 0:
		return math.MinInt64
	default:
		return c
	}
}

func minus(a, b time.Duration) time.Duration {
	c := a - b
	switch {
	case a >= 0 && b < 0 && c < 0:
		return math.MaxInt64
	case a < 0 && b > 0 && c >= 0:
		return math.MinInt64
	default:
		return c
	}
}
