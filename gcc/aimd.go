// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"time"
)

// goog_cc: aimd_rate_control.
const (
	defaultRTT       = 200 * time.Millisecond
	minReduceGap     = 10 * time.Millisecond
	maxReduceGap     = 200 * time.Millisecond
	decreaseMargin   = 5_000.0  // bit/s
	ackedCapMargin   = 10_000.0 // bit/s
	startAckedCap    = 2.0      // while nothing has shown a limit, nor probed
	maxGrowthTime    = time.Second
	detectorDelay    = 100 * time.Millisecond
	nearFrameRate    = 30.0
	nearPacketBits   = 1200 * 8.0
	minAdditive      = 4_000.0  // bit/s per second
	minGrowthPerSec  = 20_000.0 // bit/s per second
	farBelowEstimate = 0.5
)

// aimd is the rate that the delay detector allows, in bit/s.
type aimd struct {
	minBps, maxBps                         float64
	backoff, growth, startGrowth, ackedCap float64

	rate  float64
	state State
	// acked is the last known acknowledged rate, the start rate until there is
	// one.
	acked      float64
	ackedKnown bool
	capacity   linkCapacity
	// starting holds until the first cut, or the first probe that found a limit,
	// since the start or a restart: nothing has shown a limit yet.
	starting bool
	probed   bool // ever: the sender can make probes
	// grownAt is where the next growth counts from; updatedAt is the last
	// increase or decrease, which the next cut keeps its distance from.
	grownAt, updatedAt time.Time
}

func newAIMD(cfg *Config) aimd {
	return aimd{
		minBps: float64(cfg.MinBps), maxBps: float64(cfg.MaxBps),
		backoff: cfg.Backoff, growth: cfg.Growth, startGrowth: cfg.StartGrowth, ackedCap: cfg.AckedCap,
		rate:     float64(cfg.StartBps),
		acked:    float64(cfg.StartBps),
		capacity: newLinkCapacity(),
		starting: true,
	}
}

// aimdInput is what one update of the detector brings.
type aimdInput struct {
	usage Usage
	// force a cut: it is spaced by others.
	force bool
	// ackedBps is 0 while unknown.
	ackedBps float64
	rtt      time.Duration
	// appLimited: the source does not use the estimate.
	appLimited bool
	// hold: something else limits the rate, so growth could not be checked.
	hold bool
}

// update runs once per batch of delay samples.
func (a *aimd) update(now time.Time, in aimdInput) {
	if in.rtt <= 0 {
		in.rtt = defaultRTT
	}
	if in.usage == UsageOver && !in.force && !a.mayReduce(now, in) {
		return // neither cut nor grow
	}
	if in.ackedBps > 0 {
		a.acked, a.ackedKnown = in.ackedBps, true
	}

	next := nextState(in.usage)
	if next == StateIncrease && a.state != StateIncrease {
		a.grownAt = now // time on hold does not count as growth
	}
	a.state = next

	switch next {
	case StateHold:
	case StateIncrease:
		a.increase(now, in)
	case StateDecrease:
		a.decrease(now, in)
	}
}

// nextState is the state table. Hold after a decrease is implied: whatever
// follows one restarts the growth clock, so the state that is left behind says
// what the last update did and the next one depends on the usage alone.
//
// Deviation: draft-ietf-rmcat-gcc-02 5.5 stays in Hold for one more update
// after Decrease; goog_cc does not, and neither does this.
func nextState(u Usage) State {
	switch u {
	case UsageNormal:
		return StateIncrease
	case UsageOver:
		return StateDecrease
	case UsageUnder:
		return StateHold
	default:
		return StateHold
	}
}

// mayReduce keeps cuts one round trip apart, so that each shows its effect
// before the next, unless the rate is far too high.
func (a *aimd) mayReduce(now time.Time, in aimdInput) bool {
	if a.updatedAt.IsZero() || now.Sub(a.updatedAt) >= min(max(in.rtt, minReduceGap), maxReduceGap) {
		return true
	}

	return in.ackedBps > 0 && !in.appLimited && in.ackedBps < farBelowEstimate*a.rate
}

func (a *aimd) increase(now time.Time, in aimdInput) {
	if _, hi := a.capacity.bounds(); a.acked > hi {
		a.capacity.forget()
	}

	// Growth beyond what arrives cannot be checked against the network. The cap
	// stops growth and takes nothing away from a rate already above it.
	ackedCap := a.ackedCap
	if a.starting && !a.probed && !in.appLimited {
		ackedCap = max(ackedCap, startAckedCap)
	}
	if limit := ackedCap*a.acked + ackedCapMargin; a.rate < limit && !in.hold {
		// Deviation: additive growth counts at most 1 s too, so a gap in the
		// feedback earns nothing.
		dt := min(max(now.Sub(a.grownAt), 0), maxGrowthTime).Seconds()
		a.rate = min(a.rate+a.step(dt, in.rtt), limit)
		a.clamp()
	}
	a.grownAt, a.updatedAt = now, now
}

// step is the growth over dt seconds in bit/s.
func (a *aimd) step(dt float64, rtt time.Duration) float64 {
	if a.capacity.known {
		return additivePerSec(a.rate, rtt) * dt
	}
	growth := a.growth
	if a.starting {
		// Deviation: goog_cc only probes. A sender that cannot would need half a
		// minute for what a probe finds out at once.
		growth = max(growth, a.startGrowth)
	}

	// Deviation: goog_cc grows by at least 1 kbit/s an update; here that is the
	// same at an update each 50 ms, whatever the spacing of feedback.
	return max(a.rate*(math.Pow(growth, dt)-1), minGrowthPerSec*dt)
}

// additivePerSec is about half a packet per response time.
func additivePerSec(rate float64, rtt time.Duration) float64 {
	frame := rate / nearFrameRate
	packet := frame / max(math.Ceil(frame/nearPacketBits), 1)

	return max(minAdditive, packet/(2*(rtt+detectorDelay).Seconds()))
}

func (a *aimd) decrease(now time.Time, in aimdInput) {
	a.starting = false
	a.updatedAt = now
	if !a.ackedKnown {
		a.rate /= 2
		a.clamp()

		return
	}

	next := a.backoff * a.acked
	if next > decreaseMargin {
		next -= decreaseMargin
	}
	if next > a.rate && a.capacity.known {
		next = a.backoff * a.capacity.kbps * 1000
	}
	if in.appLimited {
		// Deviation: what an idle source sends is no measure of the path, so
		// it neither sets the cut nor the capacity (goog_cc cuts to it and
		// then probes its way back).
		next = max(next, a.backoff*a.rate)
	} else {
		if lo, _ := a.capacity.bounds(); a.acked < lo {
			a.capacity.forget()
		}
		a.capacity.onOveruse(a.acked)
	}
	a.rate = min(a.rate, next) // overuse never raises the rate
	a.clamp()
}

// setProbed moves the rate to what a probe has measured.
func (a *aimd) setProbed(now time.Time, bps float64) {
	a.rate = bps
	a.clamp()
	a.grownAt, a.updatedAt = now, now
}

// setEstimate moves the rate. It restarts the growth clock and leaves the
// distance between cuts alone: a caller that sets the rate every few
// milliseconds must not keep the detector from cutting.
func (a *aimd) setEstimate(now time.Time, bps float64) {
	a.rate = bps
	a.clamp()
	a.grownAt = now
	a.starting = false
	if !a.ackedKnown {
		a.acked = a.rate
	}
}

// restart moves the rate to where a ramp begins again, after an outage that
// made what was known of the path worthless.
func (a *aimd) restart(now time.Time, bps float64) {
	a.setEstimate(now, bps)
	a.capacity.forget()
	a.starting = true
}

func (a *aimd) clamp() { a.rate = min(max(a.rate, a.minBps), a.maxBps) }
