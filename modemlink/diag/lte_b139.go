// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// B139, LTE PUSCH transmission report: one record per transmission and
// carrier, retransmissions too, 10 records or about 10 ms a packet. The newest
// record is 4 to 7 ms old when the packet is written, which makes it the
// fastest source of grants.
//
//	header: version u8 | u16: PCI bits 0-8, records bits 9-13 | u8 | u16 | u16
//
// A record with a transport block of 0 bytes is control information alone, or
// a retransmission signalled without a size: no grant.
const (
	b139HeaderLen  = 8
	b139MaxRecords = 31
)

// b139Layout places the fields of a record.
type b139Layout struct {
	// size is the record's length; body length = 8 + records * size.
	size int
	// bytes is the offset of the u16 transport block size.
	bytes int
	// retx is the offset of the u32 with the retransmission index, which
	// begins at retxShift and is retxMask wide.
	retx      int
	retxShift uint
	retxMask  uint32
	// carrier is the offset of the u16 with the carrier in bits 0-1, or -1.
	carrier int
}

func b139LayoutOf(version uint8) (b139Layout, bool) {
	old := b139Layout{bytes: 12, retx: 20, retxShift: 9, retxMask: 7, carrier: -1}
	now := b139Layout{bytes: 8, retx: 0, retxShift: 16 + 7, retxMask: 31, carrier: 2}
	switch version {
	case 23, 24:
		old.size = 48

		return old, true
	case 26:
		old.size = 52

		return old, true
	case 43:
		old.size, old.retxShift = 64, 26

		return old, true
	case 102, 122:
		now.size = 68

		return now, true
	case 124:
		now.size = 84

		return now, true
	case 144, 145, 161, 162:
		now.size = 100

		return now, true
	default:
		return b139Layout{}, false
	}
}

func parseB139(p Packet, dst []Record) ([]Record, error) {
	b := p.Body
	if len(b) < b139HeaderLen {
		return dst, truncated(p.Code, "header")
	}
	l, ok := b139LayoutOf(b[0])
	if !ok {
		return dst, &UnsupportedVersionError{Code: p.Code, Version: uint32(b[0])}
	}
	head := binary.LittleEndian.Uint16(b[1:])
	pci, n := int(head&511), int(head>>9&b139MaxRecords)
	b = b[b139HeaderLen:]
	switch {
	case len(b) < n*l.size:
		return dst, truncated(p.Code, "records")
	case len(b) > n*l.size:
		return dst, malformed(p.Code, "bytes of records", len(b))
	}
	for ; len(b) > 0; b = b[l.size:] {
		r := Record{
			Code: p.Code, Kind: KindGrant, RAT: LTE, Radio: p.Radio, Logged: p.Logged,
			TTI: int(binary.LittleEndian.Uint16(b)), PCI: pci, HasPCI: true,
			Bytes: int(binary.LittleEndian.Uint16(b[l.bytes:])),
			Retx:  int(binary.LittleEndian.Uint32(b[l.retx:]) >> l.retxShift & l.retxMask),
		}
		if l.carrier >= 0 {
			r.Cell = int(binary.LittleEndian.Uint16(b[l.carrier:]) & 3)
		}
		if r.TTI >= ttiWrap {
			return dst, malformed(p.Code, "TTI", r.TTI)
		}
		if r.Bytes > 0 {
			dst = append(dst, r)
		}
	}

	return dst, nil
}
