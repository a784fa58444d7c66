// SPDX-License-Identifier: MIT

package gcc

import "time"

// minRTTWindow is how long a minimum counts, at least; at most twice that.
const minRTTWindow = 10 * time.Second

// rtt measures round trips from feedback.
type rtt struct {
	latest time.Duration // 0 while unknown

	// The minimum is kept over two half-windows.
	cur, prev time.Duration
	since     time.Time
}

// update takes the received packets of one report in order of arrival. The
// report left the receiver when its last packet came, or a little later, so
// each packet's waiting time there is its distance to the last one.
func (r *rtt) update(now, epoch time.Time, received []sample) {
	if len(received) == 0 {
		return
	}
	nowUs := now.Sub(epoch).Microseconds()
	last := received[len(received)-1].arrivalUs

	best := int64(-1)
	for _, s := range received {
		us := nowUs - s.sentUs - (last - s.arrivalUs)
		if us > 0 && (best < 0 || us < best) {
			best = us
		}
	}
	if best < 0 {
		return // times that cannot be
	}
	r.latest = time.Duration(best) * time.Microsecond

	if r.cur == 0 || now.Sub(r.since) >= minRTTWindow {
		r.prev, r.cur, r.since = r.cur, r.latest, now

		return
	}
	r.cur = min(r.cur, r.latest)
}

// min is the lowest round trip of the last 10 to 20 s; 0 while unknown.
func (r *rtt) min() time.Duration {
	if r.prev == 0 {
		return r.cur
	}

	return min(r.cur, r.prev)
}
