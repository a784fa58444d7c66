// SPDX-License-Identifier: MIT

package gbr

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// pathBase is the window of the shortest one-way delay, as two halves: what
	// stands in a queue for that long is taken for the path's length, so that
	// flows that keep a queue full do not starve this one.
	pathBase = 2500 * time.Millisecond
	// pathHigh is the delay behind the radio that is a queue, pathLow the one
	// that is none. The twin is right to 8 ms in 95 % of packets.
	pathHigh, pathLow = 25 * time.Millisecond, 12 * time.Millisecond
	// pathFew is of how many packets, of no longer ago than pathFewFor, the least
	// delay counts: one alone may have been held up by chance.
	pathFew, pathFewFor = 8, 300 * time.Millisecond
	// pathLag is the lag up to which that holds.
	pathLag = 12 * time.Millisecond
	// pathRateWindow is how much of the arrivals tells the bottleneck's rate.
	pathRateWindow = 150 * time.Millisecond
	// pathDrain is the queue for which the rate goes down by all of the
	// bottleneck's rate.
	pathDrain = 250 * time.Millisecond
	pathFloor = 0.3
	// pathCut is the share for a queue that has just begun: who
	// cuts less than others takes theirs.
	pathCut = 0.9
	// pathPatience is how long one episode may last: a queue that stays although
	// this sender has given way is other flows', with which the outer loop knows
	// how to compete.
	pathPatience = 1500 * time.Millisecond
	// pathPause is how long it is left alone then; pathQuiet is how long the queue
	// must be gone for the next one to be another episode.
	pathPause, pathQuiet = 5 * time.Second, time.Second
	// pathArrivals is a power of two, the arrivals kept: 250 ms at 20 Mbit/s.
	pathArrivals = 512
)

// path watches what is behind the radio. A packet's one-way delay less the time
// that it was in the phone, less the shortest such delay lately, is the queue
// elsewhere; while there is one, what arrives is its bottleneck's rate.
type path struct {
	base, prev time.Duration // shortest of this half and the one before
	baseAt     time.Time
	hasBase    bool
	hasPrev    bool

	// slack is what is added to pathHigh and pathLow where grants are so rare that
	// the twin cannot be right to 8 ms.
	slack time.Duration

	queue   time.Duration // of the last report: its least
	queueAt time.Time     // zero before the first
	last    [pathFew]lastDelay
	nLast   int

	arrivals [pathArrivals]arrival
	n        int64

	episode time.Time // since when there is a queue; zero for none
	highAt  time.Time // when there last was
	// spentTill is how long nothing is done after an episode that did not end.
	spentTill time.Time
	// bottleneck is what arrived when there last was a queue for sure, bit/s.
	bottleneck float64
}

// lastDelay is one packet's, and when it was told.
type lastDelay struct {
	delay time.Duration
	at    time.Time
}

type arrival struct {
	at   gcc.RemoteTime
	size int32
}

// onArrivals notes arrivals for the rate, as soon as they are told.
func (p *path) onArrivals(results []gcc.PacketResult) {
	for i := range results {
		if r := &results[i]; r.Received {
			p.arrivals[p.n&(pathArrivals-1)] = arrival{r.Arrival, int32(min(max(r.Size, 0), maxPacket))}
			p.n++
		}
	}
}

// rate is at which bytes arrived in the last window of arrivals, in bit/s; 0
// while there are too few.
func (p *path) rate(window time.Duration) float64 {
	if p.n < 3 {
		return 0
	}
	last := p.arrivals[(p.n-1)&(pathArrivals-1)]
	bytes, first := 0, last.at
	for i := p.n - 1; i >= max(0, p.n-pathArrivals); i-- {
		a := &p.arrivals[i&(pathArrivals-1)]
		if last.at.Sub(a.at) > window {
			break
		}
		bytes += int(a.size)
		if a.at < first {
			first = a.at
		}
	}
	span := last.at.Sub(first)
	if span < window/3 {
		return 0
	}

	return float64(bytes) * 8 / (span + span/16).Seconds()
}

// onDelay takes packets whose time in the phone is known.
func (p *path) onDelay(now time.Time, results []gcc.PacketResult) {
	least, any := time.Duration(0), false
	for i := range results {
		r := &results[i]
		if !r.Received {
			continue
		}
		// The two clocks' difference is part of the base.
		d := time.Duration(r.Arrival)*time.Microsecond - time.Duration(r.At.UnixMicro())*time.Microsecond - r.RadioDelay
		if !any || d < least {
			least, any = d, true
		}
		p.last[p.nLast%pathFew] = lastDelay{d, now}
		p.nLast++
	}
	if !any {
		return
	}
	for i := range min(p.nLast, pathFew) {
		if l := &p.last[i]; now.Sub(l.at) < pathFewFor {
			least = min(least, l.delay)
		}
	}
	if !p.hasBase || now.Sub(p.baseAt) > pathBase {
		p.prev, p.hasPrev = p.base, p.hasBase
		p.base, p.baseAt, p.hasBase = least, now, true
	}
	p.base = min(p.base, least)
	base := p.base
	if p.hasPrev {
		base = min(base, p.prev)
	}
	p.queue, p.queueAt = least-base, now
	switch {
	case p.queue > pathHigh+p.slack:
		if p.episode.IsZero() {
			p.episode, p.bottleneck = now, 0
		}
		p.highAt = now
	case !p.episode.IsZero() && p.queue < pathLow+p.slack && now.Sub(p.highAt) > pathQuiet:
		p.episode = time.Time{}
	}
	if !p.episode.IsZero() && now.Sub(p.episode) > pathPatience {
		p.episode, p.spentTill = time.Time{}, now.Add(pathPause)
	}
	if rate := p.rate(pathRateWindow); p.queue > pathHigh+p.slack && rate > 0 {
		p.bottleneck = rate
	}
}

// settled tells whether the base is worth something.
func (p *path) settled(now time.Time) bool {
	return p.hasBase && (p.hasPrev || now.Sub(p.baseAt) > 300*time.Millisecond)
}

// clear tells that there is no queue behind the radio.
func (p *path) clear(now time.Time) bool {
	return !p.queueAt.IsZero() && now.Sub(p.queueAt) < 500*time.Millisecond && p.queue < pathLow+p.slack
}

// limit is the rate that empties the queue, in bit/s; not ok when there is none,
// or when it is not ours to empty.
func (p *path) limit(now time.Time) (bps float64, ok bool) {
	if p.episode.IsZero() || p.queue < pathLow+p.slack || now.Before(p.spentTill) {
		return 0, false
	}
	if p.bottleneck == 0 {
		return 0, false
	}

	return p.bottleneck * max(pathFloor, pathCut-float64(p.queue-pathLow-p.slack)/float64(pathDrain)), true
}

// reset forgets the base: the clocks or the path have changed.
func (p *path) reset() {
	p.hasBase, p.hasPrev, p.queueAt, p.episode = false, false, time.Time{}, time.Time{}
	p.nLast = 0
}
