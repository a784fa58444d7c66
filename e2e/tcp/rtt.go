// SPDX-License-Identifier: MIT

package tcp

import "time"

const (
	// initialRTO is for as long as nothing was measured. RFC 6298 2.1.
	initialRTO = time.Second
	// minRTOMargin is the least above the smoothed round trip. Deviation: RFC
	// 6298 2.4 has the whole at 1 s at least; Linux has this.
	minRTOMargin = 200 * time.Millisecond
	// maxRTO bounds the backing off. RFC 6298 2.5.
	maxRTO = time.Minute
)

// roundTrip is RFC 6298.
type roundTrip struct {
	smoothed, variation, least time.Duration
	measured                   bool
	backoff                    int // timeouts since something arrived
}

// onSample takes a round trip. RFC 6298 2.2, 2.3.
func (r *roundTrip) onSample(rtt time.Duration) {
	rtt = min(max(rtt, time.Microsecond), maxRTO)
	if !r.measured {
		r.measured = true
		r.smoothed, r.variation, r.least = rtt, rtt/2, rtt

		return
	}
	r.variation = (3*r.variation + (r.smoothed - rtt).Abs()) / 4
	r.smoothed = (7*r.smoothed + rtt) / 8
	r.least = min(r.least, rtt)
}

// timeout is how long to wait for an acknowledgement.
func (r *roundTrip) timeout() time.Duration {
	d := initialRTO
	if r.measured {
		d = r.smoothed + max(4*r.variation, minRTOMargin)
	}
	for range min(r.backoff, 10) {
		d = min(2*d, maxRTO)
	}

	return min(d, maxRTO)
}
