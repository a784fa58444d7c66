// SPDX-License-Identifier: MIT

package gcc

// goog_cc: trendline_estimator.
const (
	trendWindow    = 20
	trendSmoothing = 0.9
	trendGain      = 4.0
	trendMaxFactor = 60
	maxDeltas      = 1000
)

// trendline fits a line through the smoothed one-way delay of the last groups.
// Its slope is how much faster than real time the bottleneck's queue grows.
type trendline struct {
	points             [trendWindow]trendPoint
	next, n            int
	deltas             int
	firstUs            int64
	accumulated, level float64
	slope              float64
}

type trendPoint struct{ x, y float64 } // ms since the first arrival, ms of delay

func (t *trendline) reset() { *t = trendline{} }

// add takes one group delta and the arrival, in remote microseconds, of the
// packet that closed the group.
func (t *trendline) add(d groupDelta, arrivalUs int64) {
	if t.deltas == 0 {
		t.firstUs = arrivalUs
	}
	t.deltas = min(t.deltas+1, maxDeltas)

	t.accumulated += usToMs(d.arrivalUs - d.sendUs)
	t.level = trendSmoothing*t.level + (1-trendSmoothing)*t.accumulated

	t.points[t.next] = trendPoint{x: usToMs(arrivalUs - t.firstUs), y: t.level}
	t.next = (t.next + 1) % trendWindow
	t.n = min(t.n+1, trendWindow)

	if t.n == trendWindow {
		if slope, ok := fitSlope(&t.points); ok {
			t.slope = slope
		}
	}
}

// modified is the slope scaled by how many samples stand behind it; it is what
// the detector compares with its threshold.
func (t *trendline) modified() float64 {
	return float64(min(t.deltas, trendMaxFactor)) * t.slope * trendGain
}

// fitSlope is the least-squares slope; not ok when all arrivals coincide. The
// order of points does not matter.
func fitSlope(points *[trendWindow]trendPoint) (slope float64, ok bool) {
	var mx, my float64
	for _, p := range points {
		mx += p.x
		my += p.y
	}
	mx /= trendWindow
	my /= trendWindow

	var num, den float64
	for _, p := range points {
		num += (p.x - mx) * (p.y - my)
		den += (p.x - mx) * (p.x - mx)
	}
	if den == 0 {
		return 0, false
	}

	return num / den, true
}
