// SPDX-License-Identifier: MIT

package diag

import (
	"errors"
	"slices"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

// feed writes a stream in pieces and returns all records.
func feed(d *Decoder, stream []byte) []Record {
	var recs []Record
	for chunk := range slices.Chunk(stream, 4096) {
		d.Write(chunk)
		for {
			var err error
			if recs, err = d.Next(recs); errors.Is(err, ErrMore) {
				break
			}
		}
	}

	return recs
}

// checkSums holds that the counters account for every frame and packet.
func checkSums(tb testing.TB, s Stats) {
	tb.Helper()
	if got := s.Logs + s.Other + s.Encrypted + s.Malformed; got != s.Frames {
		tb.Errorf("%d frames accounted for, %d seen", got, s.Frames)
	}
	packets := s.Uncounted
	for _, c := range s.Codes {
		packets += c.Packets
		if c.Unsupported+c.Bad > c.Packets || (c.Unsupported+c.Bad > 0) != (c.Err != nil) {
			tb.Errorf("%+v", c)
		}
	}
	if packets != s.Logs+s.Encrypted {
		tb.Errorf("%d packets by code, %d seen", packets, s.Logs+s.Encrypted)
	}
}

// Nothing in the captures is skipped without being counted, and nothing at all is
// unknown, bad or of a version that was not checked.
func TestCapturesAreAccountedFor(t *testing.T) {
	total := 0
	for _, name := range captures() {
		stream := readFile(t, dataset.File(t, "diag", name+".hdlc"))
		d := Decoder{Buffers: true, OnUnknown: func(p Packet, err error) { t.Errorf("%s %v: %v", name, p.Code, err) }}
		logs := 0
		d.OnLog = func(Packet) { logs++ }
		recs := feed(&d, stream)
		s := d.Stats()
		checkSums(t, s)
		if s.Logs != s.Frames || s.BadCRC+s.Short+s.Oversized+s.Lost != 0 || d.split.Pending() != 0 || logs != int(s.Logs) {
			t.Errorf("%s: %+v, %d logs", name, s, logs)
		}
		records := 0
		for _, c := range s.Codes {
			records += int(c.Records)
			if !c.Verified {
				t.Errorf("%s: %v version %d, %d is not verified", name, c.Code, c.Version, c.Sub)
			}
		}
		if records != len(recs) {
			t.Errorf("%s: %d records counted, %d given", name, records, len(recs))
		}
		total += len(recs)
	}
	if total < 40000 || total > 50000 {
		t.Errorf("%d records in all captures, want 40000 to 50000", total)
	}
}

// Without Buffers the packets of B066 are still checked and counted.
func TestDecoderBuffers(t *testing.T) {
	stream := readFile(t, dataset.File(t, "diag", "mi_pixel5.hdlc"))
	var lean Decoder
	full := Decoder{Buffers: true}
	all := feed(&full, stream)
	kept := slices.DeleteFunc(slices.Clone(all), func(r Record) bool { return r.Kind == KindBuffer })
	got := feed(&lean, stream)
	if !slices.Equal(got, kept) || len(all)-len(kept) != 14*40 {
		t.Errorf("%d records, %d with buffers, want %d and %d", len(got), len(all), len(kept), len(kept)+14*40)
	}
	a, b := lean.Stats(), full.Stats()
	if a.Logs != b.Logs || len(a.Codes) != len(b.Codes) {
		t.Errorf("%+v, with buffers %+v", a, b)
	}
}

func TestDecoderOnUnknown(t *testing.T) {
	calls := map[LogCode]int{}
	var d Decoder
	d.OnUnknown = func(p Packet, err error) {
		calls[p.Code]++
		var version *UnsupportedVersionError
		var code *UnsupportedCodeError
		switch p.Code {
		case LogB139:
			if !errors.As(err, &version) || version.Code != LogB139 || version.Version != 1 || version.Sub || len(p.Body) != 8 {
				t.Errorf("%v, %d bytes", err, len(p.Body))
			}
		case LogB064:
			if !errors.As(err, &version) || version.Version != 4 || !version.Sub {
				t.Error(err)
			}
		case 0xB0C1:
			if !errors.As(err, &code) || code.Code != 0xB0C1 {
				t.Error(err)
			}
		case LogB067:
			if !errors.Is(err, ErrTruncated) {
				t.Error(err)
			}
		case 0xB881:
			if !errors.Is(err, ErrEncrypted) {
				t.Error(err)
			}
		default:
			t.Errorf("%v: %v", p.Code, err)
		}
	}
	d.OnLog = func(p Packet) {
		if Forbidden(p.Code) {
			t.Errorf("%v was handed out", p.Code)
		}
	}
	secure := append(make([]byte, 22), 0x81, 0xB8)
	secure[0] = cmdSecureLog
	for range 10 {
		for _, frame := range [][]byte{
			secure,
			AppendLog(nil, LogB139, 9, []byte{1, 0, 0, 0, 0, 0, 0, 0}),
			AppendLog(nil, LogB064, 9, []byte{1, 1, 0, 0, b064ID, 4, 4, 0}),
			AppendLog(nil, LogB067, 9, []byte{1, 1, 0, 0, b067ID, 1, 4, 0}),
			AppendLog(nil, 0xB0C1, 9, []byte{1}),
			AppendLog(nil, 0xB871, 9, []byte{1}),
			AppendLog(nil, 0xB0A0, 9, []byte{1}),
		} {
			if recs := d.Frame(frame, nil); len(recs) != 0 {
				t.Errorf("%+v", recs)
			}
		}
	}
	for code, n := range calls {
		if n != maxUnknown {
			t.Errorf("%v: %d calls, want %d", code, n, maxUnknown)
		}
	}
	if len(calls) != 5 {
		t.Errorf("calls for %d codes, want 5", len(calls))
	}
	s := d.Stats()
	checkSums(t, s)
	if s.Frames != 70 || len(s.Codes) != 7 {
		t.Errorf("%+v", s)
	}
	for _, c := range s.Codes {
		if c.Unsupported+c.Bad != 10 {
			t.Errorf("%+v", c)
		}
		if want := map[LogCode]int{LogB064: 4, LogB067: 1}[c.Code]; want != 0 && c.Sub != want {
			t.Errorf("%v: sub-version %d, want %d", c.Code, c.Sub, want)
		}
	}
}

func TestVerified(t *testing.T) {
	for _, c := range []struct {
		code    LogCode
		version uint32
		want    bool
	}{
		{LogB139, 161, true},
		{LogB139, 162, false},
		{LogB064, 2, true},
		{LogB064, 7, false},
		{LogB066, 5, false},
		{LogB067, 1, false},
		{LogB16C, 50, false},
		{0x1234, 1, false},
	} {
		if got := Verified(c.code, c.version); got != c.want {
			t.Errorf("%v version %d: %v, want %v", c.code, c.version, got, c.want)
		}
	}
}

// No walk allocates, whatever the code.
func TestParseAllocations(t *testing.T) {
	recs := make([]Record, 0, 64)
	n := 0
	for _, v := range vectors(t) {
		p := Packet{Code: v.code, Body: v.body}
		if _, err := ParseLog(p, nil); err != nil {
			continue // an error is allocated
		}
		n++
		if allocs := testing.AllocsPerRun(20, func() {
			recs, _ = ParseLog(p, recs[:0])
			_, _ = p.Version()
		}); allocs != 0 {
			t.Errorf("%s: %.0f allocations, want 0", v.name, allocs)
		}
	}
	if n < 100 {
		t.Errorf("%d vectors, want at least 100", n)
	}
}
