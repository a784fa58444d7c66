// SPDX-License-Identifier: MIT

package sim

import (
	"math"
	"time"
)

// view is what only the references, causal and oracle, may look at. Where
// several flows use one thing at once, each sees its equal share of it.
type view struct {
	route *route
	fps   int
}

func (v *view) since() time.Duration { return v.route.w.since() }

func (v *view) frameInterval() time.Duration { return time.Second / time.Duration(v.fps) }

// sharing is how many flows send up through something now, this one included.
func (v *view) sharing(through func(*route) bool) float64 {
	n := 0
	for _, r := range v.route.w.routes {
		if r == v.route || !r.spec.Reverse && through(r) && r.active() {
			n++
		}
	}

	return float64(n)
}

func everyone(*route) bool { return true }

func (v *view) samePhone(r *route) bool { return r.phone == v.route.phone }

// backlog is what is queued in the pacer and in the phone, in link bytes.
func (v *view) backlog() float64 {
	p := v.route.phone
	p.up.RunTo(v.route.w.now)
	p.touched = true // it may have run
	c := v.route.flow.(*call)

	return float64(p.up.Backlog())/v.sharing(v.samePhone) + float64(c.pacer.Bytes())
}

// radioBytes is what the radio will carry from one time to another, for the
// oracle alone.
func (v *view) radioBytes(from, to time.Duration) float64 {
	sum := 0
	for ms := from.Milliseconds(); ms < to.Milliseconds(); ms++ {
		sum += v.route.phone.future(ms)
	}

	return float64(sum) / v.sharing(v.samePhone)
}

// recentBps is what the radio has carried.
func (v *view) recentBps(window time.Duration) float64 {
	return float64(v.route.phone.capacityBps(v.since(), window)) / v.sharing(v.samePhone)
}

// pathSlack keeps a queue that the references do not look at from growing by
// what is rounded.
const pathSlack = 0.99

// pathBps is the rate limit behind the radio at a time, +Inf for none.
func (v *view) pathBps(at time.Duration) float64 {
	bps := math.Inf(1)
	if own := v.route.phone.path.BpsAt(at); own > 0 {
		bps = float64(own) / v.sharing(v.samePhone)
	}
	if b := v.route.w.sc.Backhaul; b != nil {
		if shared := b.BpsAt(at); shared > 0 {
			bps = min(bps, float64(shared)/v.sharing(everyone))
		}
	}

	return pathSlack * bps
}

// pathRoom is what a frame may have for the path from a time on: what that
// carries in a frame interval, but no more than leaves its queue in two.
func (v *view) pathRoom(from time.Duration) float64 {
	frame := v.frameInterval()
	one := v.pathBytes(from, from+frame)
	if math.IsInf(one, 1) {
		return one
	}

	return min(one, one+v.pathBytes(from+frame, from+2*frame)-v.pathBacklog())
}

// pathRoomNow is pathRoom for who takes the rate of now for that of later.
func (v *view) pathRoomNow() float64 {
	one := v.pathBps(v.since()) / 8 * v.frameInterval().Seconds()
	if math.IsInf(one, 1) {
		return one
	}

	return min(one, 2*one-v.pathBacklog())
}

// pathBacklog is what is queued behind the radio.
func (v *view) pathBacklog() float64 {
	queue := 0.0
	if p := v.route.phone; p.pathBacklog != nil {
		queue = float64(p.pathBacklog()) / v.sharing(v.samePhone)
	}
	if b := v.route.w.backhaul; b != nil {
		queue = max(queue, float64(b.path.Backlog())/v.sharing(everyone))
	}

	return queue
}

// pathBytes is what the path will carry from one time to another.
func (v *view) pathBytes(from, to time.Duration) float64 {
	sum := 0.0
	for t := from; t < to; t += time.Millisecond {
		sum += v.pathBps(t) / 8 * min(time.Millisecond, to-t).Seconds()
	}

	return sum
}
