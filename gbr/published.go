// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// What the public code of GBR-CC's authors does, to be compared with.
//
// For bulk transfer: NEMO-LAB-repo/GBR-CC_sender @ b35aeef, src/core/bbr.c. For
// WebRTC: an aimd_rate_control.cc of the same authors that was found without
// its repository. Both take an average of the ratio (0.6 of the newest) and
// multiply the rate by a factor within 1 %.
const (
	publishedWeight = 0.6
	// publishedFresh is how long the WebRTC variant believes in a ratio; then it
	// is the outer loop. The bulk variant has no such limit.
	publishedFresh = time.Second
	// The WebRTC variant's neutral zone, outside of which one sample counts.
	publishedLow, publishedHigh = 0.20, 0.40
	// Its pacer runs this many times faster than its rate.
	publishedPacing = 2.5
	// Its additive step has this floor, in bit/s per second.
	publishedMinStep = 100_000.0
	// The bulk variant's lowest rate, 100 kB/s.
	publishedBulkMin = 800_000.0
)

// publishedGain is the factor for one averaged ratio.
func publishedGain(a Algorithm, ratio float64) float64 {
	if a == PublishedBulk {
		const k, low, mid = 25.0, 0.2, 0.4
		if ratio <= low {
			return 0.99 + 0.01*(logistic(k*ratio)-0.5)/(logistic(k*low)-0.5)
		}
		from := logistic(k * (low - mid))

		return 1 + 0.01*(logistic(k*(ratio-mid))-from)/(logistic(1.6*k)-from)
	}
	switch {
	case ratio < publishedLow:
		return 0.99 + 0.01*logistic(50*(ratio-0.05))
	case ratio > publishedHigh:
		return 1 + 0.01*logistic(50*(ratio-0.55))
	default:
		return 1
	}
}

// publishedLaw is PublishedRTC and PublishedBulk.
//
// Deviation: the bulk variant also limits what is in flight to twice rate x
// shortest round trip; a live source has no such window and sends at the rate.
// Its averages are consumed on acknowledgements, here on arrival, as a
// receiver's reports are rarer than QUIC's acknowledgements.
type publishedLaw struct {
	*shared
	rate    float64 // 0 before the first sample
	ratio   float64 // averaged
	ratioAt time.Time
	fedAt   time.Time
	slope   slope
}

func (l *publishedLaw) onSent(now time.Time, p gcc.SentPacket) { l.outer.OnPacketSent(now, p) }

func (l *publishedLaw) onTelemetry(now time.Time, t *Telemetry) {
	for i := range t.Samples {
		if _, v := l.sample(now, &t.Samples[i]); v != verdictUsed {
			continue
		}
		ratio, _ := t.Samples[i].Ratio()
		// Neither variant has a starved sample, and the WebRTC one takes 1 and
		// above for noise.
		if ratio <= 0 || l.cfg.Algorithm == PublishedRTC && ratio >= 1 {
			continue
		}
		l.apply(now, min(ratio, 1))
	}
}

func (l *publishedLaw) apply(now time.Time, ratio float64) {
	est := l.outer.Estimate()
	if l.rate == 0 {
		l.rate, l.ratio = float64(l.outerRate()), 1
		if l.cfg.Algorithm == PublishedBulk {
			l.rate = max(l.rate, publishedBulkMin)
		}
	} else if l.stale(now) {
		l.rate = float64(l.outerRate())
	}
	l.ratio += publishedWeight * (ratio - l.ratio)
	l.ratioAt = now
	l.gain = publishedGain(l.cfg.Algorithm, l.ratio)
	switch l.cfg.Algorithm {
	case PublishedRTC:
		l.rate = l.grow(l.rate, l.gain, est.AckedBps)
	default:
		l.rate = max(l.rate*l.gain, publishedBulkMin)
	}
	l.settle(now)
}

// stale tells whether the outer loop is alone.
func (l *publishedLaw) stale(now time.Time) bool {
	return l.rate == 0 || l.cfg.Algorithm == PublishedRTC && now.Sub(l.ratioAt) >= publishedFresh
}

// settle keeps the rate within the bounds and the outer loop at it, so that it
// has nothing to say while the ratio is fresh and goes on from there after.
func (l *publishedLaw) settle(now time.Time) {
	l.rate = max(float64(l.cfg.MinBps), min(float64(l.cfg.MaxBps), l.rate))
	l.outer.SetEstimate(now, int(l.rate))
}

func (l *publishedLaw) onFeedback(now time.Time, fb gcc.Feedback, _ Mode) {
	l.slope.onFeedback(fb.Packets)
	feed(l.outer, now, fb)
	dt := min(max(now.Sub(l.fedAt), 0), time.Second).Seconds()
	first := l.fedAt.IsZero()
	l.fedAt = now
	if l.stale(now) || first {
		return
	}
	if est := l.outer.Estimate(); l.cfg.Algorithm == PublishedRTC {
		// The loss limit is alive, the cut on delay is not.
		l.rate = min(l.rate, float64(est.LossBps))
		if l.ratio >= publishedLow && l.ratio <= publishedHigh {
			step := max(publishedMinStep, additive(l.rate, est.RTT)) * dt
			if l.slope.rising() {
				l.rate -= step
			} else if l.rate < l.cfg.AckedHeadroom*float64(est.AckedBps)+10_000 {
				l.rate += step
			}
		} else if l.rate > l.cfg.AckedHeadroom*float64(est.AckedBps)+10_000 && est.AckedBps > 0 && l.gain < 1 {
			l.rate *= l.gain
		}
	}
	l.settle(now)
}

// additive is goog_cc's growth near a known limit, in bit/s per second.
func additive(rate float64, rtt time.Duration) float64 {
	if rtt <= 0 {
		rtt = 200 * time.Millisecond
	}
	frame := rate / 30
	packet := frame / max(math.Ceil(frame/(1200*8)), 1)

	return max(4_000, packet/(2*(rtt+100*time.Millisecond).Seconds()))
}

func (l *publishedLaw) onTimeout(now time.Time, _ Mode) {
	l.outer.OnTimeout(now)
	if !l.stale(now) {
		l.settle(now)
	}
}

func (l *publishedLaw) grows(now time.Time, _ Mode) bool { return !l.stale(now) }

func (*publishedLaw) nextTimeout() time.Time { return time.Time{} }

func (l *publishedLaw) output(now time.Time, _ Mode) output {
	est := l.outer.Estimate()
	o := output{rate: est.BitrateBps, encoder: est.BitrateBps, pacing: est.PacingBps, gain: l.gain}
	if !l.stale(now) && l.cfg.Algorithm == PublishedRTC {
		o.pacing = int(publishedPacing * float64(est.BitrateBps))
	}

	return o
}

// slope tells whether the one-way delay rises, as a trendline would: frames are
// groups, their delays are smoothed, a line goes through the last of them.
type slope struct {
	sentAt    time.Time // of the group's first packet
	last      gcc.PacketResult
	prev      gcc.PacketResult
	open, any bool
	sum, avg  float64 // ms
	x, y      [20]float64
	n, next   int
}

// onFeedback takes the packets of one report.
func (s *slope) onFeedback(results []gcc.PacketResult) {
	for i := range results {
		r := &results[i]
		if !r.Received || s.open && r.At.Before(s.sentAt) {
			continue
		}
		if s.open && r.At.Sub(s.sentAt) > 5*time.Millisecond {
			if s.any {
				s.add()
			}
			s.prev, s.any = s.last, true
			s.open = false
		}
		if !s.open {
			s.open, s.sentAt = true, r.At
		}
		s.last = *r
	}
}

func (s *slope) add() {
	arrival := s.last.Arrival.Sub(s.prev.Arrival)
	s.sum += float64(arrival-s.last.At.Sub(s.prev.At)) / float64(time.Millisecond)
	s.avg += 0.1 * (s.sum - s.avg)
	s.x[s.next], s.y[s.next] = float64(s.last.Arrival)/1000, s.avg
	s.next = (s.next + 1) % len(s.x)
	s.n = min(s.n+1, len(s.x))
}

func (s *slope) rising() bool {
	if s.n < len(s.x) {
		return false
	}
	var mx, my, cov float64
	for i := range s.x {
		mx += s.x[i] / float64(s.n)
		my += s.y[i] / float64(s.n)
	}
	for i := range s.x {
		cov += (s.x[i] - mx) * (s.y[i] - my)
	}

	return cov > 0
}
