// SPDX-License-Identifier: MIT

package interceptor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pion/rtcp"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// draft-holmer-rmcat-transport-wide-cc-extensions-01 3.1: the reference
	// time counts 64 ms in 24 bits and wraps after 12.4 days.
	referenceUnit = 64_000 // us
	referenceBits = 24

	// RFC 8888 3.1: the offset counts 1/1024 s in 13 bits. 0x1FFE stands for
	// itself and all above, 0x1FFF for unknown or after the report's time.
	arrivalOver    = 0x1FFE
	arrivalUnknown = 0x1FFF
)

// feedbackReader turns receiver reports into packet results. Not safe for
// concurrent use.
type feedbackReader struct {
	history *history

	reference, ntp unwrapper
	results        []gcc.PacketResult // of the last report; used again

	// unknown counts what reports say of packets that are not in the history,
	// repeated what they have said before, untimed the packets that arrived at
	// an unknown time.
	unknown, repeated, untimed int64

	// fecMissing counts the FEC packets that were said to be missing before any
	// was said to be there, fecHeard: see deaf.
	fecMissing int64
	fecHeard   bool

	// next is the transport-wide number that the next report should begin with;
	// they count from 0. rtxGaps counts the gaps between reports that end with a
	// packet of an RTX stream, rtxHeard is that a report which ends so has come:
	// see bereft.
	next     uint16
	rtxGaps  int
	rtxHeard bool
}

// bereftAfter is how many reports must be missing.
const bereftAfter = 3

// bereft tells that the reports which end with a packet of an RTX stream do not
// come. Receivers send them in the name of the stream that the last packet was of,
// and Pion reads no RTCP about RTX: see PeerFactory.BufferFactory.
func (r *feedbackReader) bereft() bool { return !r.rtxHeard && r.rtxGaps >= bereftAfter }

// follows looks whether a report follows on the one before it.
func (r *feedbackReader) follows(now time.Time, first uint16, count int) {
	gap := int16(first - r.next) //nolint:gosec // wraps on purpose
	if gap > 0 {
		if e := r.history.transport.find(now, first-1); e != nil && e.has(entryRTX) {
			r.rtxGaps++
		}
	}
	if int(gap)+count > 0 {
		r.next = first + uint16(count) //nolint:gosec // a field of 16 bits
	}
}

// deafAfter is how many FEC packets must be missing in a row, from the first one
// on, for the receiver to be one that does not look at them.
const deafAfter = 30

// deaf tells that the receiver does not report FEC packets that arrive, so that
// each looks like a loss. Pion's receivers are so: nothing reads the FEC stream.
func (r *feedbackReader) deaf() bool { return !r.fecHeard && r.fecMissing >= deafAfter }

// onTransportCC reads a report by transport-wide number. The results ascend by
// Seq. On an error nothing of the report has been used.
//
// The base of arrival times is the receiver's reference time.
func (r *feedbackReader) onTransportCC(now time.Time, fb *rtcp.TransportLayerCC) ([]gcc.PacketResult, error) {
	if err := checkTransportCC(fb); err != nil || fb.PacketStatusCount == 0 {
		return nil, err
	}
	arrival := gcc.RemoteTime(r.reference.unwrap(int64(fb.ReferenceTime), referenceBits) * referenceUnit)
	results := r.results[:0]
	deltas := fb.RecvDeltas
	r.follows(now, fb.BaseSequenceNumber, int(fb.PacketStatusCount))
	last := (*sentEntry)(nil) // that has arrived
	seq, left := fb.BaseSequenceNumber, int(fb.PacketStatusCount)
	for _, chunk := range fb.PacketChunks {
		for i := 0; left > 0; i++ {
			symbol, ok := chunkSymbol(chunk, i)
			if !ok {
				break
			}
			// A delta is there whether or not the packet is known to us.
			if timed(symbol) {
				arrival += gcc.RemoteTime(deltas[0].Delta)
				deltas = deltas[1:]
			}
			if e := r.history.transport.find(now, seq); e == nil {
				r.unknown++
			} else {
				if symbol != rtcp.TypeTCCPacketNotReceived {
					last = e
				}
				results = r.settle(results, &r.history.transport, e, symbol != rtcp.TypeTCCPacketNotReceived, timed(symbol), arrival)
			}
			seq++
			left--
		}
	}
	r.rtxHeard = r.rtxHeard || last != nil && last.has(entryRTX)
	r.results = results

	return ascending(results), nil
}

// checkTransportCC makes sure that a report can be read to its end.
func checkTransportCC(fb *rtcp.TransportLayerCC) error {
	left, need := int(fb.PacketStatusCount), 0
	for _, chunk := range fb.PacketChunks {
		switch c := chunk.(type) {
		case *rtcp.RunLengthChunk:
			if c == nil {
				return fmt.Errorf("%w: empty chunk", errMalformed)
			}
			n := min(int(c.RunLength), left)
			if timed(c.PacketStatusSymbol) {
				need += n
			}
			left -= n
		case *rtcp.StatusVectorChunk:
			if c == nil {
				return fmt.Errorf("%w: empty chunk", errMalformed)
			}
			for _, symbol := range c.SymbolList[:min(len(c.SymbolList), left)] {
				if timed(symbol) {
					need++
				}
				left--
			}
		default:
			return fmt.Errorf("%w: chunk of type %T", errMalformed, chunk)
		}
	}
	if left > 0 {
		return fmt.Errorf("%w: %d of %d statuses are missing", errMalformed, left, fb.PacketStatusCount)
	}
	if need > len(fb.RecvDeltas) {
		return fmt.Errorf("%w: %d receive deltas, want %d", errMalformed, len(fb.RecvDeltas), need)
	}
	for _, d := range fb.RecvDeltas[:need] {
		if d == nil {
			return fmt.Errorf("%w: empty receive delta", errMalformed)
		}
	}

	return nil
}

// chunkSymbol returns the i-th status of a chunk that checkTransportCC accepts.
func chunkSymbol(chunk rtcp.PacketStatusChunk, i int) (symbol uint16, ok bool) {
	switch c := chunk.(type) {
	case *rtcp.RunLengthChunk:
		return c.PacketStatusSymbol, i < int(c.RunLength)
	case *rtcp.StatusVectorChunk:
		if i < len(c.SymbolList) {
			return c.SymbolList[i], true
		}
	}

	return 0, false
}

// timed tells whether a receive delta goes with the symbol.
func timed(symbol uint16) bool {
	return symbol == rtcp.TypeTCCPacketReceivedSmallDelta || symbol == rtcp.TypeTCCPacketReceivedLargeDelta
}

// onCCFB reads an RFC 8888 report by SSRC and RTP number. The results ascend
// by Seq. Pion hands one report to the reader of every SSRC in it, so the same
// report comes several times.
//
// The base of arrival times is the receiver's NTP clock.
func (r *feedbackReader) onCCFB(now time.Time, fb *rtcp.CCFeedbackReport) []gcc.PacketResult {
	// RFC 8888 3.1: the middle 32 bits of an NTP timestamp, 1/65536 s.
	report := r.ntp.unwrap(int64(fb.ReportTimestamp), 32)
	results := r.results[:0]
	for _, block := range fb.ReportBlocks {
		space := r.history.streams[block.MediaSSRC]
		if space == nil {
			r.unknown += int64(len(block.MetricBlocks))

			continue
		}
		for i, m := range block.MetricBlocks {
			e := space.find(now, block.BeginSequence+uint16(i)) //nolint:gosec // wraps on purpose
			if e == nil {
				r.unknown++

				continue
			}
			known := m.ArrivalTimeOffset < arrivalOver
			arrival := report - int64(m.ArrivalTimeOffset)<<6
			results = r.settle(results, space, e, m.Received, known, gcc.RemoteTime((arrival*15625)>>10))
		}
	}

	r.results = results

	return ascending(results)
}

// settle appends what is new about a packet. A packet is said to be missing at
// most once and received at most once.
//
// An arrival at an unknown time is settled without a result: it is no loss, and
// an invented time would mislead the delay detector. Deviation: pkg/gcc of Pion
// takes it for a loss.
func (r *feedbackReader) settle(
	results []gcc.PacketResult, s *numberSpace, e *sentEntry, received, known bool, arrival gcc.RemoteTime,
) []gcc.PacketResult {
	switch {
	case e.has(entryReceived) || (e.has(entryMissing) && !received):
		r.repeated++

		return results
	case !received:
		e.flags |= entryMissing
		if e.has(entryFEC) && !r.fecHeard {
			r.fecMissing++ // nobody knows yet whether that is a loss

			return results
		}

		return append(results, gcc.PacketResult{SentPacket: s.packet(e)})
	}
	e.flags |= entryReceived
	r.fecHeard = r.fecHeard || e.has(entryFEC)
	if !known {
		r.untimed++

		return results
	}

	return append(results, gcc.PacketResult{SentPacket: s.packet(e), Received: true, Arrival: arrival})
}

// ascending sorts what several streams or a wrapped number have mixed. Numbers
// of a malformed report can name a packet twice, as missing and as received.
func ascending(results []gcc.PacketResult) []gcc.PacketResult {
	strictly := true
	for i := 1; i < len(results) && strictly; i++ {
		strictly = results[i].Seq > results[i-1].Seq
	}
	if strictly {
		return results
	}
	bySeq := func(a, b gcc.PacketResult) int { return cmp.Compare(a.Seq, b.Seq) }
	slices.SortStableFunc(results, bySeq)
	// Of two, the later one says more: it is the reception.
	n := 0
	for i, p := range results {
		if i+1 == len(results) || results[i+1].Seq != p.Seq {
			results[n] = p
			n++
		}
	}

	return results[:n]
}

// unwrapper extends a counter of few bits to the value nearest to the latest.
type unwrapper struct {
	last    int64
	started bool
}

func (u *unwrapper) unwrap(v int64, bits uint) int64 {
	span := int64(1) << bits
	v &= span - 1
	if u.started {
		d := (v - u.last) & (span - 1)
		if d >= span/2 {
			d -= span
		}
		v = u.last + d
	}
	u.last, u.started = v, true

	return v
}
