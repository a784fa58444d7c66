// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"time"
)

// Controller estimates the rate that a path carries. All inputs take the
// current time; a time before one already seen counts as that one.
//
// A Controller is not safe for concurrent use.
type Controller struct {
	cfg     Config
	started bool
	now     time.Time
	epoch   time.Time // of the samples' local times

	// Known at once.
	rtt      rtt
	bayes    bayesRate
	rule     lossLimit // LossThresholds, and what acts before the model is ready
	silence  silence
	alr      alr
	inFlight inFlight
	window   window
	probe    probeControl

	// The delay path.
	grouping grouping
	overuse  overuse
	standing standing
	delayAt  time.Time // last packet seen
	aimd     aimd

	answered bool // by any feedback yet
	held     bool // back ever, at heldUs last
	heldUs   int64
	silent   bool // cut for silence, and nothing heard since
	ackedBps float64
	fresh    probeResult // not used yet
	news     news
	scratch  []sample
	// corrected: a packet of the latest report has a RadioDelay.
	corrected bool

	recorded recorded

	// Large memories, behind what each packet and each estimate needs.
	trend     trendline
	model     lossModel
	probeRate probeRate
	reports   reports
	acked     ackedRate
}

// news is what the loss rules learn from one report.
type news struct {
	expected, lost   int // packets; lost may be negative
	bytes, lostBytes int
	firstUs, lastUs  int64 // sending times
	any              bool
}

// recorded is what was recorded last.
type recorded struct {
	usage   Usage
	state   State
	loss    LossState
	limited bool
	rateKbs int
}

// New returns a controller. The error wraps [ErrConfig].
func New(cfg Config) (*Controller, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	maxGiven := cfg.MaxBps > 0
	cfg = cfg.withDefaults()

	c := &Controller{
		cfg:      cfg,
		rule:     lossLimit{low: cfg.LossLow, high: cfg.LossHigh},
		model:    newLossModel(&cfg),
		silence:  silence{limit: cfg.FeedbackTimeout},
		probe:    newProbeControl(&cfg, maxGiven),
		overuse:  newOveruse(cfg.Threshold),
		aimd:     newAIMD(&cfg),
		recorded: recorded{rateKbs: cfg.StartBps / 1000},
	}
	c.alr.setEstimate(c.bitrate())

	return c, nil
}

// OnPacketSent is called for every packet that leaves, retransmissions and
// padding included.
func (c *Controller) OnPacketSent(now time.Time, p SentPacket) {
	now = c.advance(now)
	size := min(max(p.Size, 0), maxSize)
	c.silence.onSent(now)
	c.alr.onSent(now, size)
	c.inFlight.sent(p.Seq, size)
	c.window.onSent(now, c.inFlight.bytes)
	c.probe.onALR(now, c.alr.since)
	c.probe.onSent(now)
	if c.probe.created > 0 || c.alr.active != c.recorded.limited {
		c.record(now)
	}
}

// OnFeedback is OnAcked and, unless fb.DelayHeld, OnDelay with the same report.
func (c *Controller) OnFeedback(now time.Time, fb Feedback) {
	now = c.advance(now)
	if len(fb.Packets) == 0 {
		return
	}
	c.takeAcked(now, fb.Packets)
	switch {
	case fb.DelayHeld:
	case c.corrected:
		c.takeDelay(now, fb.Packets)
	default:
		c.runDelay(now) // the very packets that takeAcked has left
	}
	c.takeLoss(now)
	c.publish(now)
}

// OnAcked takes what can be said as soon as a report is there: the acknowledged
// rate, loss, probes and the round-trip time. Results ascend in Seq; a packet
// may be repeated, and counts once. The result of a probe waits for the next
// OnDelay.
func (c *Controller) OnAcked(now time.Time, results []PacketResult) {
	c.OnFeedback(now, Feedback{Packets: results, DelayHeld: true})
}

// OnDelay takes the same packets for the delay detector, once each and in the
// same order. It may be called later than OnAcked, in other portions, and with
// PacketResult.RadioDelay filled in. Results that are not Received are skipped.
func (c *Controller) OnDelay(now time.Time, results []PacketResult) {
	now = c.advance(now)
	if c.takeDelay(now, results) {
		c.publish(now)
	}
}

// NextTimeout is when OnTimeout wants to be called; zero for never. It changes
// with every input and may lie in the past until OnTimeout was called.
func (c *Controller) NextTimeout() time.Time {
	next := c.silence.next()
	for _, t := range [...]time.Time{c.probe.next(), c.window.due} {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}

	return next
}

// OnTimeout cuts the estimate when packets go unanswered: by a fifth each
// second once they have waited for Config.FeedbackTimeout, less the last
// round-trip time. It holds back while too much is under way. It asks for the probes of an application that sends less than
// it may. It does nothing when nothing is due, and may be called at any time.
func (c *Controller) OnTimeout(now time.Time) {
	now = c.advance(now)
	pushed := c.push(now)
	if c.silence.expired(now) {
		c.aimd.restart(now, silenceCut*float64(c.bitrate()))
		c.rule.set(c.aimd.rate)
		c.model.set(c.aimd.rate)
		c.silent = true
		if c.cfg.Recorder != nil {
			c.cfg.Recorder.Record(now, Timeout{
				SilentMs:    c.silence.wait(now).Milliseconds(),
				BitrateKbps: c.bitrate() / 1000,
			})
		}
		c.publish(now)
	}
	c.probe.process(now)
	if pushed || c.probe.created > 0 {
		c.record(now)
	}
}

// NextProbe takes the next cluster to send; call it after every input until it
// is not ok. A caller that cannot send clusters need not.
func (c *Controller) NextProbe() (ProbeCluster, bool) {
	return c.probe.fetch()
}

// SetProbing turns probing on or off. Off forgets what is under way; on does not
// begin at once. Config.NoProbing keeps it off.
func (c *Controller) SetProbing(now time.Time, on bool) {
	c.advance(now)
	if c.probe.off = !on || c.cfg.NoProbing; c.probe.off {
		c.cancelProbes()
	}
}

// SetNeed tells the highest rate that the application can use, in bit/s, 0 for
// unknown: probes go up to twice that, and to it at once when it rises while the
// application sends less than it may.
func (c *Controller) SetNeed(now time.Time, bitrateBps int) {
	now = c.advance(now)
	c.probe.onNeed(now, float64(max(bitrateBps, 0)))
	c.record(now)
}

// SetEstimate moves the estimate to bitrateBps, within the configured bounds;
// both limits go on from there. What a probe under way may measure is void, and
// nothing is held back for a second.
func (c *Controller) SetEstimate(now time.Time, bitrateBps int) {
	now = c.advance(now)
	c.aimd.setEstimate(now, float64(bitrateBps))
	c.rule.set(c.aimd.rate)
	c.model.set(c.aimd.rate)
	c.cancelProbes()
	c.window.release(now)
	c.probe.moveEstimate(float64(c.bitrate()))
	c.publish(now)
}

func (c *Controller) cancelProbes() {
	c.probe.cancel()
	c.probeRate.forget()
	c.fresh = probeResult{}
}

// Estimate returns what is known now.
func (c *Controller) Estimate() Estimate {
	bitrate := c.bitrate()
	target := c.target(bitrate)
	pacing := c.cfg.StartPacingFactor
	if c.answered {
		pacing = c.cfg.PacingFactor
	}
	ratio := c.rule.ratio
	if c.usesModel() {
		ratio = c.model.average
	}

	return Estimate{
		BitrateBps:  target,
		PacingBps:   toInt(pacing * float64(bitrate)),
		DelayBps:    toInt(c.aimd.rate),
		LossBps:     c.lossBps(),
		AckedBps:    toInt(c.ackedBps),
		RTT:         c.rtt.latest,
		LossRatio:   ratio,
		Usage:       c.overuse.usage,
		State:       c.aimd.state,
		AppLimited:  c.alr.active,
		WindowBytes: toInt(c.window.bytes),
		Pushback:    c.window.pushback(float64(bitrate)),
	}
}

// push holds back when too much is under way.
func (c *Controller) push(now time.Time) (changed bool) {
	if changed = c.window.push(now, c.inFlight.bytes); changed {
		c.alr.setEstimate(c.target(c.bitrate()))
	}
	if !c.cfg.NoPushback && c.window.pushback(float64(c.bitrate())) > 0 {
		c.held, c.heldUs = true, now.Sub(c.epoch).Microseconds()
	}

	return changed
}

// target is bitrate without what is held back.
func (c *Controller) target(bitrate int) int {
	if c.cfg.NoPushback {
		return bitrate
	}

	return max(bitrate-toInt(c.window.pushback(float64(bitrate))*float64(bitrate)), c.cfg.MinBps)
}

// bitrate is the lower of the limits; both are kept within the bounds.
func (c *Controller) bitrate() int { return min(toInt(c.aimd.rate), c.lossBps()) }

// usesModel tells which loss rule acts.
func (c *Controller) usesModel() bool { return c.cfg.Loss == LossModel && c.model.ready() }

// lossBps is the upper bound while there is no loss limit.
func (c *Controller) lossBps() int {
	limit := c.rule.bps
	if c.usesModel() {
		limit = 0
		if c.model.state != LossIdle {
			limit = c.model.result
		}
	}
	if limit == 0 {
		return c.cfg.MaxBps
	}

	return min(max(toInt(limit), c.cfg.MinBps), c.cfg.MaxBps)
}

// advance holds a clock that steps back.
func (c *Controller) advance(now time.Time) time.Time {
	if !c.started {
		c.epoch, c.now, c.started = now, now, true
	}
	if now.After(c.now) {
		c.now = now
	}

	return c.now
}

// toInt rounds, and saturates where int has 32 bits. NaN cannot arise.
func toInt(v float64) int {
	return int(min(max(v, 0), math.MaxInt32-0.5) + 0.5)
}
