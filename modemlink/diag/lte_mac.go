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

// macSub is one sub-packet.
type macSub struct {
	id, version uint8
	body        []byte
}

// macSubs calls fn for each sub-packet until it fails.
func macSubs(p Packet, dst []Record, fn func(p Packet, s macSub, dst []Record) ([]Record, error)) ([]Record, error) {
	b := p.Body
	if len(b) < macHeaderLen {
		return dst, truncated(p.Code, "header")
	}
	if b[0] != macVersion && b[0] != macVersionNew {
		return dst, &UnsupportedVersionError{Code: p.Code, Version: uint32(b[0])}
	}
	n := int(b[1])
	b = b[macHeaderLen:]
	for range n {
		if len(b) < macSubHeaderLen {
			return dst, truncated(p.Code, "sub-packet header")
		}
		size := int(binary.LittleEndian.Uint16(b[2:]))
		if size < macSubHeaderLen {
			return dst, malformed(p.Code, "sub-packet size", size)
		}
		if size > len(b) {
			return dst, truncated(p.Code, "sub-packet")
		}
		var err error
		if dst, err = fn(p, macSub{b[0], b[1], b[macSubHeaderLen:size]}, dst); err != nil {
			return dst, err
		}
		b = b[size:]
	}

	return dst, nil
}

// sfnSubframe reads the 16-bit time of the MAC codes: subframe bits 0-3, SFN
// bits 4-13.
func sfnSubframe(v uint16) (tti int, ok bool) {
	sf, sfn := int(v&15), int(v>>4&1023)

	return sfn*10 + sf, sf < 10
}

// putSFN is its inverse.
func putSFN(tti int) uint16 { return uint16(tti/10<<4 | tti%10) }

// ttiWrap is the number of LTE TTIs until SFN wraps.
const ttiWrap = 10240
