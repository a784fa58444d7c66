// SPDX-License-Identifier: MIT

package gbr

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/qoe"
)

// Mode says who steers.
type Mode uint8

// Modes.
const (
	// OuterOnly: no telemetry; the end-to-end loop is alone.
	OuterOnly Mode = iota
	// Dual: telemetry is fresh; the inner loop grows and cuts, the outer cuts.
	Dual
	// Hold: telemetry is late; nobody grows, the outer loop cuts.
	Hold
)

func (m Mode) String() string {
	switch m {
	case OuterOnly:
		return "outer-only"
	case Dual:
		return "dual"
	case Hold:
		return "hold"
	default:
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
}

// MarshalText implements encoding.TextMarshaler.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Target is what the estimator wants now.
type Target struct {
	// BitrateBps is for the encoder: the rate after smoothing.
	BitrateBps int
	// PacingBps is for the pacer; it follows the radio at once.
	PacingBps int
	// RateBps is the rate before smoothing.
	RateBps int
	Mode    Mode
	// Ratio is the smoothed granted / reported, 0..1; RatioOK tells whether
	// there has been one within the last second.
	Ratio   float64
	RatioOK bool
	// QueueDelay is the time a byte waits in the phone by that ratio, 0 when
	// unknown.
	QueueDelay time.Duration
	// Gain is the latest sample's factor.
	Gain float64
	// TelemetryAge is how old the newest used sample was when it arrived.
	TelemetryAge time.Duration
	// Outer is the end-to-end loop's own view.
	Outer gcc.Estimate
}

// Stats counts what became of the samples.
type Stats struct {
	Used, Idle, Stale, Duplicate, Invalid int64
	// OuterCuts counts the cuts of the outer loop while telemetry was fresh.
	OuterCuts int64
}

// Estimator joins the inner and the outer loop. Not safe for concurrent use.
type Estimator struct {
	cfg      Config
	outer    Outer
	inner    inner
	smoother *qoe.Smoother // nil: the encoder follows the rate

	mode     Mode
	ceiling  ceiling
	last     time.Time // newest now: time never goes backwards
	aliveAt  time.Time // last sign of life of the telemetry, zero before
	noProbes bool
	gain     float64
	age      time.Duration
	stats    Stats
	smoothed int
}

// NewEstimator returns an estimator over outer, whose bounds and start rate
// should be the same as cfg's. It fails only on a bad configuration.
func NewEstimator(outer Outer, cfg Config) (*Estimator, error) {
	cfg, preset, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	if outer == nil {
		return nil, fmt.Errorf("%w: no outer loop", ErrConfig)
	}
	e := &Estimator{cfg: cfg, outer: outer, inner: inner{cfg: cfg}, gain: 1}
	if cfg.Algorithm == Default {
		if e.smoother, err = qoe.NewSmoother(preset.Smoother); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		e.smoother.Reset(cfg.StartBps)
	}
	e.smoothed = cfg.StartBps

	return e, nil
}

// OnPacketSent tells of a packet at the moment it left.
func (e *Estimator) OnPacketSent(now time.Time, p gcc.SentPacket) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, PacketSentEvent{p})
	}
	e.outer.OnPacketSent(now, p)
}

// OnFeedback takes in a receiver report.
func (e *Estimator) OnFeedback(now time.Time, fb gcc.Feedback) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, FeedbackEvent{fb.Packets})
	}
	before := e.rate()
	feed(e.outer, now, fb)
	e.arbitrate(now, before)
}

// OnTelemetry takes in a batch from the modem. An empty batch is a sign of life.
func (e *Estimator) OnTelemetry(now time.Time, t Telemetry) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, TelemetryEvent{t})
	}
	e.aliveAt = now
	for _, s := range t.Samples {
		e.sample(now, s)
	}
	e.updateMode(now)
	e.smooth(now)
}

// OnSample is OnTelemetry with a single sample.
func (e *Estimator) OnSample(now time.Time, s Sample) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, TelemetryEvent{Telemetry{Samples: []Sample{s}}})
	}
	e.aliveAt = now
	e.sample(now, s)
	e.updateMode(now)
	e.smooth(now)
}

// OnTimeout does what has become due.
func (e *Estimator) OnTimeout(now time.Time) {
	now = e.advance(now)
	before := e.rate()
	e.outer.OnTimeout(now)
	e.arbitrate(now, before)
}

// NextTimeout is when OnTimeout should be called next; zero for never.
func (e *Estimator) NextTimeout() time.Time {
	next := e.outer.NextTimeout()
	var due time.Time
	switch e.mode {
	case Dual:
		due = e.aliveAt.Add(e.cfg.HoldAfter)
	case Hold:
		due = e.aliveAt.Add(e.cfg.HandOverAfter)
	case OuterOnly:
		return next
	}
	if next.IsZero() || due.Before(next) {
		return due
	}

	return next
}

// Target returns the present outputs.
func (e *Estimator) Target() Target {
	est := e.outer.Estimate()
	t := Target{
		BitrateBps:   e.smoothed,
		PacingBps:    est.PacingBps,
		RateBps:      e.clamp(est.BitrateBps),
		Mode:         e.mode,
		Gain:         e.gain,
		TelemetryAge: e.age,
		Outer:        est,
	}
	if !e.inner.ratioAt.IsZero() && e.last.Sub(e.inner.ratioAt) <= historyTimeout {
		t.Ratio, t.RatioOK = e.inner.ratio, true
		t.QueueDelay, _ = e.inner.queueDelay()
	}
	if e.mode == Dual && e.cfg.PacingFactor > 0 {
		t.PacingBps = max(t.PacingBps, int(float64(t.RateBps)*e.cfg.PacingFactor))
	}

	return t
}

// NextProbe is the next burst that the outer loop wants sent, see
// [gcc.ProbeCluster]. Call it after every input until it is not ok; a sender that
// cannot make bursts need not.
func (e *Estimator) NextProbe() (gcc.ProbeCluster, bool) {
	if p, ok := e.outer.(Prober); ok {
		return p.NextProbe()
	}

	return gcc.ProbeCluster{}, false
}

// steerProbes lets the outer loop probe while it is the one to grow.
func (e *Estimator) steerProbes(now time.Time) {
	off := e.mode == Hold || e.innerGrows(now)
	if p, ok := e.outer.(Prober); ok && off != e.noProbes {
		p.SetProbing(now, !off)
	}
	e.noProbes = off
}

// Stats returns the counts so far.
func (e *Estimator) Stats() Stats { return e.stats }

// sample runs the inner loop on one sample.
func (e *Estimator) sample(now time.Time, s Sample) {
	g, v := e.inner.onSample(now, s)
	switch v {
	case verdictUsed:
		e.stats.Used++
	case verdictIdle:
		e.stats.Idle++
	case verdictStale:
		e.stats.Stale++
	case verdictDuplicate:
		e.stats.Duplicate++
	case verdictInvalid:
		e.stats.Invalid++
	}
	if v == verdictUsed {
		e.gain = g
		e.age = max(0, now.Sub(s.At))
		e.multiply(now, g)
	}
	if e.cfg.Recorder != nil {
		e.record(now, SampleEvent{
			AgeMs: float64(now.Sub(s.At)) / float64(time.Millisecond), Ratio: e.inner.ratio,
			Verdict: v.String(), Gain: g, RateBps: e.rate(),
		})
	}
}

// multiply applies a gain to the shared rate.
func (e *Estimator) multiply(now time.Time, g float64) {
	est := e.outer.Estimate()
	rate := float64(est.BitrateBps)
	if g > 1 && e.cfg.Algorithm == Default && e.ceiling.limits(now, est) {
		return // the outer loop feels its way up there
	}
	next := rate * g
	if g > 1 && est.AckedBps > 0 {
		// goog_cc: aimd_rate_control. Nobody knows what a link would carry
		// that has never been asked for it.
		next = min(next, max(rate, e.cfg.AckedHeadroom*float64(est.AckedBps)+10_000))
	}
	if next != rate {
		e.outer.SetEstimate(now, e.clamp(int(next)))
	}
}

// arbitrate keeps what the outer loop did since the rate was before: cuts
// always, growth only when the inner loop is not there to do it.
func (e *Estimator) arbitrate(now time.Time, before int) {
	e.updateMode(now)
	after := e.rate()
	switch {
	case after > before && e.innerGrows(now):
		e.outer.SetEstimate(now, before)
	case after < before && e.mode != OuterOnly:
		e.stats.OuterCuts++
		if e.innerGrows(now) && e.inner.clearFor(now) > ceilingEvidence {
			e.ceiling.found(now, e.outer.Estimate().AckedBps)
		}
		if e.cfg.Recorder != nil {
			e.record(now, CutEvent{before, after, e.outer.Estimate().Usage})
		}
	}
	e.smooth(now)
}

// innerGrows tells whether growth is the inner loop's business: telemetry is
// there and there was a ratio lately. A phone that is idle for longer gives no
// ratio, and the sender is not limited by its radio.
func (e *Estimator) innerGrows(now time.Time) bool {
	if e.cfg.Algorithm == Default && e.ceiling.limits(now, e.outer.Estimate()) {
		return false
	}

	return e.mode != OuterOnly && !e.inner.ratioAt.IsZero() && now.Sub(e.inner.ratioAt) <= e.cfg.HandOverAfter
}

func (e *Estimator) updateMode(now time.Time) {
	mode := OuterOnly
	if !e.aliveAt.IsZero() {
		switch age := now.Sub(e.aliveAt); {
		case age < e.cfg.HoldAfter:
			mode = Dual
		case age < e.cfg.HandOverAfter:
			mode = Hold
		}
	}
	if mode == e.mode {
		return
	}
	if e.cfg.Recorder != nil {
		e.record(now, ModeEvent{e.mode, mode, e.rate()})
	}
	e.mode = mode
}

// advance keeps time from running backwards.
func (e *Estimator) advance(now time.Time) time.Time {
	if now.Before(e.last) {
		return e.last
	}
	e.last = now

	return now
}

func (e *Estimator) smooth(now time.Time) {
	e.steerProbes(now)
	rate := e.rate()
	switch {
	case e.smoother == nil:
	case e.mode == OuterOnly:
		// The outer loop is calm by itself, and alone it must be no worse
		// than without us.
		e.smoother.Reset(rate)
	default:
		rate = e.clamp(e.smoother.Update(now, rate))
	}
	e.smoothed = rate
}

func (e *Estimator) rate() int { return e.clamp(e.outer.Estimate().BitrateBps) }

func (e *Estimator) clamp(bps int) int { return max(e.cfg.MinBps, min(e.cfg.MaxBps, bps)) }
