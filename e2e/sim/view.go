// SPDX-License-Identifier: MIT

package sim

import "time"

// view is what only the references, causal and oracle, may look at.
type view struct{ route *route }

func (v *view) since() time.Duration { return v.route.w.since() }

// backlog is what is queued in the pacer and in the phone, in link bytes.
func (v *view) backlog() float64 {
	p := v.route.phone
	p.up.RunTo(v.route.w.now)
	p.touched = true // it may have run
	c := v.route.flow.(*call)

	return float64(p.up.Backlog() + c.pacer.Bytes())
}

// bytesAt is what the radio will carry in a millisecond, for the oracle alone.
func (v *view) bytesAt(ms int64) float64 { return float64(v.route.phone.future(ms)) }

// recentBps is what the radio has carried.
func (v *view) recentBps(window time.Duration) float64 {
	return float64(v.route.phone.up.CapacityBps(v.route.w.now, window))
}

// path is the rate limit behind the radio now, 0 for none.
func (v *view) path() int { return v.route.phone.path.BpsAt(v.since()) }
