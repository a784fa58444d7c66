// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	mathbits "math/bits"
)

// B873 is one TTI of log code 0xB873, NR buffer status reports. B872 has the
// same reports with their grants and numerology, without which a slot cannot
// be placed in time: prefer it; B873 makes no records.
//
//	header: version u32 | u32: TTIs bits 0-3, priority mask bits 4-19
//	TTI:    slot u8 | u8 | frame u16 bits 0-9 | HARQ bits 0-3, carrier bits 4-7 |
//	        u32, by version | 3 bytes | LCIDs | 4 or 8 bytes | 3.3: the control element
//
// Unverified. 2 in two public parsers, 3.3 in one, which has seen no more than
// two groups.
type B873 struct {
	K       string    `json:"k"`
	Version NRVersion `json:"v"`
	// Priorities is a bit set of LCIDs.
	Priorities uint16 `json:"lcid_priority_mask"`
	Frame      uint16 `json:"frame"`
	Slot       uint8  `json:"slot"`
	HARQ       uint8  `json:"harq"`
	Carrier    uint8  `json:"carrier"`
	// Trigger is 1 periodic, 4 data of higher priority, 5 both.
	Trigger uint8 `json:"trigger"`
	// Type is 1 short, 2 long; Length the report's in bytes.
	Type   uint8 `json:"type"`
	Length uint8 `json:"length"`
	LCGs   uint8 `json:"lcgs"`
	LCIDs  Hex   `json:"lcids"`
	// Tail is of unknown meaning.
	Tail Hex   `json:"tail"`
	BSR  NRBSR `json:"bsr,omitzero"`
}

const (
	b873HeaderLen = 8
	b873TTILen    = 12
	b873OtherLen  = 2 // of a control element that is no BSR, its LCID included
)

// WalkB873 calls fn for each TTI of a B873 packet.
func WalkB873(p Packet, fn func(B873)) error {
	version, err := readNRVersion(p)
	if err != nil {
		return err
	}
	// triggerBits is the width of the first field; the others follow.
	var triggerBits uint
	hasCE := false
	switch version {
	case 2:
		triggerBits = 3
	case nrVersion(3, 3):
		triggerBits, hasCE = 5, true
	default:
		return unsupportedNR(p.Code, version)
	}
	b := p.Body
	if len(b) < b873HeaderLen {
		return truncated(p.Code, "header")
	}
	head := binary.LittleEndian.Uint32(b[4:])
	b = b[b873HeaderLen:]
	for range bits(head, 0, 4) {
		if len(b) < b873TTILen {
			return truncated(p.Code, "TTI")
		}
		v := B873{
			K: "b873", Version: version, Priorities: uint16(bits(head, 4, 16)),
			Slot: b[0], Frame: binary.LittleEndian.Uint16(b[2:]) & (frames - 1), HARQ: b[4] & 15, Carrier: b[4] >> 4,
		}
		if int(v.Slot) >= 10<<maxNumerology {
			return malformed(p.Code, "slot", int(v.Slot))
		}
		w := binary.LittleEndian.Uint32(b[5:])
		v.Trigger = uint8(bits(w, 0, triggerBits))
		w >>= triggerBits
		v.Type, v.Length, v.LCGs = uint8(bits(w, 0, 3)), uint8(bits(w, 3, 4)), uint8(bits(w, 7, 8))
		lcids, tail := int(bits(w, 15, 4)), 4
		if mathbits.OnesCount8(v.LCGs) == 2 {
			tail = 8
		}
		b = b[b873TTILen:]
		if len(b) < lcids+tail {
			return truncated(p.Code, "LCIDs")
		}
		v.LCIDs, v.Tail, b = Hex(b[:lcids]), Hex(b[lcids:lcids+tail]), b[lcids+tail:]
		if hasCE {
			size := b873CELen(b)
			if len(b) < size {
				return truncated(p.Code, "control element")
			}
			if b[0] >= nrShortTruncatedBSR && b[0] <= nrLongBSR {
				var at int
				if v.BSR, at, err = parseNRCEs(b[:size]); err != nil {
					return malformed(p.Code, err.Error(), at)
				}
			}
			b = b[size:]
		}
		fn(v)
	}
	if len(b) > 0 {
		return malformed(p.Code, "bytes after the TTIs", len(b))
	}

	return nil
}

// b873CELen is the length of the control element that b begins with.
func b873CELen(b []byte) int {
	if len(b) >= 2 && (b[0] == nrLongBSR || b[0] == nrLongTruncatedBSR) {
		return 2 + int(b[1])
	}

	return b873OtherLen
}

// parseB873 checks the packet; see B873 for why it makes no records.
func parseB873(p Packet, dst []Record) ([]Record, error) {
	return dst, WalkB873(p, func(B873) {})
}
