// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// trainGap is the pause of leaving after which a packet begins another train,
	// trainLongest is where one ends at the latest: a frame's interval or so.
	trainGap, trainLongest = 8 * time.Millisecond, 50 * time.Millisecond
	// trainPackets is how many make one that tells something.
	trainPackets = 3
	// trainKeep is what is kept of the sums with each train. trainFew is the least
	// sum of weights to go by, three trains; trainFirm is five.
	trainKeep           = 0.75
	trainFew, trainFirm = 1 + trainKeep + trainKeep*trainKeep, 3
	// trainMemory is how long a rate is believed in that no train confirms.
	trainMemory = 5 * time.Second
	// trainSpread is by what share the rates of trains may differ, on average, when
	// nobody else was in the way: alone it is below 0.01, beside one other call 0.02
	// to 0.2. trainWild is what only jitter makes.
	trainSpread, trainWild = 0.015, 0.5
	// A path is narrower than the radio when a train takes trainStretch longer to
	// arrive than it took to leave, and trainNoise at the least: the twin is right to
	// a few ms, and so is the wait for a retransmission on the radio.
	trainStretch, trainNoise = 0.25, 4 * time.Millisecond
	// trainNarrow is the share of the radio's rate that is clearly less.
	trainNarrow = 0.8
	// trainFaster is how much faster than the known rate a train has to leave to
	// tell whether that still holds; every trainEvery frames one does, at trainProbe
	// times that rate. The others leave at trainPace times it: they would only wait,
	// or be dropped, where it is narrower.
	trainFaster, trainProbe, trainPace = 1.3, 1.7, 1.0
	trainEvery                         = 30
	// trainFade is what is left of the fastest with each that is slower.
	trainFade = 0.99
	// trainWait is how long growth waits for the first few of them.
	trainWait = 500 * time.Millisecond
	// trainShare is up to what of a rate that is not firm growth is fast, trainMost
	// what is used of one that is: frames are not all as large.
	trainShare, trainMost = 0.85, 0.97
)

// trains measures the path with the frames: their packets leave the phone as
// fast as the radio takes them, and what arrives slower than it left has been
// through something narrower. It shows before any queue is left by the time of
// the next frame. Beside others it is more than one's share: what the
// bottleneck gives to who sends that fast.
type trains struct {
	n                 int // packets of the present one
	bytes             int // after its first
	left, arrived     time.Duration
	leftTo, arrivedTo time.Duration

	// Sums over the trains, with forgetting.
	weight, sumBytes, sumLeft, sumArrived float64
	spread                                float64 // mean of what their rates miss the mean by, as a share

	// bps is what the path carries; 0 while it is not known to be narrower than
	// the radio.
	bps float64
	// radio is what the radio carries, bit/s.
	radio float64
	// peak is the fastest lately: beside others, what nobody was in the way of.
	peak float64
	at   time.Duration // of the newest train that told something
}

// on takes a packet; it left the phone at left, by any clock.
func (t *trains) on(r *gcc.PacketResult, left, arrived time.Duration) {
	if t.n > 0 && (left-t.leftTo > trainGap || left-t.left > trainLongest || left < t.leftTo) {
		t.close()
	}
	if t.n == 0 {
		t.left, t.arrived, t.arrivedTo, t.bytes = left, arrived, arrived, 0
	} else {
		t.bytes += min(max(r.Size, 0), maxPacket)
	}
	t.n++
	t.leftTo, t.arrivedTo = left, max(t.arrivedTo, arrived)
}

func (t *trains) close() {
	left, arrived, n, bytes := t.leftTo-t.left, t.arrivedTo-t.arrived, t.n, float64(t.bytes)
	t.n = 0
	if t.arrivedTo-t.at > trainMemory {
		*t = trains{leftTo: t.leftTo, arrivedTo: t.arrivedTo, at: t.arrivedTo, radio: t.radio}
	}
	if n < trainPackets {
		return
	}
	stretched := arrived-left > max(time.Duration(trainStretch*float64(left)), trainNoise)
	if !stretched && t.bps > 0 && bytes*8 < trainFaster*t.bps*left.Seconds() {
		return // too slow to tell
	}
	t.at = t.arrivedTo
	t.weight = t.weight*trainKeep + 1
	t.sumBytes = t.sumBytes*trainKeep + bytes
	t.sumLeft = t.sumLeft*trainKeep + left.Seconds()
	t.sumArrived = t.sumArrived*trainKeep + arrived.Seconds()
	rate := bytes / max(arrived.Seconds(), 1e-3)
	t.peak = max(trainFade*t.peak, 8*rate)
	mean := t.sumBytes / max(t.sumArrived, 1e-3)
	t.spread += (math.Abs(rate/mean-1) - t.spread) / t.weight
	if t.weight < trainFew || t.spread > trainWild {
		t.bps = 0 // jitter

		return
	}
	switch longer := t.sumArrived - t.sumLeft; {
	case longer < trainStretch*t.sumLeft:
		t.bps = 0
	case longer > trainNoise.Seconds()*t.weight:
		t.bps = t.sumBytes * 8 / t.sumArrived
	}
}

// narrow is the path's rate where that is clearly less than the radio's, 0
// otherwise: then the radio's is what limits, and what seems less is noise.
func (t *trains) narrow() float64 {
	if t.bps < trainNarrow*t.radio {
		return t.bps
	}

	return 0
}

// carries is the rate at which they arrive, 0 while too few tell.
func (t *trains) carries() float64 {
	if t.weight < trainFew || t.spread > trainWild {
		return 0
	}

	return t.sumBytes * 8 / max(t.sumArrived, 1e-3)
}

// firm tells whether nobody else was in the way: then it is the path's rate.
func (t *trains) firm() bool {
	return t.narrow() > 0 && t.weight >= trainFirm && t.spread < trainSpread
}

// carried tells that so much arrives, in bit/s.
func (t *trains) carried(bps float64) {
	if bps > ceilingGone*t.bps {
		t.bps = 0
	}
}
