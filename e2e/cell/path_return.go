// SPDX-License-Identifier: MIT

package cell

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// ReturnConfig describes a return path. Start is required.
type ReturnConfig struct {
	Start time.Time
	Seed  uint64
	// Path is as behind the radio, but without a default delay: 0 is none.
	Path PathConfig
}

// Return is the way back to the phone's side, which feedback takes: packets go
// in at the far end, come out here, with delay, jitter, loss, a rate limit and
// its queue in between. It is not safe for concurrent use.
type Return struct {
	path             path
	now              time.Time
	stats            ReturnStats
	delivered        []Delivery
	dropped, pending []Packet
}

// ReturnStats counts since the start.
//
//	PacketsIn = PacketsDelivered + PacketsDropped + PacketsInFlight, so with bytes
type ReturnStats struct {
	PacketsIn, PacketsDelivered, PacketsDropped, PacketsInFlight int64
	BytesIn, BytesDelivered, BytesDropped, BytesInFlight         int64
}

// ReturnOutput is what happened during one Advance. Its slices are valid until
// the next one.
type ReturnOutput struct {
	// Delivered is in the order of arrival; LeftPhone is Queued.
	Delivered []Delivery
	Dropped   []Packet
}

// NewReturn makes a return path. Every error wraps ErrConfig.
func NewReturn(cfg ReturnConfig) (*Return, error) {
	if cfg.Start.IsZero() {
		return nil, fmt.Errorf("%w: no start time", ErrConfig)
	}
	p := cfg.Path
	p.setDefaults()
	err := p.validate(func(format string, args ...any) error {
		return fmt.Errorf("%w: return %s", ErrConfig, fmt.Sprintf(format, args...))
	})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(cfg.Seed, seedReturn))
	return &Return{path: newPath(p, cfg.Start, rng), now: cfg.Start}, nil
}

// Enqueue sends a packet back. False means that it was lost at once, to a full
// queue, at random, or because its Size is not positive; it is also in the next
// ReturnOutput.Dropped. A time before the last one counts as the last one.
func (r *Return) Enqueue(now time.Time, p Packet) bool {
	r.now = later(r.now, now)
	size := int64(max(p.Size, 0))
	r.stats.PacketsIn++
	r.stats.BytesIn += size
	r.stats.PacketsInFlight++
	r.stats.BytesInFlight += size
	ok := p.Size > 0 && r.path.push(r.now, queued{Packet: p, at: r.now, left: r.now})
	r.collect()
	if !ok {
		r.drop(p)
	}
	return ok
}

// Advance returns what arrived by now, and what was lost since the last call.
func (r *Return) Advance(now time.Time) ReturnOutput {
	r.now = later(r.now, now)
	r.path.serve(r.now)
	r.collect()
	clear(r.delivered)
	r.delivered = r.delivered[:0]
	for q := &r.path.out; q.n > 0 && !q.front().At.After(r.now); {
		d := q.pop()
		r.stats.PacketsInFlight--
		r.stats.BytesInFlight -= int64(d.Size)
		r.stats.PacketsDelivered++
		r.stats.BytesDelivered += int64(d.Size)
		r.delivered = append(r.delivered, d)
	}
	clear(r.dropped)
	r.dropped, r.pending = r.pending, r.dropped[:0]
	return ReturnOutput{Delivered: r.delivered, Dropped: r.dropped}
}

// NextTimeout is when Advance has something to do next; zero means not before
// the next Enqueue.
func (r *Return) NextTimeout() time.Time {
	t, ok := r.path.nextTimeout()
	if !ok {
		return time.Time{}
	}
	return later(t, r.now)
}

// Stats returns the counters.
func (r *Return) Stats() ReturnStats { return r.stats }

// collect fetches what was lost on the way.
func (r *Return) collect() {
	for r.path.lost.n > 0 {
		r.drop(r.path.lost.pop().Packet)
	}
}

func (r *Return) drop(p Packet) {
	size := int64(max(p.Size, 0))
	r.stats.PacketsInFlight--
	r.stats.BytesInFlight -= size
	r.stats.PacketsDropped++
	r.stats.BytesDropped += size
	r.pending = append(r.pending, p)
}

// nextTimeout is when the path has something to do or to hand out.
func (p *path) nextTimeout() (time.Time, bool) {
	t, ok := p.nextServe()
	if p.out.n > 0 {
		if at := p.out.front().At; !ok || at.Before(t) {
			t, ok = at, true
		}
	}
	return t, ok
}
