// SPDX-License-Identifier: MIT

package gbr

import (
	"fmt"
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/qoe"
)

const (
	// held bounds the results that wait for telemetry, a power of two.
	held = 512
	// batchEvents bounds what one batch of telemetry may bring; more is a source
	// that is not right.
	batchEvents = 1024
	// silenceEnds is how long after the last batch silence still tells that nothing
	// was granted.
	silenceEnds = 25 * time.Millisecond
	// leastShare is the least of the radio's rate that is thought to be ours.
	leastShare = 0.4
	// interrupted is how long nothing is told, although something waits in the phone,
	// when the link was interrupted; caughtUp is how long after that what is late was
	// late by that.
	interrupted, caughtUp = 50 * time.Millisecond, 500 * time.Millisecond
	// brief is how long we may have steered for the rate before to be as good.
	brief = 2 * time.Second
	// clockFound is how long it may take to find out that the clock is wrong.
	clockFound = 5 * time.Second
	// fasterFrames in a row do not beat the radio's rate by chance.
	fasterFrames = 8
)

// grantLaw is Default.
type grantLaw struct {
	// Large memories are at both ends: what is between them is looked at with each
	// packet and sample, and of a thousand estimators nothing is in the cache.
	cap capacity

	*shared
	begun     bool
	wasActive bool
	skipped   int // frames in a row before this one
	// aboveLeast is when the target was last above the least rate.
	aboveLeast time.Time
	inner      float64 // the last rate the radio allows, bit/s; 0 for no limit
	smoother   *qoe.Smoother
	samples    gainLaw   // for telemetry that has no grants of TTIs
	batchAt    time.Time // of the newest batch, an empty one too
	catchesUp  bool      // after an interruption of the link
	backAt     time.Time // when that had ended
	grantsAt   time.Time // newest batch with grants
	samplesAt  time.Time // newest sample of such a one that has none
	epoch      time.Time
	frameAt    time.Time // first packet of the newest frame
	sentAt     time.Time
	frame      frame // the one before, until it has left
	frameFrom  int64 // the newest one's first packet, as the twin counts
	frameTo    int64 // after its last one so far
	counted    int64 // TTIs counted when it began
	frames     int64

	// held are results whose packets the twin has not seen leave.
	held     []heldResult // a ring, its length a power of two
	heldFrom int64
	heldTo   int64
	ready    []gcc.PacketResult
	repeats  []time.Duration // by which those were kept at the base station
	grants   []twinGrant
	reports  []twinReport

	// grantAge and reportAge are how old the oldest of a batch were lately, in
	// µs, if the freshest ever were told at once: what has not been told by then
	// was not there.
	grantAge, reportAge ageFilter
	config              RadioConfig

	// newestGrant is the newest stamp of one, on the modem's clock.
	newestGrant int64

	check     check
	ceiling   ceiling
	grownAt   time.Time
	activeAt  time.Time // first
	took      float64   // the outer loop's rate when we began to steer
	tookAt    time.Time // and when that was
	glideFrom float64
	glideAt   time.Time
	// offered is what FrameBudget gave and was not seen to leave yet.
	offered   float64
	offeredAt time.Time
	interval  time.Duration // of FrameBudget's calls
	left      float64
	pacing    int
	faster    int // frames in a row faster than mu
	slowest   float64
	// others is what would wait of other senders' bytes if there were no other.
	others   float64
	othersAt time.Time

	twin    twin
	targets pastTargets
	path    path
}

// heldResult is a result and when it was told.
type heldResult struct {
	gcc.PacketResult
	at time.Time
}

func newGrantLaw(s *shared) (*grantLaw, error) {
	smoother, err := qoe.NewSmoother(qoe.SmootherConfig{Band: s.cfg.Band, Window: s.cfg.RiseWindow, Creep: s.cfg.Creep, Free: s.cfg.Free})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	l := &grantLaw{shared: s, smoother: smoother, samples: gainLaw{shared: s}}
	l.cap = capacity{lag: defaultLag, capacityConfig: newCapacityConfig(s.cfg)}
	l.twin.turn = defaultLag

	return l, nil
}

func (l *grantLaw) us(now time.Time) int64 {
	if !l.begun {
		l.epoch, l.begun = now.Add(-time.Second), true
	}

	return micros(l.epoch, now)
}

func (l *grantLaw) onSent(now time.Time, p gcc.SentPacket) {
	l.outer.OnPacketSent(now, p)
	if p.Size <= 0 {
		return
	}
	if l.sentAt.IsZero() || now.Sub(l.sentAt) > l.cfg.FrameInterval/4 {
		l.frame = frame{l.frameFrom, l.frameTo, l.counted}
		l.frameAt, l.frameFrom, l.counted = now, l.twin.tail, l.cap.total
		l.frames++
	}
	l.twin.onSent(p.Seq, l.us(now), p.Size)
	l.frameTo = l.twin.tail
	l.sentAt = now
	l.offered = max(0, l.offered-float64(p.Size))
}

func (l *grantLaw) onOthersSent(now time.Time, p gcc.SentPacket) {
	l.others = l.othersLeft(now) + float64(min(max(p.Size, 0), maxPacket))
	l.othersAt = now
	l.twin.onOthersSent(l.us(p.At), p.Size)
}

// othersLeft is the part of the queue that is the others' by right, in bytes: of
// frames that are under way, not what stands there all the time. Who would give
// way to these gets less the sooner its frames come after the others'.
func (l *grantLaw) othersLeft(now time.Time) float64 {
	if l.others == 0 {
		return 0
	}
	left := l.others - l.cap.mu*float64(now.Sub(l.othersAt))/1e6

	return max(0, min(left, (1-l.share)*l.cap.mu*float64(l.cfg.FrameInterval)/1e6))
}

// frame is a burst of packets, from one of the twin's to before another.
type frame struct {
	from, to int64
	counted  int64 // TTIs counted when it began
}

// whole looks at a frame that has left. When no TTI of it could be counted,
// because the base station's word is not understood or all was granted at once,
// its own rate is the least that the radio carries; and so is that of many frames
// that were all faster than they should have been.
func (l *grantLaw) whole() {
	f := l.frame
	if f.to <= f.from || l.twin.live.head < f.to {
		return
	}
	l.frame = frame{}
	if l.twin.tail-f.from >= int64(len(l.twin.packets)) {
		return
	}
	first, last := l.twin.packet(f.from), l.twin.packet(f.to-1)
	// The first grant that knew of it came a lag after it.
	took := l.twin.leftAt(last) - l.twin.offset - first.sentAt - l.lagUs()*3/4
	if took < 1000 || took > 200_000 {
		return
	}
	rate := float64(last.before-first.before+uint32(last.size)) * 1000 / float64(took)
	switch {
	case l.cap.total == f.counted:
		l.cap.atLeast(rate)
	case rate <= l.cap.mu:
		l.faster = 0
	default:
		if l.faster++; l.faster == 1 || rate < l.slowest {
			l.slowest = rate
		}
		if l.faster == fasterFrames {
			l.cap.atLeast(l.slowest)
			l.faster = 0
		}
	}
}

// hasGrants tells whether there were grants of TTIs lately.
func (l *grantLaw) hasGrants(now time.Time) bool {
	return !l.grantsAt.IsZero() && now.Sub(l.grantsAt) < time.Second
}

// onlySamples tells that the ratio is all there is: then its gain steers.
func (l *grantLaw) onlySamples(now time.Time, mode Mode) bool {
	return mode != OuterOnly && !l.hasGrants(now) && !l.samplesAt.IsZero() && now.Sub(l.samplesAt) < time.Second && !l.active(mode)
}

// trusted tells whether the modem's word is to be steered by.
func (l *grantLaw) trusted() bool {
	if l.cap.mu == 0 {
		return false // it has told of no grants
	}
	// What comes later than results are held for cannot correct them.
	inTime := l.grantAge.v+float64(l.twin.offset-l.twin.clock.least*1000) < float64(l.cfg.HoldDelay.Microseconds())

	return inTime && l.twin.clock.known() && l.cap.mu > 0 && (l.cfg.Without.Has(CrossCheck) || !l.check.bad)
}

func (l *grantLaw) onTelemetry(now time.Time, t *Telemetry) {
	if !l.batchAt.IsZero() && now.Sub(l.batchAt) > interrupted && l.twin.waitsSince(l.us(l.batchAt)) {
		l.interrupted(now)
	}
	l.batchAt = now
	if len(t.Grants) > 0 {
		l.grantsAt = now
	}
	// Where there never was a grant none can end what the check takes for silence.
	if len(t.Samples) > 0 && !l.hasGrants(now) && (!l.check.bad || !l.twin.clock.everHeard) {
		l.samplesAt = now
		l.samples.onTelemetry(now, t)
	} else {
		for i := range t.Samples {
			if g, v := l.sample(now, &t.Samples[i]); v == verdictUsed {
				l.gain = g
			}
		}
	}
	if t.Config != nil {
		l.configure(*t.Config)
	}
	if len(t.Grants) == 0 && len(t.Reports) == 0 {
		if !l.twin.clock.everHeard {
			return // there is nothing else than samples
		}
		l.count(now, l.cap.done, math.MinInt64, l.late(now))
		l.whole()
		l.release(now)

		return
	}
	at, ok := newestStamp(t)
	l.catchesUp = l.catchesUp && ok && now.Sub(l.backAt) < caughtUp &&
		l.us(now)+l.twin.clock.least*1000-l.us(at) > interrupted.Microseconds()
	if ok && !l.catchesUp && l.twin.clock.heard(l.us(now), l.us(at)) {
		l.restart(now)
	}
	us := l.us(now) + l.twin.clock.least*1000 // of the freshest that there can be
	l.grants, l.reports = l.grants[:0], l.reports[:0]
	known, open := l.cap.done, int64(0)
	if l.config.RAT == RATNR {
		open = 1 // more slots of the newest ms may follow
	}
	for _, g := range t.Grants[:min(len(t.Grants), batchEvents)] {
		switch at := l.us(g.At); {
		case !l.plausible(us, at):
		case g.Bytes == 0:
			l.twin.onRepeat(nearTTI(at))
		case g.Bytes > 0:
			l.grants = append(l.grants, twinGrant{at, int32(min(g.Bytes, 1<<20))})
			known = max(known, nearTTI(at)-open)
		}
	}
	knownReports := int64(math.MinInt64)
	for _, r := range t.Reports[:min(len(t.Reports), batchEvents)] {
		if at := l.us(r.At); r.Low >= 0 && l.plausible(us, at) {
			l.reports = append(l.reports, twinReport{at, int64(min(r.Low, 1<<30)), int64(min(r.High, 1<<30))})
			knownReports = max(knownReports, nearTTI(at)-open)
			known = max(known, nearTTI(at)-open)
		}
	}
	l.news(now, us)
	late := l.late(now)
	if late && len(l.grants) > 0 {
		// Reports come too late to tell what the base station knows: what has
		// been in the twin for a lag and a period it does.
		recent := l.twin.clock.since(l.grants[0].at-l.twin.offset, l.lagUs()+l.config.Period.Microseconds())
		l.cap.belief = max(0, l.twin.live.backlog-recent)
	}
	l.twin.onBatch(l.grants, l.reports)
	if l.twin.clock.jumped {
		l.twin.clock.jumped = false
		l.misled(now)
		if l.cfg.Recorder != nil {
			l.cfg.Recorder.Record(now, OffsetEvent{int64(l.twin.clock.best / 1000), l.twin.clock.fit})
		}
	}
	for _, g := range l.grants {
		l.cap.onGrant(nearTTI(g.at), int(g.bytes))
	}
	if !late {
		for i := range l.reports {
			r := l.reports[i]
			tti := nearTTI(r.at)
			for _, g := range l.grants { // of a later slot of the same TTI
				if g.at > r.at && nearTTI(g.at) == tti {
					r.low = max(0, r.low-int64(g.bytes))
					if r.high >= 0 {
						r.high = max(0, r.high-int64(g.bytes))
					}
				}
			}
			l.cap.onReport(tti, &r)
		}
	}
	l.count(now, known, knownReports, late)
	l.check.onOthers(now, l.twin.rate*1000, l.cap.mu)
	l.whole()
	l.release(now)
}

// interrupted is after a while of which nothing was told, or is only told now. What
// was granted in it may be missing, so nothing is made of the difference between the
// reports before and after it; and what comes late now says nothing of another clock.
func (l *grantLaw) interrupted(now time.Time) {
	l.twin.clock.any = false
	l.catchesUp, l.backAt = true, now
}

// news notes how late the grants and reports of a batch come, at us, and what of it
// was not known.
func (l *grantLaw) news(now time.Time, us int64) {
	// What is much older than what was told before is not late but told again.
	again := l.newestGrant - l.cfg.HoldDelay.Microseconds()
	granted, newer := int64(0), false
	for _, g := range l.grants {
		granted += int64(g.bytes)
		newer = newer || g.at > l.newestGrant
		l.newestGrant = max(l.newestGrant, g.at)
	}
	if l.check.onGranted(now, granted, newer) {
		l.twin.from = l.twin.tail // when those before left nobody knows
		l.grantAge, l.reportAge = ageFilter{}, ageFilter{}
	}
	if len(l.grants) > 0 && l.grants[0].at > again && !l.catchesUp {
		l.grantAge.add(now, us-l.grants[0].at)
	}
	if len(l.reports) > 0 && l.reports[0].at > again && !l.catchesUp {
		l.reportAge.add(now, us-l.reports[0].at)
	}
}

// newestStamp is the newest time in a batch.
func newestStamp(t *Telemetry) (at time.Time, ok bool) {
	for i := range t.Grants {
		if g := t.Grants[i].At; !ok || g.After(at) {
			at, ok = g, true
		}
	}
	for i := range t.Reports {
		if r := t.Reports[i].At; !ok || r.After(at) {
			at, ok = r, true
		}
	}

	return at, ok
}

// restart goes on with another clock of the modem.
func (l *grantLaw) restart(now time.Time) {
	l.twin.restart()
	l.cap.restart(nearTTI(l.us(now) + l.twin.offset - 1_000_000))
	l.misled(now)
	l.frame, l.newestGrant = frame{}, math.MinInt64/2
	l.grantAge, l.reportAge = ageFilter{}, ageFilter{}
}

// misled forgets what was seen behind the radio by a wrong clock.
func (l *grantLaw) misled(now time.Time) {
	l.path.reset()
	if now.Sub(l.ceiling.at) < clockFound {
		l.ceiling = ceiling{}
	}
}

// age is how old the oldest of a batch were lately, in µs.
func (l *grantLaw) age(now time.Time, f *ageFilter) int64 {
	return max(0, f.get(now)+l.twin.offset-l.twin.clock.least*1000)
}

// late tells that reports come too late to know what the base station knows.
func (l *grantLaw) late(now time.Time) bool {
	return l.reportAge.any && l.age(now, &l.reportAge) > 40_000
}

func (l *grantLaw) plausible(now, at int64) bool { return at > now-3_000_000 && at < now+1_000_000 }

func (l *grantLaw) lagUs() int64 { return l.cap.lag * 1000 }

// count lets the capacity go through the TTIs that are known.
func (l *grantLaw) count(now time.Time, known, knownReports int64, late bool) {
	// Silence is a word only while the link is alive: in an outage of the radio
	// there is a sample at least every 20 ms.
	if end := l.batchAt.Add(silenceEnds); now.After(end) {
		now = end
	}
	us := l.us(now) + l.twin.clock.least*1000
	if l.grantAge.any {
		known = max(known, nearTTI(us-l.grantAge.get(now)-2000))
	}
	if !late && l.reportAge.any {
		silent := nearTTI(us - l.reportAge.get(now) - 2000)
		known = min(known, max(knownReports, silent, l.cap.done)+l.cap.lag)
	}
	l.cap.count(known)
}

func (l *grantLaw) configure(c RadioConfig) {
	if c.PCI != l.config.PCI && l.config.PCI > 0 && c.PCI > 0 {
		l.cap.handover()
	}
	switch lag := c.Lag.Milliseconds(); {
	case lag > 0 && lag <= 60:
		l.cap.lag, l.twin.turn = lag, lag // both by way of the scheduler
		l.path.slack = max(0, c.Lag-pathLag) * 3 / 2
	case c.Lag == 0 && c.RAT == RATNR && l.cap.lag == defaultLag:
		l.cap.lag, l.twin.turn = defaultLagNR, defaultLagNR
	}
	l.config = c
}

func (l *grantLaw) onFeedback(now time.Time, fb gcc.Feedback, mode Mode) {
	if l.onlySamples(now, mode) {
		l.flush(now)
		l.samples.onFeedback(now, fb, mode)
		l.steer(now, l.outer.Estimate(), mode)

		return
	}
	before := l.outer.Estimate()
	l.path.onArrivals(now, fb.Packets)
	l.path.compete.onFeedback(fb.Packets)
	if !l.cfg.Without.Has(PathLaw) {
		l.path.trains.radio = l.cap.mu * 8000
	}
	l.path.trains.carried(float64(before.AckedBps))
	if mode == OuterOnly {
		l.check.onSilence()
	}
	l.check.onFeedback(now, fb.Packets, l.cap.mu*8000)
	if mode != Dual || !l.trusted() || l.cfg.Without.Has(Correction) {
		l.flush(now)
		feed(l.outer, now, fb)
		l.steer(now, before, mode)

		return
	}
	fb.DelayHeld = true
	feed(l.outer, now, fb)
	for i := range fb.Packets {
		if !fb.Packets[i].Received {
			continue
		}
		l.hold(heldResult{fb.Packets[i], now})
	}
	l.release(now)
	l.steer(now, before, mode)
}

func (l *grantLaw) heldAt(i int64) *heldResult { return &l.held[i&int64(len(l.held)-1)] }

// hold keeps one more; the oldest gives way to the last one that there is room for.
func (l *grantLaw) hold(r heldResult) {
	if n := int64(len(l.held)); l.heldTo-l.heldFrom == n {
		if n == held {
			l.heldFrom++
		} else {
			grown := make([]heldResult, max(32, 2*n))
			for i := l.heldFrom; i < l.heldTo; i++ {
				grown[i&int64(len(grown)-1)] = *l.heldAt(i)
			}
			l.held = grown
		}
	}
	*l.heldAt(l.heldTo) = r
	l.heldTo++
}

// release hands those held results to the detector whose packets have left the
// phone.
func (l *grantLaw) release(now time.Time) {
	if l.heldFrom == l.heldTo {
		return
	}
	l.ready, l.repeats = l.ready[:0], l.repeats[:0]
	for ; l.heldFrom < l.heldTo; l.heldFrom++ {
		h := l.heldAt(l.heldFrom)
		r := h.PacketResult
		d, repeats, ok, gone := l.twin.radioDelay(r.Seq)
		if !ok && !gone && l.cfg.Without.Has(HoldBack) {
			l.ready, l.repeats = append(l.ready, r), append(l.repeats, 0)

			continue
		}
		if !ok && !gone && now.Sub(h.at) < l.cfg.HoldDelay {
			break
		}
		if !ok && !gone {
			// It has arrived, and the modem has not said that it left.
			l.check.distrust(now)
		}
		if !ok {
			continue // the detector can do without it, a wrong one would alarm it
		}
		r.RadioDelay = time.Duration(d) * time.Microsecond
		l.ready = append(l.ready, r)
		l.repeats = append(l.repeats, time.Duration(repeats)*time.Microsecond)
	}
	if len(l.ready) == 0 {
		return
	}
	before := l.outer.Estimate()
	// The path looks at the least delay, which too much taken off would be for long.
	l.path.onDelay(now, l.ready, before)
	for i := range l.ready {
		l.ready[i].RadioDelay += l.repeats[i]
	}
	feedDelay(l.outer, now, l.ready)
	l.judge(now, before)
}

// flush hands over what is held as it is: nobody will tell.
func (l *grantLaw) flush(now time.Time) {
	if l.heldFrom == l.heldTo {
		return
	}
	l.ready = l.ready[:0]
	for ; l.heldFrom < l.heldTo; l.heldFrom++ {
		l.ready = append(l.ready, l.heldAt(l.heldFrom).PacketResult)
	}
	feedDelay(l.outer, now, l.ready)
}

// judge looks at what the delay detector made of corrected delays.
func (l *grantLaw) judge(now time.Time, before gcc.Estimate) {
	after := l.outer.Estimate()
	if l.path.compete.on && !l.cfg.Without.Has(PathLaw) {
		bps := l.path.compete.update(now, l.path.queue, after, l.path.alone(after), l.twin.after(l.path.compete.newest))
		l.outer.SetEstimate(now, l.clamp(int(bps)))

		return
	}
	if after.BitrateBps < before.BitrateBps {
		room := l.ceiling.bps == 0 || l.path.trains.firm()
		if !l.cfg.Without.Has(PathLaw) && room && (l.path.trains.firm() || l.path.clear(now) || !l.path.settled(now)) && after.LossBps >= before.BitrateBps {
			// A trend without a queue behind the radio is the correction's
			// error.
			l.outer.SetEstimate(now, before.BitrateBps)
		} else {
			l.cut(now, before.BitrateBps, after.BitrateBps)
			l.ceiling.found(now, after.AckedBps, ceilingMargin)
		}
	}
	if l.cfg.Without.Has(PathLaw) {
		return
	}
	if most := trainMost * l.path.trains.narrow(); l.path.trains.firm() && float64(l.outer.Estimate().BitrateBps) > most {
		l.outer.SetEstimate(now, l.clamp(int(most)))
	}
	if acked := l.outer.Estimate().AckedBps; l.path.trains.narrow() > 0 && acked > 0 && l.path.loss.full(now) {
		if to := int(overflowCut * float64(acked)); to < l.outer.Estimate().BitrateBps {
			l.outer.SetEstimate(now, l.clamp(to))
			l.ceiling.found(now, acked, ceilingMargin)
		}
	}
	if limit, ok := l.path.limit(now); ok && int(limit) < l.outer.Estimate().BitrateBps {
		if l.cfg.Recorder != nil {
			l.cfg.Recorder.Record(now, PathEvent{
				QueueMs: l.path.queue.Milliseconds(), BottleneckBps: int(l.path.bottleneck),
				FromBps: l.outer.Estimate().BitrateBps, ToBps: l.clamp(int(limit)),
			})
		}
		l.outer.SetEstimate(now, l.clamp(int(limit)))
		full, keep := l.path.full()
		l.ceiling.found(now, full, keep)
	}
}

func (l *grantLaw) onTimeout(now time.Time, mode Mode) {
	if l.onlySamples(now, mode) {
		l.samples.onTimeout(now, mode)
		l.steer(now, l.outer.Estimate(), mode)

		return
	}
	before := l.outer.Estimate()
	l.outer.OnTimeout(now)
	if mode == Dual {
		l.count(now, l.cap.done, math.MinInt64, l.late(now))
		l.release(now)
	}
	l.steer(now, before, mode)
}

// steer lets the outer loop's rate grow while nothing speaks against it.
func (l *grantLaw) steer(now time.Time, _ gcc.Estimate, mode Mode) {
	if !l.active(mode) {
		l.handOver(now, mode)
		l.grownAt = now

		return
	}
	if l.activeAt.IsZero() {
		l.activeAt = now
	}
	l.take(now, l.outer.Estimate().BitrateBps)
	dt := min(max(now.Sub(l.grownAt), 0), 200*time.Millisecond).Seconds()
	l.grownAt = now
	est := l.outer.Estimate()
	limited := l.ceiling.limits(now, est, l.path.trains.narrow() > 0, l.path.trains.carries())
	if mode != Dual || l.cfg.Without.Has(FastGrowth) || est.Usage != gcc.UsageNormal ||
		est.LossBps < est.DelayBps || l.path.compete.on || !l.path.clear(now) {
		return
	}
	rate := float64(est.BitrateBps)
	next := rate * math.Pow(l.cfg.Growth, dt)
	if limited && !l.path.trains.firm() {
		if l.path.trains.narrow() == 0 {
			return
		}
		next = l.path.grow(rate, dt)
	}
	acked := max(float64(est.AckedBps), l.path.rate(250*time.Millisecond))
	if acked == 0 {
		return
	}
	limit := l.cfg.AckedHeadroom*acked + 10_000
	if c := l.path.trains.narrow(); c > 0 {
		share := trainShare
		if l.ceiling.bps > 0 || l.path.trains.firm() {
			share = trainMost
		}
		limit = min(limit, share*c)
	} else if l.path.trains.weight < trainFew && now.Sub(l.activeAt) < trainWait {
		return
	}
	if rate < limit {
		l.outer.SetEstimate(now, l.clamp(int(min(limit, next))))
	}
}

// take begins to steer at the outer loop's rate.
func (l *grantLaw) take(now time.Time, bps int) {
	if l.wasActive {
		return
	}
	l.wasActive, l.took, l.tookAt = true, float64(bps), now
	if l.glideFrom > 0 {
		l.took = min(l.took, l.cap.shortfall.away(l.cfg.GlideTo)*l.glideFrom) // where it would have come down to
	}
}

// handOver leaves the outer loop alone. It goes on from where we are, or from what
// the radio usually carries if that is less, and comes down from there for a while: it will take longer to see the radio's falls, so
// it must not be that near to its capacity. Who has steered only briefly has not
// brought it there, and gives back what it took over.
func (l *grantLaw) handOver(now time.Time, mode Mode) {
	est := l.outer.Estimate()
	if l.wasActive {
		l.wasActive = false
		mu := l.cap.mu * 8000
		from := min(float64(est.BitrateBps), max(l.inner, 0.5*mu*l.share))
		if acked := 0.85 * float64(est.AckedBps); from < acked {
			// Whatever made us believe less, that much has just arrived.
			from = acked
			l.outer.SetEstimate(now, l.clamp(int(max(from, float64(est.BitrateBps)))))
			est = l.outer.Estimate()
		}
		if usual := l.cap.shortfall.usual * 8000 * l.share; usual > 0 && usual < from {
			from = usual // a peak of the radio's does not last as long as we are away
		}
		if now.Sub(l.tookAt) > brief {
			l.took = 0
		} else if mode != OuterOnly {
			// What it has made of the rate was not true.
			l.outer.SetEstimate(now, l.clamp(int(l.took)))
			est, from = l.outer.Estimate(), l.took
		}
		l.glideFrom, l.glideAt = max(from, min(l.took, float64(est.BitrateBps))), now
		l.inner = 0
		l.path.reset()
	}
	if l.glideFrom == 0 {
		return
	}
	t := now.Sub(l.glideAt).Seconds() / l.cfg.Glide.Seconds()
	away := l.cap.shortfall.away(l.cfg.GlideTo)
	to := max(l.glideFrom*(1-(1-away)*min(t, 1)), min(l.took, l.glideFrom))
	if est.BitrateBps > int(to) {
		l.outer.SetEstimate(now, l.clamp(int(to)))
	}
	if t >= 1 {
		l.glideFrom = 0
	}
}

// nextTimeout is while the base station knows of a backlog and says nothing:
// that, too, is to be counted.
func (l *grantLaw) nextTimeout() time.Time { return time.Time{} }

// queue is what waits in the phone now, in bytes.
func (l *grantLaw) queue(now time.Time) float64 {
	us := l.us(now)
	recent := float64(l.twin.clock.since(us, l.lagUs()))
	old := float64(l.twin.live.backlog+l.twin.waiting()) - recent
	unknown := us + l.twin.offset - l.twin.live.at
	if l.grantAge.any {
		unknown = min(unknown, l.age(now, &l.grantAge))
	}
	if l.cfg.Without.Has(Prediction) {
		unknown = 0
	}
	if old <= 0 {
		return float64(l.twin.live.backlog + l.twin.waiting())
	}

	return max(0, old-l.cap.mu*float64(max(0, unknown))/1000) + recent
}

func (l *grantLaw) active(mode Mode) bool {
	return mode != OuterOnly && l.trusted()
}

func (l *grantLaw) grows(now time.Time, mode Mode) bool {
	return l.active(mode) || l.onlySamples(now, mode) && l.steers(now)
}

// ours is what the radio carries less what other apps have of it, in bytes per ms.
// Whoever tells of more than there is seems to have such apps.
func (l *grantLaw) ours() float64 {
	return max(leastShare*l.cap.mu, l.cap.mu-l.twin.rate*1000)
}

// frameBudget: see Estimator.FrameBudget.
func (l *grantLaw) frameBudget(now time.Time, mode Mode) (int, bool) {
	if !l.active(mode) || mode != Dual {
		return 0, false
	}
	since := now.Sub(l.offeredAt)
	if since > l.cfg.FrameInterval/4 && !l.sending(now) {
		// What has not left of the frame before is not coming.
		l.offered = 0
	}
	if l.interval == 0 {
		l.interval = l.cfg.FrameInterval
	}
	if since > 3*time.Millisecond && since < 3*l.cfg.FrameInterval {
		l.interval += (since - l.interval) / 8
	}
	l.offeredAt = now
	frame := float64(l.interval) / 1e6 // ms
	all := l.ours() * (frame*l.cfg.FrameSafety + float64(l.cfg.FrameStanding)/1e6)
	b := l.share * (all - max(0, l.queue(now)-l.othersLeft(now)))
	b = max(0, min(b, float64(l.outerRate())/8000*frame)-l.offered)
	l.offered += b

	return int(b), true
}

func (l *grantLaw) output(now time.Time, mode Mode) output {
	o := l.outputNow(now, mode)
	l.targets.add(now, float64(l.clamp(o.encoder)))
	if float64(o.encoder) > (1+l.cfg.Band)*float64(l.cfg.MinBps) {
		l.aboveLeast = now
	}

	return o
}

func (l *grantLaw) outputNow(now time.Time, mode Mode) output {
	est := l.outer.Estimate()
	o := output{rate: est.BitrateBps, encoder: est.BitrateBps, pacing: est.PacingBps, gain: l.gain}
	if !l.active(mode) {
		if l.wasActive && l.inner > 0 {
			// Feedback or time hands over; until then nothing rises.
			o.rate = min(o.rate, int(l.inner))
			o.encoder = min(o.encoder, o.rate)
		}
		l.smoother.Reset(l.ofWhole(o.rate))

		return o
	}
	l.take(now, est.BitrateBps)
	if mode == Dual {
		l.inner = l.rateNow(now)
	}
	if l.inner > 0 {
		inner := int(l.inner)
		if l.cfg.Without.Has(Smoothing) {
			o.encoder = min(o.rate, inner)
		} else {
			o.encoder = min(o.rate, int(l.share*float64(l.smoother.Update(now, l.ofWhole(inner)))))
		}
		o.rate = min(o.rate, inner)
		mu := l.cap.mu * 8000
		o.pacing = int(1.2 * float64(o.rate))
		if !l.cfg.Without.Has(Bursts) {
			burst := l.cfg.PacingFactor * mu
			if l.ceiling.bps > 0 {
				// It would only wait, or be dropped, where it is narrower.
				burst = min(burst, ceilingPacing*float64(l.ceiling.bps))
			}
			burst = min(burst, l.path.pace(l.frames, float64(o.rate)))
			if l.path.trains.firm() {
				o.pacing = int(pathEven * float64(o.rate))
			}
			o.pacing = max(o.pacing, int(burst))
		}
		l.pacing = o.pacing
	}

	return o
}

// ofWhole is what a rate is of the whole radio's, which is what is smoothed: of the
// radio not every move matters, but a share is somebody's decision. Who kept more
// than its share because that is not much more would keep it at the others' cost.
func (l *grantLaw) ofWhole(bps int) int {
	return int(min(float64(bps)/l.share, math.MaxInt32))
}

// rateNow is the rate for an encoder that does not know the frame budget.
func (l *grantLaw) rateNow(now time.Time) float64 {
	frame := float64(l.cfg.FrameInterval) / 1e6
	next := max(0, min(frame, float64(l.frameAt.Add(l.cfg.FrameInterval).Sub(now))/1e6))
	mu := l.ours()
	left := max(0, l.queue(now)-max(mu*next, l.othersLeft(now)))
	// While a frame leaves, what is still to leave of it is not known.
	if l.sending(now) {
		left = max(left, l.left)
	}
	l.left = left
	tau := left / max(mu, 1)
	standing := float64(l.cfg.Standing) / 1e6
	safety := l.cfg.Safety
	if !l.cfg.Without.Has(Caution) {
		safety = l.cap.shortfall.safety(safety)
	}
	share := safety - max(0, tau-standing)/(float64(l.cfg.Drain)/1e6)

	return max(float64(l.cfg.MinBps), mu*8000*l.share*max(0.1, share))
}

// sending tells whether a frame seems to be leaving the pacer.
func (l *grantLaw) sending(now time.Time) bool {
	gap := time.Duration(1.5*1250*8/max(1, float64(l.pacing))*1e9) + 2*time.Millisecond

	return now.Sub(l.sentAt) < gap && now.Sub(l.frameAt) < l.cfg.FrameInterval/2
}

// nearTTI is the TTI of a time in µs.
func nearTTI(us int64) int64 { return (us + 500) / 1000 }

// ageFilter is the largest value lately: it falls by half in 2 s.
type ageFilter struct {
	v   float64
	at  time.Time
	any bool
}

func (f *ageFilter) add(now time.Time, v int64) {
	f.v, f.at, f.any = max(float64(f.get(now)), float64(v), 0), now, true
}

func (f *ageFilter) get(now time.Time) int64 {
	if !f.any {
		return 0
	}

	return int64(f.v * math.Exp2(-now.Sub(f.at).Seconds()/2))
}
