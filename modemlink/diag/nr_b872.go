// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// B872 is one transport block of log code 0xB872, NR uplink transport blocks
// as layer 2 built them: the grant and the control elements, BSRs among them,
// in one place. It is the main source on NR.
//
//	header: version u32 | TTIs u8 bits 0-3 | 3 bytes
//	TTI:    slot u8 | u8 | frame u16 bits 0-9 | blocks u8 bits 0-3 | 3 bytes
//	block:  20 or 24 bytes, by version | control elements, not padded
//
// Unverified. 4 and 2.1 have 20 bytes in two public parsers, 3.8 has 24 in one,
// which reads fewer fields. Fields that a version does not have are 0.
type B872 struct {
	K       string    `json:"k"`
	Version NRVersion `json:"v"`
	// Inferred tells that no parser knows this version, and that its layout
	// is the only one that fits the packet.
	Inferred bool `json:"inferred"`
	NRSlotTime
	HARQ     uint8 `json:"harq"`
	Carrier  uint8 `json:"carrier"`
	TBType   uint8 `json:"tb_type"`
	RNTIType uint8 `json:"rnti_type"`
	// StartSegment and EndSegment: the first and the last PDU is a segment.
	StartSegment bool   `json:"start_segment"`
	EndSegment   bool   `json:"end_segment"`
	CompletePDUs uint16 `json:"complete_pdus"`
	// Grant is the size of the block, Built what of it is not padding, bytes.
	Grant uint32 `json:"grant"`
	Built uint32 `json:"built"`
	// Requested and Sent are control elements: 1 PHR, 2 BSR.
	Requested uint8 `json:"mce_requested"`
	Sent      uint8 `json:"mce_sent"`
	PHRReason uint8 `json:"phr_reason"`
	// BSRReason is 0 none, 1 periodic, 4 data of higher priority, 5 both.
	BSRReason uint8 `json:"bsr_reason"`
	// BSRType is 0 none, 1 short, 2 long, 5 cancelled.
	BSRType uint8 `json:"bsr_type"`
	// MCE is the control elements; BSR is the one among them.
	MCE Hex   `json:"mce"`
	BSR NRBSR `json:"bsr,omitzero"`
}

const (
	b872HeaderLen = 8
	b872TTILen    = 8
	b872CountMask = 15
	b872MCEMask   = 0x3F

	b872ReasonPeriodic = 1
	b872ReasonData     = 4
)

// b872Layout is the size of a block's header, without control elements. Their
// length is in its last word.
type b872Layout int

const (
	b872Old b872Layout = 20 // 4, 2.1
	b872New b872Layout = 24 // 3.8
)

const b872MCELenFromEnd = 4

// WalkB872 calls fn for each transport block of a B872 packet.
func WalkB872(p Packet, fn func(B872)) error {
	v, err := readNRVersion(p)
	if err != nil {
		return err
	}
	if len(p.Body) < b872HeaderLen {
		return truncated(p.Code, "header")
	}
	switch {
	case v == 4, v == nrVersion(2, 1):
		return b872Old.walk(p, B872{K: "b872", Version: v}, fn)
	case v == nrVersion(3, 8):
		return b872New.walk(p, B872{K: "b872", Version: v}, fn)
	case v>>16 == 3:
		l := b872Infer(p)
		if l == 0 {
			return unsupportedNR(p.Code, v)
		}

		return l.walk(p, B872{K: "b872", Version: v, Inferred: true}, fn)
	default:
		return unsupportedNR(p.Code, v)
	}
}

// b872Infer returns the only layout in which a packet of unknown version makes
// sense to its last byte, 0 if there is none or the choice is open.
func b872Infer(p Packet) b872Layout {
	none := func(B872) {}
	isOld := b872Old.walk(p, B872{Inferred: true}, none) == nil
	isNew := b872New.walk(p, B872{Inferred: true}, none) == nil
	switch {
	case isOld && !isNew:
		return b872Old
	case isNew && !isOld:
		return b872New
	default:
		return 0
	}
}

// walk calls fn for each block; v is what all have in common.
func (l b872Layout) walk(p Packet, v B872, fn func(B872)) error {
	ttis := p.Body[4] & b872CountMask
	b := p.Body[b872HeaderLen:]
	for range ttis {
		if len(b) < b872TTILen {
			return truncated(p.Code, "TTI")
		}
		v.Slot, v.Frame = b[0], binary.LittleEndian.Uint16(b[2:])&(frames-1)
		blocks := b[4] & b872CountMask
		b = b[b872TTILen:]
		for range blocks {
			tb := v
			size, err := l.block(p, &tb, b)
			if err != nil {
				return err
			}
			fn(tb)
			b = b[size:]
		}
	}
	if len(b) > 0 {
		return malformed(p.Code, "bytes after the blocks", len(b))
	}

	return nil
}

// block reads a block at the start of b and returns its length.
func (l b872Layout) block(p Packet, v *B872, b []byte) (int, error) {
	if len(b) < int(l) {
		return 0, truncated(p.Code, "block")
	}
	size := int(l) + int(b[l-b872MCELenFromEnd]&b872MCEMask)
	if len(b) < size {
		return 0, truncated(p.Code, "control elements")
	}
	w := binary.LittleEndian.Uint16(b)
	v.Numerology, v.HARQ = uint8(bits(w, 0, 3)), uint8(bits(w, 3, 4))
	v.Grant, v.Built = binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	switch {
	case !v.valid():
		return 0, malformed(p.Code, "slot", int(v.Slot))
	case v.Grant >= nrMaxTB:
		return 0, malformed(p.Code, "grant", int(v.Grant))
	}
	if l == b872Old && !v.Inferred {
		v.Carrier, v.TBType, v.RNTIType = uint8(bits(w, 7, 2)), uint8(bits(w, 9, 4)), uint8(bits(w, 13, 3))
		w = binary.LittleEndian.Uint16(b[2:])
		v.StartSegment, v.CompletePDUs, v.EndSegment = w&1 != 0, bits(w, 1, 10), w>>11&1 != 0
		v.Requested, v.Sent = b[12], b[13]
		w = binary.LittleEndian.Uint16(b[14:])
		v.PHRReason, v.BSRReason, v.BSRType = uint8(bits(w, 0, 6)), uint8(bits(w, 6, 3)), uint8(bits(w, 9, 4))
	}
	v.MCE = Hex(b[l:size])
	bsr, at, err := parseNRCEs(v.MCE)
	if err != nil {
		return 0, malformed(p.Code, err.Error(), at)
	}
	v.BSR = bsr

	return size, nil
}

// trigger tells why the block has a BSR. One that neither the timer nor new
// data asked for fills up padding; only such ones are truncated.
func (v *B872) trigger() Trigger {
	switch {
	case v.BSR.truncated():
		return TriggerPadding
	case v.Version>>16 == 3: // the reason is not known
		return TriggerUnknown
	case v.BSRReason&b872ReasonData != 0:
		return TriggerRegular
	case v.BSRReason&b872ReasonPeriodic != 0:
		return TriggerPeriodic
	case v.BSRReason == 0:
		return TriggerPadding
	default:
		return TriggerUnknown
	}
}

// parseB872 makes a KindGrant record of each block and, when it has a BSR, a
// KindBSR record after it. Layer 2 builds a block once: all are first
// transmissions.
func parseB872(p Packet, dst []Record) ([]Record, error) {
	err := WalkB872(p, func(v B872) {
		r := nrRecord(p, KindGrant, v.NRSlotTime)
		r.Cell, r.Inferred = int(v.Carrier), v.Inferred
		if v.Grant > 0 {
			grant := r
			grant.Bytes = int(v.Grant)
			if v.Built < v.Grant {
				grant.Padding = int(v.Grant - v.Built)
			}
			dst = append(dst, grant)
		}
		form := v.BSR.form()
		if form == 0 {
			return
		}
		r.Kind, r.Form, r.LCGs, r.Index = KindBSR, form, v.BSR.LCGs, v.BSR.Index
		r.Trigger = v.trigger()
		dst = append(dst, r)
	})

	return dst, err
}
