// SPDX-License-Identifier: MIT

package diag

import "errors"

// LCIDs of the uplink shared channel, TS 36.321 table 6.2.1-2.
const (
	lcidMaxSDU = 13 // 0..13 are channels: CCCH, 1..10 logical channels, CCCH variants
	// 20..25 are control elements of Release 12 and later; 22..25 have a
	// length of their own in the subheader, like an SDU.
	lcidBitRateQuery  = 20
	lcidSPSConfirm    = 21
	lcidVarCEMin      = 22
	lcidVarCEMax      = 25
	lcidPHR           = 26
	lcidCRNTI         = 27
	lcidTruncatedBSR  = 28
	lcidShortBSR      = 29
	lcidLongBSR       = 30
	lcidPadding       = 31
	maxMACSubheaders  = 255 // a header is at most 255 bytes long here
	extensionBit      = 0x20
	longLengthBit     = 0x40 // F2: 16-bit length
	wideLengthBit     = 0x80 // F: 15-bit length
	lcidMask          = 0x1F
	lteLCGs           = 4
	longBSRLen        = 3
	shortBSRLen       = 1
	lteIndexMask      = 0x3F
	lteShortBSRGShift = 6
)

var (
	errHeaderShort = errors.New("MAC header")
	errHeaderLong  = errors.New("MAC header length")
)

// bsrCE is a BSR control element as sent. Form 0 is none.
type bsrCE struct {
	form  Form
	lcgs  uint8
	index [MaxLCG]uint8
}

// parseMACHeader walks the subheaders of an uplink MAC PDU and the control
// elements behind them (TS 36.321 6.1.2) and returns the BSR, if any. The
// walk must end where h ends, which shows that the layout around it is right;
// only after a control element of unknown length is the rest left alone.
func parseMACHeader(h []byte) (bsrCE, error) {
	var (
		bsr bsrCE
		// ces are the LCIDs of the fixed-size control elements in order.
		ces  [maxMACSubheaders]uint8
		n    int
		pos  int
		more = true
	)
	for more {
		if pos >= len(h) || n == len(ces) {
			return bsr, errHeaderShort
		}
		b := h[pos]
		more = b&extensionBit != 0
		lcid := b & lcidMask
		pos++
		switch {
		case lcid <= lcidMaxSDU || lcid >= lcidVarCEMin && lcid <= lcidVarCEMax:
			if more {
				pos += lengthField(h, pos, b)
			}
			if lcid >= lcidVarCEMin {
				ces[n] = lcid
				n++
			}
		case lcid != lcidPadding:
			ces[n] = lcid
			n++
		}
	}
	for _, lcid := range ces[:n] {
		size := ceLen(lcid)
		if size < 0 {
			return bsr, nil
		}
		if pos+size > len(h) {
			return bsr, errHeaderShort
		}
		bsr.parse(lcid, h[pos:pos+size])
		pos += size
	}
	switch {
	case pos > len(h):
		return bsr, errHeaderShort
	case pos < len(h):
		return bsr, errHeaderLong
	}

	return bsr, nil
}

// lengthField returns the bytes of the length field at pos of a subheader that
// began with b, TS 36.321 6.1.2: F2 set 16 bits, else F set 15, F clear 7.
func lengthField(h []byte, pos int, b byte) int {
	if b&longLengthBit != 0 || pos < len(h) && h[pos]&wideLengthBit != 0 {
		return 2
	}

	return 1
}

// ceLen is the payload size of a control element, -1 when not known.
func ceLen(lcid uint8) int {
	switch lcid {
	case lcidSPSConfirm:
		return 0
	case lcidPHR, lcidTruncatedBSR, lcidShortBSR:
		return 1
	case lcidCRNTI, lcidBitRateQuery:
		return 2
	case lcidLongBSR:
		return longBSRLen
	default:
		return -1
	}
}

// parse reads a BSR payload, TS 36.321 6.1.3.1; other elements are passed over.
func (c *bsrCE) parse(lcid uint8, p []byte) {
	switch lcid {
	case lcidTruncatedBSR, lcidShortBSR:
		g := p[0] >> lteShortBSRGShift
		*c = bsrCE{form: FormShort, lcgs: 1 << g}
		if lcid == lcidTruncatedBSR {
			c.form = FormTruncated
		}
		c.index[g] = p[0] & lteIndexMask
	case lcidLongBSR:
		v := uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])
		*c = bsrCE{form: FormLong, lcgs: 1<<lteLCGs - 1}
		for g := range lteLCGs {
			c.index[g] = uint8(v>>(18-6*g)) & lteIndexMask
		}
	}
}

// appendMACHeader appends subheaders and control elements of a PDU of size
// bytes with an optional BSR, one SDU of what remains, and padding.
func appendMACHeader(dst []byte, bsr bsrCE, size, padding int) []byte {
	const (
		channel   = 3 // a data channel
		sduHeader = 3 // with a 15-bit length
	)
	var (
		ce     [longBSRLen]byte
		id     uint8
		ceSize int
	)
	if bsr.form != 0 {
		id, ceSize = bsr.put(&ce)
	}
	sdu := size - padding - (1 + ceSize) - sduHeader - 1
	hasPadding := padding > 0
	hasSDU := sdu > 0 || bsr.form == 0 && !hasPadding
	if bsr.form != 0 {
		dst = append(dst, id|extension(hasSDU || hasPadding))
	}
	if hasSDU {
		dst = append(dst, channel|extension(hasPadding))
		if hasPadding {
			dst = append(dst, wideLengthBit|byte(sdu>>8)&0x7F, byte(sdu))
		}
	}
	if hasPadding {
		dst = append(dst, lcidPadding)
	}

	return append(dst, ce[:ceSize]...)
}

func extension(more bool) uint8 {
	if more {
		return extensionBit
	}

	return 0
}

// put writes the element's payload.
func (c *bsrCE) put(p *[longBSRLen]byte) (lcid uint8, size int) {
	if c.form == FormLong {
		var v uint32
		for g := range lteLCGs {
			v |= uint32(c.index[g]&lteIndexMask) << (18 - 6*g)
		}
		p[0], p[1], p[2] = byte(v>>16), byte(v>>8), byte(v)

		return lcidLongBSR, longBSRLen
	}
	for g := range lteLCGs {
		if c.lcgs == 1<<g {
			p[0] = byte(g)<<lteShortBSRGShift | c.index[g]&lteIndexMask
		}
	}
	if c.form == FormTruncated {
		return lcidTruncatedBSR, shortBSRLen
	}

	return lcidShortBSR, shortBSRLen
}
