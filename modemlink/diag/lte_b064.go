// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"encoding/json"
)

// B064 is one sample of log code 0xB064, LTE uplink transport blocks: a new
// transmission with the MAC header as sent. A batch is 25 samples or about
// 102 ms. It gives a KindGrant record and, when the header has a BSR, a KindBSR
// record after it.
//
// 16 bits hold every LTE transport block (at most about 12 kB a carrier).
type B064 struct {
	K          string `json:"k"`
	SubVersion uint8  `json:"subver"`
	// Index is the sub id and Cell the carrier, both 0 in sub-version 1.
	Index uint8  `json:"sub_id"`
	Cell  uint8  `json:"cell"`
	SFN   uint16 `json:"sfn"`
	SF    uint8  `json:"sf"`
	HARQ  uint8  `json:"harq"`
	// RNTI is 0 C, 1 SPS, 2 P, 3 RA, 4 temporary C, 5 SI, 6 and 7 TPC, 8 MBMS.
	// Only blocks of the first two are the phone's own traffic.
	RNTI uint8 `json:"rnti"`
	// Grant is the transport block and Padding what of it was padding, bytes.
	Grant   uint16 `json:"grant"`
	RLCPDUs uint8  `json:"rlc_pdus"`
	Padding uint16 `json:"pad"`
	// BSREvent is why a BSR was made: 0 none, 1 periodic, 2 data of a higher
	// priority, 3 the retransmission timer. BSRTrigger is the form that the
	// phone first chose: 0 none, 1 cancelled, 2 long, 3 short, 4 to 6 padding
	// long, short, truncated. The form on air is BSR's.
	BSREvent   uint8 `json:"bsr_event"`
	BSRTrigger uint8 `json:"bsr_trig"`
	// Header is the MAC header with its control elements, TS 36.321 6.1.2.
	Header Hex `json:"hdr"`
	// BSR is the BSR that the header holds.
	BSR B064BSR `json:"bsr"`
}

// B064BSR is a BSR control element, or none when Form is 0. JSON has a list of
// none or one.
type B064BSR struct {
	Form Form
	// LCGs is the bit set of the groups that Index holds.
	LCGs  uint8
	Index [lteLCGs]uint8
}

// MarshalJSON gives the element as {"ce", "lcg", "idx"}: all four indices of a
// long one, the group and its index of the others.
func (b B064BSR) MarshalJSON() ([]byte, error) {
	type element struct {
		CE  string `json:"ce"`
		LCG *int   `json:"lcg,omitempty"`
		Idx []int  `json:"idx"`
	}
	out := []element{}
	switch b.Form {
	case FormLong:
		e := element{CE: "long"}
		for _, idx := range b.Index {
			e.Idx = append(e.Idx, int(idx))
		}
		out = append(out, e)
	case FormShort, FormTruncated:
		e := element{CE: "short"}
		if b.Form == FormTruncated {
			e.CE = "trunc"
		}
		for g, idx := range b.Index {
			if b.LCGs>>g&1 != 0 {
				e.LCG, e.Idx = &g, []int{int(idx)}
			}
		}
		out = append(out, e)
	case FormLongTruncated: // NR has it
	}

	return json.Marshal(out)
}

const (
	b064ID         = 8
	rntiC, rntiSPS = 0, 1
)

// b064Layout places the fields of a sample; -1 is not there. The MAC header
// follows at offset size.
type b064Layout struct{ index, cell, harq, rnti, time, grant, pdus, padding, event, trigger, header, size int }

func b064LayoutOf(sub uint8) (b064Layout, bool) {
	// shift is the bytes in front of the fields that all versions have.
	shift, index, cell := 0, -1, -1
	switch sub {
	case 1:
	case 2, 3, 5, 8:
		shift, index, cell = 2, 0, 1
	case 7:
		shift, cell = 1, 0
	default:
		return b064Layout{}, false
	}

	return b064Layout{
		index: index, cell: cell, harq: shift, rnti: shift + 1, time: shift + 2, grant: shift + 4, pdus: shift + 6,
		padding: shift + 7, event: shift + 9, trigger: shift + 10, header: shift + 11, size: shift + 12,
	}, true
}

// WalkB064 calls fn for each sample of a B064 packet.
func WalkB064(p Packet, fn func(B064)) error {
	return macSubs(p, b064ID, func(s macSub) error { return walkB064Sub(p, s, fn) })
}

func walkB064Sub(p Packet, s macSub, fn func(B064)) error {
	l, ok := b064LayoutOf(s.version)
	if !ok {
		return unsupportedSub(p, s)
	}
	if len(s.body) < 1 {
		return truncated(p.Code, "number of samples")
	}
	n, b := int(s.body[0]), s.body[1:]
	for range n {
		if len(b) < l.size {
			return truncated(p.Code, "sample")
		}
		size := l.size + int(b[l.header])
		if len(b) < size {
			return truncated(p.Code, "MAC header")
		}
		v := B064{K: "b064", SubVersion: s.version}
		if err := v.read(p, &l, b[:size]); err != nil {
			return err
		}
		fn(v)
		b = b[size:]
	}
	if len(b) > macPad {
		return malformed(p.Code, "bytes after the samples", len(b))
	}

	return nil
}

// read reads one sample with its MAC header.
func (v *B064) read(p Packet, l *b064Layout, b []byte) error {
	if l.index >= 0 {
		v.Index = b[l.index]
	}
	if l.cell >= 0 {
		v.Cell = b[l.cell]
	}
	v.HARQ, v.RNTI = b[l.harq], b[l.rnti]
	v.SFN, v.SF = sfnSubframe(binary.LittleEndian.Uint16(b[l.time:]))
	v.Grant = binary.LittleEndian.Uint16(b[l.grant:])
	v.RLCPDUs = b[l.pdus]
	v.Padding = binary.LittleEndian.Uint16(b[l.padding:])
	v.BSREvent, v.BSRTrigger = b[l.event], b[l.trigger]
	v.Header = b[l.size:]
	if v.SF > maxSubframe {
		return malformed(p.Code, "subframe", int(v.SF))
	}
	bsr, err := parseMACHeader(v.Header)
	if err != nil {
		return malformed(p.Code, err.Error(), len(v.Header))
	}
	v.BSR = B064BSR{Form: bsr.form, LCGs: bsr.lcgs, Index: [lteLCGs]uint8(bsr.index[:])}

	return nil
}

func parseB064(p Packet, dst []Record) ([]Record, error) {
	err := WalkB064(p, func(v B064) {
		if v.RNTI != rntiC && v.RNTI != rntiSPS {
			return
		}
		r := Record{
			Code: p.Code, RAT: LTE, Radio: p.Radio, Logged: p.Logged,
			TTI: int(v.SFN)*10 + int(v.SF), Cell: int(v.Cell),
		}
		if v.Grant > 0 {
			dst = append(dst, r)
			grant := &dst[len(dst)-1]
			grant.Kind, grant.Bytes, grant.Padding = KindGrant, int(v.Grant), int(v.Padding)
		}
		if v.BSR.Form != 0 {
			r.Kind, r.Form, r.LCGs, r.Trigger = KindBSR, v.BSR.Form, v.BSR.LCGs, b064Trigger(v.BSREvent, v.BSRTrigger)
			copy(r.Index[:], v.BSR.Index[:])
			dst = append(dst, r)
		}
	})

	return dst, err
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
