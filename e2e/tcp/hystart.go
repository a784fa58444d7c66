// SPDX-License-Identifier: MIT

package tcp

import "time"

// RFC 9406 4.3.
const (
	hyMinThresh  = 4 * time.Millisecond
	hyMaxThresh  = 16 * time.Millisecond
	hyDivisor    = 8 // of the round trip
	hySamples    = 8 // of a round before its minimum counts
	hyCSSDivisor = 4 // of the growth in conservative slow start
	hyCSSRounds  = 5
	hyLimit      = 8 // segments an acknowledgement may add without pacing
)

// hystart watches the round trips of the first slow start. RFC 9406 4.2. Zero
// durations stand for no value yet.
type hystart struct {
	end          int64 // the round is over when this segment is acknowledged
	last, now    time.Duration
	samples      int
	conservative bool
	rounds       int           // of conservative slow start, begun ones included
	baseline     time.Duration // the minimum that led to it
}

// onRTT counts a round trip.
func (h *hystart) onRTT(rtt time.Duration) {
	if h.now == 0 || rtt < h.now {
		h.now = rtt
	}
	h.samples++
	if h.samples < hySamples {
		return
	}
	switch {
	case h.conservative && h.now < h.baseline:
		h.conservative = false // it was not a queue
	case !h.conservative && h.last > 0 && h.now >= h.last+min(max(h.last/hyDivisor, hyMinThresh), hyMaxThresh):
		h.conservative, h.rounds, h.baseline = true, 0, h.now
	}
}

// onAck closes a round when it is over and tells whether slow start is.
func (h *hystart) onAck(una, nxt int64) (over bool) {
	switch {
	case h.end == 0:
		h.end = nxt

		return false
	case una < h.end:
		return false
	}
	h.end, h.last, h.now, h.samples = nxt, h.now, 0, 0
	if h.conservative {
		h.rounds++
	}

	return h.conservative && h.rounds >= hyCSSRounds
}

// growth is what acknowledged segments add to the window.
func (h *hystart) growth(acked float64) float64 {
	acked = min(acked, hyLimit)
	if h.conservative {
		return acked / hyCSSDivisor
	}

	return acked
}
