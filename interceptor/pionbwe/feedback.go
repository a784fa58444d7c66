// SPDX-License-Identifier: MIT

package pionbwe

import (
	"cmp"
	"slices"

	"github.com/pion/rtcp"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// referenceUs is what TransportLayerCC.ReferenceTime counts, in 24 bits.
	// draft-holmer-rmcat-transport-wide-cc-extensions-01 3.1.
	referenceUs   = 64_000
	referenceMask = 1<<24 - 1
	// epochUs moves times away from 0, which Pion's estimator takes for a loss.
	epochUs = 3_600_000_000
	// maxLost bounds what waits for an arrival beside it: a second at 10 Mbit/s.
	maxLost = 1024
)

// feedback makes transport-wide reports of packet results, one for each run of
// numbers without a gap: what is not told of yet must not look lost.
type feedback struct {
	lost    []int64 // ascending, not reported yet
	merged  []result
	reports []rtcp.Packet
	count   uint8
}

type result struct {
	seq      int64
	received bool
	at       gcc.RemoteTime
}

func (f *feedback) lose(seq int64) {
	i, there := slices.BinarySearch(f.lost, seq)
	if there {
		return
	}
	if len(f.lost) == maxLost {
		f.lost = slices.Delete(f.lost, 0, 1)
		i = max(0, i-1)
	}
	f.lost = slices.Insert(f.lost, i, seq)
}

// of has the reports for what has arrived, and for what was lost before the last
// of it. They are valid until the next call.
func (f *feedback) of(results []gcc.PacketResult) []rtcp.Packet {
	f.merged, f.reports = f.merged[:0], f.reports[:0]
	for i := range results {
		if r := &results[i]; r.Received {
			f.merged = append(f.merged, result{r.Seq, true, r.Arrival})
			if at, there := slices.BinarySearch(f.lost, r.Seq); there { // it was only late
				f.lost = slices.Delete(f.lost, at, at+1)
			}
		}
	}
	if len(f.merged) == 0 {
		return nil
	}
	slices.SortFunc(f.merged, func(a, b result) int { return cmp.Compare(a.seq, b.seq) })
	last := f.merged[len(f.merged)-1].seq
	n, _ := slices.BinarySearch(f.lost, last)
	for _, seq := range f.lost[:n] {
		f.merged = append(f.merged, result{seq: seq})
	}
	f.lost = slices.Delete(f.lost, 0, n)
	slices.SortFunc(f.merged, func(a, b result) int { return cmp.Compare(a.seq, b.seq) })
	for from := 0; from < len(f.merged); {
		to := from + 1
		some := f.merged[from].received
		for ; to < len(f.merged) && f.merged[to].seq == f.merged[to-1].seq+1; to++ {
			some = some || f.merged[to].received
		}
		// Losses alone, between gaps, would be a report in which all is lost.
		if some {
			f.reports = append(f.reports, f.report(f.merged[from:to]))
		}
		from = to
	}

	return f.reports
}

// report is of results with numbers in a row. It is never written to the wire,
// so it need not keep to what a delta can hold there.
func (f *feedback) report(rs []result) *rtcp.TransportLayerCC {
	fb := &rtcp.TransportLayerCC{
		MediaSSRC: ssrc, BaseSequenceNumber: uint16(rs[0].seq), //nolint:gosec // as it is on the wire
		PacketStatusCount: uint16(len(rs)), FbPktCount: f.count, //nolint:gosec // one report's
	}
	f.count++
	at, begun := int64(0), false
	for i := range rs {
		symbol := rtcp.TypeTCCPacketNotReceived
		if rs[i].received {
			us := int64(rs[i].at) + epochUs
			if !begun {
				reference := us / referenceUs
				fb.ReferenceTime, at, begun = uint32(reference&referenceMask), reference*referenceUs, true //nolint:gosec // 24 bits
			}
			symbol = rtcp.TypeTCCPacketReceivedLargeDelta
			fb.RecvDeltas = append(fb.RecvDeltas, &rtcp.RecvDelta{Type: symbol, Delta: us - at})
			at = us
		}
		if n := len(fb.PacketChunks); n > 0 {
			if c, ok := fb.PacketChunks[n-1].(*rtcp.RunLengthChunk); ok && c.PacketStatusSymbol == symbol {
				c.RunLength++

				continue
			}
		}
		fb.PacketChunks = append(fb.PacketChunks, &rtcp.RunLengthChunk{
			Type: rtcp.TypeTCCRunLengthChunk, PacketStatusSymbol: symbol, RunLength: 1,
		})
	}

	return fb
}
