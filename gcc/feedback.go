// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"time"
)

// probeFloor is what a probe leaves of the acknowledged rate: a result far below
// it is a bad measurement. goog_cc: goog_cc_network_control.
const probeFloor = 0.85

// takeAcked sorts out what is news and feeds it to all but the delay detector
// and the loss rules.
func (c *Controller) takeAcked(now time.Time, results []PacketResult) {
	c.answered = true
	c.reports.begin(now)
	c.news = news{}
	received, late := 0, 0
	nowUs := now.Sub(c.epoch).Microseconds()
	longest := int64(0)
	c.corrected = false
	c.scratch = c.scratch[:0]
	for i := range results {
		r := &results[i]
		c.corrected = c.corrected || r.RadioDelay != 0
		s, ok := newSample(c.epoch, r)
		if !ok {
			if !r.Received {
				c.reports.missing(now, r.Seq, min(max(r.Size, 0), maxSize))
				c.news.span(r.At.Sub(c.epoch).Microseconds())
			}

			continue
		}
		switch c.reports.received(r.Seq) {
		case reportNone, reportMissing:
			received++
			c.news.bytes += s.size
		case reportLost:
			late++ // counted as expected when it was lost
			c.news.lostBytes -= s.size
		case reportReceived:
			continue
		}
		c.news.span(s.sentUs)
		c.inFlight.received(r.Seq)
		longest = max(longest, nowUs-s.sentUs)
		c.scratch = append(c.scratch, s)
	}
	sortByArrival(c.scratch)

	c.rtt.update(now, c.epoch, c.scratch)
	c.silence.onFeedback(c.rtt.latest)
	c.window.onReport(time.Duration(longest)*time.Microsecond, float64(c.bitrate()))
	c.measure(now, nowUs)

	// A quarter of the shortest round trip is how far RFC 8985 6.2 expects
	// packets to be reordered.
	lost := c.reports.expire(now, max(c.cfg.ReorderWindow, c.rtt.min()/4))
	lostBytes := c.reports.takeLostBytes()
	c.news.expected, c.news.lost = received+lost, lost-late
	c.news.bytes += lostBytes
	c.news.lostBytes += lostBytes
}

// span widens the sending times of the news.
func (n *news) span(us int64) {
	if !n.any || us < n.firstUs {
		n.firstUs = us
	}
	if !n.any || us > n.lastUs {
		n.lastUs = us
	}
	n.any = true
}

// measure updates the acknowledged rate and the probes with the packets in
// scratch.
func (c *Controller) measure(now time.Time, nowUs int64) {
	if !c.alr.active && !c.probe.alrSince.IsZero() {
		c.bayes.onALREnd(nowUs)
	}
	c.probe.onALR(now, c.alr.since)
	for _, s := range c.scratch {
		if c.cfg.Acked == AckedBayesian {
			c.bayes.add(s)
		} else {
			c.acked.add(s)
		}
		if r, ok := c.probeRate.add(s); ok {
			c.fresh = r
		}
	}
	switch {
	case c.cfg.Acked == AckedBayesian:
		c.ackedBps, _ = c.bayes.bps()
	case c.held && c.acked.since(c.heldUs):
		// Deviation: what has been held back is no measure of the path, which was
		// full. goog_cc's default holds nothing back.
		c.ackedBps, _, _ = c.acked.rates()
	default:
		c.ackedBps, _ = c.acked.bps()
	}
}

// takeDelay feeds the delay detector and the rate control; it is false when
// there is nothing to feed.
func (c *Controller) takeDelay(now time.Time, results []PacketResult) bool {
	c.scratch = c.scratch[:0]
	for i := range results {
		if s, ok := newDelaySample(c.epoch, &results[i]); ok {
			c.scratch = append(c.scratch, s)
		}
	}
	sortByArrival(c.scratch)

	return c.runDelay(now)
}

// runDelay is takeDelay with the packets in scratch.
func (c *Controller) runDelay(now time.Time) bool {
	if len(c.scratch) == 0 {
		return false
	}
	if !c.delayAt.IsZero() && now.Sub(c.delayAt) > streamTimeout {
		c.grouping.reset()
		c.trend.reset()
		c.overuse = newOveruse(c.cfg.Threshold)
		c.standing.reset()
	}
	c.delayAt = now
	recovered := false
	shortest := int64(math.MaxInt64)
	for _, s := range c.scratch {
		shortest = min(shortest, s.arrivalUs-s.sentUs)
		was := c.overuse.usage
		c.detect(now, s)
		recovered = recovered || was == UsageUnder && c.overuse.usage == UsageNormal
	}
	c.standing.update(now, shortest)
	c.control(now)
	if recovered && c.overuse.usage == UsageNormal {
		c.probe.cause = c.probeCause()
		c.probe.onRecovered(now)
	}

	return true
}

// control moves the delay limit.
func (c *Controller) control(now time.Time) {
	fresh := c.fresh
	c.fresh = probeResult{}
	if fresh.bps > 0 {
		used := c.useProbe(now, fresh)
		if c.cfg.Recorder != nil {
			c.cfg.Recorder.Record(now, ProbeResult{
				ID: fresh.id, RateKbps: toInt(fresh.bps) / 1000, Saturated: fresh.saturated, Used: used,
			})
		}
		if used {
			return
		}
	}
	usage := c.overuse.usage
	// A source that has filled a queue is not idle, whatever it could have sent.
	limited := c.alr.active && !c.standing.long()
	full := usage == UsageNormal && !c.alr.active && c.standing.full(now)
	if full {
		usage = UsageOver
	}
	c.aimd.update(now, aimdInput{
		usage:      usage,
		force:      full,
		ackedBps:   c.ackedBps,
		rtt:        c.rtt.latest,
		appLimited: limited,
		// Deviation: goog_cc lets the delay rate run ahead of the older loss
		// rule, which then never catches up with it.
		hold: !c.usesModel() && c.rule.bps > 0 || c.rtt.latest >= c.cfg.FeedbackTimeout,
	})
}

// useProbe moves the limits to what a probe has measured.
func (c *Controller) useProbe(now time.Time, r probeResult) bool {
	c.aimd.probed = true
	if c.overuse.usage == UsageOver {
		return false
	}
	// Deviation: goog_cc leaves a loss limit to growth, which an application that
	// sends little cannot earn.
	used := c.usesModel() && c.model.raise(r.bps)
	if !r.saturated {
		// Deviation: goog_cc takes any result. A path that carried the probe
		// carries at least that, which is no reason to go lower.
		if r.bps <= c.aimd.rate {
			return used
		}
		c.aimd.setProbed(now, r.bps)

		return true
	}
	bps := r.bps
	if c.ackedBps > 0 {
		bps = max(bps, min(c.aimd.rate, probeFloor*c.ackedBps))
	}
	c.aimd.starting = false
	c.aimd.setProbed(now, bps)

	return true
}

func (c *Controller) detect(now time.Time, s sample) {
	d, result := c.grouping.add(now, s)
	switch result {
	case groupOpen:
	case groupReset:
		// Deviation: goog_cc keeps the regression over a step of the clock.
		c.trend.reset()
		c.overuse.restart()
		c.standing.reset()
	case groupDone:
		c.trend.add(d, s.arrivalUs)
		c.overuse.update(&c.trend, d.sendUs, s.arrivalUs)
	}
}

// takeLoss feeds the loss rules with the news of takeAcked.
func (c *Controller) takeLoss(now time.Time) {
	c.rule.count(now, c.news.expected, c.news.lost)
	if c.cfg.Loss == LossThresholds || !c.model.ready() {
		if c.rule.update(now, c.rtt.latest, c.aimd.rate, c.aimd.minBps) {
			c.recordLoss(now, false)
		}
	}
	if c.cfg.Loss == LossModel && c.news.any && c.model.count(c.news.firstUs, c.news.lastUs, c.news.bytes, c.news.lostBytes) {
		in := lossInput{delayBps: c.aimd.rate, ackedBps: c.ackedBps, appLimited: c.alr.active}
		if c.rule.bps > 0 {
			in.delayBps = min(in.delayBps, c.rule.bps) // where the older rule hands over
		}
		c.model.update(in)
		if c.model.ready() {
			c.rule.bps = 0
		}
	}
}

// publish ends every input: it lets go of a loss limit that no longer limits,
// tells the other parts of the estimate and records what changed.
func (c *Controller) publish(now time.Time) {
	if c.rule.release(c.aimd.rate) {
		c.recordLoss(now, true)
	}
	bitrate := c.bitrate()
	c.push(now)
	// What the application may send, not what it could without pushback.
	c.alr.setEstimate(c.target(bitrate))
	c.probe.onEstimate(now, float64(bitrate), c.probeCause())
	if c.silent && !c.silence.waiting {
		// Deviation: goog_cc has no probes for a path that comes back.
		c.silent = false
		c.probe.ramp(now)
	}
	c.record(now)
}

// probeCause says what limits the estimate now.
func (c *Controller) probeCause() probeCause {
	switch {
	case c.probe.off:
		return probeDisabled
	case c.overuse.usage != UsageNormal || c.silent && c.silence.waiting:
		return probeBlocked
	case !c.usesModel():
		if c.rule.bps > 0 {
			return probeBlocked
		}

		return probeFree
	case c.model.state == LossDecreasing:
		return probeBlocked
	case c.model.state == LossIncreasing:
		return probeRising
	default:
		return probeFree
	}
}

// record tells what changed, and the estimator of probes of new clusters.
func (c *Controller) record(now time.Time) {
	was := c.recorded
	created := c.probe.created
	c.recorded = recorded{
		usage: c.overuse.usage, state: c.aimd.state, loss: c.model.state, limited: c.alr.active,
		rateKbs: c.target(c.bitrate()) / 1000,
	}
	c.probe.created = 0
	first := c.probe.n - min(created, c.probe.n)
	for i := first; i < c.probe.n; i++ {
		c.probeRate.expect(c.probe.queue[(c.probe.head+i)%probeQueue])
	}
	rec := c.cfg.Recorder
	if rec == nil {
		return
	}
	is := c.recorded
	if is.usage != was.usage {
		rec.Record(now, UsageChanged{
			From: was.usage, To: is.usage,
			TrendCentis:     int64(math.Round(100 * c.trend.modified())),
			ThresholdCentis: int64(math.Round(100 * c.overuse.threshold)),
		})
	}
	if is.state != was.state {
		rec.Record(now, StateChanged{From: was.state, To: is.state})
	}
	if is.loss != was.loss {
		rec.Record(now, LossStateChanged{
			From: was.loss, To: is.loss,
			LossPermille: int(math.Round(1000 * c.model.average)), LimitKbps: c.lossBps() / 1000,
		})
	}
	if is.limited != was.limited {
		rec.Record(now, AppLimitedChanged{is.limited})
	}
	if is.rateKbs != was.rateKbs {
		e := c.Estimate()
		rec.Record(now, EstimateChanged{
			BitrateKbps: e.BitrateBps / 1000,
			DelayKbps:   e.DelayBps / 1000,
			LossKbps:    e.LossBps / 1000,
			AckedKbps:   e.AckedBps / 1000,
			RTTMs:       e.RTT.Milliseconds(),
		})
	}
	for i := first; i < c.probe.n; i++ {
		p := c.probe.queue[(c.probe.head+i)%probeQueue]
		rec.Record(now, ProbeRequested{ID: p.ID, RateKbps: p.RateBps / 1000, Bytes: p.MinBytes})
	}
}

func (c *Controller) recordLoss(now time.Time, removed bool) {
	if c.cfg.Recorder == nil {
		return
	}
	c.cfg.Recorder.Record(now, LossLimited{
		LossPermille: int(math.Round(1000 * c.rule.ratio)),
		LimitKbps:    c.lossBps() / 1000,
		Removed:      removed,
	})
}
