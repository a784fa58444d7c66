// SPDX-License-Identifier: MIT

package qoe

import (
	"slices"
	"time"
)

// Constants of the delays. libwebrtc: timing.
const (
	lowLatencyMax    = 500 * time.Millisecond // maximum playout delay of that mode
	lowLatencyPacing = 8 * time.Millisecond   // between two frames to the decoder
)

// Delays is what the playout delay of a [Receiver] is made of.
//
//	Target = max(MinPlayout, Jitter + Decode + Render)
//
//	|<------------------ clamp(Current, MinPlayout, MaxPlayout) ----------->|
//	|<---- Jitter ---->|<---- Decode ---->|<-- Render -->|                  |
//	frame is due       release to the                                 on the screen
//	(average arrival)  decoder, at the latest
type Delays struct {
	// Jitter is what evens out the network. W3C webrtc-stats calls its sum
	// over frames jitterBufferMinimumDelay.
	Jitter time.Duration
	// Decode is the 95th percentile of decode times over 10 s.
	Decode time.Duration
	// Render is the time from decoding to the screen.
	Render time.Duration
	// MinPlayout and MaxPlayout are the bounds from outside.
	MinPlayout, MaxPlayout time.Duration
	// Target is where Current goes.
	Target time.Duration
	// Current is what is in use. It rises by as much as a frame is late, and
	// falls, at once, only when a frame is late or just in time.
	Current time.Duration
}

// playoutTiming turns RTP timestamps into times on the screen.
type playoutTiming struct {
	clock   extrapolator
	decode  decodeTimes
	delays  Delays // Target and Decode are derived
	sent    bool   // lastSent is set
	lastOut time.Duration
}

// due is a time on the screen, or as soon as possible.
type due struct {
	at   time.Duration
	asap bool
}

func (p *playoutTiming) reset(now time.Duration) {
	p.clock = newExtrapolator(now)
	p.decode.reset()
	p.delays.Jitter, p.delays.Current = 0, 0
}

func (p *playoutTiming) target() time.Duration {
	return max(p.delays.MinPlayout, p.delays.Jitter+p.overhead())
}

// overhead is the part of the delay after the release.
func (p *playoutTiming) overhead() time.Duration { return p.decode.required() + p.delays.Render }

func (p *playoutTiming) setJitter(d time.Duration) {
	if d != p.delays.Jitter && p.delays.Current == 0 {
		p.delays.Current = d
	}
	p.delays.Jitter = d
}

// onRelease follows a frame that goes to the decoder now.
func (p *playoutTiming) onRelease(now time.Duration, d due) {
	late := now - d.at + p.overhead()
	if d.asap {
		late = p.delays.MaxPlayout + p.target() // any large number: to the target
	}
	if roundMs(late) >= 0 {
		p.delays.Current = min(p.delays.Current+late, p.target())
	}
}

// render is when a frame with this timestamp shall be on the screen.
func (p *playoutTiming) render(now time.Duration, rtp uint32) due {
	if p.lowLatency() {
		return due{asap: true}
	}
	at, ok := p.clock.localTime(rtp)
	if !ok {
		return due{at: now}
	}

	return due{at: at + max(min(p.delays.Current, p.delays.MaxPlayout), p.delays.MinPlayout)}
}

func (p *playoutTiming) lowLatency() bool {
	return p.delays.MinPlayout == 0 && p.delays.MaxPlayout <= lowLatencyMax
}

// wait is the time until the decoder must have the frame; negative if that has
// passed.
func (p *playoutTiming) wait(now time.Duration, d due, crowded bool) time.Duration {
	switch {
	case !d.asap:
		return d.at - now - p.overhead()
	case p.delays.MaxPlayout == 0:
		return -fastForward // not worth a wait, and worth a skip
	case crowded || !p.sent:
		return 0
	default:
		return max(p.lastOut+lowLatencyPacing-now, 0)
	}
}

func (p *playoutTiming) snapshot() Delays {
	d := p.delays
	d.Decode, d.Target = p.decode.required(), p.target()

	return d
}

// Constants of the decode time. libwebrtc: decode_time_percentile_filter.
const (
	decodeIgnored    = 5 // the first ones set up the decoder
	decodeWindow     = 10 * time.Second
	decodePercentile = float32(0.95)
)

// decodeTimes is the 95th percentile of decode times over 10 s.
type decodeTimes struct {
	ignored int
	window  []decodeTime // in order of time, from head
	head    int
	sorted  []int64 // ms
}

type decodeTime struct {
	at time.Duration
	ms int64
}

func (t *decodeTimes) reset() {
	*t = decodeTimes{window: t.window[:0], sorted: t.sorted[:0]}
}

func (t *decodeTimes) add(now, took time.Duration) {
	if t.ignored < decodeIgnored {
		t.ignored++

		return
	}
	s := decodeTime{now, max(roundMs(took), 0)}
	if t.head > len(t.window)/2 {
		t.window = t.window[:copy(t.window, t.window[t.head:])]
		t.head = 0
	}
	t.window = append(t.window, s)
	i, _ := slices.BinarySearch(t.sorted, s.ms)
	t.sorted = slices.Insert(t.sorted, i, s.ms)
	for now-t.window[t.head].at > decodeWindow {
		i, _ := slices.BinarySearch(t.sorted, t.window[t.head].ms)
		t.sorted = slices.Delete(t.sorted, i, i+1)
		t.head++
	}
}

// required is in whole ms, and 0 while it is not known.
func (t *decodeTimes) required() time.Duration {
	if len(t.sorted) == 0 {
		return 0
	}

	return time.Duration(t.sorted[int(decodePercentile*float32(len(t.sorted)-1))]) * time.Millisecond
}
