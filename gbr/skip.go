// SPDX-License-Identifier: MIT

package gbr

import "time"

const (
	// skipAfter is how long a frame would take to leave, with what is ahead of it,
	// and skipSize how long alone, in frame intervals: it is left out when both are
	// more. A small one makes nothing later.
	skipAfter, skipSize = 3, 2
	// skipMost are left out in a row at the least rate, as a viewer takes 150 ms more
	// than usual for a freeze (libwebrtc: VideoQualityObserver), and from skipSlow on:
	// a fall that is over by then is none of the radio's rate.
	skipMost = 3
	skipSlow = 500 * time.Millisecond
)

// skipFrame: see Estimator.SkipFrame. An encoder that obeys a rate makes a frame
// for what the radio carried some time ago; when that has fallen since, it would
// stand in the way of those that fit. Two in a row are never left out: the next
// one has a newer rate. But below the least rate there is none: frames cannot
// become smaller, only fewer.
func (l *grantLaw) skipFrame(now time.Time, mode Mode) bool {
	skip := l.active(mode) && mode == Dual && !l.cfg.Without.Has(Skipping) &&
		(l.skipped == 0 && l.tooBig(now) || l.skipped < skipMost && l.tooMany(now))
	if skip {
		l.skipped++
	} else {
		l.skipped = 0
	}

	return skip
}

// tooBig tells whether a frame captured now is one to leave out.
func (l *grantLaw) tooBig(now time.Time) bool {
	interval := float64(l.cfg.FrameInterval) / 1e6 // ms
	frame := l.targets.at(now.Add(-l.cfg.EncoderLag)) / 8000 * interval
	if now.Sub(l.offeredAt) < l.cfg.FrameInterval/2 {
		frame = l.offered // it obeys a budget
	}
	mu := max(l.cap.mu, 1)

	return frame/mu > skipSize*interval && (l.queue(now)+frame)/mu > skipAfter*interval
}

// tooMany tells whether frames of the least rate wait already, so that each one
// more makes all later ones later. In an outage nothing does.
func (l *grantLaw) tooMany(now time.Time) bool {
	if now.Sub(l.aboveLeast) < skipSlow || l.cap.silent > outageTTIs {
		return false
	}

	return l.queue(now)/max(l.cap.mu, 1) > skipAfter*float64(l.cfg.FrameInterval)/1e6
}

// pastSteps is for how many ms targets are remembered, a power of two.
const pastSteps = 128

// pastTargets are the encoder's targets, the highest of each ms.
type pastTargets struct {
	newest int64 // ms
	last   float64
	bps    [pastSteps]float64
}

// add notes that a target is in force from now on.
func (p *pastTargets) add(now time.Time, bps float64) {
	ms := now.UnixMilli()
	p.newest = max(p.newest, ms-pastSteps)
	for p.newest < ms {
		p.newest++
		p.bps[p.newest&(pastSteps-1)] = p.last
	}
	at := &p.bps[ms&(pastSteps-1)]
	*at, p.last = max(*at, bps), bps
}

// at is the target at a time, the oldest there is for one before that.
func (p *pastTargets) at(t time.Time) float64 {
	ms := max(p.newest-pastSteps+1, min(t.UnixMilli(), p.newest))

	return p.bps[ms&(pastSteps-1)]
}
