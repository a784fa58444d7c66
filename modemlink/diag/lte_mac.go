// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// The LTE MAC log codes share a container:
//
//	version u8 | sub-packets u8 | 2 bytes, not always zero | sub-packets
//	sub-packet: id u8 | version u8 | size u16, these 4 included | body
const (
	macHeaderLen    = 4
	macSubHeaderLen = 4
	// macVersion is the container's on all chips, macVersionNew on newer
	// ones, seen with the same content.
	macVersion    = 1
	macVersionNew = 48
)

// macPad is the most alignment bytes at a sub-packet's end.
const macPad = 3

// macSub is one sub-packet.
type macSub struct {
	version uint8
	body    []byte
}

// macSubs calls fn for each sub-packet of the id that matters, until it fails.
// Those of another id are other facts of the same code: passed over by size.
func macSubs(p Packet, id uint8, fn func(s macSub) error) error {
	b := p.Body
	if len(b) < macHeaderLen {
		return truncated(p.Code, "header")
	}
	if b[0] != macVersion && b[0] != macVersionNew {
		return &UnsupportedVersionError{Code: p.Code, Version: uint32(b[0])}
	}
	n := int(b[1])
	b = b[macHeaderLen:]
	for range n {
		if len(b) < macSubHeaderLen {
			return truncated(p.Code, "sub-packet header")
		}
		size := int(binary.LittleEndian.Uint16(b[2:]))
		if size < macSubHeaderLen {
			return malformed(p.Code, "sub-packet size", size)
		}
		if size > len(b) {
			return truncated(p.Code, "sub-packet")
		}
		if b[0] == id {
			if err := fn(macSub{b[1], b[macSubHeaderLen:size]}); err != nil {
				return err
			}
		}
		b = b[size:]
	}

	return nil
}

// macSubID is the sub-packet that matters of an LTE MAC log code.
func macSubID(code LogCode) (id uint8, ok bool) {
	switch code {
	case LogB060:
		return b060ID, true
	case LogB064:
		return b064ID, true
	case LogB066:
		return b066ID, true
	case LogB067:
		return b067ID, true
	default:
		return 0, false
	}
}

// unsupportedSub is the error for a sub-version without a layout.
func unsupportedSub(p Packet, s macSub) error {
	return &UnsupportedVersionError{Code: p.Code, Version: uint32(s.version), Sub: true}
}

// sfnSubframe reads the 16-bit time of the MAC codes: subframe bits 0-3, SFN
// bits 4-13.
func sfnSubframe(v uint16) (sfn uint16, sf uint8) { return bits(v, 4, 10), uint8(bits(v, 0, 4)) }

// maxSubframe is the last one of a frame.
const maxSubframe = 9

// putSFN is its inverse.
func putSFN(tti int) uint16 { return uint16(tti/10<<4 | tti%10) }

// ttiWrap is the number of LTE TTIs until SFN wraps.
const ttiWrap = 10240
