// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// B885 is one message of log code 0xB885, NR downlink control information, of
// which the uplink grants. It has no transport block size, which would take
// RRC configuration and TS 38.214 6.1.4.2 to compute: it makes no records.
//
//	2.5, 2.12: header 16, messages' slots u8@15; slot 8: slot u8, numerology u8,
//	           frame u16, messages u8, 3 bytes; message 4 + content, by format
//	3.9:       header 16, uplink slots u8@8, downlink u8@9 and 10, others 11-13;
//	           slot 4: slot u8, numerology u8, u16: frame bits 0-9, messages bits 12-15
//
// Unverified: 2.5 and 3.9 in one public parser, 2.12 in another.
type B885 struct {
	K       string    `json:"k"`
	Version NRVersion `json:"v"`
	NRSlotTime
	// RNTIType is 0 C-RNTI, 1 TC-RNTI, 2 SI-RNTI, 4 P-RNTI, 8 RA-RNTI; only 2.x.
	RNTIType uint8 `json:"rnti_type"`
	// Format is 0 uplink 0_0, 1 uplink 0_1, 2 downlink 1_0, 3 downlink 1_1.
	Format      uint8 `json:"format"`
	Aggregation uint8 `json:"aggregation"`
	RawIncluded bool  `json:"raw_included"`

	// The rest is of uplink messages.
	NDI         uint8 `json:"ndi"`
	MCS         uint8 `json:"mcs"`
	RV          uint8 `json:"rv"`
	HARQ        uint8 `json:"harq"`
	TPC         uint8 `json:"tpc"`
	SymbolAlloc uint8 `json:"symbol_alloc"`
	BWP         uint8 `json:"bwp"`
	// RBs is the frequency assignment field.
	RBs uint32 `json:"rb_assignment"`
	Raw Hex    `json:"raw,omitempty"`
}

const (
	b885HeaderLen    = 16
	b885RecordLen    = 8 // 2.x
	b885SlotLen      = 4 // 3.x
	b885NewULLen     = 36
	b885NewDLLen     = 28
	b885FirstDL      = 2 // format
	b885OldULLen     = 32
	b885OldRawLen    = 12
	b885NewRawLen    = 16
	b885DLLen25      = 12
	b885DLLen212     = 16
	b885CountShift   = 12 // 3.x: messages in a slot's last word
	b885FirstUnknown = 11 // 3.x: from here to lastUnknown numbers of messages
	b885LastUnknown  = 13 // of unknown size
)

// WalkB885 calls fn for each message of a B885 packet.
func WalkB885(p Packet, fn func(B885)) error {
	version, err := readNRVersion(p)
	if err != nil {
		return err
	}
	dl := 0
	switch version {
	case nrVersion(2, 5):
		dl = b885DLLen25
	case nrVersion(2, 12):
		dl = b885DLLen212
	case nrVersion(3, 9):
	default:
		return unsupportedNR(p.Code, version)
	}
	if len(p.Body) < b885HeaderLen {
		return truncated(p.Code, "header")
	}
	v := B885{K: "b885", Version: version}
	if dl == 0 {
		return v.walkNew(p, fn)
	}

	return v.walkOld(p, dl, fn)
}

// walkOld walks 2.x. v is what all messages have in common, dl the length of a
// downlink message.
func (v B885) walkOld(p Packet, dl int, fn func(B885)) error {
	b := p.Body[b885HeaderLen:]
	for range p.Body[15] {
		if len(b) < b885RecordLen {
			return truncated(p.Code, "slot")
		}
		v.Slot, v.Numerology, v.Frame = b[0], b[1]&7, binary.LittleEndian.Uint16(b[2:])&(frames-1)
		if !v.valid() {
			return malformed(p.Code, "slot", int(v.Slot))
		}
		n := b[4]
		b = b[b885RecordLen:]
		for range n {
			if len(b) < 4 {
				return truncated(p.Code, "message")
			}
			m := v
			w := binary.LittleEndian.Uint16(b)
			m.RNTIType, m.Format = uint8(bits(w, 3, 4)), uint8(bits(w, 7, 2))
			m.Aggregation, m.RawIncluded = uint8(bits(w, 9, 3)), w>>13&1 != 0
			size := dl
			if m.Format < b885FirstDL {
				size = b885OldULLen
			}
			if len(b) < size {
				return truncated(p.Code, "message")
			}
			if m.Format < b885FirstDL {
				m.Raw = Hex(b[4 : 4+b885OldRawLen])
				u := binary.LittleEndian.Uint32(b[16:])
				m.NDI, m.MCS, m.RV = uint8(bits(u, 6, 1)), uint8(bits(u, 7, 5)), uint8(bits(u, 13, 2))
				m.HARQ, m.TPC = uint8(bits(u, 15, 4)), uint8(bits(u, 19, 2))
				m.RBs = uint32(binary.LittleEndian.Uint16(b[20:]))
			}
			fn(m)
			b = b[size:]
		}
	}
	if len(b) > 0 {
		return malformed(p.Code, "bytes after the messages", len(b))
	}

	return nil
}

// walkNew walks 3.9: uplink slots, then downlink ones.
func (v B885) walkNew(p Packet, fn func(B885)) error {
	b := p.Body[b885HeaderLen:]
	uplink, downlink := int(p.Body[8]), int(p.Body[9])+int(p.Body[10])
	for i := range uplink + downlink {
		if len(b) < b885SlotLen {
			return truncated(p.Code, "slot")
		}
		w := binary.LittleEndian.Uint16(b[2:])
		v.Slot, v.Numerology, v.Frame = b[0], b[1]&7, bits(w, 0, 10)
		if !v.valid() {
			return malformed(p.Code, "slot", int(v.Slot))
		}
		b = b[b885SlotLen:]
		size := b885NewULLen
		if i >= uplink {
			size = b885NewDLLen
		}
		for range w >> b885CountShift {
			if len(b) < size {
				return truncated(p.Code, "message")
			}
			m := v
			m.Format, m.Aggregation, m.RawIncluded = bits(b[1], 0, 2), bits(b[1], 2, 4), b[1]>>6 != 0
			if i < uplink {
				m.Raw = Hex(b[4 : 4+b885NewRawLen])
				u := binary.LittleEndian.Uint32(b[20:]) >> 8
				m.MCS, m.RV, m.HARQ = uint8(bits(u, 0, 5)), uint8(bits(u, 5, 2)), uint8(bits(u, 7, 4))
				m.TPC, m.SymbolAlloc, m.BWP = uint8(bits(u, 11, 2)), uint8(bits(u, 13, 3)), uint8(bits(u, 17, 1))
				m.RBs = bits(binary.LittleEndian.Uint32(b[24:]), 0, 19)
			}
			fn(m)
			b = b[size:]
		}
	}
	for _, n := range p.Body[b885FirstUnknown : b885LastUnknown+1] {
		if n > 0 {
			return nil // they are last
		}
	}
	if len(b) > 0 {
		return malformed(p.Code, "bytes after the messages", len(b))
	}

	return nil
}

// parseB885 checks the packet.
func parseB885(p Packet, dst []Record) ([]Record, error) {
	return dst, WalkB885(p, func(B885) {})
}
