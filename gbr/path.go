// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// pathBase is the window of the shortest one-way delay, as two halves: what
	// stands in a queue for that long is taken for the path's length, except while
	// this sender competes for it.
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
	// pathCut is the share for a queue that has just begun, where nothing is known to
	// be narrow.
	pathCut = 0.9
	// pathGive and pathGiveMore are what is given back of a narrow path, the latter
	// times the share that was taken of it; pathTake is what of the path is taken a
	// second while there is no queue, times the square of the share that others or
	// nobody have, pathTakeLeast the least of it. So who has more gives more and takes
	// less, and all end with the same after a few queues. Beside GCC, which gives 0.15
	// and takes about a percent a second, that makes a fair share of a path for two.
	pathGive, pathGiveMore  = 0.1, 0.35
	pathTake, pathTakeLeast = 0.04, 0.005
	// pathPatience is how long a queue may stay although this sender has given way,
	// beside twice its own length.
	pathPatience = 1500 * time.Millisecond
	// pathPause is how long nothing is done about a queue that stays where nothing is
	// narrow: it is none.
	pathPause = 5 * time.Second
	// pathQuiet is how long the queue must be gone for the next one to be another
	// episode.
	pathQuiet = time.Second
	// pathNarrow is the memory of how often trains showed something narrow, without
	// which a queue behind the radio is none.
	pathNarrow, pathNarrowShare = 5 * time.Second, 0.2
	// pathArrivals is a power of two, the arrivals kept: 250 ms at 20 Mbit/s.
	pathArrivals = 512
)

// path watches what is behind the radio. A packet's one-way delay less the time
// that it was in the phone, less the shortest such delay lately, is the queue
// elsewhere; while there is one, what arrives is its bottleneck's rate.
type path struct {
	base, baseMean lows          // shortest of this half; the same of reports' means
	prev, prevMean time.Duration // of the half before
	baseAt         time.Time
	hasBase        bool
	hasPrev        bool

	// slack is what is added to pathHigh and pathLow where grants are so rare that
	// the twin cannot be right to 8 ms.
	slack time.Duration

	// queue is of the last report: its least, which is what has not gone by the
	// time of the next frame, and its mean, which tells all flows the same, those too
	// whose frames come when the others' have just gone.
	queue, mean time.Duration
	queueAt     time.Time // zero before the first
	last        [pathFew]lastDelay
	nLast       int

	arrivals [pathArrivals]arrival
	n        int64

	episode time.Time // since when there is a queue; zero for none
	highAt  time.Time // when there last was one
	begun   time.Time // since when there is one again and again
	trains  trains
	// narrow is the share of the time lately in which trains showed something
	// narrower than the radio.
	narrow  float64
	loss    overflow
	compete compete
	// before is what arrived when the episode began, worst its longest queue.
	before float64
	worst  time.Duration

	// spentTill is how long nothing is done about what was no queue.
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
func (p *path) onArrivals(now time.Time, results []gcc.PacketResult) {
	p.loss.onFeedback(now, results)
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
func (p *path) onDelay(now time.Time, results []gcc.PacketResult, est gcc.Estimate) {
	least, any := time.Duration(0), false
	var first, sum, n time.Duration
	for i := range results {
		r := &results[i]
		if !r.Received {
			continue
		}
		// The two clocks' difference is part of the base.
		left := time.Duration(r.At.UnixMicro())*time.Microsecond + r.RadioDelay
		arrived := time.Duration(r.Arrival) * time.Microsecond
		d := arrived - left
		p.trains.on(r, left, arrived)
		if n == 0 {
			first = d
		}
		sum += d - first
		n++
		if !any || d < least {
			least, any = d, true
		}
		p.last[p.nLast%pathFew] = lastDelay{d, now}
		p.nLast++
	}
	if !any {
		return
	}
	mean, own := first+sum/n, least
	for i := range min(p.nLast, pathFew) {
		if l := &p.last[i]; now.Sub(l.at) < pathFewFor {
			least = min(least, l.delay)
		}
	}
	if !p.hasBase || !p.compete.on && now.Sub(p.baseAt) > pathBase {
		p.prev, p.prevMean, p.hasPrev = p.base.least(), p.baseMean.least(), p.hasBase
		p.base, p.baseMean, p.baseAt, p.hasBase = lows{}, lows{}, now, true
	}
	p.base.add(now, own)
	p.baseMean.add(now, mean)
	base, baseMean := p.base.least(), p.baseMean.least()
	if p.hasPrev {
		base, baseMean = min(base, p.prev), min(baseMean, p.prevMean)
	}
	if dt := min(now.Sub(p.queueAt), time.Second); !p.queueAt.IsZero() && p.trains.weight >= trainFew {
		is := 0.0
		if p.trains.narrow() > 0 {
			is = 1
		}
		p.narrow += (is - p.narrow) * dt.Seconds() / pathNarrow.Seconds()
	}
	p.queue, p.mean, p.queueAt = least-base, mean-baseMean, now
	if p.trains.firm() || p.trains.narrow() == 0 || n < trainPackets {
		p.mean = p.queue
	}
	switch high := p.mean > pathHigh+p.slack; {
	case high && p.episode.IsZero():
		if now.Sub(p.highAt) > pathQuiet {
			p.begun, p.before = now, 0
		}
		p.episode, p.bottleneck, p.before, p.worst = now, 0, max(p.before, float64(est.AckedBps)), 0
	case p.queue < pathLow+p.slack:
		p.episode = time.Time{}
	}
	if !p.episode.IsZero() {
		p.highAt = now
		p.worst = max(p.worst, p.queue)
		p.judge(now, est)
	}
	if rate := p.rate(pathRateWindow); p.mean > pathHigh+p.slack && rate > 0 {
		p.bottleneck = rate
	}
}

// judge says whose a queue is that has stayed although this sender has given
// way.
func (p *path) judge(now time.Time, est gcc.Estimate) {
	switch {
	case p.narrow < pathNarrowShare && p.trains.weight > 0:
		if now.Sub(p.begun) > pathPatience {
			p.episode, p.begun, p.spentTill = time.Time{}, now, now.Add(pathPause)
		}
	case p.compete.on || p.queue < pathHigh+p.slack || now.Sub(p.episode) < pathPatience+2*p.worst:
	case p.alone(est):
		p.episode = now // it was long, and goes
	default:
		p.compete.start(now, p.before, p.trains.peak, est.RTT)
	}
}

// alone tells that a queue is this sender's: what arrives is all that the path
// carries.
func (p *path) alone(est gcc.Estimate) bool {
	return p.trains.firm() && float64(est.AckedBps) > competeAlone*p.trains.narrow()
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
	if p.episode.IsZero() || p.mean < pathLow+p.slack || p.compete.on || now.Before(p.spentTill) {
		return 0, false
	}
	if p.bottleneck == 0 {
		return 0, false
	}

	limit := p.bottleneck * max(pathFloor, p.keep()-float64(p.mean-pathLow-p.slack)/float64(pathDrain))
	// Beside others less arrives the less is sent, and would lead to nothing.
	return max(limit, pathFloor*min(p.before, p.trains.narrow())), true
}

// keep is the share that is left of a rate for a queue that has just begun. Who
// has more of the path gives more of it back, so that all end with the same.
func (p *path) keep() float64 {
	if p.trains.narrow() == 0 {
		return pathCut
	}

	return 1 - pathGive - pathGiveMore*min(1, p.before/p.trains.peak)
}

// grow is what a rate becomes in so many seconds without a queue.
func (p *path) grow(rate, seconds float64) float64 {
	c := p.trains.peak
	free := max(0, 1-rate/max(c, 1))

	return rate + c*max(pathTakeLeast, pathTake*free*free)*seconds
}

// pace is how fast the frames of a rate leave at the most, in bit/s: where it is
// narrower they would only wait, or be dropped. One in trainEvery is faster, to see
// whether it still is.
func (p *path) pace(frame int64, rate float64) float64 {
	c := p.trains.narrow()
	switch {
	case c == 0 && p.compete.on:
		return trainProbe * rate // small frames do not tell, and the queue is full
	case c == 0:
		return math.Inf(1)
	case frame%trainEvery == 0:
		return trainProbe * c
	default:
		return trainPace * c
	}
}

// full is the rate at which the path was full, and what share of it to go back to
// once the queue is gone.
func (p *path) full() (bps int, share float64) {
	if p.trains.narrow() == 0 {
		return int(p.bottleneck), ceilingMargin
	}

	return int(max(p.before, p.bottleneck)), p.keep()
}

// reset forgets the base: the clocks or the path have changed.
func (p *path) reset() {
	p.hasBase, p.hasPrev, p.queueAt, p.episode = false, false, time.Time{}, time.Time{}
	p.trains, p.compete, p.narrow, p.nLast = trains{}, compete{}, 0, 0
}
