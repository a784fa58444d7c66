// SPDX-License-Identifier: MIT

package media

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Defaults of [AudioConfig].
const (
	// DefaultAudioBps is what browsers give Opus for speech in one channel.
	DefaultAudioBps = 32_000
	// DefaultAudioInterval is RFC 7587's default ptime.
	DefaultAudioInterval = 20 * time.Millisecond
)

const (
	// meanSpurt and meanPause are those of one side of a conversation. ITU-T
	// P.59.
	meanSpurt = 1004 * time.Millisecond
	meanPause = 1587 * time.Millisecond
	// hangover is how long a pause is coded before it is left out, updateEvery
	// how often it is coded all the same, for the noise in it. libopus: silk/define.h,
	// NB_SPEECH_FRAMES_BEFORE_DTX and MAX_CONSECUTIVE_DTX, in frames of 20 ms.
	hangover    = 200 * time.Millisecond
	updateEvery = 400 * time.Millisecond
)

// AudioConfig of an [Audio]; a zero field stands for its default.
type AudioConfig struct {
	// Start is the instant of the first packet.
	Start time.Time
	// Seed picks when there is speech; used with DTX only.
	Seed uint64
	// Bps is the rate of the payload, without headers, 1000 to 512000. Default
	// 32 kbit/s; RFC 8867 has 20.
	Bps int
	// Interval is the time in a packet, 5 to 120 ms. Default 20 ms.
	Interval time.Duration
	// DTX leaves pauses in the speech out, but for a packet every 400 ms.
	DTX bool
}

// Audio is speech: packets of one size.
type Audio struct {
	cfg  AudioConfig
	size int
	rng  *rand.Rand

	next   time.Time // packet
	sent   time.Time // the one before
	silent bool
	since  time.Time // spurt or pause
	until  time.Time
}

// NewAudio makes a voice.
func NewAudio(cfg AudioConfig) (*Audio, error) {
	orElse(&cfg.Bps, DefaultAudioBps)
	orElse(&cfg.Interval, DefaultAudioInterval)
	switch {
	case cfg.Bps < 1000 || cfg.Bps > 512_000:
		return nil, fmt.Errorf("media: %w: audio of %d bit/s", ErrConfig, cfg.Bps)
	case cfg.Interval < 5*time.Millisecond || cfg.Interval > 120*time.Millisecond:
		return nil, fmt.Errorf("media: %w: audio packets every %v", ErrConfig, cfg.Interval)
	}
	a := &Audio{
		cfg: cfg, size: max(1, int(time.Duration(cfg.Bps)*cfg.Interval/(8*time.Second))),
		rng: rand.New(rand.NewPCG(cfg.Seed, seedSpeech)), next: cfg.Start, since: cfg.Start,
	}
	a.until = cfg.Start.Add(a.draw(meanSpurt))

	return a, nil
}

// draw returns the length of a spurt or pause, never shorter than a packet.
func (a *Audio) draw(mean time.Duration) time.Duration {
	return a.cfg.Interval + time.Duration(a.rng.ExpFloat64()*float64(mean-a.cfg.Interval))
}

// NextTimeout is when the next packet is due.
func (a *Audio) NextTimeout() time.Time { return a.next }

// Capture returns the packet that is due, if one is. Speech takes no budget; the
// argument is there so that it is called as a [Source] is. Packets missed by up
// to a second are made up for: ask until there is none.
func (a *Audio) Capture(now time.Time, _ Budget) (Frame, bool) {
	if now.Before(a.next) {
		return Frame{}, false
	}
	a.sent = a.next
	if late := now.Sub(a.next); late > maxLate {
		a.next = a.next.Add(late.Truncate(a.cfg.Interval))
		a.since, a.until = a.next, a.next // whoever spoke then is done
	}
	for {
		a.next = a.next.Add(a.cfg.Interval)
		if !a.cfg.DTX || a.speaks() {
			return Frame{Size: a.size, Audio: true, Capture: now}, true
		}
	}
}

// speaks tells whether the packet at next is sent.
func (a *Audio) speaks() bool {
	for !a.next.Before(a.until) {
		mean := meanPause
		if a.silent {
			mean = meanSpurt
		}
		a.silent, a.since = !a.silent, a.until
		a.until = a.until.Add(a.draw(mean))
	}

	return !a.silent || a.next.Sub(a.since) < hangover || a.next.Sub(a.sent) >= updateEvery
}
