// SPDX-License-Identifier: MIT

package diag

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

func randomGrant(rng *rand.Rand) Record {
	return Record{
		Kind: KindGrant, RAT: LTE, TTI: rng.IntN(ttiWrap), Cell: rng.IntN(4),
		Bytes: 1 + rng.IntN(1+rng.IntN(65535)),
	}
}

func randomBSR(rng *rand.Rand, g Record) Record {
	r := Record{
		Kind: KindBSR, RAT: LTE, TTI: g.TTI, Cell: g.Cell,
		Form: Form(1 + rng.IntN(3)), Trigger: Trigger(rng.IntN(5)),
	}
	if r.Form == FormLong {
		r.LCGs = 15
		for i := range lteLCGs {
			r.Index[i] = uint8(rng.IntN(64))
		}
	} else {
		lcg := rng.IntN(lteLCGs)
		r.LCGs, r.Index[lcg] = 1<<lcg, uint8(rng.IntN(64))
	}

	return r
}

// What is encoded is decoded, fields that a format lacks aside.
func TestEncodeRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	check := func(code LogCode, body []byte, err error, want []Record) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i].Code, want[i].Logged, want[i].Radio = code, 42, 1
		}
		frame := AppendLog(AppendRadio(nil, 1), code, 42, body)
		var d Decoder
		d.Write(AppendHDLC(nil, frame))
		got, err := d.Next(nil)
		if errors.Is(err, ErrMore) && len(want) == 0 && d.Stats().Codes[0].Err == nil {
			return
		}
		if err != nil {
			t.Fatalf("%v; %+v", err, d.Stats())
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%v:\n got %+v\nwant %+v", code, got, want)
		}
	}
	for range 2000 {
		var recs []Record
		pci := rng.IntN(504)
		for range rng.IntN(b139MaxRecords + 1) {
			r := randomGrant(rng)
			r.Retx, r.PCI, r.HasPCI = rng.IntN(8), pci, true
			recs = append(recs, r)
		}
		body, err := AppendB139(nil, recs...)
		check(LogB139, body, err, recs)

		recs = nil
		for range rng.IntN(30) {
			r := randomGrant(rng)
			r.Padding = rng.IntN(2) * rng.IntN(r.Bytes+1)
			recs = append(recs, r)
			if rng.IntN(2) == 0 {
				recs = append(recs, randomBSR(rng, r))
			}
		}
		body, err = AppendB064(nil, recs...)
		check(LogB064, body, err, recs)

		config := Record{
			Kind: KindConfig, RAT: LTE,
			PeriodicBSR: time.Duration(rng.IntN(65535)) * time.Millisecond,
			RetxBSR:     time.Duration(rng.IntN(65536)) * time.Millisecond,
		}
		if rng.IntN(4) == 0 {
			config.PeriodicBSR = Infinite
		}
		body, err = AppendB060(nil, config)
		check(LogB060, body, err, []Record{config})
	}
}

func TestEncodeRefuses(t *testing.T) {
	grant := Record{Kind: KindGrant, TTI: 1, Bytes: 100}
	change := func(fn func(r *Record)) Record {
		r := grant
		fn(&r)

		return r
	}
	bsr := Record{Kind: KindBSR, TTI: 1, Form: FormShort, LCGs: 1}
	wrongTTI, twoGroups, bigIndex, nrForm := bsr, bsr, bsr, bsr
	wrongTTI.TTI = 2
	twoGroups.LCGs = 3
	bigIndex.Index[0] = 64
	nrForm.Form = FormLongTruncated
	many := make([]Record, 256)
	for i := range many {
		many[i] = grant
	}
	prefix := []byte{1, 2}
	for name, got := range map[string]func() ([]byte, error){
		"b139 32 records": func() ([]byte, error) { return AppendB139(prefix, many[:32]...) },
		"b139 bsr":        func() ([]byte, error) { return AppendB139(prefix, bsr) },
		"b139 tti":        func() ([]byte, error) { return AppendB139(prefix, change(func(r *Record) { r.TTI = 10240 })) },
		"b139 size":       func() ([]byte, error) { return AppendB139(prefix, change(func(r *Record) { r.Bytes = 65536 })) },
		"b139 no size":    func() ([]byte, error) { return AppendB139(prefix, change(func(r *Record) { r.Bytes = 0 })) },
		"b139 cell":       func() ([]byte, error) { return AppendB139(prefix, change(func(r *Record) { r.Cell = 4 })) },
		"b139 pci":        func() ([]byte, error) { return AppendB139(prefix, change(func(r *Record) { r.PCI = 512 })) },
		"b064 256 grants": func() ([]byte, error) { return AppendB064(prefix, many...) },
		"b064 bsr alone":  func() ([]byte, error) { return AppendB064(prefix, bsr) },
		"b064 retx":       func() ([]byte, error) { return AppendB064(prefix, change(func(r *Record) { r.Retx = 1 })) },
		"b064 other tti":  func() ([]byte, error) { return AppendB064(prefix, grant, wrongTTI) },
		"b064 two groups": func() ([]byte, error) { return AppendB064(prefix, grant, twoGroups) },
		"b064 index":      func() ([]byte, error) { return AppendB064(prefix, grant, bigIndex) },
		"b064 nr form":    func() ([]byte, error) { return AppendB064(prefix, grant, nrForm) },
		"b060 grant":      func() ([]byte, error) { return AppendB060(prefix, grant) },
		"b060 negative":   func() ([]byte, error) { return AppendB060(prefix, Record{Kind: KindConfig, RetxBSR: -time.Second}) },
		"b060 65535 ms": func() ([]byte, error) {
			return AppendB060(prefix, Record{Kind: KindConfig, PeriodicBSR: 65535 * time.Millisecond})
		},
	} {
		if b, err := got(); !errors.Is(err, ErrNotEncodable) || len(b) != len(prefix) {
			t.Errorf("%s: %d bytes, %v, want ErrNotEncodable and nothing appended", name, len(b), err)
		}
	}
}

func TestStrings(t *testing.T) {
	for got, want := range map[string]string{
		LogB139.String():           "0xB139",
		LogCode(0x1F).String():     "0x001F",
		KindGrant.String():         "grant",
		Kind(9).String():           "kind(9)",
		FormLongTruncated.String(): "long_truncated",
		Form(0).String():           "form(0)",
		TriggerRetx.String():       "retx",
		Trigger(9).String():        "trigger(9)",
		NR.String():                "nr",
		RAT(0).String():            "rat(0)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, code := range Codes() {
		if parserOf(code) == nil {
			t.Errorf("%v is listed without a parser", code)
		}
	}
}
