// SPDX-License-Identifier: MIT

package gcc

import (
	"cmp"
	"slices"
	"time"
)

// sample is one received packet as the filters see it: plain microseconds,
// local ones since the controller's first call and remote ones as received.
type sample struct {
	sentUs, arrivalUs int64
	size              int
	probe             int // cluster, 0 for none
}

// maxRemoteUs bounds remote times, so that no difference of two overflows.
const maxRemoteUs = 1 << 60

// maxSize bounds a packet's size in bytes, so that no sum of a window overflows.
const maxSize = 1 << 17

// newSample is not ok for a result that carries no usable arrival.
func newSample(epoch time.Time, r *PacketResult) (s sample, ok bool) {
	if !r.Received || r.Arrival > maxRemoteUs || r.Arrival < -maxRemoteUs {
		return sample{}, false
	}

	return sample{
		sentUs:    r.At.Sub(epoch).Microseconds(),
		arrivalUs: int64(r.Arrival),
		size:      min(max(r.Size, 0), maxSize),
		probe:     r.Probe,
	}, true
}

// maxRadioDelay bounds corrections.
const maxRadioDelay = time.Minute

// newDelaySample is newSample as the delay detector sees it: without the time
// that the radio is known to have taken.
func newDelaySample(epoch time.Time, r *PacketResult) (s sample, ok bool) {
	s, ok = newSample(epoch, r)
	s.arrivalUs -= min(max(r.RadioDelay, 0), maxRadioDelay).Microseconds()

	return s, ok
}

// sortByArrival keeps the order of sending among equal arrivals.
func sortByArrival(s []sample) {
	byArrival := func(a, b sample) int { return cmp.Compare(a.arrivalUs, b.arrivalUs) }
	if !slices.IsSortedFunc(s, byArrival) {
		slices.SortStableFunc(s, byArrival)
	}
}

func usToMs(us int64) float64 { return float64(us) / 1000 }
