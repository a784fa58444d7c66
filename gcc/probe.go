// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"time"
)

// goog_cc: probe_controller.
const (
	probeFirstScale   = 3.0
	probeSecondScale  = 6.0
	probeFurtherScale = 2.0
	// probeFurtherShare of a probe's rate is what its result must exceed for
	// the next one to go higher.
	probeFurtherShare = 0.7
	probeWait         = time.Second // for a result
	probeDefaultMax   = 5e6         // bit/s, when the application gave no maximum
	probeALREvery     = 5 * time.Second
	probeALRScale     = 2.0
	// probeALRTime is how long a probe of the application-limited region is, and
	// probeALRGain times the estimate a result that leads further.
	//
	// Deviation: goog_cc has the 15 ms of all probes, and goes further by the share
	// alone. What is sent within 15 ms arrives within 30 where arrivals jitter by
	// 20 ms, and looks as if the path were full.
	probeALRTime   = 40 * time.Millisecond
	probeALRGain   = 1.2
	probeLossScale = 1.5 // of the estimate, while a loss limit rises

	probeDropShare   = 0.66 // what is left after a large drop
	probeDropMemory  = 5 * time.Second
	probeDropScale   = 0.85 // of the rate before the drop
	probeDropEvery   = 5 * time.Second
	probeALRMemory   = 3 * time.Second
	probeUncertainty = 0.05

	probeMinTime    = 15 * time.Millisecond
	probeMinPackets = 5

	// probeQueue is how many clusters wait for the sender to fetch them.
	probeQueue = 5
)

// probeCause says what limits the estimate, for whether probes make sense.
type probeCause uint8

const (
	probeFree     probeCause = iota // the delay limit, at rest
	probeRising                     // a loss limit that rises
	probeBlocked                    // anything else
	probeDisabled                   // nobody wants probes
)

// probeState is what the last probe is waiting for.
type probeState uint8

const (
	probeInit probeState = iota // nothing sent yet
	probeWaiting
	probeComplete
)

func (s probeState) String() string { return [...]string{"init", "waiting", "complete"}[s] }

// probeControl decides when to probe and how high.
type probeControl struct {
	off      bool
	maxBps   float64
	needBps  float64 // what the application can use; 0 for unknown
	estimate float64
	cause    probeCause

	state   probeState
	further float64   // a result above this is probed further
	at      time.Time // of the last probe

	alrSince, alrEnded   time.Time // zero: not limited; never was
	dropAt, dropProbedAt time.Time
	beforeDrop           float64

	lastID  int
	head, n int // of queue
	created int // clusters since the last time recorded
	queue   [probeQueue]ProbeCluster
}

func newProbeControl(cfg *Config, maxGiven bool) probeControl {
	p := probeControl{
		off: cfg.NoProbing, maxBps: float64(cfg.MaxBps), estimate: float64(cfg.StartBps), further: math.Inf(1),
	}
	if !maxGiven {
		p.maxBps = min(p.maxBps, max(probeDefaultMax, p.estimate))
	}

	return p
}

// limit is the highest rate to probe at.
func (p *probeControl) limit() float64 {
	limit := p.maxBps
	if p.needBps > 0 {
		limit = min(limit, 2*p.needBps)
	}

	return limit
}

// ramp begins anew at the estimate: in the beginning, and after an outage.
func (p *probeControl) ramp(now time.Time) {
	p.initiate(now, true, probeFirstScale*p.estimate, probeSecondScale*p.estimate)
}

// initiate creates clusters of the given rates, ascending. further tells whether
// a good result leads to a higher probe.
func (p *probeControl) initiate(now time.Time, further bool, rates ...float64) {
	if p.off || p.cause >= probeBlocked {
		return
	}
	limit, careful := p.limit(), math.Inf(1)
	if p.cause == probeRising {
		careful = probeLossScale * p.estimate
	}
	if limit <= p.estimate {
		return // Deviation: goog_cc probes although nothing is to be gained
	}
	last := 0.0
	for _, bps := range rates {
		bps = min(bps, careful) // which may be probed further
		if bps >= limit {
			bps, further = limit, false
		}
		if bps > last {
			p.create(bps)
		}
		last = bps
	}
	p.at = now
	if further {
		p.state, p.further = probeWaiting, probeFurtherShare*last
		if !p.alrSince.IsZero() {
			p.further = min(p.further, probeALRGain*p.estimate)
		}
	} else {
		p.complete()
	}
}

func (p *probeControl) complete() { p.state, p.further = probeComplete, math.Inf(1) }

func (p *probeControl) create(bps float64) {
	length := probeMinTime
	if !p.alrSince.IsZero() {
		length = probeALRTime
	}
	p.lastID++
	c := ProbeCluster{
		ID:         p.lastID,
		RateBps:    toInt(bps),
		MinBytes:   toInt(bps * length.Seconds() / 8),
		MinPackets: probeMinPackets,
	}
	if p.n == probeQueue {
		p.head = (p.head + 1) % probeQueue // nobody fetches them
		p.n--
	}
	p.queue[(p.head+p.n)%probeQueue] = c
	p.n++
	p.created++
}

// fetch takes the next cluster to send.
func (p *probeControl) fetch() (ProbeCluster, bool) {
	if p.n == 0 {
		return ProbeCluster{}, false
	}
	c := p.queue[p.head]
	p.head = (p.head + 1) % probeQueue
	p.n--

	return c, true
}

// cancel forgets what was asked for and what is awaited.
func (p *probeControl) cancel() {
	p.n = 0
	if p.state != probeInit {
		p.complete()
	}
}

// onSent begins probing with the first packet.
func (p *probeControl) onSent(now time.Time) {
	if p.state == probeInit {
		p.complete()
		p.ramp(now)
	}
}

// onALR notes when the application began to send less than it may; zero when it
// does not.
func (p *probeControl) onALR(now, since time.Time) {
	if !p.alrSince.IsZero() && since.IsZero() {
		p.alrEnded = now
	}
	p.alrSince = since
}

// onEstimate follows the estimate and probes further after a good result.
func (p *probeControl) onEstimate(now time.Time, bps float64, cause probeCause) {
	p.cause = cause
	if bps == p.estimate {
		return
	}
	if bps < probeDropShare*p.estimate {
		p.dropAt, p.beforeDrop = now, p.estimate
	}
	p.estimate = bps
	p.expire(now)
	if p.state == probeWaiting && bps > p.further {
		p.initiate(now, true, probeFurtherScale*bps)
	}
}

// moveEstimate takes an estimate that somebody else chose: no result, no drop.
func (p *probeControl) moveEstimate(bps float64) {
	p.estimate = bps
	p.cancel()
}

// onRecovered probes towards the rate before a large drop, once the path is at
// rest again: in the application-limited region the drop may have been a
// mistake.
func (p *probeControl) onRecovered(now time.Time) {
	if p.alrSince.IsZero() && (p.alrEnded.IsZero() || now.Sub(p.alrEnded) >= probeALRMemory) {
		return
	}
	if p.expire(now); p.state != probeComplete {
		return
	}
	want := probeDropScale * p.beforeDrop
	if (1-probeUncertainty)*want <= p.estimate || now.Sub(p.dropAt) >= probeDropMemory ||
		!p.dropProbedAt.IsZero() && now.Sub(p.dropProbedAt) <= probeDropEvery {
		return
	}
	p.dropProbedAt = now
	p.initiate(now, false, want)
}

// onNeed takes what the application can use at the most. When that rises in the
// application-limited region, it is probed for.
func (p *probeControl) onNeed(now time.Time, bps float64) {
	was := p.needBps
	p.needBps = bps
	if p.expire(now); p.state != probeComplete || bps == was || p.alrSince.IsZero() {
		return
	}
	if p.estimate < min(p.maxBps, bps) {
		// Capped at twice the estimate, as a probe of something untried.
		p.initiate(now, false, min(bps, 2*p.estimate), min(2*bps, 2*p.estimate))
	}
}

// expire gives up on a result.
func (p *probeControl) expire(now time.Time) {
	if p.state == probeWaiting && now.Sub(p.at) > probeWait {
		p.complete()
	}
}

// next is when process has something to do: zero for never.
//
// Deviation: goog_cc probes out of the application-limited region for screen
// sharing only.
func (p *probeControl) next() time.Time {
	if p.off || p.state == probeInit || p.alrSince.IsZero() || p.cause >= probeBlocked || p.limit() <= p.estimate {
		return time.Time{}
	}
	from := p.alrSince
	if p.at.After(from) {
		from = p.at
	}

	return from.Add(probeALREvery)
}

// process probes out of the application-limited region when it is due.
func (p *probeControl) process(now time.Time) {
	if due := p.next(); due.IsZero() || now.Before(due) {
		return
	}
	p.expire(now)
	p.initiate(now, true, probeALRScale*p.estimate)
}
