// SPDX-License-Identifier: MIT

package interceptor

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// historyAge is how long a packet may wait for its report. A report later
	// than this tells nothing about the link of now.
	historyAge = 5 * time.Second
	// historyLimit bounds the memory, and keeps 16-bit numbers unambiguous. It
	// is 5 s at 30 Mbit/s, 2 s at 80 Mbit/s.
	historyLimit = 1 << 14
	historyStart = 1 << 8
	// maxEntrySize is what a datagram can have.
	maxEntrySize = math.MaxUint16
)

// sentEntry is a packet that has been sent. There are thousands, so each is kept
// small: of what counts up it has the low bits, and the space knows the latest.
type sentEntry struct {
	at     uint32 // µs after the space's base
	number uint32 // the unwrapped number that reports use
	seq    uint32 // the core's
	size   uint16
	probe  uint8 // cluster, with entryProbe
	flags  entryFlags
}

type entryFlags uint8

const (
	entryUsed entryFlags = 1 << iota
	entryFEC
	entryRTX // on an RTX stream, padding included
	entryProbe
	// What the receiver has said of it.
	entryMissing
	entryReceived
)

func (e *sentEntry) has(f entryFlags) bool { return e.flags&f != 0 }

func (e *sentEntry) is(number int64) bool { return e.flags != 0 && e.number == uint32(number) } //nolint:gosec // low bits

// numberSpace holds the latest packets with one kind of 16-bit numbers: the
// transport-wide ones, or the RTP numbers of one SSRC. A ring, indexed by the
// unwrapped number; it grows by half while it would drop packets younger than
// historyAge. Not safe for concurrent use.
type numberSpace struct {
	ring   []sentEntry
	newest int64     // highest number so far, 0 before the first
	seq    int64     // of the core, the highest so far
	at     int64     // µs after base, the latest so far
	probe  int       // the latest cluster
	base   time.Time // sending of the first packet
}

// unwrap returns the number with the low bits n that is nearest to the newest.
func (s *numberSpace) unwrap(n uint16) int64 {
	if s.newest == 0 {
		return 1<<16 + int64(n) // above 0 even if the next ones are lower
	}

	return s.newest + int64(int16(n-uint16(s.newest))) //nolint:gosec // wraps on purpose
}

// add stores a packet under number. An older packet with the same low bits
// gives way, a newer one does not.
func (s *numberSpace) add(number int64, p gcc.SentPacket, fec bool) {
	if s.ring == nil {
		s.ring = make([]sentEntry, historyStart)
		s.base = p.At
	}
	at := p.At.Sub(s.base).Microseconds()
	for {
		e := s.slot(number)
		if e.flags != 0 && s.of(e) > number {
			return
		}
		if e.flags == 0 || e.is(number) || len(s.ring) >= historyLimit || s.old(e, at) {
			break
		}
		s.grow()
	}
	s.newest, s.seq, s.at = max(s.newest, number), max(s.seq, p.Seq), max(s.at, at)
	e := sentEntry{
		at: uint32(at), number: uint32(number), seq: uint32(p.Seq), //nolint:gosec // low bits
		size: uint16(min(max(p.Size, 0), maxEntrySize)), flags: entryUsed, //nolint:gosec // bounded
	}
	if fec {
		e.flags |= entryFEC
	}
	*s.slot(number) = e
}

// remove forgets a packet that has not left after all.
func (s *numberSpace) remove(number int64) {
	if e := s.slot(number); e.is(number) {
		*e = sentEntry{}
	}
}

// find returns the packet that a report at now calls n, or nil. Only what has
// been sent can be reported, so n is the newest number or a lower one.
func (s *numberSpace) find(now time.Time, n uint16) *sentEntry {
	if s.newest == 0 {
		return nil
	}
	number := s.newest - int64(uint16(s.newest)-n) //nolint:gosec // wraps on purpose
	e := s.slot(number)
	if !e.is(number) || number <= 0 || s.old(e, now.Sub(s.base).Microseconds()) {
		return nil
	}

	return e
}

// old tells whether a packet is too old at a time to be reported. After 71 minutes
// without any a packet is young again for some seconds, which hurts nobody.
func (s *numberSpace) old(e *sentEntry, at int64) bool {
	return int64(int32(uint32(at)-e.at)) > historyAge.Microseconds() //nolint:gosec // nearest
}

// packet is what was sent, as the core was told.
func (s *numberSpace) packet(e *sentEntry) gcc.SentPacket {
	seq := s.seq - int64(int32(uint32(s.seq)-e.seq)) //nolint:gosec // nearest

	at := s.at - int64(int32(uint32(s.at)-e.at)) //nolint:gosec // nearest
	p := gcc.SentPacket{Seq: seq, Size: int(e.size), At: s.base.Add(time.Duration(at) * time.Microsecond)}
	if e.has(entryProbe) {
		p.Probe = s.probe - int(uint8(s.probe)-e.probe) //nolint:gosec // of the last 256
	}

	return p
}

func (s *numberSpace) slot(number int64) *sentEntry {
	return &s.ring[uint64(number)%uint64(len(s.ring))] //nolint:gosec // any number will do
}

// of is an entry's whole number.
func (s *numberSpace) of(e *sentEntry) int64 {
	return s.newest - int64(int32(uint32(s.newest)-e.number)) //nolint:gosec // nearest
}

func (s *numberSpace) grow() {
	old := s.ring
	s.ring = make([]sentEntry, min(len(old)+len(old)/2, historyLimit))
	for i := range old {
		e := &old[i]
		if e.flags == 0 {
			continue
		}
		number := s.of(e)
		// Two that were apart may meet now: the newer one stays.
		if was := s.slot(number); was.flags == 0 || s.of(was) < number {
			*was = *e
		}
	}
}

// history is everything that has been sent and can be reported. Not safe for
// concurrent use.
type history struct {
	transport numberSpace
	streams   map[uint32]*numberSpace
	// nextSeq is the next gcc.SentPacket.Seq, nextTransport the next
	// transport-wide number. They differ only when a connection mixes streams
	// with and without the extension.
	nextSeq, nextTransport int64
}

func newHistory() *history {
	return &history{streams: map[uint32]*numberSpace{}, nextTransport: 1 << 16}
}

// ticket is a packet that is about to be sent.
type ticket struct {
	space       *numberSpace
	number, seq int64
}

// beginTransport takes the next transport-wide number.
func (h *history) beginTransport(at time.Time, size int, fec bool) ticket {
	return h.begin(&h.transport, h.nextTransport, at, size, fec)
}

// beginRTP takes an RTP number.
func (h *history) beginRTP(ssrc uint32, n uint16, at time.Time, size int, fec bool) ticket {
	s := h.streams[ssrc]
	if s == nil {
		s = &numberSpace{}
		h.streams[ssrc] = s
	}

	return h.begin(s, s.unwrap(n), at, size, fec)
}

// The packet is known from before it is sent, since its report may be there
// before the sender runs again.
func (h *history) begin(s *numberSpace, number int64, at time.Time, size int, fec bool) ticket {
	t := ticket{space: s, number: number, seq: h.nextSeq}
	s.add(number, gcc.SentPacket{Seq: t.seq, Size: size, At: at}, fec)
	h.nextSeq++
	if s == &h.transport {
		h.nextTransport++
	}

	return t
}

// probe marks the packet of a ticket as one of a cluster.
func (h *history) probe(t ticket, cluster int) {
	if e := t.space.slot(t.number); e.is(t.number) {
		e.probe = uint8(cluster) //nolint:gosec // low bits
		e.flags |= entryProbe
		t.space.probe = cluster
	}
}

// onRTX marks the packet of a ticket as one of an RTX stream.
func (h *history) onRTX(t ticket) {
	if e := t.space.slot(t.number); e.is(t.number) {
		e.flags |= entryRTX
	}
}

// takeBack tells that a packet was not sent: its number is used again if no
// later one has been given out, or else is never seen by anybody.
func (h *history) takeBack(t ticket) {
	t.space.remove(t.number)
	if t.seq+1 == h.nextSeq {
		h.nextSeq--
	}
	if t.space == &h.transport && t.number+1 == h.nextTransport {
		h.nextTransport--
	}
}

// expire frees the streams that have sent nothing for a while: nobody tells
// when a stream has ended.
func (h *history) expire(now time.Time) {
	for ssrc, s := range h.streams {
		if len(s.ring) > 0 && now.Sub(s.base)-time.Duration(s.at)*time.Microsecond > historyAge {
			delete(h.streams, ssrc)
		}
	}
}
