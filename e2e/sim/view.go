// SPDX-License-Identifier: MIT

package sim

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/e2e/media"
)

// view is what only the references, causal and oracle, may look at. Where
// several flows use one thing at once, each sees its equal share of it, and the
// queue that it would have there alone: what the others fill a queue with, TCP to
// the brim, is no reason to send less than that share, for it would go to them.
// Short transfers have no share: a reference makes room for them.
type view struct {
	route  *route
	fps    int
	source media.Config

	radio, path ownQueue
}

// ownQueue is what a flow has queued in its share of something.
type ownQueue struct {
	bytes float64
	at    time.Duration
	seen  int // packets of the flow that are in bytes
}

// run goes on to a time, with what has been sent and what was carried since.
func (q *ownQueue) run(c *call, to time.Duration, carried float64) float64 {
	for ; q.seen < len(c.packets); q.seen++ {
		q.bytes += float64(c.packets[q.seen].size)
	}
	q.bytes, q.at = max(q.bytes-carried, 0), to

	return q.bytes
}

func (v *view) since() time.Duration { return v.route.w.since() }

// nextCapture is the camera's, zero before there is one.
func (v *view) nextCapture() time.Time {
	if c, ok := v.route.flow.(*call); ok && c.source != nil {
		return c.source.NextTimeout()
	}

	return time.Time{}
}

func (v *view) frameInterval() time.Duration { return time.Second / time.Duration(v.fps) }

// sharing is how many flows have a share of something now, this one included.
func (v *view) sharing(through func(*route) bool) float64 {
	n := 0
	for _, r := range v.route.w.routes {
		if r == v.route || v.beside(r, through) && r.spec.CC != ShortTCP && r.active() {
			n++
		}
	}

	return float64(n)
}

// beside tells whether a flow is another one that sends up through something.
func (v *view) beside(r *route, through func(*route) bool) bool {
	return r != v.route && !r.spec.Reverse && through(r)
}

// queue is what a reference takes for its queue in something: all that is there,
// or its own while it shares that. Others who make room, as it does, cannot see to
// it that the queue of all is short: what is beyond a frame each counts then, one
// being a frame's worth.
func (v *view) queue(all, own, one float64, through func(*route) bool) float64 {
	n := v.sharing(through)
	if n == 1 {
		return all
	}
	for _, r := range v.route.w.routes {
		if v.beside(r, through) && r.active() && !r.makesRoom() {
			return own
		}
	}

	return max(own, all/n-one)
}

// makesRoom tells whether a flow does not keep a queue full.
func (r *route) makesRoom() bool {
	switch r.spec.CC {
	case ShortTCP, "causal", "causal-rate", "oracle":
		return true
	default:
		return false
	}
}

// shares tells whether there is ever another flow.
func (v *view) shares(through func(*route) bool) bool {
	for _, r := range v.route.w.routes {
		if v.beside(r, through) {
			return true
		}
	}

	return false
}

func everyone(*route) bool { return true }

func (v *view) samePhone(r *route) bool { return r.phone == v.route.phone }

// backlog is what is queued in the pacer and in the phone, in link bytes.
func (v *view) backlog() float64 {
	p := v.route.phone
	p.up.RunTo(v.route.w.now)
	p.touched = true // it may have run
	c := v.route.flow.(*call)
	queue := float64(p.up.Backlog())
	if v.shares(v.samePhone) {
		to, carried, one := v.since(), 0.0, 0.0
		if since := to - v.radio.at; since > 0 {
			carried = v.recentBps(since) / 8 * since.Seconds()
			one = carried * v.frameInterval().Seconds() / since.Seconds()
		}
		queue = v.queue(queue, v.radio.run(c, to, carried), one, v.samePhone)
	}

	return queue + float64(c.pacer.Bytes())
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

// pathRoomNow is pathRoom for who takes the rate of now for that of later, uses a
// share of it and may leave more in its queue.
func (v *view) pathRoomNow(share float64, queue time.Duration) float64 {
	bps := share * v.pathBps(v.since())
	if math.IsInf(bps, 1) {
		return bps
	}
	one, more := bps/8*v.frameInterval().Seconds(), bps/8*queue.Seconds()

	return min(one+more, 2*one+more-v.pathBacklog())
}

// pathBacklog is what is queued behind the radio.
func (v *view) pathBacklog() float64 {
	through, queue := v.samePhone, 0.0
	if p := v.route.phone; p.pathBacklog != nil {
		queue = float64(p.pathBacklog())
	}
	if b := v.route.w.backhaul; b != nil {
		through, queue = everyone, max(queue, float64(b.path.Backlog()))
	}
	if !v.shares(through) {
		return queue
	}
	to := v.since()

	own := v.path.run(v.route.flow.(*call), to, v.pathBytes(v.path.at, to))

	return v.queue(queue, own, v.pathBps(to)/8*v.frameInterval().Seconds(), through)
}

// pathBytes is what the path will carry from one time to another.
func (v *view) pathBytes(from, to time.Duration) float64 {
	sum := 0.0
	for t := from; t < to; t += time.Millisecond {
		sum += v.pathBps(t) / 8 * min(time.Millisecond, to-t).Seconds()
	}

	return sum
}
