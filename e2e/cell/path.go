// SPDX-License-Identifier: MIT

package cell

import (
	"math/rand/v2"
	"time"
)

// path is the way behind the radio: a bottleneck with its queue, loss, delay,
// order. With drop-tail all is known as soon as a packet enters, so it needs no
// steps of its own; CoDel decides when a packet leaves the queue.
type path struct {
	cfg      PathConfig
	start    time.Time
	schedule schedule
	rng      *rand.Rand
	burst    bool      // Gilbert-Elliott: in the bad state
	free     time.Time // when the bottleneck has sent all it holds
	last     time.Time // newest arrival, but for those out of order
	codel    codel
	out      ring[Delivery] // in the order of arrival
	lost     ring[queued]   // by CoDel, for the owner to collect
}

func newPath(cfg PathConfig, start time.Time, rng *rand.Rand) path {
	return path{cfg: cfg, start: start, schedule: cfg.schedule(start), rng: rng}
}

// push sends a packet in at a time; ok is false when it is lost at once. Times
// must not descend.
func (p *path) push(at time.Time, q queued) (ok bool) {
	if p.cfg.AQM == CoDel {
		p.serve(at)
		return p.enqueue(at, q)
	}
	t := at
	if p.schedule.limits(at) {
		p.free = later(p.free, at)
		if int(p.schedule.bytes(at, p.free))+q.Size > p.cfg.QueueBytes {
			return false
		}
		p.free = p.schedule.finish(p.free, q.Size)
		t = p.free
	}
	return p.forward(t, q)
}

// forward takes a packet from the bottleneck to the far end, beginning at a
// time.
func (p *path) forward(t time.Time, q queued) (ok bool) {
	if p.lose() {
		return false
	}
	t = t.Add(p.delay(t))
	if p.cfg.JitterMax > 0 {
		t = t.Add(time.Duration(p.rng.Int64N(int64(p.cfg.JitterMax) + 1)))
	}
	p.last = later(p.last, t)
	p.arrive(Delivery{Packet: q.Packet, Queued: q.at, LeftPhone: q.left, At: p.stray(p.last)})
	return true
}

// backlog is the bytes that wait for the bottleneck at a time, or that it is
// sending.
func (p *path) backlog(at time.Time) int {
	if !p.schedule.limits(at) || !p.free.After(at) {
		return p.codel.bytes
	}
	return p.codel.bytes + int(p.schedule.bytes(at, p.free))
}

// arrive puts a packet among those on their way.
func (p *path) arrive(d Delivery) {
	p.out.push(d)
	sift(&p.out, func(a, b *Delivery) bool { return a.At.After(b.At) })
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
