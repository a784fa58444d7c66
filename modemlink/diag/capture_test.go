// SPDX-License-Identifier: MIT

package diag

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

// expected is a line of golden.jsonl, decoded by other tools.
type expected struct {
	File string
	K    string
	TS   uint64

	SFN, SF, RNTI, Grant, Pad int
	BSREvent                  uint8 `json:"bsr_event"`
	BSRTrig                   uint8 `json:"bsr_trig"`
	BSR                       []struct {
		CE  string
		LCG int
		Idx []uint8
	}

	PCI, TTI, Carrier, Retx, TBS int

	PeriodicBSR int `json:"periodic_bsr"`
	RetxBSR     int `json:"retx_bsr"`
}

// records are what the line must decode to.
func (e expected) records(tb testing.TB) []Record {
	tb.Helper()
	base := Record{RAT: LTE, Logged: Timestamp(e.TS)}
	switch e.K {
	case "b139":
		base.Code, base.Kind = LogB139, KindGrant
		base.PCI, base.HasPCI, base.TTI, base.Cell, base.Retx, base.Bytes = e.PCI, true, e.TTI, e.Carrier, e.Retx, e.TBS
		if e.TBS == 0 {
			return nil
		}

		return []Record{base}
	case "b060":
		base.Code, base.Kind = LogB060, KindConfig
		base.PeriodicBSR = time.Duration(e.PeriodicBSR) * time.Millisecond
		if e.PeriodicBSR == 65535 {
			base.PeriodicBSR = Infinite
		}
		base.RetxBSR = time.Duration(e.RetxBSR) * time.Millisecond

		return []Record{base}
	case "b064":
		if e.RNTI > 1 {
			return nil
		}
		base.Code, base.TTI = LogB064, e.SFN*10+e.SF
		grant := base
		grant.Kind, grant.Bytes, grant.Padding = KindGrant, e.Grant, e.Pad
		out := []Record{grant}
		for _, b := range e.BSR {
			r := base
			r.Kind = KindBSR
			switch b.CE {
			case "long":
				r.Form, r.LCGs = FormLong, 15
				copy(r.Index[:], b.Idx)
			case "short", "trunc":
				r.Form, r.LCGs = FormShort, 1<<b.LCG
				if b.CE == "trunc" {
					r.Form = FormTruncated
				}
				r.Index[b.LCG] = b.Idx[0]
			default:
				tb.Fatalf("CE %q", b.CE)
			}
			switch {
			case e.BSRTrig >= 4:
				r.Trigger = TriggerPadding
			case e.BSREvent == 1:
				r.Trigger = TriggerPeriodic
			case e.BSREvent == 2:
				r.Trigger = TriggerRegular
			case e.BSREvent == 3:
				r.Trigger = TriggerRetx
			}
			out = append(out, r)
		}

		return out
	default:
		return nil
	}
}

// Real captures decode to what other tools read from them: records in the same
// order, the first 40 of each kind and file.
func TestCapturesGolden(t *testing.T) {
	want := map[string]map[LogCode][]Record{}
	lines := 0
	scanner := bufio.NewScanner(bytes.NewReader(readFile(t, dataset.File(t, "diag", "golden.jsonl"))))
	for scanner.Scan() {
		var e expected
		if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		for _, r := range e.records(t) {
			if want[e.File] == nil {
				want[e.File] = map[LogCode][]Record{}
			}
			want[e.File][r.Code] = append(want[e.File][r.Code], r)
		}
		if e.K == "b060" || e.K == "b064" || e.K == "b139" {
			lines++
		}
	}
	if lines != 165 {
		t.Errorf("%d lines of B060, B064 and B139, want 165", lines)
	}
	for _, name := range captures() {
		file := name + ".hdlc"
		got := map[LogCode][]Record{}
		for _, p := range packets(t, readFile(t, dataset.File(t, "diag", file))) {
			recs, err := ParseLog(p, nil)
			var unsupported *UnsupportedCodeError
			if err != nil && !errors.As(err, &unsupported) {
				t.Errorf("%s: %v", file, err)
			}
			for _, r := range recs {
				if r.Radio != p.Radio {
					t.Errorf("%s: radio %d, want %d", file, r.Radio, p.Radio)
				}
				r.Radio = 0 // not in golden.jsonl
				got[r.Code] = append(got[r.Code], r)
			}
		}
		for code, recs := range want[file] {
			if len(got[code]) < len(recs) {
				t.Errorf("%s %v: %d records, want at least %d", file, code, len(got[code]), len(recs))

				continue
			}
			for i, r := range recs {
				if got[code][i] != r {
					t.Errorf("%s %v record %d:\n got %+v\nwant %+v", file, code, i, got[code][i], r)
				}
			}
		}
	}
}

// On a phone that logs both, each B064 grant equals the first transmission of
// B139 in the same TTI.
func TestCapturesSourcesAgree(t *testing.T) {
	for _, name := range []string{"mi_att_iphone", "mi_pixel5"} {
		sizes := map[int]int{}
		var b064 []Record
		for _, p := range packets(t, readFile(t, dataset.File(t, "diag", name+".hdlc"))) {
			recs, _ := ParseLog(p, nil)
			for _, r := range recs {
				switch {
				case r.Kind != KindGrant || r.Retx != 0:
				case r.Code == LogB139:
					sizes[r.TTI] = r.Bytes
				case r.Code == LogB064:
					b064 = append(b064, r)
				}
			}
		}
		both := 0
		for _, r := range b064 {
			if bytes, ok := sizes[r.TTI]; ok {
				both++
				if bytes != r.Bytes {
					t.Errorf("%s TTI %d: B139 %d bytes, B064 %d bytes", name, r.TTI, bytes, r.Bytes)
				}
			}
		}
		if both < 4 {
			t.Errorf("%s: %d TTIs in both, want at least 4", name, both)
		}
	}
}

// A grant that DCI told at n is on air at n+4, as wide as told.
func TestCapturesDCIMeetsTransmission(t *testing.T) {
	for name, least := range map[string]int{"mi_att_iphone": 4, "mi_pixel5": 3} {
		sent := map[int]uint8{}
		var told []B16C
		for _, p := range packets(t, readFile(t, dataset.File(t, "diag", name+".hdlc"))) {
			details, err := Details(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range details {
				switch v := d.(type) {
				case B139:
					sent[int(v.TTI)] = v.NRB
				case B16C:
					told = append(told, v)
				}
			}
		}
		both := 0
		for _, g := range told {
			if nrb, ok := sent[(int(g.SFN)*10+int(g.SF)+4)%ttiWrap]; ok {
				both++
				if nrb != g.NRB {
					t.Errorf("%s %d.%d: told %d blocks, sent %d", name, g.SFN, g.SF, g.NRB, nrb)
				}
			}
		}
		if both < least {
			t.Errorf("%s: %d grants in both, want at least %d", name, both, least)
		}
	}
}

// The samples of B066 are one millisecond apart, which is what gives those
// without a time theirs.
func TestCapturesBufferTimes(t *testing.T) {
	pairs, fit, timed, idle := 0, 0, 0, 0
	for _, name := range captures() {
		for _, p := range packets(t, readFile(t, dataset.File(t, "diag", name+".hdlc"))) {
			if p.Code != LogB066 {
				continue
			}
			last, lastAge := -1, 0
			if err := WalkB066(p, func(v B066) {
				if v.SFN == 1023 && v.SF == 15 {
					idle++
					if v.TTI >= 0 {
						timed++
					}

					return
				}
				tti := int(v.SFN)*10 + int(v.SF)
				if v.TTI != tti {
					t.Errorf("%s: TTI %d, want %d", name, v.TTI, tti)
				}
				if last >= 0 {
					pairs++
					if (tti-last+ttiWrap)%ttiWrap == lastAge-v.AgeMs {
						fit++
					}
				}
				last, lastAge = tti, v.AgeMs
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if pairs < 200 || fit < pairs*98/100 {
		t.Errorf("%d of %d neighbours fit, want 98 %% of at least 200", fit, pairs)
	}
	if timed == 0 || timed > idle {
		t.Errorf("%d of %d idle samples have a time", timed, idle)
	}
}

// The queue of a KindBuffer record is the sum over the channels of its sample.
func TestCapturesBufferSums(t *testing.T) {
	filled := 0
	for _, name := range captures() {
		for _, p := range packets(t, readFile(t, dataset.File(t, "diag", name+".hdlc"))) {
			if p.Code != LogB066 {
				continue
			}
			recs, err := ParseLog(p, nil)
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			_ = WalkB066(p, func(v B066) { // ParseLog has walked it without an error
				r, all, signalling := recs[i], 0, 0
				for c := range v.Channels.Len() {
					ch := v.Channels.At(c)
					all += ch.Total()
					if ch.LCID <= 2 {
						signalling += ch.Total()
					}
				}
				if r.Queued != all || r.Signalling != signalling || r.TTI != v.TTI || r.AgeMs != v.AgeMs {
					t.Errorf("%s: %+v, want %d bytes queued, %d of signalling", name, r, all, signalling)
				}
				if all > 0 {
					filled++
				}
				i++
			})
		}
	}
	if filled < 1000 {
		t.Errorf("%d samples with a queue, want at least 1000", filled)
	}
}
