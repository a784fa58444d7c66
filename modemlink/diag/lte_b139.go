// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// B139 is one record of log code 0xB139, the LTE PUSCH transmission report:
// one transmission on one carrier, retransmissions too, 10 records or about
// 10 ms a packet. The newest record is 4 to 7 ms old when the packet is
// written, which makes it the fastest source of grants.
//
//	header: version u8 | u16: PCI bits 0-8, records bits 9-13 | u8 | u16 | u16
//
// A field that a version does not have is 0.
type B139 struct {
	K       string `json:"k"`
	Version uint8  `json:"v"`
	PCI     uint16 `json:"pci"`
	// TTI is SFN*10+subframe.
	TTI     uint16 `json:"tti"`
	Carrier uint8  `json:"carrier"`
	// Retx is the retransmission index, 0 for a first transmission; RV the
	// redundancy version.
	Retx uint8 `json:"retx"`
	RV   uint8 `json:"rv"`
	// RB0 and RB1 are the first resource blocks in the two slots, NRB how many.
	RB0 uint8 `json:"rb0"`
	NRB uint8 `json:"nrb"`
	// TBS is the transport block in bytes. 0 is control information alone, or
	// a retransmission signalled without a size: no grant.
	TBS uint16 `json:"tbs"`
	// Mod is 1 QPSK, 2 16QAM, 3 64QAM, 4 256QAM; 0 where not told.
	Mod uint8 `json:"mod"`
	// CodeRate is in 1/1024.
	CodeRate uint16 `json:"code_rate_1024"`

	RB1 uint8 `json:"rb1"`
	// ACK, CQI, RI: that control information was multiplexed in.
	ACK bool `json:"ack"`
	CQI bool `json:"cqi"`
	RI  bool `json:"ri"`
	// Hop and Mirror are frequency hopping, RAType the resource allocation type.
	Hop    uint8 `json:"hop"`
	Mirror uint8 `json:"mirror"`
	RAType uint8 `json:"ra_type"`
	// DLCarrier is the downlink carrier that scheduled it.
	DLCarrier uint8 `json:"dl_carrier"`
	// CS and DMRSRoot are the reference signal's cyclic shifts and roots by slot.
	CS       [2]uint8  `json:"cs"`
	DMRSRoot [2]uint16 `json:"dmrs_root"`
	DMRSOCC  bool      `json:"dmrs_occ"`
	SRS      bool      `json:"srs"`
	SRSOcc   bool      `json:"srs_occasion"`
	Gain     uint8     `json:"gain"`
	// PowerRaw rises with the transmit power, 1 dB a step; its zero is unknown.
	PowerRaw uint8 `json:"power_raw"`
	// ACKBits is the number of rate-matched acknowledgement bits.
	ACKBits uint16 `json:"ack_bits"`
	// ClusterRB are the first resource blocks of a second cluster.
	ClusterRB [2]uint8 `json:"cluster_rb"`
}

const (
	b139HeaderLen  = 8
	b139MaxRecords = 31
)

// Sets of versions that place their fields alike.
const (
	b139Old = iota + 1 // 23 to 43
	b139Mid            // 102 to 124
	b139New            // 144 to 162
)

// b139LayoutOf returns the length of a version's records and their layout;
// body length = 8 + records * size. 0 is not known.
func b139LayoutOf(version uint8) (size, layout int) {
	switch version {
	case 23, 24:
		return 48, b139Old
	case 26:
		return 52, b139Old
	case 43:
		return 64, b139Old
	case 102, 122:
		return 68, b139Mid
	case 124:
		return 84, b139Mid
	case 144, 145, 161, 162:
		return 100, b139New
	default:
		return 0, 0
	}
}

// WalkB139 calls fn for each record of a B139 packet.
func WalkB139(p Packet, fn func(B139)) error {
	b := p.Body
	if len(b) < b139HeaderLen {
		return truncated(p.Code, "header")
	}
	version := b[0]
	size, layout := b139LayoutOf(version)
	if size == 0 {
		return &UnsupportedVersionError{Code: p.Code, Version: uint32(version)}
	}
	head := binary.LittleEndian.Uint16(b[1:])
	pci, n := bits(head, 0, 9), int(bits(head, 9, 5))
	b = b[b139HeaderLen:]
	switch {
	case len(b) < n*size:
		return truncated(p.Code, "records")
	case len(b) > n*size:
		return malformed(p.Code, "bytes of records", len(b))
	}
	for ; len(b) > 0; b = b[size:] {
		s := B139{K: "b139", Version: version, PCI: pci, TTI: binary.LittleEndian.Uint16(b)}
		if s.TTI >= ttiWrap {
			return malformed(p.Code, "TTI", int(s.TTI))
		}
		if layout == b139Old {
			s.readOld(b)
		} else {
			s.readMid(b)
			if layout == b139New {
				s.readNew(b)
			} else {
				s.readMidTail(b)
			}
		}
		fn(s)
	}

	return nil
}

// readOld reads what follows the TTI in versions 23 to 43.
func (s *B139) readOld(b []byte) {
	s.CodeRate = binary.LittleEndian.Uint16(b[2:])
	w := binary.LittleEndian.Uint32(b[4:])
	s.ACK, s.CQI, s.RI = w&1 != 0, w>>1&1 != 0, w>>2&1 != 0
	s.Hop, s.RV, s.Mirror = uint8(bits(w, 3, 2)), uint8(bits(w, 5, 2)), uint8(bits(w, 7, 2))
	s.CS = [2]uint8{uint8(bits(w, 9, 4)), uint8(bits(w, 13, 4))}
	s.DMRSRoot[0] = uint16(bits(w, 17, 11))
	s.SRS = w>>28&1 != 0
	w = binary.LittleEndian.Uint32(b[8:])
	s.DMRSRoot[1] = uint16(bits(w, 0, 11))
	s.RB0, s.RB1, s.NRB = uint8(bits(w, 11, 7)), uint8(bits(w, 18, 7)), uint8(bits(w, 25, 7))
	s.TBS = binary.LittleEndian.Uint16(b[12:])
	s.PowerRaw = b[24] & 0x7F
	w = binary.LittleEndian.Uint32(b[20:])
	if s.Version < 43 {
		s.Gain, s.SRSOcc, s.Retx = uint8(w), w>>8&1 != 0, uint8(bits(w, 9, 3))

		return
	}
	s.Mod, s.Gain, s.SRSOcc, s.Retx = uint8(bits(w, 15, 2)), uint8(bits(w, 17, 8)), w>>25&1 != 0, uint8(bits(w, 26, 3))
}

// readMid reads the first 12 bytes of versions 102 and later.
func (s *B139) readMid(b []byte) {
	w := binary.LittleEndian.Uint16(b[2:])
	s.Carrier = uint8(bits(w, 0, 2))
	s.ACK, s.CQI, s.RI = w>>2&1 != 0, w>>3&1 != 0, w>>4&1 != 0
	s.Hop, s.Retx = uint8(bits(w, 5, 2)), uint8(bits(w, 7, 5))
	s.RV, s.Mirror = uint8(bits(w, 12, 2)), uint8(bits(w, 14, 2))
	r := binary.LittleEndian.Uint32(b[4:])
	switch s.Version {
	case 122: // no allocation type
		s.DLCarrier = uint8(bits(r, 21, 3))
		r <<= 1
	case 102, 124:
		s.RAType, s.DLCarrier = uint8(r&1), uint8(bits(r, 22, 2))
	default:
		s.RAType, s.DLCarrier, s.DMRSOCC = uint8(r&1), uint8(bits(r, 22, 3)), r>>25&1 != 0
	}
	s.RB0, s.RB1, s.NRB = uint8(bits(r, 1, 7)), uint8(bits(r, 8, 7)), uint8(bits(r, 15, 7))
	s.TBS = binary.LittleEndian.Uint16(b[8:])
	s.CodeRate = binary.LittleEndian.Uint16(b[10:])
}

// readMidTail reads the rest of versions 102 to 124.
func (s *B139) readMidTail(b []byte) {
	w := binary.LittleEndian.Uint32(b[20:])
	s.Mod, s.Gain = uint8(bits(w, 0, 2)), uint8(bits(w, 2, 8))
	s.PowerRaw = b[24] & 0x7F
}

// readNew reads the rest of versions 144 and later.
func (s *B139) readNew(b []byte) {
	s.ACKBits = bits(binary.LittleEndian.Uint16(b[12:]), 0, 14)
	w := binary.LittleEndian.Uint32(b[36:])
	s.SRS, s.SRSOcc, s.Mod, s.Gain = w&1 != 0, w>>1&1 != 0, uint8(bits(w, 2, 3)), uint8(bits(w, 5, 8))
	s.ClusterRB = [2]uint8{uint8(bits(w, 13, 7)), uint8(bits(w, 20, 7))}
	s.PowerRaw = uint8(bits(binary.LittleEndian.Uint32(b[44:]), 18, 7))
}

func parseB139(p Packet, dst []Record) ([]Record, error) {
	err := WalkB139(p, func(s B139) {
		if s.TBS == 0 {
			return
		}
		dst = append(dst, Record{
			Code: p.Code, Kind: KindGrant, RAT: LTE, Radio: p.Radio, Logged: p.Logged,
			TTI: int(s.TTI), Cell: int(s.Carrier), PCI: int(s.PCI), HasPCI: true,
			Bytes: int(s.TBS), Retx: int(s.Retx),
		})
	})

	return dst, err
}
