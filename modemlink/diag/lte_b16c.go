// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// B16C is an uplink grant of log code 0xB16C, LTE ML1 DCI information: what the
// phone was told, which it sends 4 subframes later (FDD). A packet comes every
// 20 records or about 1.3 s, and the size in bytes would need the tables of
// TS 36.213 7.1.7.2: it is for checks and makes no records.
//
// A field that a version does not have, or whose place is not known, is 0.
type B16C struct {
	K       string `json:"k"`
	Version uint8  `json:"v"`
	// SFN and SF are when the grant was received.
	SFN uint16 `json:"sfn"`
	SF  uint8  `json:"sf"`
	// NUL and NDL are the uplink and downlink grants of that subframe.
	NUL uint8 `json:"n_ul"`
	NDL uint8 `json:"n_dl"`
	// Index is which of the NUL this is.
	Index uint8 `json:"index"`
	// RNTI is the type, NDI the new data indicator.
	RNTI uint8 `json:"rnti"`
	NDI  uint8 `json:"ndi"`
	HARQ uint8 `json:"harq"`
	TPC  uint8 `json:"tpc"`
	Cell uint8 `json:"cell"`
	// ULIndex is the UL index or DAI of TDD; K the subframes to the transmission.
	ULIndex uint8 `json:"ul_index"`
	Delay   uint8 `json:"delay"`
	RV      uint8 `json:"rv"`
	MCS     uint8 `json:"mcs"`
	ITBS    uint8 `json:"itbs"`
	// Mod is as logged: its values differ between versions.
	Mod    uint8 `json:"mod"`
	CQIReq uint8 `json:"cqi_req"`
	SRS    bool  `json:"srs"`
	RAType uint8 `json:"ra_type"`
	RBG    uint8 `json:"rbg"`
	// RB0 is the first resource block and NRB how many.
	RB0 uint8 `json:"rb0"`
	NRB uint8 `json:"nrb"`
}

const (
	b16cHeaderLen = 4
	// Versions 49 and 50: a record, then its grants.
	b16cRecordLen = 4
	b16cUplinkLen = 16
	b16cDownLen   = 8
	// Versions 7 and 48: records of a fixed length with one grant.
	b16cV7Len, b16cV48Len = 20, 128
)

// WalkB16C calls fn for each uplink grant of a B16C packet.
func WalkB16C(p Packet, fn func(B16C)) error {
	b := p.Body
	if len(b) < b16cHeaderLen {
		return truncated(p.Code, "header")
	}
	version := b[0]
	head := binary.LittleEndian.Uint16(b[1:])
	switch version {
	case 7:
		return walkB16CFixed(p, int(b[3]), b16cV7Len, fn)
	case 48:
		return walkB16CFixed(p, int(b[1]>>2), b16cV48Len, fn)
	case 49:
		return walkB16CNew(p, int(bits(head, 6, 5)), 3, fn)
	case 50:
		return walkB16CNew(p, int(bits(head, 6, 6)), 2, fn)
	default:
		return &UnsupportedVersionError{Code: p.Code, Version: uint32(version)}
	}
}

// walkB16CNew reads versions 49 and 50, which differ in the width of counts.
func walkB16CNew(p Packet, n int, ulBits uint, fn func(B16C)) error {
	b := p.Body[b16cHeaderLen:]
	for range n {
		if len(b) < b16cRecordLen {
			return truncated(p.Code, "record")
		}
		w := binary.LittleEndian.Uint32(b)
		v := B16C{
			K: "b16c", Version: p.Body[0], SFN: uint16(bits(w, 0, 10)), SF: uint8(bits(w, 10, 4)),
			NUL: uint8(bits(w, 14, ulBits)), NDL: uint8(bits(w, 17, 3)),
		}
		if v.SF > maxSubframe {
			return malformed(p.Code, "subframe", int(v.SF))
		}
		b = b[b16cRecordLen:]
		if len(b) < int(v.NUL)*b16cUplinkLen+int(v.NDL)*b16cDownLen {
			return truncated(p.Code, "grants")
		}
		for v.Index = range v.NUL {
			v.read(b)
			fn(v)
			b = b[b16cUplinkLen:]
		}
		b = b[int(v.NDL)*b16cDownLen:]
	}
	if len(b) > 0 {
		return malformed(p.Code, "bytes after the records", len(b))
	}

	return nil
}

// read reads the uplink grant of versions 49 and 50.
func (v *B16C) read(b []byte) {
	w := binary.LittleEndian.Uint16(b)
	v.RNTI, v.NDI, v.HARQ = uint8(bits(w, 0, 3)), uint8(bits(w, 3, 1)), uint8(bits(w, 4, 3))
	v.TPC, v.Cell, v.ULIndex, v.Delay = uint8(bits(w, 7, 2)), uint8(bits(w, 9, 2)), uint8(bits(w, 11, 2)), uint8(bits(w, 13, 3))
	w = binary.LittleEndian.Uint16(b[2:])
	v.RV, v.MCS, v.ITBS = uint8(bits(w, 3, 2)), uint8(bits(w, 5, 5)), uint8(bits(w, 10, 6))
	v.Mod, v.CQIReq = bits(b[4], 0, 3), bits(b[4], 3, 3)
	v.SRS, v.RAType = b[4]>>6&1 != 0, b[4]>>7
	r := binary.LittleEndian.Uint32(b[5:])
	v.RBG, v.RB0, v.NRB = uint8(bits(r, 0, 3)), uint8(bits(r, 3, 7)), uint8(bits(r, 10, 7))
}

// walkB16CFixed reads versions 7 and 48, of which only a few fields are known.
func walkB16CFixed(p Packet, n, size int, fn func(B16C)) error {
	b := p.Body[b16cHeaderLen:]
	switch {
	case len(b) < n*size:
		return truncated(p.Code, "records")
	case len(b) > n*size:
		return malformed(p.Code, "bytes of records", len(b))
	}
	for ; len(b) > 0; b = b[size:] {
		w := binary.LittleEndian.Uint16(b)
		v := B16C{K: "b16c", Version: p.Body[0], SFN: bits(w, 0, 10), SF: uint8(bits(w, 10, 4))}
		if v.SF > maxSubframe {
			return malformed(p.Code, "subframe", int(v.SF))
		}
		if size == b16cV7Len {
			readB16CV7(&v, b)
		} else {
			v.NUL = uint8(bits(w, 14, 2))
			v.RV, v.MCS, v.ITBS, v.NRB = bits(b[7], 1, 2), b[7]>>3, b[8]&63, b[10]&127
		}
		if v.NUL > 0 {
			fn(v)
		}
	}

	return nil
}

// readB16CV7 reads a record of version 7: one grant, either way.
func readB16CV7(v *B16C, b []byte) {
	const uplink = 3
	if b[1]>>6 == uplink {
		v.NUL, v.RB0, v.NRB = 1, (b[7]<<1|b[6]>>7)&127, b[8]&127
	}
}

// parseB16C checks the packet; grants without a size are no records.
func parseB16C(p Packet, dst []Record) ([]Record, error) {
	return dst, WalkB16C(p, func(B16C) {})
}
