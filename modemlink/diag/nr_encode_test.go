// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	mathbits "math/bits"
	"math/rand/v2"
)

// Encoders of the NR log codes, written from the layouts bit by bit and not
// from the parsers, and generators of random content.

// putBits writes a field of a layout: width bits from bit off on, least
// significant first over the bytes.
func putBits[T uint8 | uint16 | uint32 | uint64](b []byte, off, width int, v T) {
	for i := range width {
		if v>>i&1 != 0 {
			b[(off+i)/8] |= 1 << ((off + i) % 8)
		} else {
			b[(off+i)/8] &^= 1 << ((off + i) % 8)
		}
	}
}

func flag(v bool) uint8 {
	if v {
		return 1
	}

	return 0
}

// noise is bytes that the parser must not look at.
func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}

	return b
}

func nrHead(v NRVersion, rest ...byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(v)), rest...)
}

func randomNRSlot(rng *rand.Rand) NRSlotTime {
	mu := uint8(rng.IntN(maxNumerology + 1))

	return NRSlotTime{Frame: uint16(rng.IntN(frames)), Numerology: mu, Slot: uint8(rng.IntN(10 << mu))}
}

// randomNRCEs returns control elements with at most one BSR.
func randomNRCEs(rng *rand.Rand) (Hex, NRBSR) {
	var (
		b   = Hex{}
		bsr NRBSR
	)
	if rng.IntN(3) == 0 {
		b = append(b, 57, byte(rng.Uint32()), byte(rng.Uint32()))
	}
	switch lcid := uint8(58 + rng.IntN(5)); lcid {
	case 59, 61:
		g, idx := uint8(rng.IntN(8)), uint8(rng.IntN(32))
		bsr = NRBSR{LCID: lcid, LCGs: 1 << g}
		bsr.Index[g] = idx
		b = append(b, lcid, g<<5|idx)
	case 60, 62:
		groups := uint8(rng.Uint32())
		n := mathbits.OnesCount8(groups)
		if lcid == 60 {
			n = rng.IntN(n + 1)
		}
		bsr = NRBSR{LCID: lcid}
		b = append(b, lcid, byte(1+n), groups)
		for g := range 8 {
			switch {
			case groups>>g&1 == 0:
			case n == 0:
				bsr.More |= 1 << g
			default:
				n--
				bsr.LCGs |= 1 << g
				bsr.Index[g] = uint8(rng.IntN(255))
				b = append(b, bsr.Index[g])
			}
		}
	}
	if rng.IntN(3) == 0 && len(b) < 30 {
		b = append(b, 57, byte(rng.Uint32()), byte(rng.Uint32()))
	}
	if rng.IntN(4) == 0 && len(b) < 30 {
		b = append(append(b, 33), noise(rng, rng.IntN(4))...) // LCID of no known size
	}

	return b, bsr
}

// randomB872 returns a packet with its blocks. known tells that all fields of
// the 20 byte header are read.
func randomB872(rng *rand.Rand, v NRVersion, header int, known, inferred bool) ([]byte, []any) {
	var want []any
	ttis := rng.IntN(5)
	body := nrHead(v, byte(ttis|rng.IntN(16)<<4), 1, 2, 3)
	for range ttis {
		t := randomNRSlot(rng)
		blocks := rng.IntN(4)
		h := noise(rng, 8)
		h[0] = t.Slot
		putBits(h, 16, 10, t.Frame)
		putBits(h, 32, 4, uint8(blocks))
		body = append(body, h...)
		for range blocks {
			s := B872{K: "b872", Version: v, Inferred: inferred, NRSlotTime: t, HARQ: uint8(rng.IntN(16))}
			s.Grant, s.Built = uint32(rng.IntN(1<<18)), rng.Uint32()
			s.MCE, s.BSR = randomNRCEs(rng)
			b := noise(rng, header)
			putBits(b, 0, 3, s.Numerology)
			putBits(b, 3, 4, s.HARQ)
			putBits(b, 32, 32, s.Grant)
			putBits(b, 64, 32, s.Built)
			putBits(b, 8*(header-4), 6, uint8(len(s.MCE)))
			if known {
				s.Carrier, s.TBType, s.RNTIType = uint8(rng.IntN(4)), uint8(rng.IntN(16)), uint8(rng.IntN(8))
				s.StartSegment, s.EndSegment = rng.IntN(2) == 0, rng.IntN(2) == 0
				s.CompletePDUs = uint16(rng.IntN(1024))
				s.Requested, s.Sent = uint8(rng.Uint32()), uint8(rng.Uint32())
				s.PHRReason, s.BSRReason, s.BSRType = uint8(rng.IntN(64)), uint8(rng.IntN(8)), uint8(rng.IntN(16))
				putBits(b, 7, 2, s.Carrier)
				putBits(b, 9, 4, s.TBType)
				putBits(b, 13, 3, s.RNTIType)
				putBits(b, 16, 1, flag(s.StartSegment))
				putBits(b, 17, 10, s.CompletePDUs)
				putBits(b, 27, 1, flag(s.EndSegment))
				b[12], b[13] = s.Requested, s.Sent
				putBits(b, 112, 6, s.PHRReason)
				putBits(b, 118, 3, s.BSRReason)
				putBits(b, 121, 4, s.BSRType)
			}
			body = append(append(body, b...), s.MCE...)
			want = append(want, s)
		}
	}

	return body, want
}

func randomB873(rng *rand.Rand, v NRVersion) ([]byte, []any) {
	var want []any
	ttis := rng.IntN(5)
	mask := uint16(rng.Uint32())
	body := binary.LittleEndian.AppendUint32(nrHead(v), uint32(ttis)|uint32(mask)<<4|uint32(rng.IntN(4096))<<20)
	for range ttis {
		s := B873{
			K: "b873", Version: v, Priorities: mask, Frame: uint16(rng.IntN(frames)), Slot: uint8(rng.IntN(160)),
			HARQ: uint8(rng.IntN(16)), Carrier: uint8(rng.IntN(16)),
			Trigger: uint8(rng.IntN(8)), Type: uint8(rng.IntN(8)), Length: uint8(rng.IntN(16)),
			LCGs: uint8(rng.Uint32()), LCIDs: noise(rng, rng.IntN(16)),
		}
		h := noise(rng, 12)
		h[0] = s.Slot
		putBits(h, 16, 10, s.Frame)
		putBits(h, 32, 4, s.HARQ)
		putBits(h, 36, 4, s.Carrier)
		if v == 2 {
			putBits(h, 40, 3, s.Trigger)
			putBits(h, 43, 3, s.Type)
			putBits(h, 46, 4, s.Length)
			putBits(h, 50, 8, s.LCGs)
			putBits(h, 58, 4, uint8(len(s.LCIDs)))
		} else {
			s.Trigger |= uint8(rng.IntN(4)) << 3
			putBits(h, 40, 5, s.Trigger)
			putBits(h, 45, 3, s.Type)
			putBits(h, 48, 4, s.Length)
			putBits(h, 52, 8, s.LCGs)
			putBits(h, 60, 4, uint8(len(s.LCIDs)))
		}
		s.Tail = noise(rng, 4)
		if mathbits.OnesCount8(s.LCGs) == 2 {
			s.Tail = noise(rng, 8)
		}
		body = append(append(append(body, h...), s.LCIDs...), s.Tail...)
		if v != 2 {
			switch rng.IntN(3) {
			case 0:
				body = append(body, 57, 1) // this code gives it one byte
			case 1:
				s.BSR = NRBSR{LCID: 61, LCGs: 8, Index: [8]uint8{3: 17}}
				body = append(body, 61, 3<<5|17)
			default:
				s.BSR = NRBSR{LCID: 62, LCGs: 0x41, Index: [8]uint8{0: 200, 6: 3}}
				body = append(body, 62, 3, 0x41, 200, 3)
			}
		}
		want = append(want, s)
	}

	return body, want
}

func randomB881(rng *rand.Rand, v NRVersion) ([]byte, []any) {
	var want []any
	records := rng.IntN(4)
	body := append(nrHead(v), noise(rng, 16)...)
	body[15] = byte(records)
	if v == nrVersion(3, 1) {
		body = body[:12]
		body[7] = byte(records)
	}
	for range records {
		s := B881{
			K: "b881", Version: v, NewBytes: rng.Uint64(), RetxBytes: rng.Uint64(), MCSSum: rng.Uint64(),
			PRBSum: rng.Uint64(), PHRSum: rng.Uint64(), Power: uint64(rng.Uint32()), NewTBs: rng.Uint32(), RetxTBs: rng.Uint32(),
			RI: rng.Uint32(), CQI: rng.Uint32(), NumPHR: rng.Uint32(), Sched: rng.Uint32(), NotSched: rng.Uint32(),
			PCMax: uint16(rng.Uint32()), FlushGap: uint16(rng.Uint32()),
		}
		u64s := []uint64{s.NewBytes, s.RetxBytes, s.MCSSum, s.PRBSum, s.PHRSum}
		var u32s []uint32
		pad := 0
		if v>>16 == 2 {
			s.NumRI, s.NumCQI, s.TPC = rng.Uint32(), rng.Uint32(), rng.Uint32()
		}
		switch v {
		case nrVersion(2, 0):
			s.DTX = rng.Uint32()
			u32s = []uint32{
				uint32(s.Power), s.NewTBs, s.RetxTBs, s.DTX, s.NumRI, s.RI, s.NumCQI, s.CQI, s.NumPHR, s.TPC, s.Sched, s.NotSched,
			}
		case nrVersion(2, 1):
			s.Power = rng.Uint64()
			u64s = append(u64s, s.Power)
			u32s = []uint32{s.NewTBs, s.RetxTBs, s.NumRI, s.RI, s.NumCQI, s.CQI, s.NumPHR, s.TPC, s.Sched, s.NotSched}
			pad = 4
		default:
			u32s = []uint32{uint32(s.Power), s.NewTBs, s.RetxTBs, s.RI, s.CQI, s.NumPHR, rng.Uint32(), s.Sched, s.NotSched}
		}
		for _, u := range u64s {
			body = binary.LittleEndian.AppendUint64(body, u)
		}
		for _, u := range u32s {
			body = binary.LittleEndian.AppendUint32(body, u)
		}
		body = binary.LittleEndian.AppendUint16(body, s.PCMax)
		body = binary.LittleEndian.AppendUint16(body, s.FlushGap)
		body = append(body, noise(rng, pad)...)
		want = append(want, s)
	}

	return body, want
}

func randomB883(rng *rand.Rand, v NRVersion) ([]byte, []any) {
	var want []any
	old := v>>16 == 2
	records := rng.IntN(4)
	body := append(nrHead(v), noise(rng, 12)...)
	body[15] = byte(records)
	if !old {
		body = body[:8]
		body[7] = byte(records)
	}
	for range records {
		t := randomNRSlot(rng)
		carriers := rng.IntN(4)
		h := noise(rng, 8)
		h[0] = t.Slot
		putBits(h, 8, 3, t.Numerology)
		putBits(h, 16, 10, t.Frame)
		if old {
			h[4] = byte(carriers)
		} else {
			putBits(h, 26, 6, uint8(carriers))
			h = h[:4]
		}
		body = append(body, h...)
		for range carriers {
			s := B883{K: "b883", Version: v, NRSlotTime: t}
			s.PUSCH, s.PUCCH = rng.IntN(4) > 0, rng.IntN(3) == 0
			s.SRS, s.PRACH = rng.IntN(4) == 0, rng.IntN(5) == 0
			channels := flag(s.PUSCH) | flag(s.PUCCH)<<1 | flag(s.SRS)<<2 | flag(s.PRACH)<<3
			if old {
				s.Carrier, s.RNTIType = uint8(rng.IntN(4)), uint8(rng.IntN(16))
				c := noise(rng, 4)
				putBits(c, 0, 2, s.Carrier)
				putBits(c, 2, 4, s.RNTIType)
				putBits(c, 6, 1, uint8(0))
				putBits(c, 7, 4, channels)
				putBits(c, 11, 1, uint8(0))
				body = append(body, c...)
			} else {
				c := noise(rng, 20)
				putBits(c, 8, 4, channels)
				body = append(body, c...)
			}
			if s.PUSCH {
				body = append(body, randomPUSCH(rng, &s, old)...)
			}
			each := func(head int) {
				n := rng.IntN(3)
				c := noise(rng, head+16*n)
				c[0] = byte(n)
				body = append(body, c...)
			}
			if s.PUCCH {
				each(4)
			}
			if s.SRS && old {
				body = append(body, noise(rng, 20)...)
			} else if s.SRS {
				each(4)
			}
			if s.PRACH {
				body = append(body, noise(rng, 8)...)
			}
			want = append(want, s)
		}
	}

	return body, want
}

func randomPUSCH(rng *rand.Rand, s *B883, old bool) []byte {
	s.HARQ, s.MCS, s.RV, s.Symbols = uint8(rng.IntN(16)), uint8(rng.IntN(32)), uint8(rng.IntN(4)), uint8(rng.IntN(16))
	s.RB0, s.NRB, s.RNTI = uint16(rng.IntN(512)), uint16(rng.IntN(256)), uint16(rng.Uint32())
	s.SlotOffset, s.Mod, s.CBs = uint8(rng.IntN(16)), uint8(rng.IntN(8)), uint8(rng.IntN(16))
	s.CodeRate, s.CBSize = uint16(rng.IntN(4096)), uint16(rng.IntN(1<<15))
	if !old {
		s.TBS, s.DMRSMask, s.RBGs = uint32(rng.IntN(1<<16)), uint16(rng.IntN(4096)), uint32(rng.IntN(1<<20))
		b := noise(rng, 36)
		putBits(b, 10, 4, s.HARQ)
		putBits(b, 14, 2, s.RV)
		putBits(b, 16, 5, s.MCS)
		putBits(b, 23, 9, s.RB0)
		putBits(b, 32, 8, s.NRB)
		putBits(b, 48, 4, s.Symbols)
		putBits(b, 52, 4, s.SlotOffset)
		putBits(b, 64, 16, s.TBS)
		putBits(b, 82, 12, s.DMRSMask)
		putBits(b, 111, 16, s.RNTI)
		putBits(b, 189, 3, s.Mod)
		putBits(b, 193, 12, s.CodeRate)
		putBits(b, 209, 15, s.CBSize)
		putBits(b, 248, 4, s.CBs)
		putBits(b, 256, 20, s.RBGs)

		return b
	}
	s.Second, s.Symbol0, s.MCSTbl = rng.IntN(2) == 0, uint8(rng.IntN(16)), uint8(rng.IntN(4))
	s.NRB, s.RV, s.CBs = uint16(rng.IntN(512)), uint8(rng.IntN(8)), uint8(rng.Uint32())
	s.RAType, s.Mapping, s.TBS = uint8(rng.IntN(2)), uint8(rng.IntN(2)), uint32(rng.IntN(1<<18))
	s.DMRSType, s.TXMode, s.TXType, s.BWP = uint8(rng.IntN(4)), uint8(rng.IntN(4)), uint8(rng.IntN(4)), uint8(rng.IntN(4))
	s.DMRSMask, s.SlotOffset, s.RBGs = uint16(rng.IntN(1<<14)), uint8(rng.IntN(64)), rng.Uint32()
	b := noise(rng, 40)
	putBits(b, 0, 1, flag(s.Second))
	putBits(b, 1, 4, s.Symbol0)
	putBits(b, 5, 4, s.Symbols)
	putBits(b, 9, 4, s.HARQ)
	putBits(b, 13, 5, s.MCS)
	putBits(b, 18, 2, s.MCSTbl)
	putBits(b, 23, 9, s.RB0)
	putBits(b, 32, 9, s.NRB)
	putBits(b, 41, 1, s.RAType)
	putBits(b, 42, 1, s.Mapping)
	putBits(b, 43, 18, s.TBS)
	putBits(b, 61, 2, s.DMRSType)
	putBits(b, 64, 2, s.TXMode)
	putBits(b, 66, 3, s.RV)
	putBits(b, 72, 2, s.TXType)
	putBits(b, 74, 2, s.BWP)
	putBits(b, 76, 12, s.CodeRate)
	putBits(b, 152, 8, s.CBs)
	putBits(b, 160, 14, s.DMRSMask)
	putBits(b, 176, 15, s.CBSize)
	putBits(b, 192, 6, s.SlotOffset)
	putBits(b, 237, 3, s.Mod)
	putBits(b, 240, 16, s.RNTI)
	putBits(b, 288, 32, s.RBGs)

	return b
}

func randomB885(rng *rand.Rand, v NRVersion) ([]byte, []any) {
	var want []any
	head := noise(rng, 12)
	if v == nrVersion(3, 9) {
		uplink, downlink := rng.IntN(3), rng.IntN(3)
		head[4], head[5], head[6] = byte(uplink), byte(downlink), 0
		head[7], head[8], head[9] = 0, 0, 0
		body := nrHead(v, head...)
		for i := range uplink + downlink {
			t, n := randomNRSlot(rng), rng.IntN(4)
			h := noise(rng, 4)
			h[0] = t.Slot
			putBits(h, 8, 3, t.Numerology)
			putBits(h, 16, 10, t.Frame)
			putBits(h, 28, 4, uint8(n))
			body = append(body, h...)
			for range n {
				s := B885{K: "b885", Version: v, NRSlotTime: t, Format: uint8(rng.IntN(4)), Aggregation: uint8(rng.IntN(9))}
				s.RawIncluded = rng.IntN(2) == 0
				size := 28
				if i < uplink {
					size = 36
				}
				b := noise(rng, size)
				putBits(b, 8, 2, s.Format)
				putBits(b, 10, 4, s.Aggregation)
				putBits(b, 14, 2, flag(s.RawIncluded))
				if i < uplink {
					s.MCS, s.RV, s.HARQ = uint8(rng.IntN(32)), uint8(rng.IntN(4)), uint8(rng.IntN(16))
					s.TPC, s.SymbolAlloc, s.BWP = uint8(rng.IntN(4)), uint8(rng.IntN(8)), uint8(rng.IntN(2))
					s.RBs, s.Raw = uint32(rng.IntN(1<<19)), Hex(b[4:20])
					putBits(b, 168, 5, s.MCS)
					putBits(b, 173, 2, s.RV)
					putBits(b, 175, 4, s.HARQ)
					putBits(b, 179, 2, s.TPC)
					putBits(b, 181, 3, s.SymbolAlloc)
					putBits(b, 185, 1, s.BWP)
					putBits(b, 192, 19, s.RBs)
				}
				body = append(body, b...)
				want = append(want, s)
			}
		}

		return body, want
	}
	slots := rng.IntN(4)
	head[11] = byte(slots)
	body := nrHead(v, head...)
	for range slots {
		t, n := randomNRSlot(rng), rng.IntN(4)
		h := noise(rng, 8)
		h[0], h[4] = t.Slot, byte(n)
		putBits(h, 8, 3, t.Numerology)
		putBits(h, 16, 10, t.Frame)
		body = append(body, h...)
		for range n {
			s := B885{K: "b885", Version: v, NRSlotTime: t, Format: uint8(rng.IntN(4)), Aggregation: uint8(rng.IntN(8))}
			s.RNTIType, s.RawIncluded = uint8(rng.IntN(16)), rng.IntN(2) == 0
			size := 32
			if s.Format > 1 {
				size = map[NRVersion]int{nrVersion(2, 5): 12, nrVersion(2, 12): 16}[v]
			}
			b := noise(rng, size)
			putBits(b, 3, 4, s.RNTIType)
			putBits(b, 7, 2, s.Format)
			putBits(b, 9, 3, s.Aggregation)
			putBits(b, 13, 1, flag(s.RawIncluded))
			if s.Format < 2 {
				s.NDI, s.MCS, s.RV = uint8(rng.IntN(2)), uint8(rng.IntN(32)), uint8(rng.IntN(4))
				s.HARQ, s.TPC, s.RBs = uint8(rng.IntN(16)), uint8(rng.IntN(4)), uint32(rng.IntN(1<<16))
				s.Raw = Hex(b[4:16])
				putBits(b, 134, 1, s.NDI)
				putBits(b, 135, 5, s.MCS)
				putBits(b, 141, 2, s.RV)
				putBits(b, 143, 4, s.HARQ)
				putBits(b, 147, 2, s.TPC)
				putBits(b, 160, 16, s.RBs)
			}
			body = append(body, b...)
			want = append(want, s)
		}
	}

	return body, want
}

func randomB821(rng *rand.Rand, v NRVersion) ([]byte, []any) {
	s := B821{
		K: "b821", Version: v, RelMajor: uint8(rng.Uint32()), RelMinor: uint8(rng.Uint32()), RB: uint8(rng.Uint32()),
		PCI: uint16(rng.Uint32()), ARFCN: rng.Uint32(), PDU: uint8(1 + rng.IntN(8)), SIBMask: rng.Uint32(),
		Payload: noise(rng, rng.IntN(50)),
	}
	body := nrHead(v, s.RelMajor, s.RelMinor, s.RB)
	body = binary.LittleEndian.AppendUint16(body, s.PCI)
	if v >= 17 {
		s.NCGI = rng.Uint64()
		body = binary.LittleEndian.AppendUint64(body, s.NCGI)
	}
	body = binary.LittleEndian.AppendUint32(body, s.ARFCN)
	if v <= 9 {
		s.SFN = rng.Uint32()
		body = binary.LittleEndian.AppendUint32(body, s.SFN)
	} else {
		s.SFN = uint32(rng.IntN(1 << 24))
		body = append(body, byte(s.SFN), byte(s.SFN>>8), byte(s.SFN>>16))
	}
	body = append(body, s.PDU)
	body = binary.LittleEndian.AppendUint32(body, s.SIBMask)
	body = binary.LittleEndian.AppendUint16(body, uint16(len(s.Payload)))
	switch v {
	case 19, 20, 25:
		body = append(body, byte(rng.Uint32()))
	case 23, 24, 26, 28:
		s.Segment = uint8(rng.IntN(8))
		body = append(body, byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32()), s.Segment)
	}
	all := "bcch_bch bcch_dl_sch dl_ccch dl_dcch pcch ul_ccch ul_ccch1 ul_dcch"
	if v >= 20 && v != 25 {
		all = "bcch_bch bcch_dl_sch dl_ccch dl_dcch mcch pcch ul_ccch ul_ccch1"
	}
	if v <= 8 {
		all = "bcch_bch unknown unknown unknown unknown unknown unknown ul_dcch"
	}
	s.Type = nrTypeOf(all, int(s.PDU))

	return append(body, s.Payload...), []any{s}
}
