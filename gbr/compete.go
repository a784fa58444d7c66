// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// RFC 9438 4.1, 4.6, 5.1.
const (
	cubicC    = 0.4 // packets / s^3
	cubicBeta = 0.7
	// cubicFriendly is what the window grows by in a round trip at the least, in
	// packets.
	cubicFriendly = 3 * (1 - cubicBeta) / (1 + cubicBeta)
	cubicPacket   = 1200 // bytes
)

const (
	// competeQuiet is how long the queue must be gone for the others to be.
	competeQuiet = time.Second
	// competeAlone is the share of what the path gives a burst above which nobody
	// else is there.
	competeAlone = 0.88
	// competeLeast is how long it takes at the least.
	competeLeast = 2 * time.Second
	// competeEvery is how often it gives way, to competePause of what arrives, and
	// competeBack of it is where it goes on when that was enough.
	competeEvery, competePauseMost = 5 * time.Second, 2 * time.Second
	competePause, competeBack      = 0.3, 0.85
	// competeBegin is the share of what arrived before that it begins with, within
	// competeQuarter and competeHalf of the path: some of it is another's now, but who
	// has given way to that one for long would take minutes to come back from nothing,
	// as windows in a queue of a second grow once in many seconds.
	competeBegin                = 0.7
	competeQuarter, competeHalf = 0.25, 0.4
	// competeRest times an epoch of CUBIC is how long a loss stands for those after
	// it. A full queue takes no notice of one who gives way, and goes on dropping.
	competeRest = 0.5
	// competeAhead is how far beyond its window's rate it goes to fill the window.
	competeAhead = 1.1
	// competeMost bounds the window, in packets, competeShort the round trip.
	competeMost  = 1e5
	competeShort = 10 * time.Millisecond
)

// compete holds a share beside who fills the queue and does not give way: it is
// CUBIC in what it makes of time and loss, and deaf to delay. It begins when a
// queue has stayed although this sender has given way, and ends when the queue is
// gone, or nobody else's any more.
type compete struct {
	on     bool
	since  time.Time
	lowAt  time.Time // the queue is gone since
	rtt    time.Duration
	window float64 // packets
	most   float64 // when last cut
	from   float64 // to this
	begun  time.Time
	cutAt  time.Time
	lossAt time.Time // when the newest packet was sent that was lost

	// The shortest queue since the last pause, and when it was.
	least     time.Duration
	leastAt   time.Time
	pauseTill time.Time
	every     time.Duration // from one pause to the next; each that is in vain doubles it
	arrived   float64       // at the last pause, bit/s
	newest    int64         // packet told of
}

// onFeedback looks for loss.
func (c *compete) onFeedback(results []gcc.PacketResult) {
	for i := range results {
		r := &results[i]
		if c.newest = max(c.newest, r.Seq); !r.Received && r.At.After(c.lossAt) {
			c.lossAt = r.At
		}
	}
}

// pause gives way once in a while, for as long as a queue takes to go that is
// only of those who do. As they all see the same queue they also see the same
// shortest one, and pause together.
func (c *compete) pause(now time.Time, queue time.Duration, ackedBps float64) {
	switch {
	case now.Before(c.pauseTill):
		if queue < pathLow {
			c.on, c.pauseTill = false, time.Time{}
		}
	case !c.pauseTill.IsZero():
		c.pauseTill, c.least, c.leastAt = time.Time{}, queue, now
	case queue < c.least:
		c.least, c.leastAt = queue, now
	case now.Sub(c.leastAt) > c.every:
		c.every *= 2
		// A longer queue would not go, and what is given up is the other's for long.
		if long := time.Duration(float64(queue)/(1-competePause)) + c.rtt; long < competePauseMost {
			c.pauseTill, c.arrived = now.Add(long), ackedBps
		}
	}
	if queue < c.least {
		c.least, c.leastAt = queue, now
	}
}

// start begins where bps arrived before the queue came; path is what it carries,
// 0 for unknown.
func (c *compete) start(now time.Time, bps, path float64, rtt time.Duration) {
	rtt = max(rtt, competeShort)
	w := min(bps/8*rtt.Seconds()/cubicPacket, competeMost)
	from := competeBegin * w
	if path > 0 {
		all := min(path/8*rtt.Seconds()/cubicPacket, competeMost)
		from = min(max(from, competeQuarter*all), competeHalf*all)
		w = max(w, from)
	}
	*c = compete{
		on: true, since: now, rtt: rtt,
		window: from, from: from, most: w, begun: now, cutAt: now,
		lossAt: c.lossAt, newest: c.newest, least: time.Hour, leastAt: now, every: competeEvery,
	}
}

// update returns the rate in bit/s. queue is behind the radio, at the least,
// alone tells that it is this sender's, underway is bytes not told of yet.
func (c *compete) update(now time.Time, queue time.Duration, est gcc.Estimate, alone bool, underway int64) float64 {
	acked := float64(est.AckedBps)
	c.pause(now, queue, acked)
	if queue >= pathLow {
		c.lowAt = time.Time{}
	} else if c.lowAt.IsZero() {
		c.lowAt = now
	}
	if !c.lowAt.IsZero() && now.Sub(c.lowAt) > competeQuiet || alone && now.Sub(c.since) > competeLeast {
		c.on = false
	}
	if est.RTT > 0 {
		c.rtt += (max(est.RTT, competeShort) - c.rtt) / 4
	}
	c.advance(now, acked)
	switch {
	case now.Before(c.pauseTill):
		return competePause * c.arrived
	case !c.on:
		return competeBack * max(c.arrived, competeBack*acked)
	default:
		// What is under way beyond the window is waited for, as TCP would.
		packets := min(max(2*c.window-float64(underway)/cubicPacket, 0.5*c.window), competeAhead*c.window)

		return c.bps(packets)
	}
}

func (c *compete) bps(packets float64) float64 { return packets * cubicPacket * 8 / c.rtt.Seconds() }

// advance moves the window.
func (c *compete) advance(now time.Time, acked float64) {
	epoch := time.Duration(math.Cbrt(c.most*(1-cubicBeta)/cubicC) * float64(time.Second))
	if c.lossAt.After(c.cutAt.Add(max(c.rtt, time.Duration(competeRest*float64(epoch))))) {
		was := c.most
		c.most = c.window
		if c.window < was { // RFC 9438 4.7: fast convergence
			c.most *= (1 + cubicBeta) / 2
		}
		c.window *= cubicBeta
		c.from, c.begun, c.cutAt = min(c.window, c.most), now, now
	}
	t := now.Sub(c.begun).Seconds()
	d := t - math.Cbrt((c.most-c.from)/cubicC)
	w := min(max(c.most+cubicC*d*d*d, c.from+cubicFriendly*t/c.rtt.Seconds()), competeMost)
	// Who does not use it does not earn more.
	if w < c.window || acked == 0 || c.bps(w) < 1.5*acked+10_000 {
		c.window = w
	}
}
