// SPDX-License-Identifier: MIT

package gbr

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// gainLaw is Seed, SeedQoE and SeedMin: a bounded gain on every sample. In the
// first two there is one rate, which both loops cut; in SeedMin two rates, of
// which the lower counts.
type gainLaw struct {
	*shared
	// own is SeedMin's inner rate, 0 before the first sample.
	own float64
}

func (l *gainLaw) onSent(now time.Time, p gcc.SentPacket) { l.outer.OnPacketSent(now, p) }

func (l *gainLaw) onTelemetry(now time.Time, t *Telemetry) {
	for i := range t.Samples {
		g, v := l.sample(now, &t.Samples[i])
		if v != verdictUsed {
			continue
		}
		l.gain = g
		if g == 1 && l.cfg.Algorithm != SeedMin {
			continue
		}
		est := l.outer.Estimate()
		if l.cfg.Algorithm == SeedMin {
			if l.own == 0 {
				l.own = float64(l.outerRate())
			}
			l.own = l.bound(l.grow(l.own, g, est.AckedBps))

			continue
		}
		if next := l.grow(float64(est.BitrateBps), g, est.AckedBps); next != float64(est.BitrateBps) {
			l.outer.SetEstimate(now, l.clamp(int(next)))
		}
	}
}

func (l *gainLaw) bound(bps float64) float64 {
	return max(float64(l.cfg.MinBps), min(float64(l.cfg.MaxBps), bps))
}

func (l *gainLaw) onFeedback(now time.Time, fb gcc.Feedback, mode Mode) {
	before := l.outerRate()
	feed(l.outer, now, fb)
	l.arbitrate(now, before, mode)
}

func (l *gainLaw) onTimeout(now time.Time, mode Mode) {
	before := l.outerRate()
	l.outer.OnTimeout(now)
	l.arbitrate(now, before, mode)
}

// arbitrate keeps what the outer loop did since the rate was before: cuts
// always, growth only when the inner loop is not there to do it.
func (l *gainLaw) arbitrate(now time.Time, before int, mode Mode) {
	if mode == OuterOnly {
		l.own = 0

		return
	}
	after := l.outerRate()
	switch {
	case l.cfg.Algorithm == SeedMin:
	case after > before && l.steers(now):
		l.outer.SetEstimate(now, before)
	case after < before:
		l.cut(now, before, after)
	}
}

func (s *shared) cut(now time.Time, before, after int) {
	s.stats.OuterCuts++
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Record(now, CutEvent{before, after, s.outer.Estimate().Usage})
	}
}

// steers tells whether growth is the inner loop's business: there was a ratio
// lately. A phone that is idle for longer gives no ratio, and the sender is not
// limited by its radio.
func (s *shared) steers(now time.Time) bool {
	return !s.inner.ratioAt.IsZero() && now.Sub(s.inner.ratioAt) <= s.cfg.HandOverAfter
}

func (l *gainLaw) grows(now time.Time, mode Mode) bool { return mode != OuterOnly && l.steers(now) }

func (*gainLaw) nextTimeout() time.Time { return time.Time{} }

func (l *gainLaw) output(_ time.Time, mode Mode) output {
	est := l.outer.Estimate()
	o := output{rate: est.BitrateBps, pacing: est.PacingBps, gain: l.gain}
	if mode != OuterOnly && l.own > 0 && int(l.own) < o.rate {
		// The pacer keeps its distance from the rate.
		o.pacing = int(float64(o.pacing) * l.own / float64(max(o.rate, 1)))
		o.rate = int(l.own)
	}
	o.encoder = o.rate

	return o
}
