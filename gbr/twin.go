// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"time"
)

const (
	// twinPackets bounds the packets that the twin remembers, a power of two:
	// 1.3 s at 18 Mbit/s in packets of 1200 bytes. Slower senders take less memory,
	// for twinMemory at least.
	twinPackets = 2048
	twinMemory  = 2_000_000 // µs
	// twinGrants bounds the grants since the last report.
	twinGrants = 1024
	// blockHeader is what a transport block spends on RLC (3) and MAC (2)
	// headers at the least, bsrHeader what a report in it costs. TS 36.322
	// 6.2.1.4, TS 36.321 6.1.2.
	blockHeader, bsrHeader = 5, 2
	// twinSlack is how far a packet's entry into the phone may be off: the
	// offset is known to a millisecond or two, and a pacer's clock ticks.
	twinSlack = 3_000 // µs
	// rateMemory is over what time, in µs, the rate of other apps is averaged.
	rateMemory = 1_000_000
	// maxPacket bounds what is believed of a packet's size.
	maxPacket = 1 << 17
	// repeatRing is the TTIs of which retransmissions are remembered, a power of two,
	// repeatSpan how long after a block the last of its retransmissions may be: three
	// of 8 ms (TS 36.321 5.4.2), and some more.
	repeatRing, repeatSpan = 256, 32
	// leftAfter is from the beginning of a TTI to the end of its transmission.
	leftAfter = 1_000 // µs
)

// twin runs the phone's queue again: packets in as the sender sent them, grants
// out as the modem told of them. Each report sets it right: what the phone has
// and the twin does not know of are other apps' bytes and headers, what the twin
// has too much of has left. At the rate at which the former were seen lately, more
// are put in until the next report.
//
//	sent:     p1 p2 p3 . . p4 p5                (own clock)
//	grants:       g  g  .  g  g  .  g           (modem's clock, less the offset)
//	reports:   R              R'
//	checkpoint ┘ -- replay -> └ bin [low, high]: backlog into it; then the
//	                            grants after R' give the present
//
// Reports come later than grants of the same time. So there are two states: the
// one at the newest report, and the present one, which follows from it by the
// grants since and is made anew with each report.
//
// Times are µs. What was sent enters at its time plus the offset, so that all
// happens on the modem's clock.
type twin struct {
	packets []twinPacket // a ring, its length a power of two
	tail    int64        // index of the next packet sent; the ring holds the last ones
	total   int64        // bytes sent
	base    int64        // what the modem's clock was ahead when it began
	from    int64        // index of the first packet sent since the present clock began
	// offset is what the modem's clock is ahead of the sender's by.
	offset int64

	newestRepeat int64
	turn         int64 // how many TTIs after it failed something is sent again

	grants  []twinGrant // ascending; those since the checkpoint
	nGrants int

	checkpoint, live twinState
	// reported is the last report's upper edge, reportedAt its time; 0 before.
	reported   int64
	reportedAt int64
	synced     bool  // there was one
	granted    int64 // of the grants that were moved into the checkpoint since
	// extra is what reports showed that the twin did not know: other apps and
	// headers, in bytes since the start, less what it had too much of.
	extra int64
	// rate is at which there are more of those while something waits, in bytes per
	// µs: a report's bins are too wide to show them as they come.
	rate, mean float64

	clock   offset            // finds offset
	repeats [repeatRing]int64 // the TTIs in which something was sent again, by TTI
}

type twinPacket struct {
	// key is twice the number, and one more than that of the packet before for
	// one that has none.
	key    int64
	sentAt int64  // sender's clock
	before uint32 // bytes sent before it, the low bits
	left   int32  // modem's clock, after sentAt and base; 0 while not known
	size   int32
	ahead  int32 // foreign bytes between the packet before and this one
}

type twinGrant struct {
	at    int64
	bytes int32
}

// twinState is the queue at a time.
type twinState struct {
	at      int64   // of the newest event
	head    int64   // oldest packet that has not left
	next    int64   // oldest packet that has not entered
	used    int64   // of head, and of what is ahead of it, already sent
	foreign int64   // other apps' bytes behind the last packet
	grown   float64 // of those that were put in since the last report
	backlog int64   // bytes in the queue
}

func (t *twin) packet(i int64) *twinPacket { return &t.packets[i&int64(len(t.packets)-1)] }

// room makes some for one packet more, as long as there is a use for the oldest:
// it is young, or it waits in the phone.
func (t *twin) room(at int64) {
	n := int64(len(t.packets))
	if n == twinPackets || t.tail < n {
		return
	}
	if queued := t.reportedAt > 0 && t.tail-t.checkpoint.head >= n-1; n > 0 && !queued && t.packet(t.tail-n).sentAt < at-twinMemory {
		return
	}
	grown := make([]twinPacket, max(256, 2*n))
	for i := t.tail - n; i < t.tail; i++ {
		grown[i&int64(len(grown)-1)] = *t.packet(i)
	}
	t.packets = grown
}

// onSent takes a packet as it enters the phone.
func (t *twin) onSent(seq, at int64, size int) { t.put(2*seq, at, size) }

// onOthersSent takes one that nobody will ask for.
func (t *twin) onOthersSent(at int64, size int) {
	key := int64(math.MinInt64)
	if t.tail > 0 {
		key = t.packet(t.tail - 1).key
	}
	t.put(key|1, at, size)
}

func (t *twin) put(key, at int64, size int) {
	if size <= 0 {
		return
	}
	t.room(at)
	if t.tail-t.checkpoint.head >= int64(len(t.packets))-1 {
		// Nothing has been heard for that long: what is oldest is let go.
		t.forget(&t.checkpoint)
		if t.live.head < t.checkpoint.head {
			t.forget(&t.live)
		}
	}
	size = min(size, maxPacket)
	t.clock.onSent(at, size)
	*t.packet(t.tail) = twinPacket{key: key, sentAt: at, before: uint32(t.total), size: int32(size)}
	t.total += int64(size)
	t.tail++
}

// forget drops the oldest packet from a state.
func (t *twin) forget(s *twinState) {
	if s.head < s.next {
		p := t.packet(s.head)
		s.backlog -= int64(p.size) + int64(p.ahead) - s.used
		s.used = 0
	} else {
		s.next++
	}
	s.head++
}

// onBatch takes the grants and reports of one batch, each ascending.
func (t *twin) onBatch(grants []twinGrant, reports []twinReport) {
	if t.clock.known() {
		t.offset = int64(t.clock.best)
	}
	first := t.nGrants
	for _, g := range grants {
		first = min(first, t.insert(g))
	}
	if len(reports) == 0 && first < t.nGrants && t.grants[first].at >= t.live.at {
		for _, g := range t.grants[first:t.nGrants] {
			t.serve(&t.live, g)
		}

		return
	}
	for i := range reports {
		if granted, ok := t.sync(&reports[i]); ok {
			t.clock.onReport(&reports[i], granted)
		}
	}
	t.live = t.checkpoint
	for _, g := range t.grants[:t.nGrants] {
		t.serve(&t.live, g)
	}
}

// restart goes on with another clock of the modem: what had not left by the last
// report enters anew, and when it really left is not known.
func (t *twin) restart() {
	t.base = t.clock.least * 1000
	t.offset = t.base
	t.nGrants, t.granted, t.reported, t.reportedAt, t.synced = 0, 0, 0, 0, false
	t.from = t.tail
	t.checkpoint = twinState{at: math.MinInt64 / 2, head: t.checkpoint.head, next: t.checkpoint.head}
	t.live = t.checkpoint
	t.newestRepeat = math.MinInt64
}

// insert puts a grant in order and returns where; those before the checkpoint
// are in its report already.
func (t *twin) insert(g twinGrant) int {
	if g.at <= t.checkpoint.at {
		return t.nGrants
	}
	if t.nGrants == twinGrants {
		// No report for that many grants: the checkpoint follows without.
		t.granted += max(0, int64(t.grants[0].bytes)-blockHeader)
		t.serve(&t.checkpoint, t.grants[0])
		t.nGrants = copy(t.grants, t.grants[1:])
	}
	if t.nGrants == len(t.grants) {
		t.grants = append(t.grants, make([]twinGrant, max(64, t.nGrants))...)
	}
	i := t.nGrants
	for i > 0 && t.grants[i-1].at > g.at {
		t.grants[i] = t.grants[i-1]
		i--
	}
	t.grants[i] = g
	t.nGrants++

	return i
}

type twinReport struct {
	at        int64
	low, high int64 // high -1: no upper edge
}

// sync moves the checkpoint to a report and sets it right.
//
// It returns what was granted since the report before; not ok for a report that
// is not newer.
func (t *twin) sync(r *twinReport) (granted int64, ok bool) {
	if r.at <= t.checkpoint.at && t.synced {
		return 0, false
	}
	s := &t.checkpoint
	n := 0
	granted, t.granted = t.granted, 0
	for n < t.nGrants && t.grants[n].at <= r.at {
		granted += max(0, int64(t.grants[n].bytes)-blockHeader)
		t.serve(s, t.grants[n])
		n++
	}
	t.nGrants = copy(t.grants, t.grants[n:t.nGrants])
	t.admit(s, r.at)
	t.grow(s, r.at)
	s.at = r.at
	extra, since := t.extra, r.at-t.reportedAt
	t.reported, t.reportedAt, t.synced = max(r.high, r.low), r.at, true
	if excess := s.backlog - r.high; r.high >= 0 && excess > 0 {
		t.reduce(s, excess)
	} else if missing := r.low - s.backlog; missing > 0 {
		t.increase(s, missing)
	}
	if since > 0 && since < offsetGap && r.low > 0 {
		seen := (s.grown + float64(t.extra-extra)) / float64(since)
		t.mean += (seen - t.mean) * float64(since) / rateMemory
		t.rate = max(0, t.mean)
	}
	s.grown = 0

	return granted, true
}

// reduce takes out what the phone does not have: packets that have just been
// sent may not have been there yet, all else has left.
func (t *twin) reduce(s *twinState, excess int64) {
	for s.next > s.head && excess > 0 {
		p := t.packet(s.next - 1)
		// The head may be partly sent: then it was there.
		if p.sentAt+t.offset <= s.at-twinSlack || excess < int64(p.size)/2 || s.next-1 == s.head && s.used > 0 {
			break
		}
		s.next--
		s.foreign += int64(p.ahead)
		s.backlog -= int64(p.size)
		excess -= int64(p.size)
	}
	if excess > 0 {
		t.extra -= excess
		t.drain(s, excess, s.at)
	}
}

// increase puts in what the twin does not know of: packets that are about to
// be sent may be there already, all else is other apps'.
func (t *twin) increase(s *twinState, missing int64) {
	for s.next < t.tail && missing > 0 {
		p := t.packet(s.next)
		if p.sentAt+t.offset > s.at+twinSlack || missing < int64(p.size)/2 {
			break
		}
		t.enter(s)
		missing -= int64(p.size)
	}
	if missing > 0 {
		t.extra += missing
		s.foreign += missing
		s.backlog += missing
	}
}

// grow puts in what other apps are thought to have sent until a time.
func (t *twin) grow(s *twinState, at int64) {
	if s.backlog == 0 || at <= s.at {
		return
	}
	was := int64(s.grown)
	s.grown += t.rate * float64(min(at-s.at, offsetGap))
	more := int64(s.grown) - was
	s.foreign += more
	s.backlog += more
}

// admit lets packets enter that were sent by a time.
func (t *twin) admit(s *twinState, at int64) {
	for s.next < t.tail && t.packet(s.next).sentAt+t.offset <= at {
		t.enter(s)
	}
}

func (t *twin) enter(s *twinState) {
	p := t.packet(s.next)
	p.ahead, p.left = int32(min(s.foreign, 1<<30)), 0
	s.foreign = 0
	s.backlog += int64(p.size)
	s.next++
}

// serve sends what a grant has room for.
func (t *twin) serve(s *twinState, g twinGrant) {
	t.admit(s, g.at)
	t.grow(s, g.at)
	s.at = max(s.at, g.at)
	t.drain(s, int64(g.bytes)-blockHeader, g.at+leftAfter)
}

// drain sends bytes from the head of the queue; packets whose last byte is
// among them have left at a time.
func (t *twin) drain(s *twinState, bytes, left int64) {
	bytes = min(bytes, s.backlog)
	if bytes <= 0 {
		return
	}
	s.backlog -= bytes
	bytes += s.used
	for s.head < s.next {
		p := t.packet(s.head)
		whole := int64(p.size) + int64(p.ahead)
		if bytes < whole {
			s.used = bytes

			return
		}
		bytes -= whole
		p.left = int32(min(max(left-p.sentAt-t.base, math.MinInt32), math.MaxInt32))
		s.head++
	}
	s.used = 0
	s.foreign = s.backlog
}

// onRepeat takes a retransmission.
func (t *twin) onRepeat(tti int64) {
	t.repeats[tti&(repeatRing-1)] = tti
	t.newestRepeat = max(t.newestRepeat, tti)
}

// repeatsAfter is how long the base station keeps what left at a time: till it has
// got all that was sent before.
func (t *twin) repeatsAfter(left int64) int64 {
	tti := nearTTI(left - leftAfter)
	for m := min(tti+repeatSpan, t.newestRepeat); m > tti; m-- {
		if !t.repeated(m) {
			continue
		}
		first := m - t.turn
		for first > tti && t.repeated(first) {
			first -= t.turn
		}
		if first <= tti {
			return (m - tti) * 1000
		}
	}

	return 0
}

// leftAt is when a packet left, on the modem's clock.
func (t *twin) leftAt(p *twinPacket) int64 { return p.sentAt + t.base + int64(p.left) }

func (t *twin) repeated(tti int64) bool { return t.repeats[tti&(repeatRing-1)] == tti }

// radioDelay is how long a packet was in the phone, till the end of its last
// transmission, and how much longer it took till the base station had all before
// it. It is not ok for a packet that has not left as far as is known, or that the
// twin does not have; gone tells these two apart.
func (t *twin) radioDelay(seq int64) (delay, repeats int64, ok, gone bool) {
	i, ok := t.find(seq)
	if !ok || i < t.from {
		return 0, 0, false, true
	}
	if i >= t.live.head {
		return 0, 0, false, false
	}
	p := t.packet(i)
	left := t.leftAt(p)

	return max(0, left-t.offset-p.sentAt), t.repeatsAfter(left), true, false
}

// find is a packet's index.
func (t *twin) find(seq int64) (i int64, ok bool) {
	lo, hi, key := max(t.tail-int64(len(t.packets)), 0), t.tail-1, 2*seq
	for lo <= hi {
		mid := lo + (hi-lo)/2
		switch p := t.packet(mid); {
		case p.key < key:
			lo = mid + 1
		case p.key > key:
			hi = mid - 1
		default:
			return mid, true
		}
	}

	return 0, false
}

// after is the bytes sent after a packet, 0 when it is not known any more.
func (t *twin) after(seq int64) int64 {
	i, ok := t.find(seq)
	if !ok {
		return 0
	}
	p := t.packet(i)

	return int64(uint32(t.total) - p.before - uint32(p.size))
}

// waiting is the bytes sent that have not entered.
func (t *twin) waiting() int64 {
	if t.live.next >= t.tail {
		return 0
	}

	return int64(uint32(t.total) - t.packet(t.live.next).before)
}

// waitsSince tells whether something that was sent before a time, on the sender's
// clock, has not left as far as is known.
func (t *twin) waitsSince(at int64) bool {
	return t.live.head < t.tail && t.packet(t.live.head).sentAt < at
}

// micros converts a time to the twin's scale.
func micros(epoch, at time.Time) int64 { return at.Sub(epoch).Microseconds() }
