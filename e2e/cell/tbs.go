// SPDX-License-Identifier: MIT

package cell

import (
	"math"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

const (
	lteTBSIndices = 27
	lteMaxRBs     = 110
	// nrMaxRBs is what 100 MHz have at 30 kHz. TS 38.101-1 table 5.3.2-1.
	nrMaxRBs = 273
)

// bitTable is the transport block sizes of a radio in bytes, by MCS and RBs.
type bitTable struct {
	rbs   int
	tb    [topMCS + 1][]int32
	byCQI [16]int // MCS, -1 for out of range
}

func newBitTable(rat diag.RAT, rbs int) *bitTable {
	b := &bitTable{rbs: rbs}
	for m := range b.tb {
		b.tb[m] = make([]int32, rbs+1)
		for n := 1; n <= rbs; n++ {
			if rat == diag.NR {
				b.tb[m][n] = int32(nrTBS(m, n) / 8)
			} else {
				b.tb[m][n] = lteTBS[lteTBSIndex(m)][n-1] / 8
			}
		}
	}
	b.byCQI[0] = -1
	for q := 1; q < len(b.byCQI); q++ {
		b.byCQI[q] = mcsFor(rat, q)
	}
	return b
}

func (b *bitTable) mcs(cqi int) int { return b.byCQI[cqi] }

// snrFor is an SNR that gives an MCS, or the next one that a CQI leads to: the
// middle of its range.
func (b *bitTable) snrFor(mcs int) float64 {
	low, high := math.NaN(), 0.0
	for tenth := -200; tenth <= 400; tenth++ {
		snr := float64(tenth) / 10
		m := b.mcs(cqi(snr))
		if m < mcs {
			continue
		}
		if math.IsNaN(low) {
			low, mcs = snr, m
		}
		if m > mcs {
			break
		}
		high = snr
	}
	return (low + high) / 2
}

// lteTBSIndex is I_TBS of an MCS on the uplink, TS 36.213 table 8.6.1-1.
func lteTBSIndex(mcs int) int {
	switch {
	case mcs <= 10: // QPSK
		return mcs
	case mcs <= 20: // 16QAM
		return mcs - 1
	default: // 64QAM
		return mcs - 2
	}
}

// mcsFor is the MCS of a CQI, which is 1 at least. TS 36.213 has two MCS for a
// CQI; NR gets the highest that needs no more than the CQI's efficiency.
func mcsFor(rat diag.RAT, cqi int) int {
	if rat == diag.LTE {
		return 2 * (cqi - 1)
	}
	best := 0
	for m := range topMCS + 1 {
		if nrMCS[m].efficiency() <= cqiEfficiency[cqi-1] {
			best = m
		}
	}
	return best
}

// modulation is bits a symbol and the code rate times 1024.
type modulation struct{ bits, rate int }

func (m modulation) efficiency() float64 { return float64(m.bits*m.rate) / 1024 }

// nrMCS is TS 38.214 table 5.1.3.1-1, 64QAM.
//
//nolint:gochecknoglobals // constant table
var nrMCS = [topMCS + 1]modulation{
	{2, 120},
	{2, 157},
	{2, 193},
	{2, 251},
	{2, 308},
	{2, 379},
	{2, 449},
	{2, 526},
	{2, 602},
	{2, 679},
	{4, 340},
	{4, 378},
	{4, 434},
	{4, 490},
	{4, 553},
	{4, 616},
	{4, 658},
	{6, 438},
	{6, 466},
	{6, 517},
	{6, 567},
	{6, 616},
	{6, 666},
	{6, 719},
	{6, 772},
	{6, 822},
	{6, 873},
	{6, 910},
	{6, 948},
}

// nrSmallTBS is TS 38.214 table 5.1.3.2-1, bits.
//
//nolint:gochecknoglobals // constant table
var nrSmallTBS = [...]int{
	24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 208, 224, 240, 256, 272,
	288, 304, 320, 336, 352, 368, 384, 408, 432, 456, 480, 504, 528, 552, 576, 608, 640, 672, 704, 736, 768, 808, 848, 888, 928,
	984, 1032, 1064, 1128, 1160, 1192, 1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024,
	2088, 2152, 2216, 2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824,
}

// nrREs is resource elements for data in an RB and slot: 12 subcarriers by 14
// symbols, two of them with reference signals.
const nrREs = 12 * (14 - 2)

// nrTBS is the transport block size in bits, one layer. TS 38.214 5.1.3.2.
func nrTBS(mcs, rbs int) int {
	m := nrMCS[mcs]
	info := float64(nrREs*rbs) * m.efficiency()
	if info <= 3824 {
		step := math.Exp2(max(3, math.Floor(math.Log2(info))-6))
		n := max(24, int(step*math.Floor(info/step)))
		for _, size := range nrSmallTBS {
			if size >= n {
				return size
			}
		}
	}
	step := math.Exp2(math.Floor(math.Log2(info-24)) - 5)
	n := max(3840, int(step*math.Round((info-24)/step)))
	const crc = 24
	blocks := 1
	switch {
	case m.rate <= 256:
		blocks = ceilDiv(n+crc, 3816)
	case n > 8424:
		blocks = ceilDiv(n+crc, 8424)
	}
	return 8*blocks*ceilDiv(n+crc, 8*blocks) - crc
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
