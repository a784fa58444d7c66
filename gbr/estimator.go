// SPDX-License-Identifier: MIT

package gbr

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
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
	shared
	law law

	mode     Mode
	last     time.Time // newest now: time never goes backwards
	aliveAt  time.Time // last sign of life of the telemetry, zero before
	out      output    // clamped
	told     output    // to the recorder
	stats    Stats
	one      [1]Sample // of OnSample
	batch    Telemetry // in use
	noProbes bool
	// learned is what Default knew when another algorithm took over.
	learned   *grantLaw
	learnedAt time.Time
}

// NewEstimator returns an estimator over outer, whose bounds and start rate
// should be the same as cfg's. It fails only on a bad configuration.
func NewEstimator(outer Outer, cfg Config) (*Estimator, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	if outer == nil {
		return nil, fmt.Errorf("%w: no outer loop", ErrConfig)
	}
	e := &Estimator{}
	e.shared = shared{cfg: cfg, outer: outer, inner: inner{cfg: cfg}, stats: &e.stats, gain: 1, share: 1}
	if e.law, err = e.newLaw(); err != nil {
		return nil, err
	}
	e.out = output{rate: cfg.StartBps, encoder: cfg.StartBps, pacing: outer.Estimate().PacingBps, gain: 1}

	return e, nil
}

// OnPacketSent tells of a packet at the moment it left.
func (e *Estimator) OnPacketSent(now time.Time, p gcc.SentPacket) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, PacketSentEvent{p})
	}
	e.law.onSent(now, p)
}

// OnOthersSent tells of a packet that another sender of the same phone put into
// its queue at p.At: of another PeerConnection of this host, or one of this that
// no feedback tells of. Telemetry speaks of the whole queue, so whoever is told of
// all that enters it sees when its own packets leave. p.Seq means nothing.
func (e *Estimator) OnOthersSent(now time.Time, p gcc.SentPacket) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, OthersSentEvent{p})
	}
	if l, ok := e.law.(*grantLaw); ok {
		l.onOthersSent(now, p)
	}
}

// SetShare sets which part of the radio is this estimator's, above 0 and at most
// 1, the default: telemetry and OnOthersSent tell of the whole queue. Only Default
// knows of it; the other algorithms steer by samples, which the caller can divide.
func (e *Estimator) SetShare(now time.Time, share float64) {
	if share == e.share || !(share > 0) || share > 1 {
		return
	}
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, ShareEvent{share})
	}
	e.share = share
}

// Clock is how far the modem's clock is ahead of this estimator's, as the telemetry
// shows. It is not ok while that is not known; only Default finds it.
func (e *Estimator) Clock() (ahead time.Duration, ok bool) {
	l, isGrant := e.law.(*grantLaw)
	if !isGrant || !l.twin.clock.known() {
		return 0, false
	}

	return time.Duration(l.twin.clock.best) * time.Microsecond, true
}

// SetClock tells what [Estimator.Clock] of another estimator of the same phone says.
// It is of use to one that begins beside others, until it has found that by itself;
// from then on it changes nothing.
func (e *Estimator) SetClock(now time.Time, ahead time.Duration) {
	l, isGrant := e.law.(*grantLaw)
	if !isGrant || l.twin.clock.known() {
		return
	}
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, ClockEvent{ahead})
	}
	l.twin.clock.tell(ahead.Microseconds())
}

// OnFeedback takes in a receiver report.
func (e *Estimator) OnFeedback(now time.Time, fb gcc.Feedback) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, FeedbackEvent{fb.Packets})
	}
	e.updateMode(now)
	e.law.onFeedback(now, fb, e.mode)
	e.publish()
}

// OnTelemetry takes in a batch from the modem. An empty batch is a sign of life.
func (e *Estimator) OnTelemetry(now time.Time, t Telemetry) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, TelemetryEvent{t})
	}
	e.batch = t
	e.telemetry(now)
}

// OnSample is OnTelemetry with a single sample.
func (e *Estimator) OnSample(now time.Time, s Sample) {
	now = e.advance(now)
	if e.cfg.Recorder != nil {
		e.record(now, TelemetryEvent{Telemetry{Samples: []Sample{s}}})
	}
	e.one[0] = s
	e.batch = Telemetry{Samples: e.one[:]}
	e.telemetry(now)
}

func (e *Estimator) telemetry(now time.Time) {
	e.aliveAt = now
	e.updateMode(now)
	e.law.onTelemetry(now, &e.batch)
	e.batch = Telemetry{} // it is the caller's
	e.publish()
}

// OnTimeout does what has become due.
func (e *Estimator) OnTimeout(now time.Time) {
	now = e.advance(now)
	e.updateMode(now)
	e.law.onTimeout(now, e.mode)
	e.publish()
}

// NextTimeout is when OnTimeout should be called next; zero for never.
func (e *Estimator) NextTimeout() time.Time {
	next := earlier(e.outer.NextTimeout(), e.law.nextTimeout())
	switch e.mode {
	case Dual:
		next = earlier(next, e.aliveAt.Add(e.cfg.HoldAfter))
	case Hold:
		next = earlier(next, e.aliveAt.Add(e.cfg.HandOverAfter))
	case OuterOnly:
	}

	return next
}

// earlier takes zero for never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}

	return a
}

// FrameBudget returns how many bytes, headers included, a frame captured now
// may have on the link: what the radio will take until the next frame, less what
// still waits. An encoder that can obey it keeps the phone's queue shorter than
// one that follows Target alone, whose rate is as old as the encoder is slow. It
// is not ok while telemetry does not tell; then the rate is all there is.
//
// It is to be called once for each frame, when its size is chosen: what was
// offered counts as under way.
func (e *Estimator) FrameBudget(now time.Time) (bytes int, ok bool) {
	l, isGrant := e.law.(*grantLaw)
	if !isGrant {
		return 0, false
	}
	now = e.advance(now)
	e.updateMode(now)
	bytes, ok = l.frameBudget(now, e.mode)
	if e.cfg.Recorder != nil {
		e.record(now, FrameBudgetEvent{bytes, ok})
	}

	return bytes, ok
}

// Rates is the part of Target that changes all the time: the encoder's and the
// pacer's rate in bit/s, and who steers.
func (e *Estimator) Rates() (bitrateBps, pacingBps int, mode Mode) {
	return e.out.encoder, e.out.pacing, e.mode
}

// SkipFrame tells whether a frame that is captured now should be left out,
// before it is encoded: with what waits in the phone it would come so late that a
// later one, of a size that fits what the radio carries by now, is worth more. Where
// the radio carries less than [Config.MinBps] frames cannot get small enough, and up
// to three in a row are left out, so that what is sent is not ever later.
func (e *Estimator) SkipFrame(now time.Time) bool {
	l, isGrant := e.law.(*grantLaw)
	if !isGrant {
		return false
	}
	now = e.advance(now)
	e.updateMode(now)

	return l.skipFrame(now, e.mode)
}

// Target returns the present outputs.
func (e *Estimator) Target() Target {
	t := Target{
		BitrateBps:   e.out.encoder,
		PacingBps:    e.out.pacing,
		RateBps:      e.out.rate,
		Mode:         e.mode,
		Gain:         e.out.gain,
		TelemetryAge: e.age,
		Outer:        e.outer.Estimate(),
	}
	if !e.inner.ratioAt.IsZero() && e.last.Sub(e.inner.ratioAt) <= historyTimeout {
		t.Ratio, t.RatioOK = e.inner.ratio, true
		t.QueueDelay, _ = e.inner.queueDelay()
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

// SetNeed tells the outer loop the highest rate that the application can use, in
// bit/s, 0 for unknown: it then does not probe for more than about that, and
// probes at once when an application that sends less than it may can use more. An
// outer loop without SetNeed ignores it.
func (e *Estimator) SetNeed(now time.Time, bitrateBps int) {
	if o, ok := e.outer.(interface {
		SetNeed(now time.Time, bitrateBps int)
	}); ok {
		o.SetNeed(now, bitrateBps)
	}
}

// steerProbes lets the outer loop probe while it is the one to grow.
func (e *Estimator) steerProbes() {
	off := e.law.grows(e.last, e.mode)
	if p, ok := e.outer.(Prober); ok && off != e.noProbes {
		p.SetProbing(e.last, !off)
	}
	e.noProbes = off
}

// Stats returns the counts so far.
func (e *Estimator) Stats() Stats { return e.stats }

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
		e.record(now, ModeEvent{e.mode, mode, e.out.rate})
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

// publish takes the law's outputs.
func (e *Estimator) publish() {
	e.steerProbes()
	o := e.law.output(e.last, e.mode)
	o.rate, o.encoder = e.clamp(o.rate), e.clamp(o.encoder)
	o.pacing = max(e.cfg.MinBps, o.pacing)
	e.out = o
	if e.cfg.Recorder != nil && (differs(o.encoder, e.told.encoder) || differs(o.rate, e.told.rate) || differs(o.pacing, e.told.pacing)) {
		e.told = o
		e.record(e.last, TargetEvent{o.encoder, o.pacing, o.rate})
	}
}

// differs tells whether a rate is another one to whoever reads a log.
func differs(a, b int) bool { return max(a-b, b-a) > b/100 }
