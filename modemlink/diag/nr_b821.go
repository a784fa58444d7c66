// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"strconv"
)

// B821 is log code 0xB821, an NR RRC message as it was on air, with where it
// was. Payload is ASN.1 (UPER, TS 38.331) of the type that Type names; this
// package makes no records of it.
//
//	version u32 | release u8, u8 | bearer u8 | PCI u16 | from 17: NCGI u64 |
//	NR-ARFCN u32 | SFN u32, from 12: 3 bytes | PDU u8 | SIB mask u32 | length u16 |
//	19, 20, 25: 1 byte; 23, 24, 26, 28: 3 bytes, segment u8 | message
//
// The length of version 8 was checked against real captures (2204 messages);
// the others are unverified, in one or two public parsers. A field that a
// version does not have is 0.
type B821 struct {
	K       string    `json:"k"`
	Version NRVersion `json:"v"`
	// RelMajor and RelMinor are the release of TS 38.331.
	RelMajor uint8 `json:"rel_maj"`
	RelMinor uint8 `json:"rel_min"`
	RB       uint8 `json:"rb_id"`
	// PCI is 0xFFFF when there is none.
	PCI uint16 `json:"pci"`
	// NCGI is the cell's global identity; some modems write nonsense.
	NCGI  uint64 `json:"ncgi"`
	ARFCN uint32 `json:"nr_arfcn"`
	// SFN is as logged.
	SFN uint32 `json:"sfn"`
	// PDU is the message type as logged; Type what it means in this version.
	PDU     uint8     `json:"pdu"`
	Type    NRRRCType `json:"type"`
	SIBMask uint32    `json:"sib_mask"`
	// Segment is 0 for a whole message, 1 to 6 for a part, LastSegment for
	// the last part: concatenate the payloads.
	Segment uint8 `json:"segment"`
	// Payload belongs to the packet's body.
	Payload Hex `json:"payload"`
}

// Whole tells that the payload is a message and not a part of one.
func (v *B821) Whole() bool { return v.Segment == 0 }

// NRRRCType is the type of an NR RRC message: channel and direction, or a
// message that has come inside another (in LTE's RRC with EN-DC).
type NRRRCType uint8

// Types of NR RRC messages.
const (
	NRRRCUnknown NRRRCType = iota
	NRRRCBCCHBCH
	NRRRCBCCHDLSCH
	NRRRCDLCCCH
	NRRRCDLDCCH
	NRRRCMCCH
	NRRRCPCCH
	NRRRCULCCCH
	NRRRCULCCCH1
	NRRRCULDCCH
	// NRRRCReconfiguration is RRCReconfiguration, where the MAC configuration
	// with its BSR timers is.
	NRRRCReconfiguration
	NRRRCReconfigurationComplete
	NRRRCRadioBearerConfig
)

func (t NRRRCType) String() string {
	names := [...]string{
		"unknown", "bcch_bch", "bcch_dl_sch", "dl_ccch", "dl_dcch", "mcch", "pcch", "ul_ccch", "ul_ccch1",
		"ul_dcch", "reconfiguration", "reconfiguration_complete", "radio_bearer_config",
	}
	if int(t) < len(names) {
		return names[t]
	}

	return "type(" + strconv.Itoa(int(t)) + ")"
}

// MarshalText implements encoding.TextMarshaler.
func (t NRRRCType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// b821Layout tells the header's form.
type b821Layout struct {
	ncgi    bool
	sfn     int // bytes
	extra   int // bytes at the end; of 4, the last is the segment
	typeOf  func(pdu uint8) NRRRCType
	bearers uint8 // PDU number of RadioBearerConfig, 0 is not known
}

const b821FixedLen = 4 + 1 + 1 + 1 + 2 + 4 + 1 + 4 + 2

func (l *b821Layout) size() int {
	n := b821FixedLen + l.sfn + l.extra
	if l.ncgi {
		n += 8
	}

	return n
}

func b821LayoutOf(v NRVersion) (b821Layout, bool) {
	l := b821Layout{sfn: 3, ncgi: v >= 17, typeOf: b821Types9}
	switch v {
	case 7, 8:
		l.sfn, l.typeOf = 4, b821Types7
		l.bearers = 24
		if v == 8 {
			l.bearers = 26
		}
	case 9:
		l.sfn, l.bearers = 4, 25
	case 12:
		l.bearers = 25
	case 14:
	case 17:
		l.bearers = 29
	case 19:
		l.extra, l.bearers = 1, 29
	case 25:
		l.extra = 1
	case 20:
		l.extra, l.typeOf, l.bearers = 1, b821Types20, 36
	case 23, 24:
		l.extra, l.typeOf, l.bearers = 4, b821Types20, 36
	case 26:
		l.extra, l.typeOf, l.bearers = 4, b821Types26, 36
	case 28:
		l.extra, l.typeOf = 4, b821Types28
	default:
		return l, false
	}

	return l, true
}

// b821Types7 is versions 7 and 8.
func b821Types7(pdu uint8) NRRRCType {
	switch pdu {
	case 1, 8, 9, 10:
		return b821Types9(pdu)
	default:
		return NRRRCUnknown
	}
}

// b821Types9 is versions 9 to 19, and 25: there is no MCCH.
func b821Types9(pdu uint8) NRRRCType {
	switch {
	case pdu >= 5 && pdu <= 10:
		return NRRRCPCCH + NRRRCType(pdu-5)
	case pdu < 5:
		return NRRRCType(pdu)
	default:
		return NRRRCUnknown
	}
}

// b821Types20 is versions 20, 23, 24.
func b821Types20(pdu uint8) NRRRCType {
	if pdu > uint8(NRRRCReconfigurationComplete) {
		return NRRRCUnknown
	}

	return NRRRCType(pdu)
}

// b821Types26 has a number between those of UL-DCCH and RRCReconfiguration.
func b821Types26(pdu uint8) NRRRCType {
	switch {
	case pdu < 10:
		return b821Types20(pdu)
	case pdu == 11, pdu == 12:
		return b821Types20(pdu - 1)
	default:
		return NRRRCUnknown
	}
}

// b821Types28 is as 26, and that number is UL-DCCH too.
func b821Types28(pdu uint8) NRRRCType {
	if pdu == 10 {
		return NRRRCULDCCH
	}

	return b821Types26(pdu)
}

// WalkB821 calls fn with the message of a B821 packet.
func WalkB821(p Packet, fn func(B821)) error {
	version, err := readNRVersion(p)
	if err != nil {
		return err
	}
	l, ok := b821LayoutOf(version)
	if !ok {
		return unsupportedNR(p.Code, version)
	}
	b := p.Body
	if len(b) < l.size() {
		return truncated(p.Code, "header")
	}
	v := B821{K: "b821", Version: version, RelMajor: b[4], RelMinor: b[5], RB: b[6], PCI: binary.LittleEndian.Uint16(b[7:])}
	b = b[9:]
	if l.ncgi {
		v.NCGI, b = binary.LittleEndian.Uint64(b), b[8:]
	}
	v.ARFCN, b = binary.LittleEndian.Uint32(b), b[4:]
	for i := range l.sfn {
		v.SFN |= uint32(b[i]) << (8 * i)
	}
	b = b[l.sfn:]
	v.PDU, v.SIBMask = b[0], binary.LittleEndian.Uint32(b[1:])
	length := int(binary.LittleEndian.Uint16(b[5:]))
	b = b[7:]
	if l.extra == 4 {
		v.Segment = b[3]
	}
	b = b[l.extra:]
	switch {
	case length > len(b):
		return truncated(p.Code, "message")
	case length < len(b):
		return malformed(p.Code, "bytes after the message", len(b)-length)
	case v.Segment > LastSegment:
		return malformed(p.Code, "segment", int(v.Segment))
	}
	if v.Type = l.typeOf(v.PDU); l.bearers != 0 && v.PDU == l.bearers {
		v.Type = NRRRCRadioBearerConfig
	}
	v.Payload = Hex(b)
	fn(v)

	return nil
}

// parseB821 checks the header; the message is no record.
func parseB821(p Packet, dst []Record) ([]Record, error) {
	return dst, WalkB821(p, func(B821) {})
}
