// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"strconv"
)

// B0C0 is log code 0xB0C0, an LTE RRC message as it was on air, with where it
// was. Payload is ASN.1 (UPER, TS 36.331) of the channel's message type; this
// package does not look into it and makes no records.
//
// A field that a version does not have is 0.
type B0C0 struct {
	K       string `json:"k"`
	Version uint8  `json:"v"`
	// RelMajor and RelMinor are the release of TS 36.331; the others that of
	// TS 38.331.
	RelMajor   uint8  `json:"rel_maj"`
	RelMinor   uint8  `json:"rel_min"`
	NRRelMajor uint8  `json:"nr_rel_maj"`
	NRRelMinor uint8  `json:"nr_rel_min"`
	RB         uint8  `json:"rb_id"`
	PCI        uint16 `json:"pci"`
	EARFCN     uint32 `json:"earfcn"`
	SFN        uint16 `json:"sfn"`
	SF         uint8  `json:"sf"`
	// PDU is the message type as logged; Channel what it means in this version.
	PDU     uint8      `json:"pdu"`
	Channel RRCChannel `json:"channel"`
	SIBMask uint32     `json:"sib_mask"`
	// Segment is 0 for a whole message, 1 to 6 for a part, 7 for the last
	// part: concatenate the payloads.
	Segment uint8 `json:"segment"`
	// Payload belongs to the packet's body.
	Payload Hex `json:"payload"`
}

// Whole tells that the payload is a message and not a part of one.
func (v *B0C0) Whole() bool { return v.Segment == 0 }

// LastSegment is the Segment of the last part of a message.
const LastSegment = 7

// RRCChannel is the logical channel and direction of an LTE RRC message.
type RRCChannel uint8

// Channels of LTE RRC.
const (
	RRCUnknown RRCChannel = iota
	RRCBCCHBCH
	RRCBCCHDLSCH
	RRCMCCH
	RRCPCCH
	RRCDLCCCH
	RRCDLDCCH
	RRCULCCCH
	RRCULDCCH
)

func (c RRCChannel) String() string {
	switch c {
	case RRCUnknown:
		return "unknown"
	case RRCBCCHBCH:
		return "bcch_bch"
	case RRCBCCHDLSCH:
		return "bcch_dl_sch"
	case RRCMCCH:
		return "mcch"
	case RRCPCCH:
		return "pcch"
	case RRCDLCCCH:
		return "dl_ccch"
	case RRCDLDCCH:
		return "dl_dcch"
	case RRCULCCCH:
		return "ul_ccch"
	case RRCULDCCH:
		return "ul_dcch"
	default:
		return "channel(" + strconv.Itoa(int(c)) + ")"
	}
}

// MarshalText implements encoding.TextMarshaler.
func (c RRCChannel) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// b0c0Layout tells the header's form.
type b0c0Layout struct {
	// nr: two bytes of NR release; wide: 32-bit EARFCN; sib: SIB mask;
	// segment: three bytes at the end, the last of which is the segment.
	nr, wide, sib, segment bool
	// first is the PDU number of BCCH-BCH, and so on by RRCChannel.
	pdu [RRCULDCCH]uint8
}

func b0c0LayoutOf(version uint8) (b0c0Layout, bool) {
	l := b0c0Layout{wide: version >= 8, sib: version >= 5, nr: version >= 25, segment: version >= 30}
	switch version {
	case 2, 3, 4, 5, 6, 7, 8, 13, 22:
		l.pdu = [...]uint8{1, 2, 3, 4, 5, 6, 7, 8}
	case 9, 12:
		l.pdu = [...]uint8{8, 9, 10, 11, 12, 13, 14, 15}
	case 14, 15, 16, 20, 24, 25:
		l.pdu = [...]uint8{1, 2, 4, 5, 6, 7, 8, 9}
	case 19, 26, 27, 29, 30, 31:
		l.pdu = [...]uint8{1, 3, 6, 7, 8, 9, 10, 11}
	default:
		return l, false
	}

	return l, true
}

// size is the bytes of the header.
func (l *b0c0Layout) size() int {
	n := 13
	for _, part := range [...]struct {
		has   bool
		bytes int
	}{{l.wide, 2}, {l.sib, 4}, {l.nr, 2}, {l.segment, 3}} {
		if part.has {
			n += part.bytes
		}
	}

	return n
}

// WalkB0C0 calls fn with the message of a B0C0 packet.
func WalkB0C0(p Packet, fn func(B0C0)) error {
	b := p.Body
	if len(b) < 1 {
		return truncated(p.Code, "header")
	}
	v := B0C0{K: "b0c0", Version: b[0]}
	l, ok := b0c0LayoutOf(v.Version)
	if !ok {
		return &UnsupportedVersionError{Code: p.Code, Version: uint32(v.Version)}
	}
	if len(b) < l.size() {
		return truncated(p.Code, "header")
	}
	v.RelMajor, v.RelMinor, b = b[1], b[2], b[3:]
	if l.nr {
		v.NRRelMajor, v.NRRelMinor, b = b[0], b[1], b[2:]
	}
	v.RB, v.PCI, b = b[0], binary.LittleEndian.Uint16(b[1:]), b[3:]
	if l.wide {
		v.EARFCN, b = binary.LittleEndian.Uint32(b), b[4:]
	} else {
		v.EARFCN, b = uint32(binary.LittleEndian.Uint16(b)), b[2:]
	}
	// Bits 14 and 15 are flags of unknown meaning.
	v.SFN, v.SF = sfnSubframe(binary.LittleEndian.Uint16(b))
	v.PDU, b = b[2], b[3:]
	if l.sib {
		v.SIBMask, b = binary.LittleEndian.Uint32(b), b[4:]
	}
	length := int(binary.LittleEndian.Uint16(b))
	b = b[2:]
	if l.segment {
		v.Segment, b = b[2], b[3:]
		if length == len(b)+3 { // whether it counts these bytes is not known
			length = len(b)
		}
	}
	switch {
	case length > len(b):
		return truncated(p.Code, "message")
	case length < len(b):
		return malformed(p.Code, "bytes after the message", len(b)-length)
	}
	for i, pdu := range l.pdu {
		if pdu == v.PDU {
			v.Channel = RRCChannel(i + 1)
		}
	}
	v.Payload = b
	fn(v)

	return nil
}

// parseB0C0 checks the header; the message is no record.
func parseB0C0(p Packet, dst []Record) ([]Record, error) {
	return dst, WalkB0C0(p, func(B0C0) {})
}
