// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"time"
)

// Constants of the add-on. libwebrtc: jitter_estimator, rtt_filter,
// video_stream_buffer_controller.
const (
	nackLimit   = 3                      // frames until a round trip is added
	nackMemory  = 60 * time.Second       // without one more, all are forgotten
	nackRTTPart = 0.9                    // of the round trip time
	nackAddMax  = 200 * time.Millisecond // never more than this

	rttMax        = 3 * time.Second
	rttFilterMax  = 35  // samples in the average
	rttJumpSD     = 2.5 // standard deviations to a jump
	rttDriftSD    = 3.5 // from the average to the maximum until that is forgotten
	rttConsistent = 5   // samples that make a jump or a drift
)

// nackHistory counts frames that had to wait for a retransmission. From the
// third one on the playout delay has room for another round trip, until no
// frame needed one for a minute.
type nackHistory struct {
	count int
	last  time.Duration
	rtt   rttFilter
}

func (h *nackHistory) onFrame(now time.Duration) {
	h.count = min(h.count+1, nackLimit)
	h.last = now
}

// addOn is what the playout delay needs on top.
func (h *nackHistory) addOn(now time.Duration) time.Duration {
	if now-h.last > nackMemory {
		h.count = 0
	}
	if h.count < nackLimit {
		return 0
	}

	return min(times(h.rtt.max, nackRTTPart), nackAddMax)
}

// rttFilter remembers the longest round trip since the last change of path. A
// jump of the samples away from the average, or an average far below the
// maximum, each for five samples, is such a change.
type rttFilter struct {
	seen     bool
	max, avg time.Duration
	variance int64 // ms^2
	samples  int64

	jump      rttRun
	jumpAbove bool // the average is above the samples of the run
	drift     rttRun
}

type rttRun struct {
	n   int
	rtt [rttConsistent]time.Duration
}

func (r *rttRun) add(rtt time.Duration) (full bool) {
	r.rtt[r.n] = rtt
	r.n++

	return r.n == rttConsistent
}

func (f *rttFilter) update(rtt time.Duration) {
	if rtt < 0 || !f.seen && rtt == 0 {
		return
	}
	f.seen = true
	rtt = min(rtt, rttMax)
	if f.samples == 0 {
		f.samples = 1
	}
	factor := float64(f.samples-1) / float64(f.samples)
	f.samples = min(f.samples+1, rttFilterMax)
	avg, variance := f.avg, f.variance
	f.avg = mix(factor, f.avg, rtt)
	d := roundMs(rtt - f.avg)
	f.variance = int64(factor*float64(f.variance) + (1-factor)*float64(d*d))
	f.max = max(f.max, rtt)
	if f.jumps(rtt) {
		// Not before it is sure: one outlier leaves no trace in the average.
		f.avg, f.variance = avg, variance

		return
	}
	f.drifts(rtt)
}

// jumps is true while a jump is neither confirmed nor refuted.
func (f *rttFilter) jumps(rtt time.Duration) bool {
	d := f.avg - rtt
	if d.Abs() <= f.deviations(rttJumpSD) {
		f.jump.n = 0

		return false
	}
	if above := d >= 0; above != f.jumpAbove {
		f.jump.n, f.jumpAbove = 0, above
	}
	if !f.jump.add(rtt) {
		return true
	}
	f.restart(&f.jump)

	return false
}

func (f *rttFilter) drifts(rtt time.Duration) {
	if f.max-f.avg <= f.deviations(rttDriftSD) {
		f.drift.n = 0

		return
	}
	if f.drift.add(rtt) {
		f.restart(&f.drift)
	}
}

func (f *rttFilter) restart(run *rttRun) {
	f.max = 0
	sum := time.Duration(0)
	for _, rtt := range run.rtt {
		f.max = max(f.max, rtt)
		sum += rtt
	}
	f.avg = sum / rttConsistent
	f.samples = rttConsistent + 1
	run.n = 0
}

func (f *rttFilter) deviations(n float64) time.Duration {
	return fractionalMs(n * math.Sqrt(float64(f.variance)))
}

func mix(factor float64, a, b time.Duration) time.Duration {
	return times(a, factor) + times(b, 1-factor)
}

// times is d*factor to the nearest microsecond. Rounded down, a constant round
// trip would not have itself as its average.
func times(d time.Duration, factor float64) time.Duration {
	return time.Duration(math.Round(float64(d.Microseconds())*factor)) * time.Microsecond
}
