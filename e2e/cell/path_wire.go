// SPDX-License-Identifier: MIT

package cell

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// WireConfig describes a wire. Start is required.
type WireConfig struct {
	Start time.Time
	Seed  uint64
	// Path is as behind the radio, but without a default delay: 0 is none.
	Path PathConfig
}

// Wire is a path alone, one way: packets go in at one end and come out at the
// other, with delay, jitter, loss, a rate limit and its queue in between. It
// serves as the way back that feedback takes, and as a backhaul that several
// radios share. It is not safe for concurrent use.
type Wire struct {
	path             path
	now              time.Time
	stats            WireStats
	delivered        []Delivery
	dropped, pending []Packet
}

// WireStats counts since the start.
//
//	PacketsIn = PacketsDelivered + PacketsDropped + PacketsInFlight, so with bytes
type WireStats struct {
	PacketsIn, PacketsDelivered, PacketsDropped, PacketsInFlight int64
	BytesIn, BytesDelivered, BytesDropped, BytesInFlight         int64
}

// WireOutput is what happened during one Advance. Its slices are valid until
// the next one.
type WireOutput struct {
	// Delivered is in the order of arrival. LeftPhone is Queued for those that
	// came in by Enqueue.
	Delivered []Delivery
	Dropped   []Packet
}

// NewWire makes a wire. Every error wraps ErrConfig.
func NewWire(cfg WireConfig) (*Wire, error) {
	if cfg.Start.IsZero() {
		return nil, fmt.Errorf("%w: no start time", ErrConfig)
	}
	p := cfg.Path
	p.setDefaults()
	err := p.validate(func(format string, args ...any) error {
		return fmt.Errorf("%w: wire: %s", ErrConfig, fmt.Sprintf(format, args...))
	})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(cfg.Seed, seedReturn))
	return &Wire{path: newPath(p, cfg.Start, rng), now: cfg.Start}, nil
}

// Enqueue sends a packet. False means that it was lost at once, to a full
// queue, at random, or because its Size is not positive; it is also in the next
// WireOutput.Dropped. A time before the last one counts as the last one.
func (w *Wire) Enqueue(now time.Time, p Packet) bool {
	w.now = later(w.now, now)
	return w.push(queued{Packet: p, at: w.now, left: w.now})
}

// Forward is Enqueue for a packet that comes from a cell, or from another wire:
// its Queued and LeftPhone stay.
func (w *Wire) Forward(now time.Time, d Delivery) bool {
	w.now = later(w.now, now)
	return w.push(queued{Packet: d.Packet, at: d.Queued, left: d.LeftPhone})
}

func (w *Wire) push(q queued) bool {
	size := int64(max(q.Size, 0))
	w.stats.PacketsIn++
	w.stats.BytesIn += size
	w.stats.PacketsInFlight++
	w.stats.BytesInFlight += size
	ok := q.Size > 0 && w.path.push(w.now, q)
	w.collect()
	if !ok {
		w.drop(q.Packet)
	}
	return ok
}

// Advance returns what arrived by now, and what was lost since the last call.
func (w *Wire) Advance(now time.Time) WireOutput {
	w.now = later(w.now, now)
	w.path.serve(w.now)
	w.collect()
	clear(w.delivered)
	w.delivered = w.delivered[:0]
	for q := &w.path.out; q.n > 0 && !q.front().At.After(w.now); {
		d := q.pop()
		w.stats.PacketsInFlight--
		w.stats.BytesInFlight -= int64(d.Size)
		w.stats.PacketsDelivered++
		w.stats.BytesDelivered += int64(d.Size)
		w.delivered = append(w.delivered, d)
	}
	clear(w.dropped)
	w.dropped, w.pending = w.pending, w.dropped[:0]
	return WireOutput{Delivered: w.delivered, Dropped: w.dropped}
}

// NextTimeout is when Advance has something to do next; zero means not before
// the next Enqueue.
func (w *Wire) NextTimeout() time.Time {
	t, ok := w.path.nextTimeout()
	if !ok {
		return time.Time{}
	}
	return later(t, w.now)
}

// Backlog is the bytes in the bottleneck's queue, as of the last call.
func (w *Wire) Backlog() int { return w.path.backlog(w.now) }

// Stats returns the counters.
func (w *Wire) Stats() WireStats { return w.stats }

// collect fetches what was lost on the way.
func (w *Wire) collect() {
	for w.path.lost.n > 0 {
		w.drop(w.path.lost.pop().Packet)
	}
}

func (w *Wire) drop(p Packet) {
	size := int64(max(p.Size, 0))
	w.stats.PacketsInFlight--
	w.stats.BytesInFlight -= size
	w.stats.PacketsDropped++
	w.stats.BytesDropped += size
	w.pending = append(w.pending, p)
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
