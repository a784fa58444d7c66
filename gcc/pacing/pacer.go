// SPDX-License-Identifier: MIT

package pacing

import (
	"math"
	"math/bits"
	"time"
)

const (
	// unitsPerByte: the budget counts 10^-9 bit, see the package comment.
	unitsPerByte = 8 * int64(time.Second)
	// maxUnits bounds the queue, the debt and the burst each, so that no sum
	// of them overflows: 2^61 units are 288 MB.
	maxUnits = int64(1) << 61
	// maxLead is how far retransmissions get ahead of others that wait: some
	// packets at once, not a queue of them.
	maxLead = 40 * time.Millisecond
)

// Pacer is a bounded queue behind a token bucket. It is not safe for
// concurrent use. The zero value is not usable, see [New]; a copy of one that was
// never used is.
type Pacer[T any] struct {
	rate int64 // bit/s, >= cfg.MinRateBps >= 1

	// budget is what may be sent now, in units: above 0 a packet may leave.
	// Always within -maxUnits .. queued + burst.
	budget int64
	burst  int64 // units
	limit  int64 // cfg.MaxQueue at the current rate, units
	debt   int64 // maxProbeDebt at the current rate, units

	last    time.Time // of the budget
	started bool

	paced, ahead, urgent ring[T]
	lead                 int64 // bytes of ahead that left while paced had to wait, less what left of that
	maxLead              int64 // maxLead at the current rate
	probe                prober
	cfg                  Config
}

// New returns an empty pacer at the lowest rate with a full budget. The error
// wraps [ErrConfig].
func New[T any](cfg Config) (*Pacer[T], error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pacer[T]{cfg: cfg}
	p.setRate(int64(cfg.MinRateBps))
	p.budget = p.burst

	return p, nil
}

// SetRate changes the rate, in bit/s, from now on. What is below
// Config.MinRateBps counts as that.
func (p *Pacer[T]) SetRate(now time.Time, bps int) {
	p.advance(now)
	p.setRate(max(int64(bps), int64(p.cfg.MinRateBps)))
	p.budget = min(p.budget, p.ceiling())
}

// Rate is the current rate in bit/s.
func (p *Pacer[T]) Rate() int { return int(p.rate) }

// Push appends a packet of size bytes. It returns false, and does not keep the
// item, if the packet would have to wait longer than Config.MaxQueue at the
// current rate. A size below 1 counts as 1.
func (p *Pacer[T]) Push(now time.Time, item T, size int) bool {
	p.advance(now)
	size = max(size, 1)
	if !p.room(size) {
		return false
	}
	p.paced.push(item, size)
	p.probe.begin(now, size, p.waiting(), p.paced.bytes+p.ahead.bytes)

	return true
}

// PushAhead is Push for a packet that others wait for at the far end, a
// retransmission for one: it leaves ahead of those of Push, paced as they are.
// Beyond 40 ms at the rate it takes turns with them, byte by byte, so that they
// get at least half. libwebrtc: pacing/prioritized_packet_queue.cc has the same
// order without a bound.
func (p *Pacer[T]) PushAhead(now time.Time, item T, size int) bool {
	p.advance(now)
	size = max(size, 1)
	if !p.room(size) {
		return false
	}
	p.ahead.push(item, size)
	p.probe.begin(now, size, p.waiting(), p.paced.bytes+p.ahead.bytes)

	return true
}

// room tells whether a packet that is paced may wait.
func (p *Pacer[T]) room(size int) bool { return p.queued()-p.budget <= p.limit && p.fits(size) }

// waiting is how many paced packets wait.
func (p *Pacer[T]) waiting() int { return p.paced.count + p.ahead.count }

// pop takes the next one of these.
func (p *Pacer[T]) pop() entry[T] {
	if p.ahead.count > 0 && (p.paced.count == 0 || p.lead <= p.maxLead) {
		e := p.ahead.pop()
		if p.paced.count > 0 {
			p.lead += int64(e.size)
		}

		return e
	}
	e := p.paced.pop()
	p.lead = max(0, p.lead-int64(e.size))

	return e
}

// PushUrgent appends a packet, audio for one, that leaves ahead of all of Push
// and without waiting for the budget, which it draws on all the same: what is
// pushed behind it pays. It returns false, and does not keep the item, only
// when more than Config.MaxQueue worth of urgent packets is waiting for Pop.
//
// The debt that urgent packets leave behind is bounded by Config.MaxQueue at
// the current rate, so that urgent packets above the rate do not hold back the
// others for long after they have stopped.
func (p *Pacer[T]) PushUrgent(now time.Time, item T, size int) bool {
	p.advance(now)
	size = max(size, 1)
	if p.urgent.bytes*unitsPerByte > p.limit || !p.fits(size) {
		return false
	}
	p.urgent.push(item, size)

	return true
}

// Pop is Next for a caller that never asked for a probe.
func (p *Pacer[T]) Pop(now time.Time) (item T, ok bool) {
	s, ok := p.Next(now)

	return s.Item, ok
}

// NextSend is when Next will succeed if nothing else happens: not before now,
// and zero when nothing waits. While a probe runs it may be a moment at which
// Next ends it.
func (p *Pacer[T]) NextSend(now time.Time) time.Time {
	p.advance(now)
	switch {
	case p.probe.active && p.urgent.count == 0:
		if p.probe.next.After(now) {
			return p.probe.next
		}

		return now
	case p.Len() == 0:
		return time.Time{}
	case p.urgent.count > 0 || p.budget > 0:
		return now
	default:
		// Rounded up: at that nanosecond the budget is at least one unit.
		return p.last.Add(time.Duration(-p.budget/p.rate + 1))
	}
}

// Len is the number of packets that wait.
func (p *Pacer[T]) Len() int { return p.waiting() + p.urgent.count }

// Bytes is the number of bytes that wait.
func (p *Pacer[T]) Bytes() int { return int(p.paced.bytes + p.ahead.bytes + p.urgent.bytes) }

// Delay is the time that Bytes takes at the current rate, without the debt of
// packets that have left already.
func (p *Pacer[T]) Delay() time.Duration { return time.Duration(p.queued() / p.rate) }

// Drain empties the pacer and hands each packet to f, urgent ones first, then those
// of PushAhead, in order. A nil f drops them. The budget is not charged. What f pushes stays.
func (p *Pacer[T]) Drain(f func(T)) {
	queues := [...]*ring[T]{&p.urgent, &p.ahead, &p.paced}
	counts := [...]int{p.urgent.count, p.ahead.count, p.paced.count}
	for i, q := range queues {
		for range counts[i] {
			e := q.pop()
			if f != nil {
				f(e.item)
			}
		}
	}
	p.budget = min(p.budget, p.ceiling())
}

// advance lets the budget grow to its value at now. Dividing first keeps
// rate * elapsed from overflowing after any rest at any rate.
func (p *Pacer[T]) advance(now time.Time) {
	if !p.started {
		p.started, p.last = true, now
	}
	elapsed := int64(now.Sub(p.last)) // saturates
	if elapsed <= 0 {
		return
	}
	p.last = now
	room := p.ceiling() - p.budget
	if elapsed > room/p.rate {
		p.budget += room
	} else {
		p.budget += elapsed * p.rate
	}
}

func (p *Pacer[T]) setRate(bps int64) {
	p.rate = bps
	p.burst = mulUnits(bps, p.cfg.Burst)
	p.limit = mulUnits(bps, p.cfg.MaxQueue)
	p.debt = mulUnits(bps, maxProbeDebt)
	p.maxLead = mulUnits(bps, maxLead) / unitsPerByte
}

func (p *Pacer[T]) queued() int64 {
	return (p.paced.bytes + p.ahead.bytes + p.urgent.bytes) * unitsPerByte
}

func (p *Pacer[T]) ceiling() int64 { return p.queued() + p.burst }

func (p *Pacer[T]) fits(size int) bool {
	return int64(size) <= maxUnits/unitsPerByte-p.paced.bytes-p.ahead.bytes-p.urgent.bytes
}

// mulUnits is rate * d, at most maxUnits.
func mulUnits(rate int64, d time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(rate), uint64(d))
	if hi != 0 || lo > math.MaxInt64 {
		return maxUnits
	}

	return min(int64(lo), maxUnits)
}
