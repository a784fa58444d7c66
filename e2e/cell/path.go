// SPDX-License-Identifier: MIT

package cell

import (
	"math/rand/v2"
	"time"
)

// path is the way behind the radio. All is known as soon as a packet enters,
// so it needs no steps of its own.
type path struct {
	cfg      PathConfig
	rateFrom time.Time
	rng      *rand.Rand
	free     time.Time // when the bottleneck has sent all it holds
	last     time.Time // newest arrival
	out      ring[Delivery]
}

// push sends a packet in at a time; ok is false when it is lost.
func (p *path) push(at time.Time, q queued) (ok bool) {
	t := at
	if p.cfg.RateBps > 0 && !at.Before(p.rateFrom) {
		p.free = later(p.free, at)
		waiting := p.free.Sub(at).Seconds() * float64(p.cfg.RateBps) / 8
		if int(waiting)+q.Size > p.cfg.QueueBytes {
			return false
		}
		p.free = p.free.Add(time.Duration(float64(q.Size) * 8e9 / float64(p.cfg.RateBps)))
		t = p.free
	}
	if p.cfg.Loss > 0 && p.rng.Float64() < p.cfg.Loss {
		return false
	}
	t = t.Add(p.cfg.Delay)
	if p.cfg.JitterMax > 0 {
		t = t.Add(time.Duration(p.rng.Int64N(int64(p.cfg.JitterMax) + 1)))
	}
	p.last = later(p.last, t)
	p.out.push(Delivery{Packet: q.Packet, Queued: q.at, LeftPhone: q.left, At: p.last})
	return true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
