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
	rtt     rtt
	reports reports
	acked   ackedRate
	loss    lossLimit
	silence silence
	alr     alr

	// The delay path.
	grouping grouping
	trend    trendline
	overuse  overuse
	delayAt  time.Time // last packet seen
	aimd     aimd

	answered bool // by any feedback yet
	ackedBps float64
	scratch  []sample

	// What was recorded last.
	usage   Usage
	state   State
	rateKbs int
}

// New returns a controller. The error wraps [ErrConfig].
func New(cfg Config) (*Controller, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()

	c := &Controller{
		cfg:     cfg,
		loss:    lossLimit{low: cfg.LossLow, high: cfg.LossHigh},
		silence: silence{limit: cfg.FeedbackTimeout},
		overuse: newOveruse(cfg.Threshold),
		aimd:    newAIMD(&cfg),
		rateKbs: cfg.StartBps / 1000,
	}
	c.alr.setEstimate(c.bitrate())

	return c, nil
}

// OnPacketSent is called for every packet that leaves, retransmissions and
// padding included.
func (c *Controller) OnPacketSent(now time.Time, p SentPacket) {
	now = c.advance(now)
	c.silence.onSent(now)
	c.alr.onSent(now, min(max(p.Size, 0), maxSize))
}

// OnFeedback is OnAcked and, unless fb.DelayHeld, OnDelay with the same report.
func (c *Controller) OnFeedback(now time.Time, fb Feedback) {
	c.OnAcked(now, fb.Packets)
	if !fb.DelayHeld {
		c.OnDelay(now, fb.Packets)
	}
}

// OnAcked takes what can be said as soon as a report is there: the acknowledged
// rate, loss and the round-trip time. Results ascend in Seq; a packet may be
// repeated, and counts once.
func (c *Controller) OnAcked(now time.Time, results []PacketResult) {
	now = c.advance(now)
	if len(results) == 0 {
		return
	}
	c.answered = true
	c.reports.begin(now)

	received, late := 0, 0
	c.scratch = c.scratch[:0]
	for i := range results {
		r := &results[i]
		s, ok := newSample(c.epoch, r)
		if !ok {
			if !r.Received {
				c.reports.missing(now, r.Seq)
			}

			continue
		}
		switch c.reports.received(r.Seq) {
		case reportNone, reportMissing:
			received++
		case reportLost:
			late++ // counted as expected when it was lost
		case reportReceived:
			continue
		}
		c.scratch = append(c.scratch, s)
	}
	sortByArrival(c.scratch)

	c.rtt.update(now, c.epoch, c.scratch)
	c.silence.onFeedback(c.rtt.latest)
	for _, s := range c.scratch {
		c.acked.add(s)
	}
	c.ackedBps, _ = c.acked.bps()

	// A quarter of the shortest round trip is how far RFC 8985 6.2 expects
	// packets to be reordered.
	lost := c.reports.expire(now, max(c.cfg.ReorderWindow, c.rtt.min()/4))
	c.loss.count(now, received+lost, lost-late)
	if c.loss.update(now, c.rtt.latest, c.aimd.rate, c.aimd.minBps) {
		c.recordLoss(now, false)
	}
	c.publish(now)
}

// OnDelay takes the same packets for the delay detector, once each and in the
// same order. It may be called later than OnAcked, in other portions, and with
// PacketResult.RadioDelay filled in. Results that are not Received are skipped.
func (c *Controller) OnDelay(now time.Time, results []PacketResult) {
	now = c.advance(now)

	c.scratch = c.scratch[:0]
	for i := range results {
		if s, ok := newDelaySample(c.epoch, &results[i]); ok {
			c.scratch = append(c.scratch, s)
		}
	}
	if len(c.scratch) == 0 {
		return
	}
	sortByArrival(c.scratch)

	if !c.delayAt.IsZero() && now.Sub(c.delayAt) > streamTimeout {
		c.grouping.reset()
		c.trend.reset()
		c.overuse = newOveruse(c.cfg.Threshold)
	}
	c.delayAt = now
	for _, s := range c.scratch {
		c.detect(now, s)
	}

	c.aimd.update(now, aimdInput{
		usage:      c.overuse.usage,
		ackedBps:   c.ackedBps,
		rtt:        c.rtt.latest,
		appLimited: c.alr.active,
		// Deviation: goog_cc lets the delay rate run ahead of the loss limit,
		// which then never catches up with it.
		hold: c.loss.bps > 0 || c.rtt.latest >= c.cfg.FeedbackTimeout,
	})
	c.publish(now)
}

func (c *Controller) detect(now time.Time, s sample) {
	d, result := c.grouping.add(now, s)
	switch result {
	case groupOpen:
	case groupReset:
		// Deviation: goog_cc keeps the regression over a step of the clock.
		c.trend.reset()
		c.overuse.restart()
	case groupDone:
		c.trend.add(d, s.arrivalUs)
		c.overuse.update(&c.trend, d.sendUs, s.arrivalUs)
	}
}

// NextTimeout is when OnTimeout wants to be called; zero for never. It changes
// with every input and may lie in the past until OnTimeout was called.
func (c *Controller) NextTimeout() time.Time { return c.silence.next() }

// OnTimeout cuts the estimate when packets go unanswered: by a fifth each
// second once they have waited for Config.FeedbackTimeout, less the last
// round-trip time. It does nothing while feedback flows or when the sender has
// stopped, and may be called at any time.
func (c *Controller) OnTimeout(now time.Time) {
	now = c.advance(now)
	if !c.silence.expired(now) {
		return
	}
	c.aimd.restart(now, silenceCut*float64(c.bitrate()))
	c.loss.set(c.aimd.rate)
	if c.cfg.Recorder != nil {
		c.cfg.Recorder.Record(now, Timeout{
			SilentMs:    c.silence.wait(now).Milliseconds(),
			BitrateKbps: c.bitrate() / 1000,
		})
	}
	c.publish(now)
}

// SetEstimate moves the estimate to bitrateBps, within the configured bounds;
// both limits go on from there.
func (c *Controller) SetEstimate(now time.Time, bitrateBps int) {
	now = c.advance(now)
	c.aimd.setEstimate(now, float64(bitrateBps))
	c.loss.set(c.aimd.rate)
	c.publish(now)
}

// Estimate returns what is known now.
func (c *Controller) Estimate() Estimate {
	bitrate := c.bitrate()
	pacing := c.cfg.StartPacingFactor
	if c.answered {
		pacing = c.cfg.PacingFactor
	}

	return Estimate{
		BitrateBps: bitrate,
		PacingBps:  toInt(pacing * float64(bitrate)),
		DelayBps:   toInt(c.aimd.rate),
		LossBps:    c.lossBps(),
		AckedBps:   toInt(c.ackedBps),
		RTT:        c.rtt.latest,
		LossRatio:  c.loss.ratio,
		Usage:      c.overuse.usage,
		State:      c.aimd.state,
	}
}

// bitrate is the lower of the limits; both are kept within the bounds.
func (c *Controller) bitrate() int { return min(toInt(c.aimd.rate), c.lossBps()) }

// lossBps is the upper bound while there is no loss limit.
func (c *Controller) lossBps() int {
	if c.loss.bps == 0 {
		return c.cfg.MaxBps
	}

	return min(max(toInt(c.loss.bps), c.cfg.MinBps), c.cfg.MaxBps)
}

// publish ends every input: it lets go of a loss limit that no longer limits
// and records what changed.
func (c *Controller) publish(now time.Time) {
	if c.loss.release(c.aimd.rate) {
		c.recordLoss(now, true)
	}
	bitrate := c.bitrate()
	c.alr.setEstimate(bitrate)

	usage, state := c.usage, c.state
	c.usage, c.state = c.overuse.usage, c.aimd.state
	rateKbs := c.rateKbs
	c.rateKbs = bitrate / 1000
	if c.cfg.Recorder == nil {
		return
	}

	if c.usage != usage {
		c.cfg.Recorder.Record(now, UsageChanged{
			From: usage, To: c.usage,
			TrendCentis:     int64(math.Round(100 * c.trend.modified())),
			ThresholdCentis: int64(math.Round(100 * c.overuse.threshold)),
		})
	}
	if c.state != state {
		c.cfg.Recorder.Record(now, StateChanged{From: state, To: c.state})
	}
	if c.rateKbs != rateKbs {
		e := c.Estimate()
		c.cfg.Recorder.Record(now, EstimateChanged{
			BitrateKbps: e.BitrateBps / 1000,
			DelayKbps:   e.DelayBps / 1000,
			LossKbps:    e.LossBps / 1000,
			AckedKbps:   e.AckedBps / 1000,
			RTTMs:       e.RTT.Milliseconds(),
		})
	}
}

func (c *Controller) recordLoss(now time.Time, removed bool) {
	if c.cfg.Recorder == nil {
		return
	}
	c.cfg.Recorder.Record(now, LossLimited{
		LossPermille: int(math.Round(1000 * c.loss.ratio)),
		LimitKbps:    c.lossBps() / 1000,
		Removed:      removed,
	})
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
	return int(math.Round(min(max(v, 0), math.MaxInt32)))
}
