// SPDX-License-Identifier: MIT

package tcp

import (
	"slices"
	"time"
)

const (
	// ackEvery is how many segments in order make an acknowledgement, and
	// ackDelay how long one waits for another. RFC 5681 4.2; the delay is
	// Linux' least.
	ackEvery = 2
	ackDelay = 40 * time.Millisecond
	// ackBytes is IPv4 20 + TCP 20, sackBytes the option without ranges and its
	// padding, rangeBytes each of them. RFC 2018 3.
	ackBytes, sackBytes, rangeBytes = 40, 4, 8
	// maxRanges bounds the memory; what would open another one is not kept.
	maxRanges = 1 << 12
)

// held is data above something missing.
type held struct {
	Range
	touched int64 // larger is later
}

// Receiver is the receiving side of a connection.
type Receiver struct {
	cum      int64
	held     []held // in order, never adjacent
	touches  int64
	waiting  int // segments without an acknowledgement
	deadline time.Time
}

// NewReceiver makes a receiver that expects byte 0.
func NewReceiver() *Receiver { return &Receiver{} }

// Delivered is how many bytes have arrived in order.
func (r *Receiver) Delivered() int64 { return r.cum }

// OnSegment takes a segment and returns what is to be answered at once.
func (r *Receiver) OnSegment(now time.Time, s Segment) (Ack, bool) {
	end := s.Seq + int64(s.Len)
	if s.Seq < 0 || s.Len <= 0 || end < s.Seq {
		return Ack{}, false
	}
	if s.Seq > r.cum || end <= r.cum || len(r.held) > 0 {
		// Out of order, a duplicate, or into a gap: the sender wants to know.
		if end > r.cum {
			r.keep(Range{max(s.Seq, r.cum), end})
		}

		return r.ack(), true
	}
	r.cum = end
	if r.waiting++; r.waiting >= ackEvery {
		return r.ack(), true
	}
	if r.deadline.IsZero() {
		r.deadline = now.Add(ackDelay)
	}

	return Ack{}, false
}

// NextTimeout is when an acknowledgement has waited long enough; zero for none.
func (r *Receiver) NextTimeout() time.Time { return r.deadline }

// OnTimeout returns the acknowledgement that has waited.
func (r *Receiver) OnTimeout(now time.Time) (Ack, bool) {
	if r.deadline.IsZero() || now.Before(r.deadline) {
		return Ack{}, false
	}

	return r.ack(), true
}

// keep adds a range to what is held, and moves on when nothing is missing.
func (r *Receiver) keep(n Range) {
	r.touches++
	from, _ := slices.BinarySearchFunc(r.held, n.From, func(h held, at int64) int {
		if h.To < at {
			return -1
		}

		return 1
	})
	to := from
	for ; to < len(r.held) && r.held[to].From <= n.To; to++ {
		n = Range{min(n.From, r.held[to].From), max(n.To, r.held[to].To)}
	}
	switch {
	case n.From <= r.cum:
		r.cum = n.To
		r.held = slices.Delete(r.held, 0, to)
	case to > from:
		r.held[from] = held{n, r.touches}
		r.held = slices.Delete(r.held, from+1, to)
	case len(r.held) < maxRanges:
		r.held = slices.Insert(r.held, from, held{n, r.touches})
	}
}

// ack says what is there. RFC 2018 4: the latest range comes first.
func (r *Receiver) ack() Ack {
	r.waiting, r.deadline = 0, time.Time{}
	a := Ack{Cum: r.cum, Size: ackBytes}
	below := r.touches + 1
	for k := range min(len(a.SACK), len(r.held)) {
		latest := 0
		for i, h := range r.held {
			if l := r.held[latest]; h.touched < below && (l.touched >= below || h.touched > l.touched) {
				latest = i
			}
		}
		a.SACK[k], below = r.held[latest].Range, r.held[latest].touched
		if k == 0 {
			a.Size += sackBytes
		}
		a.Size += rangeBytes
	}

	return a
}
