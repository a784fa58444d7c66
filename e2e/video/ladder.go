// SPDX-License-Identifier: MIT

package video

import (
	"math"
	"time"
)

// rung is a size, as a fraction of the source's, and a frame rate, that a rate is
// enough for.
type rung struct {
	num, den int     // of width and height
	half     bool    // of the frames
	bpp      float64 // bits for each pixel of the source, at its full frame rate
}

// rungs, from the best one on. Where to go down was measured, TestSizes in
// e2e/video/vp8: below its rate a size has a lower SSIM than the next one, and
// frames are left out. It is lower for smaller sizes, that are sharper for their
// number of pixels.
func rungs() []rung {
	return []rung{
		{1, 1, false, 0.045},
		{3, 4, false, 0.030},
		{1, 2, false, 0.0145},
		{3, 8, false, 0.009},
		{1, 4, false, 0.0047},
		{1, 4, true, 0},
	}
}

const (
	// fallAfter is for how long a target has to be too low: a new size costs a key
	// frame, and the way back takes longer. A dip that is over before that is the
	// quantizer's, or costs some frames.
	fallAfter = 400 * time.Millisecond
	// A better rung is taken when for climbAfter there was nothing to fall from it
	// for, and the mean target over climbMean is climbRate of what it needs. The
	// more it is beyond that the shorter is the wait, down to climbSoon: after an
	// outage the lowest rung cannot use what there is. Two climbs are climbPause
	// apart.
	climbAfter = 2 * time.Second
	climbSoon  = 700 * time.Millisecond
	climbPause = time.Second
	climbMean  = time.Second
	climbRate  = 1.25
)

// ladder decides on size and frame rate: down soon, up only when it is going to
// last. Not safe for concurrent use.
type ladder struct {
	rungs []rung
	full  float64 // pixels of the source a second
	at    int     // rung
	last  time.Duration
	mean  float64 // of the target
	// climbed is when it last went up.
	climbed time.Duration

	// By rung: since when the target has been too low for it, negative when it is
	// not, and when that was last so for fallAfter.
	low, bad []time.Duration
}

func newLadder(width, height int, fps float64) *ladder {
	return &ladder{rungs: rungs(), full: float64(width*height) * fps}
}

// need is the rate of a rung.
func (l *ladder) need(rung int) float64 { return l.rungs[rung].bpp * l.full }

// update takes a target in bit/s and returns the rung to be on.
func (l *ladder) update(now time.Duration, bps int) rung {
	rate := float64(bps)
	if l.low == nil {
		l.begin(now, rate)
	}
	l.mean += (rate - l.mean) * (1 - math.Exp(-(now-l.last).Seconds()/climbMean.Seconds()))
	l.last = now
	for i := range l.rungs {
		switch {
		case rate >= l.need(i):
			l.low[i] = -1
		case l.low[i] < 0:
			l.low[i] = now
		}
		if l.low[i] >= 0 && now-l.low[i] >= fallAfter {
			l.bad[i] = now
		}
	}
	if l.bad[l.at] == now {
		// At once to where it ends: every size on the way would cost a key frame, at
		// a time when there is no room for one.
		for l.at < len(l.rungs)-1 && rate < l.need(l.at) {
			l.at++
		}
	}
	for i := range l.at {
		if now-l.climbed >= climbPause && l.ripe(now, i) {
			l.at, l.climbed = i, now

			break
		}
	}

	return l.rungs[l.at]
}

// ripe tells whether a better rung can be taken.
func (l *ladder) ripe(now time.Duration, rung int) bool {
	room := l.mean / (climbRate * l.need(rung))
	wait := max(time.Duration(float64(climbAfter)/max(room, 1)), climbSoon)

	return room >= 1 && l.low[rung] < 0 && now-l.bad[rung] >= wait
}

// begin starts where the first target is enough.
func (l *ladder) begin(now time.Duration, rate float64) {
	l.last, l.mean, l.climbed = now, rate, now-climbPause
	l.low, l.bad = make([]time.Duration, len(l.rungs)), make([]time.Duration, len(l.rungs))
	for i := range l.rungs {
		l.low[i], l.bad[i] = -1, now-1
	}
	for l.at < len(l.rungs)-1 && rate < l.need(l.at) {
		l.at++
	}
}

// size is a rung's for a source, in even numbers.
func (r rung) size(width, height int) (int, int) {
	return width * r.num / r.den / 2 * 2, height * r.num / r.den / 2 * 2
}
