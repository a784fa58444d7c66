// SPDX-License-Identifier: MIT

package gbr

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// law is one way of steering. The estimator around it keeps time from running
// backwards, knows how old the telemetry is, and records.
type law interface {
	onSent(now time.Time, p gcc.SentPacket)
	// onTelemetry takes a batch; it is fresh, so the mode is Dual.
	onTelemetry(now time.Time, t *Telemetry)
	onFeedback(now time.Time, fb gcc.Feedback, mode Mode)
	onTimeout(now time.Time, mode Mode)
	// nextTimeout is the law's own timer, besides the outer loop's; zero for
	// never.
	nextTimeout() time.Time
	output(now time.Time, mode Mode) output
	// grows tells whether growth is the law's own business, not the outer loop's.
	grows(now time.Time, mode Mode) bool
}

// output is what a law wants, in bit/s; the estimator clamps it.
type output struct {
	rate, encoder, pacing int
	gain                  float64
}

// shared is what all laws stand on.
type shared struct {
	cfg   Config
	outer Outer
	inner inner
	stats *Stats
	gain  float64
	age   time.Duration
	share float64 // of the radio, see Estimator.SetShare
}

func (s *shared) clamp(bps int) int { return max(s.cfg.MinBps, min(s.cfg.MaxBps, bps)) }

func (s *shared) outerRate() int { return s.clamp(s.outer.Estimate().BitrateBps) }

// sample runs the ratio's history on one sample and counts what became of it.
func (s *shared) sample(now time.Time, sm *Sample) (gain float64, v verdict) {
	g, v := s.inner.onSample(now, sm)
	if sm.Granted == 0 {
		g = min(g, 1) // starved, whatever the average still says
	}
	switch v {
	case verdictUsed:
		s.stats.Used++
		s.age = max(0, now.Sub(sm.At))
	case verdictIdle:
		s.stats.Idle++
	case verdictStale:
		s.stats.Stale++
	case verdictDuplicate:
		s.stats.Duplicate++
	case verdictInvalid:
		s.stats.Invalid++
	}
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Record(now, SampleEvent{
			AgeMs: float64(now.Sub(sm.At)) / float64(time.Millisecond), Ratio: s.inner.ratio,
			Verdict: v.String(), Gain: g, RateBps: s.outerRate(),
		})
	}

	return g, v
}

// grow raises or lowers a rate by a gain; a raise stops at the acknowledged
// rate's headroom. goog_cc: aimd_rate_control. Nobody knows what a link would
// carry that has never been asked for it.
func (s *shared) grow(rate float64, gain float64, ackedBps int) float64 {
	next := rate * gain
	if gain > 1 && ackedBps > 0 {
		next = min(next, max(rate, s.cfg.AckedHeadroom*float64(ackedBps)+10_000))
	}

	return next
}
