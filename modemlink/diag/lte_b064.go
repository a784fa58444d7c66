// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// B064, LTE uplink transport blocks: one sample per new transmission, with the
// MAC header as sent. A batch is 25 samples or about 102 ms. Each sample is a
// KindGrant record and, when the header has a BSR, a KindBSR record after it.
//
// u16 grants hold every LTE transport block (at most about 12 kB a carrier).
const (
	b064ID = 8
	// RNTI types: only blocks for the phone itself are its own traffic.
	rntiC, rntiSPS = 0, 1
	// b064Pad is the most alignment bytes at a sub-packet's end.
	b064Pad = 3
)

// b064Layout places the fields of a sample; -1 is not there. The MAC header
// follows at offset size.
type b064Layout struct{ cell, rnti, time, grant, padding, event, trigger, header, size int }

func b064LayoutOf(sub uint8) (b064Layout, bool) {
	switch sub {
	case 1:
		return b064Layout{cell: -1, rnti: 1, time: 2, grant: 4, padding: 7, event: 9, trigger: 10, header: 11, size: 12}, true
	case 2, 3, 5, 8:
		return b064Layout{cell: 1, rnti: 3, time: 4, grant: 6, padding: 9, event: 11, trigger: 12, header: 13, size: 14}, true
	case 7:
		return b064Layout{cell: 0, rnti: 2, time: 3, grant: 5, padding: 8, event: 10, trigger: 11, header: 12, size: 13}, true
	default:
		return b064Layout{}, false
	}
}

func parseB064(p Packet, dst []Record) ([]Record, error) { return macSubs(p, dst, parseB064Sub) }

func parseB064Sub(p Packet, s macSub, dst []Record) ([]Record, error) {
	if s.id != b064ID {
		return dst, nil
	}
	l, ok := b064LayoutOf(s.version)
	if !ok {
		return dst, &UnsupportedVersionError{Code: p.Code, Version: uint32(s.version), Sub: true}
	}
	if len(s.body) < 1 {
		return dst, truncated(p.Code, "number of samples")
	}
	n, b := int(s.body[0]), s.body[1:]
	for range n {
		if len(b) < l.size {
			return dst, truncated(p.Code, "sample")
		}
		size := l.size + int(b[l.header])
		if len(b) < size {
			return dst, truncated(p.Code, "MAC header")
		}
		var err error
		if dst, err = l.parse(p, b[:size], dst); err != nil {
			return dst, err
		}
		b = b[size:]
	}
	if len(b) > b064Pad {
		return dst, malformed(p.Code, "bytes after the samples", len(b))
	}

	return dst, nil
}

// parse reads one sample with its MAC header.
func (l b064Layout) parse(p Packet, b []byte, dst []Record) ([]Record, error) {
	if b[l.rnti] != rntiC && b[l.rnti] != rntiSPS {
		return dst, nil
	}
	sfn := binary.LittleEndian.Uint16(b[l.time:])
	tti, ok := sfnSubframe(sfn)
	if !ok {
		return dst, malformed(p.Code, "subframe", int(sfn&15))
	}
	bsr, err := parseMACHeader(b[l.size:])
	if err != nil {
		return dst, malformed(p.Code, err.Error(), int(b[l.header]))
	}
	r := Record{Code: p.Code, RAT: LTE, Radio: p.Radio, Logged: p.Logged, TTI: tti}
	if l.cell >= 0 {
		r.Cell = int(b[l.cell])
	}
	grant := r
	grant.Kind = KindGrant
	grant.Bytes = int(binary.LittleEndian.Uint16(b[l.grant:]))
	grant.Padding = int(binary.LittleEndian.Uint16(b[l.padding:]))
	if grant.Bytes > 0 {
		dst = append(dst, grant)
	}
	if bsr.form == 0 {
		return dst, nil
	}
	r.Kind, r.Form, r.LCGs, r.Index = KindBSR, bsr.form, bsr.lcgs, bsr.index
	r.Trigger = b064Trigger(b[l.event], b[l.trigger])

	return append(dst, r), nil
}

// Values of the BSR event and of the BSR "trigger", which is the format that
// the phone first chose. The format on air is the control element's.
const (
	b064EventNone     = 0
	b064EventPeriodic = 1
	b064EventData     = 2
	b064EventRetx     = 3

	b064Long             = 2
	b064Short            = 3
	b064PaddingLong      = 4
	b064PaddingShort     = 5
	b064PaddingTruncated = 6
)

// b064Trigger maps the two fields. A padding BSR carries the event of the last
// BSR, so the format is looked at first.
func b064Trigger(event, format uint8) Trigger {
	if format >= b064PaddingLong && format <= b064PaddingTruncated {
		return TriggerPadding
	}
	switch event {
	case b064EventPeriodic:
		return TriggerPeriodic
	case b064EventData:
		return TriggerRegular
	case b064EventRetx:
		return TriggerRetx
	default:
		return TriggerUnknown
	}
}

// b064Fields is its inverse.
func b064Fields(t Trigger, f Form) (event, format uint8) {
	if t == TriggerPadding {
		switch f {
		case FormLong:
			return b064EventNone, b064PaddingLong
		case FormTruncated, FormLongTruncated:
			return b064EventNone, b064PaddingTruncated
		case FormShort:
			return b064EventNone, b064PaddingShort
		}
	}
	format = b064Short
	if f == FormLong {
		format = b064Long
	}
	switch t {
	case TriggerPeriodic:
		return b064EventPeriodic, format
	case TriggerRegular:
		return b064EventData, format
	case TriggerRetx:
		return b064EventRetx, format
	case TriggerUnknown, TriggerPadding:
	}

	return b064EventNone, format
}
