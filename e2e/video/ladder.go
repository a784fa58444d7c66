// SPDX-License-Identifier: MIT

package video

import "time"

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
	// climbRate is how much more than its rate a better rung needs to be taken,
	// climbAfter for how long: a new size costs a key frame.
	climbRate  = 1.25
	climbAfter = 2 * time.Second
)

// ladder decides on size and frame rate: down at once, up only when it is going to
// last. The zero value of at is the start. Not safe for concurrent use.
type ladder struct {
	rungs []rung
	full  float64 // pixels of the source a second
	at    int     // rung
	began bool
	since time.Duration // the target has been enough for the rung above; negative: is not
}

func newLadder(width, height int, fps float64) *ladder {
	return &ladder{rungs: rungs(), full: float64(width*height) * fps, since: -1}
}

// update takes a target in bit/s and returns the rung to be on.
func (l *ladder) update(now time.Duration, bps int) rung {
	need := func(i int) float64 { return l.rungs[i].bpp * l.full }
	for l.at < len(l.rungs)-1 && float64(bps) < need(l.at) {
		l.at++
		l.since = -1
	}
	if !l.began {
		l.began = true

		return l.rungs[l.at]
	}
	switch {
	case l.at == 0 || float64(bps) < climbRate*need(l.at-1):
		l.since = -1
	case l.since < 0:
		l.since = now
	case now-l.since >= climbAfter:
		// Past rungs that would not last either.
		for l.at > 0 && float64(bps) >= climbRate*need(l.at-1) {
			l.at--
		}
		l.since = -1
	}

	return l.rungs[l.at]
}

// size is a rung's for a source, in even numbers.
func (r rung) size(width, height int) (int, int) {
	return width * r.num / r.den / 2 * 2, height * r.num / r.den / 2 * 2
}
