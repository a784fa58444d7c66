// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrNotEncodable is records that the format cannot hold.
var ErrNotEncodable = errors.New("diag: not encodable")

const b139EncodeVersion = 102

// AppendB139 appends the body of a B139 packet, version 102, with grants; at
// most 31, all of one PCI (the first one's). Fields of Record that B139 does
// not have are not kept.
func AppendB139(dst []byte, recs ...Record) ([]byte, error) {
	size, _ := b139LayoutOf(b139EncodeVersion)
	if len(recs) > b139MaxRecords {
		return dst, fmt.Errorf("%w: B139 with %d records", ErrNotEncodable, len(recs))
	}
	pci, tti := 0, 0
	for i, r := range recs {
		switch {
		case r.Kind != KindGrant, r.TTI < 0, r.TTI >= ttiWrap, r.Bytes <= 0, r.Bytes > math.MaxUint16,
			r.Cell < 0, r.Cell > 3, r.Retx < 0, r.Retx > 31, r.PCI < 0, r.PCI > 511:
			return dst, fmt.Errorf("%w: B139 record %d", ErrNotEncodable, i)
		}
		tti = r.TTI
	}
	if len(recs) > 0 {
		pci = recs[0].PCI
	}
	dst = append(dst, b139EncodeVersion)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(pci|len(recs)<<9))
	dst = append(dst, 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(tti))
	dst = append(dst, 0, 0)
	for _, r := range recs {
		at := len(dst)
		dst = append(dst, make([]byte, size)...)
		b := dst[at:]
		binary.LittleEndian.PutUint16(b, uint16(r.TTI))
		binary.LittleEndian.PutUint16(b[2:], uint16(r.Cell|r.Retx<<7))
		binary.LittleEndian.PutUint16(b[8:], uint16(r.Bytes))
	}

	return dst, nil
}

const b064EncodeSub = 2

// AppendB064 appends the body of a B064 packet, sub-version 2. recs are grants,
// each followed by the BSR of its TTI if there was one; at most 255 grants.
// Fields of Record that B064 does not have are not kept.
func AppendB064(dst []byte, recs ...Record) ([]byte, error) {
	l, _ := b064LayoutOf(b064EncodeSub)
	start := len(dst)
	dst = append(dst, macVersion, 1, 0, 0, b064ID, b064EncodeSub, 0, 0, 0)
	n := 0
	for i := 0; i < len(recs); i++ {
		g := recs[i]
		var bsr bsrCE
		var event, format uint8
		ok := g.Kind == KindGrant && g.TTI >= 0 && g.TTI < ttiWrap && g.Bytes > 0 && g.Bytes <= math.MaxUint16 &&
			g.Padding >= 0 && g.Padding <= math.MaxUint16 && g.Cell >= 0 && g.Cell <= math.MaxUint8 && g.Retx == 0
		if i+1 < len(recs) && recs[i+1].Kind == KindBSR {
			r := recs[i+1]
			ok = ok && r.TTI == g.TTI && r.Cell == g.Cell && validLTEBSR(r)
			bsr = bsrCE{form: r.Form, lcgs: r.LCGs, index: r.Index}
			event, format = b064Fields(r.Trigger, r.Form)
			i++
		}
		if !ok {
			return dst[:start], fmt.Errorf("%w: B064 record %d", ErrNotEncodable, i)
		}
		at := len(dst)
		dst = append(dst, make([]byte, l.size)...)
		dst = appendMACHeader(dst, bsr, g.Bytes, g.Padding)
		b := dst[at:]
		b[l.cell] = byte(g.Cell)
		binary.LittleEndian.PutUint16(b[l.time:], putSFN(g.TTI))
		binary.LittleEndian.PutUint16(b[l.grant:], uint16(g.Bytes))
		b[l.grant+2] = 1 // RLC PDUs
		binary.LittleEndian.PutUint16(b[l.padding:], uint16(g.Padding))
		b[l.event], b[l.trigger], b[l.header] = event, format, byte(len(b)-l.size)
		n++
	}
	if n > math.MaxUint8 {
		return dst[:start], fmt.Errorf("%w: B064 with %d grants", ErrNotEncodable, n)
	}
	for (len(dst)-start)%4 != 0 {
		dst = append(dst, 0)
	}
	binary.LittleEndian.PutUint16(dst[start+6:], uint16(len(dst)-start-macHeaderLen))
	dst[start+8] = byte(n)

	return dst, nil
}

// validLTEBSR tells whether a BSR control element can hold the record.
func validLTEBSR(r Record) bool {
	for _, idx := range r.Index {
		if idx > lteIndexMask {
			return false
		}
	}
	switch r.Form {
	case FormLong:
		return r.LCGs == 1<<lteLCGs-1
	case FormShort, FormTruncated:
		return r.LCGs == 1 || r.LCGs == 2 || r.LCGs == 4 || r.LCGs == 8
	case FormLongTruncated:
	}

	return false
}

// AppendB060 appends the body of a B060 packet with the BSR timers of a
// KindConfig record, whole milliseconds below 65535.
func AppendB060(dst []byte, r Record) ([]byte, error) {
	periodic := r.PeriodicBSR / time.Millisecond
	if r.PeriodicBSR == Infinite {
		periodic = b060Infinite
	} else if periodic >= b060Infinite {
		periodic = -1
	}
	retx := r.RetxBSR / time.Millisecond
	if r.Kind != KindConfig || periodic < 0 || retx < 0 || retx > math.MaxUint16 {
		return dst, fmt.Errorf("%w: B060", ErrNotEncodable)
	}
	const sub, size = 1, 16 // 9 bytes used, 3 of alignment
	at := len(dst) + macHeaderLen + macSubHeaderLen
	dst = append(dst, macVersion, 1, 0, 0, b060ID, sub, size, 0)
	dst = append(dst, make([]byte, size-macSubHeaderLen)...)
	binary.LittleEndian.PutUint16(dst[at+3:], uint16(periodic))
	binary.LittleEndian.PutUint16(dst[at+7:], uint16(retx))

	return dst, nil
}
