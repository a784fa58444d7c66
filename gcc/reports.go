// SPDX-License-Identifier: MIT

package gcc

import "time"

const (
	// reportSlots is how many sequence numbers are remembered, about 1.6 s at
	// 25 Mbit/s and 1200 B.
	reportSlots = 4096
	// reportPending is how many of them may be missing and undecided.
	reportPending = 1024
	// reportPatience is how many more reports a missing packet is granted.
	reportPatience = 2
)

// reports remembers what was said of each packet. Receivers repeat themselves
// (RFC 8888 3.1) and call a packet missing that is merely late, so loss is what
// is still missing after a while.
type reports struct {
	pending []reportWait // in order of first being missing; a ring of a power of two
	head, n int

	number uint64 // of reports at distinct times
	lastAt time.Time
	evict  int // lost for want of room in pending
	// lostBytes are those of the packets lost since the last takeLostBytes.
	lostBytes int

	slots [reportSlots]reportSlot
}

// reportSlot is a status in the lowest bits, and above it how often the slots had
// been gone through when its number came. It is kept small: there are thousands.
type reportSlot uint16

const (
	statusBits = 2
	roundBits  = 16 - statusBits
)

func (s reportSlot) status() reportStatus { return reportStatus(s & (1<<statusBits - 1)) }

func (s reportSlot) round() uint16 { return uint16(s >> statusBits) }

func (s *reportSlot) set(status reportStatus) { *s = *s&^(1<<statusBits-1) | reportSlot(status) }

// roundOf is the round of a number.
func roundOf(seq int64) uint16 {
	return uint16(uint64(seq)/reportSlots) & (1<<roundBits - 1) //nolint:gosec // low bits
}

type reportWait struct {
	seq    int64
	size   int // -1 when it was received after all
	at     time.Time
	number uint64
}

type reportStatus uint8

const (
	reportNone reportStatus = iota
	reportMissing
	reportLost
	reportReceived
)

// begin opens a report.
func (r *reports) begin(now time.Time) {
	if r.number == 0 || now.After(r.lastAt) {
		r.number++
		r.lastAt = now
	}
}

// received returns the previous status. A packet that was received before, or
// that is older than what is remembered, is reportReceived: no news.
func (r *reports) received(seq int64) reportStatus {
	s := r.slot(seq)
	if s == nil {
		return reportReceived
	}
	was := s.status()
	s.set(reportReceived)
	for i := 0; was == reportMissing && i < r.n; i++ {
		if w := r.waiting(i); w.seq == seq {
			w.size = -1

			break
		}
	}

	return was
}

// missing notes that seq, of size bytes, was reported as not there.
func (r *reports) missing(now time.Time, seq int64, size int) {
	s := r.slot(seq)
	if s == nil || s.status() != reportNone {
		return
	}
	s.set(reportMissing)
	switch {
	case r.n == reportPending:
		r.evict += r.pop()
	case r.n == len(r.pending):
		grown := make([]reportWait, max(16, 2*r.n))
		n := copy(grown, r.pending[r.head:])
		copy(grown[n:], r.pending[:r.head])
		r.pending, r.head = grown, 0
	}
	r.n++
	*r.waiting(r.n - 1) = reportWait{seq: seq, size: max(size, 0), at: now, number: r.number}
}

// expire returns how many packets are lost by now.
func (r *reports) expire(now time.Time, window time.Duration) int {
	lost := r.evict
	r.evict = 0
	for r.n > 0 {
		w := &r.pending[r.head]
		if r.number-w.number < reportPatience || now.Sub(w.at) < window {
			break
		}
		lost += r.pop()
	}

	return lost
}

// takeLostBytes returns the bytes of what expire has counted.
func (r *reports) takeLostBytes() int {
	bytes := r.lostBytes
	r.lostBytes = 0

	return bytes
}

// pop decides the packet that waits longest: 1 if it is lost.
func (r *reports) pop() int {
	w := *r.waiting(0)
	r.head = (r.head + 1) & (len(r.pending) - 1)
	r.n--
	if w.size < 0 {
		return 0
	}
	if s := &r.slots[slotOf(w.seq)]; s.round() == roundOf(w.seq) && s.status() == reportMissing {
		s.set(reportLost)
	}
	r.lostBytes += w.size

	return 1
}

func (r *reports) waiting(i int) *reportWait { return &r.pending[(r.head+i)&(len(r.pending)-1)] }

// slot is nil for a packet older than the one that took its place.
func (r *reports) slot(seq int64) *reportSlot {
	s := &r.slots[slotOf(seq)]
	// Of the difference the sign counts, in roundBits.
	switch newer := int16((roundOf(seq) - s.round()) << statusBits); { //nolint:gosec // see above
	case s.status() == reportNone || newer > 0:
		*s = reportSlot(roundOf(seq) << statusBits)
	case newer < 0:
		return nil
	}

	return s
}

func slotOf(seq int64) uint64 { return uint64(seq) % reportSlots }
