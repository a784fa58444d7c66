// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// B883 is one carrier in one slot of log code 0xB883, the NR uplink schedule:
// which channels are sent, and the shared one (PUSCH) in detail.
//
//	2.8, 2.11, 2.17                          3.15
//	header 16, records u8@15                 header 8, records u8@7
//	record 8: slot u8, numerology u8,        record 4: slot u8, numerology u8,
//	  frame u16, carriers u8, 3 bytes          u16: frame bits 0-9, carriers bits 10-15
//	carrier 4: u16 id 0-1, RNTI type 2-5,    carrier 20: channels byte 1 bits 0-3
//	  channels 6-11, 2 bytes                   (PUSCH, PUCCH, SRS, PRACH)
//	PUSCH 40                                 PUSCH 36
//	PUCCH 4 + 16 each                        PUCCH 4 + 16 each
//	SRS 20                                   SRS 4 + 16 each
//	PRACH 8                                  PRACH 8
//
// Channels that a carrier has follow it in this order. Unverified: 2.x in two
// or more public parsers, of which one tells that it saw sensible sizes and
// slots from a modem (2.11); 3.15 in one.
//
// Fields that a version does not have are 0.
type B883 struct {
	K       string    `json:"k"`
	Version NRVersion `json:"v"`
	NRSlotTime
	// Carrier is not told by 3.15.
	Carrier uint8 `json:"carrier"`
	// RNTIType is 0 C-RNTI, 2 TC-RNTI: message 3 of random access.
	RNTIType uint8 `json:"rnti_type"`
	PUSCH    bool  `json:"pusch"`
	PUCCH    bool  `json:"pucch"`
	SRS      bool  `json:"srs"`
	PRACH    bool  `json:"prach"`

	// What follows is PUSCH. TBS is bytes; 3.15 has its lower 16 bits only.
	TBS uint32 `json:"tbs"`
	// RV is the redundancy version. TXType is 0 for a new block, 1 for a
	// retransmission; 3.15 does not tell.
	RV      uint8  `json:"rv"`
	TXType  uint8  `json:"tx_type"`
	HARQ    uint8  `json:"harq"`
	MCS     uint8  `json:"mcs"`
	MCSTbl  uint8  `json:"mcs_table"`
	RB0     uint16 `json:"rb0"`
	NRB     uint16 `json:"nrb"`
	RAType  uint8  `json:"ra_type"`
	Symbol0 uint8  `json:"symbol0"`
	Symbols uint8  `json:"symbols"`
	// SlotOffset is between the grant and the transmission, slots (k2). Of
	// which of the two the record's slot is, nobody says.
	SlotOffset uint8  `json:"slot_offset"`
	Mapping    uint8  `json:"mapping"`
	DMRSType   uint8  `json:"dmrs_type"`
	DMRSMask   uint16 `json:"dmrs_mask"`
	TXMode     uint8  `json:"tx_mode"`
	BWP        uint8  `json:"bwp"`
	CodeRate   uint16 `json:"code_rate"`
	// Mod is 1 QPSK, 2 16QAM, 3 64QAM, 4 256QAM.
	Mod    uint8  `json:"mod"`
	CBs    uint8  `json:"cbs"`
	CBSize uint16 `json:"cb_size"`
	RNTI   uint16 `json:"rnti"`
	RBGs   uint32 `json:"rbg_bitmap"`
	// Second tells that it is the slot's second PUSCH.
	Second bool `json:"second"`
}

const (
	b883PUSCH = 1 << iota
	b883PUCCH
	b883SRS
	b883PRACH
	b883Channels = b883PUSCH | b883PUCCH | b883SRS | b883PRACH

	b883PUCCHLen = 16 // each, after 4 bytes with their number
	b883PRACHLen = 8
	b883RNTITemp = 2
)

// b883Layout is the sizes of a version's parts.
type b883Layout struct {
	header, count          int // count is the offset of the number of records
	record, carrier, pusch int
	srs, srsEach           int // srsEach is 0 when there is no number of them
	new                    bool
}

func b883LayoutOf(v NRVersion) (b883Layout, bool) {
	switch v {
	case nrVersion(2, 8), nrVersion(2, 11), nrVersion(2, 17):
		return b883Layout{header: 16, count: 15, record: 8, carrier: 4, pusch: 40, srs: 20}, true
	case nrVersion(3, 15):
		return b883Layout{header: 8, count: 7, record: 4, carrier: 20, pusch: 36, srs: 4, srsEach: 16, new: true}, true
	default:
		return b883Layout{}, false
	}
}

// WalkB883 calls fn for each carrier of each slot of a B883 packet.
func WalkB883(p Packet, fn func(B883)) error {
	version, err := readNRVersion(p)
	if err != nil {
		return err
	}
	l, ok := b883LayoutOf(version)
	if !ok {
		return unsupportedNR(p.Code, version)
	}
	b := p.Body
	if len(b) < l.header {
		return truncated(p.Code, "header")
	}
	records := b[l.count]
	b = b[l.header:]
	for range records {
		if len(b) < l.record {
			return truncated(p.Code, "record")
		}
		v := B883{K: "b883", Version: version}
		w := binary.LittleEndian.Uint16(b[2:])
		v.Slot, v.Numerology, v.Frame = b[0], b[1]&7, bits(w, 0, 10)
		carriers := uint8(w >> 10)
		if !l.new {
			carriers = b[4]
		}
		if !v.valid() {
			return malformed(p.Code, "slot", int(v.Slot))
		}
		b = b[l.record:]
		for range carriers {
			c := v
			if b, err = l.readCarrier(p, &c, b); err != nil {
				return err
			}
			fn(c)
		}
	}
	if len(b) > 0 {
		return malformed(p.Code, "bytes after the records", len(b))
	}

	return nil
}

// readCarrier reads a carrier with its channels and returns what follows.
func (l *b883Layout) readCarrier(p Packet, v *B883, b []byte) ([]byte, error) {
	if len(b) < l.carrier {
		return b, truncated(p.Code, "carrier")
	}
	channels := int(b[1] & b883Channels)
	if !l.new {
		w := binary.LittleEndian.Uint16(b)
		v.Carrier, v.RNTIType = uint8(bits(w, 0, 2)), uint8(bits(w, 2, 4))
		// Bits 6 and 11 of the word would be channels of unknown size.
		if channels = int(bits(w, 6, 6)); channels&1 != 0 || channels>>1 > b883Channels {
			return b, malformed(p.Code, "channels", channels)
		}
		channels >>= 1
	}
	v.PUSCH, v.PUCCH = channels&b883PUSCH != 0, channels&b883PUCCH != 0
	v.SRS, v.PRACH = channels&b883SRS != 0, channels&b883PRACH != 0
	b = b[l.carrier:]
	if v.PUSCH {
		if len(b) < l.pusch {
			return b, truncated(p.Code, "PUSCH")
		}
		if l.new {
			v.readNew(b)
		} else {
			v.readOld(b)
		}
		b = b[l.pusch:]
	}
	for _, part := range [...]struct {
		has        bool
		head, each int
		what       string
	}{
		{v.PUCCH, 4, b883PUCCHLen, "PUCCH"},
		{v.SRS, l.srs, l.srsEach, "SRS"},
		{v.PRACH, b883PRACHLen, 0, "PRACH"},
	} {
		if !part.has {
			continue
		}
		if len(b) < part.head {
			return b, truncated(p.Code, part.what)
		}
		size := part.head + int(b[0])*part.each
		if len(b) < size {
			return b, truncated(p.Code, part.what)
		}
		b = b[size:]
	}

	return b, nil
}

// readOld reads the 40 bytes of 2.x.
func (v *B883) readOld(b []byte) {
	w := binary.LittleEndian.Uint64(b)
	v.Second = w&1 != 0
	v.Symbol0, v.Symbols, v.HARQ = uint8(bits(w, 1, 4)), uint8(bits(w, 5, 4)), uint8(bits(w, 9, 4))
	v.MCS, v.MCSTbl = uint8(bits(w, 13, 5)), uint8(bits(w, 18, 2))
	v.RB0, v.NRB = uint16(bits(w, 23, 9)), uint16(bits(w, 32, 9))
	v.RAType, v.Mapping = uint8(bits(w, 41, 1)), uint8(bits(w, 42, 1))
	v.TBS, v.DMRSType = uint32(bits(w, 43, 18)), uint8(bits(w, 61, 2))
	w = binary.LittleEndian.Uint64(b[8:])
	v.TXMode, v.RV = uint8(bits(w, 0, 2)), uint8(bits(w, 2, 3))
	v.TXType, v.BWP, v.CodeRate = uint8(bits(w, 8, 2)), uint8(bits(w, 10, 2)), uint16(bits(w, 12, 12))
	v.CBs = b[19]
	v.DMRSMask = bits(binary.LittleEndian.Uint16(b[20:]), 0, 14)
	v.CBSize = bits(binary.LittleEndian.Uint16(b[22:]), 0, 15)
	// Byte 24: descriptions differ (24 or 25), and only so do the fields before
	// the RNTI add up.
	v.SlotOffset, v.Mod = bits(b[24], 0, 6), b[29]>>5
	v.RNTI, v.RBGs = binary.LittleEndian.Uint16(b[30:]), binary.LittleEndian.Uint32(b[36:])
}

// readNew reads the 36 bytes of 3.15.
func (v *B883) readNew(b []byte) {
	w := binary.LittleEndian.Uint32(b)
	v.HARQ, v.RV, v.MCS = uint8(bits(w, 10, 4)), uint8(bits(w, 14, 2)), uint8(bits(w, 16, 5))
	v.RB0, v.NRB = uint16(bits(w, 23, 9)), uint16(b[4])
	h := binary.LittleEndian.Uint16(b[5:])
	v.Symbols, v.SlotOffset = uint8(bits(h, 8, 4)), uint8(bits(h, 12, 4))
	v.TBS = uint32(binary.LittleEndian.Uint16(b[8:]))
	v.DMRSMask = bits(binary.LittleEndian.Uint16(b[10:]), 2, 12)
	v.RNTI = uint16(bits(binary.LittleEndian.Uint32(b[12:]), 15, 16))
	v.Mod = b[23] >> 5
	w = binary.LittleEndian.Uint32(b[24:])
	v.CodeRate, v.CBSize = uint16(bits(w, 1, 12)), uint16(bits(w, 17, 15))
	v.CBs = uint8(bits(binary.LittleEndian.Uint32(b[28:]), 24, 4))
	v.RBGs = bits(binary.LittleEndian.Uint32(b[32:]), 0, 20)
}

// retx is the place of a transmission in the usual order of redundancy
// versions 0, 2, 3, 1 (TS 38.214 6.1.2.1); NR does not number them. Not 0 for
// what is said to be a retransmission.
func (v *B883) retx() int {
	n := [...]int{0, 3, 1, 2}[v.RV&3]
	switch {
	case v.Version == nrVersion(3, 15):
		return n
	case v.TXType == 0:
		return 0
	default:
		return max(n, 1)
	}
}

// parseB883 makes a KindGrant record of each PUSCH with a transport block,
// other than message 3 of random access, which no BSR has asked for. They are
// the blocks of B872 again, and their retransmissions.
func parseB883(p Packet, dst []Record) ([]Record, error) {
	err := WalkB883(p, func(v B883) {
		if !v.PUSCH || v.TBS == 0 || v.RNTIType == b883RNTITemp {
			return
		}
		r := nrRecord(p, KindGrant, v.NRSlotTime)
		r.Cell, r.Bytes, r.Retx = int(v.Carrier), int(v.TBS), v.retx()
		dst = append(dst, r)
	})

	return dst, err
}
