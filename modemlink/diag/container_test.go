// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

// pack writes packets in a format.
func pack(f Format, packets []Packet) []byte {
	var out []byte
	switch f {
	case FormatQMDL2:
		return append(AppendQMDL2Header(nil, FormatHDLC), pack(FormatHDLC, packets)...)
	case FormatScan:
		out = append(out, "ISF header \x10\x00 of some kind"...)
	case FormatHDLC, FormatRouter, FormatDLF:
	}
	for _, p := range packets {
		var frame []byte
		if p.Radio != 0 {
			frame = AppendRadio(frame, p.Radio)
		}
		frame = AppendLog(frame, p.Code, p.Logged, p.Body)
		switch f {
		case FormatRouter:
			out = AppendRouter(out, frame)
		case FormatDLF:
			out = AppendDLF(out, p.Code, p.Logged, p.Body)
		case FormatScan:
			out = append(append(out, frame...), 0, 0x10, 0, 0xFF)
		case FormatHDLC, FormatQMDL2:
			out = AppendHDLC(out, frame)
		}
	}

	return out
}

// split reads a stream in pieces of size.
func split(s *Splitter, stream []byte, size int) ([]Packet, []error) {
	var (
		out  []Packet
		errs []error
	)
	for chunk := range slices.Chunk(stream, size) {
		s.Write(chunk)
		for {
			p, err := s.Next()
			if errors.Is(err, ErrMore) {
				break
			}
			if err != nil {
				errs = append(errs, err)

				continue
			}
			p.Body = bytes.Clone(p.Body)
			out = append(out, p)
		}
	}

	return out, errs
}

func formats() []Format {
	return []Format{FormatHDLC, FormatRouter, FormatQMDL2, FormatDLF, FormatScan}
}

// A capture in every container is told apart by its first bytes and decodes to
// the same packets, however it is cut.
func TestContainers(t *testing.T) {
	want := packets(t, readFile(t, dataset.File(t, "diag", "mi_pixel5.hdlc")))
	for i := range want {
		want[i].Radio = uint32(i % 3) // 1 and 2 are two SIMs
	}
	for _, f := range formats() {
		stream := pack(f, want)
		if got, ok := Sniff(stream); got != f || !ok {
			t.Errorf("%v: Sniff says %v, %v", f, got, ok)
		}
		for _, size := range []int{1, 7, 4096, len(stream)} {
			s := Splitter{Format: f}
			got, errs := split(&s, stream, size)
			if len(errs) != 0 {
				t.Errorf("%v: %v", f, errs)
			}
			same := slices.EqualFunc(got, want, func(a, b Packet) bool {
				return a.Code == b.Code && a.Logged == b.Logged && bytes.Equal(a.Body, b.Body) &&
					(f == FormatDLF || a.Radio == b.Radio) // DLF has no wrapper
			})
			if !same {
				t.Errorf("%v in writes of %d bytes: %d packets, want the %d written", f, size, len(got), len(want))
			}
			if st := s.Stats(); st.Frames != uint64(len(want)) || f != FormatScan && st.Lost+uint64(s.Pending()) != 0 {
				t.Errorf("%v: %+v, %d pending", f, st, s.Pending())
			}
		}
	}
}

// The decoder reads any format, QMDL2 with either content too.
func TestDecoderFormats(t *testing.T) {
	stream := readFile(t, dataset.File(t, "diag", "mi_att_iphone.hdlc"))
	var plain Decoder
	want := feed(&plain, stream)
	logs := packets(t, stream)
	check := func(name string, f Format, stream []byte) {
		t.Helper()
		if got, ok := Sniff(stream); got != f || !ok {
			t.Errorf("%s: Sniff says %v, %v", name, got, ok)
		}
		d := Decoder{Format: f}
		got := append(feed(&d, stream[:9]), feed(&d, stream[9:13])...) // amid headers
		got = append(got, feed(&d, stream[13:])...)
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s: %d records, want %d", name, len(got), len(want))
		}
		checkSums(t, d.Stats())
	}
	for _, f := range formats() {
		check(f.String(), f, pack(f, logs))
	}
	check("qmdl2 of router frames", FormatQMDL2, append(AppendQMDL2Header(nil, FormatRouter), pack(FormatRouter, logs)...))
	guids := AppendQMDL2Header(nil, FormatHDLC)
	guids[0], guids[6] = 10+2*16, 2
	guids = append(guids, bytes.Repeat([]byte{0x7E}, 32)...)
	check("qmdl2 with identifiers", FormatQMDL2, append(guids, stream...))
}

func TestSniff(t *testing.T) {
	log := AppendLog(nil, LogB139, 77<<16, []byte{1, 2, 3})
	dlf := AppendDLF(nil, LogB139, 77<<16, []byte{1, 2, 3})
	for _, c := range []struct {
		name string
		head []byte
		want Format
		ok   bool
	}{
		{"empty", nil, FormatHDLC, false},
		{"text", []byte("hello, this is no capture at all"), FormatHDLC, false},
		{"gzip", []byte{0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3}, FormatHDLC, false},
		{"one frame", AppendHDLC(nil, log), FormatHDLC, true},
		{"leading flag", append([]byte{hdlcFlag}, AppendHDLC(nil, log)...), FormatHDLC, true},
		{"begins amid a frame", append(AppendHDLC(nil, log)[3:], AppendHDLC(nil, log)...), FormatHDLC, true},
		{"one router frame", AppendRouter(nil, log), FormatRouter, true},
		{"one packet of DLF", dlf, FormatDLF, true},
		{"DLF cut in the second packet", append(bytes.Clone(dlf), dlf[:13]...), FormatDLF, true},
		{"QMDL2 header alone", AppendQMDL2Header(nil, FormatHDLC), FormatQMDL2, true},
		{"log amid junk", append([]byte("junk and more junk "), log...), FormatScan, true},
	} {
		if got, ok := Sniff(c.head); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
	if s := FormatRouter.String() + " " + Format(9).String(); s != "router format(9)" {
		t.Error(s)
	}
}

// Junk between packets costs the junk alone and is counted.
func TestSplitterResynchronises(t *testing.T) {
	p := Packet{Code: LogB139, Logged: 77 << 16, Body: []byte{1, 2, 3, 0x7E, 0x10, 0}}
	for _, c := range []struct {
		f    Format
		junk []byte
	}{
		{FormatRouter, []byte{0x7E, 0x7E, 2, 3, 0x7E, 1, 0, 0, 9}},
		{FormatRouter, []byte{1, 2, 3}},
		{FormatRouter, []byte{0x7E, 1, 3, 0, 1, 2, 3, 4}}, // no closing flag
		{FormatDLF, []byte{5, 0, 0xFF, 0xFF, 0xFF}},
		{FormatDLF, bytes.Repeat([]byte{0xFF}, 40)},
		{FormatScan, []byte{0x10, 0, 0x10, 0, 0x11, 0}},
	} {
		one := pack(c.f, []Packet{p})
		if c.f == FormatScan {
			one = AppendLog(nil, p.Code, p.Logged, p.Body)
		}
		stream := slices.Concat(one, c.junk, one, c.junk, c.junk, one)
		for _, size := range []int{1, len(stream)} {
			s := Splitter{Format: c.f}
			got, _ := split(&s, stream, size)
			if len(got) != 3 {
				t.Errorf("%v with % x: %d packets, want 3", c.f, c.junk, len(got))
			}
			if st := s.Stats(); st.Lost != uint64(3*len(c.junk)) {
				t.Errorf("%v with % x: %d bytes lost, want %d", c.f, c.junk, st.Lost, 3*len(c.junk))
			}
		}
	}
}

func TestSplitterMemoryIsBounded(t *testing.T) {
	for _, f := range formats() {
		s := Splitter{Format: f}
		for range 20 { // and nobody reads
			s.Write(bytes.Repeat([]byte{0x10}, 1<<20))
		}
		s.Write(make([]byte, 5<<20))
		if n := cap(s.buf) + cap(s.hdlc.buf); n > 3*maxBuffered {
			t.Errorf("%v: %d bytes kept, want at most %d", f, n, 3*maxBuffered)
		}
		for range 1000 {
			if _, err := s.Next(); errors.Is(err, ErrMore) {
				break
			}
		}
		if st := s.Stats(); f != FormatQMDL2 && st.Lost < 20<<20 {
			t.Errorf("%v: %+v", f, st)
		}
	}
}

// Whatever the bytes, cutting them makes no difference, every byte of the formats
// without escapes is accounted for, and Sniff does not panic.
func FuzzSplitter(f *testing.F) {
	p := []Packet{
		{Code: LogB139, Logged: 5 << 16, Body: []byte{0x7E, 0x7D, 0x10, 0}},
		{Code: LogB0C0, Logged: 6 << 16, Radio: 2, Body: []byte{1}},
	}
	for _, format := range formats() {
		f.Add(uint8(format), pack(format, p), uint16(3))
	}
	f.Fuzz(func(t *testing.T, format uint8, stream []byte, size uint16) {
		format %= uint8(len(formats()))
		Sniff(stream)
		whole, cut := Splitter{Format: Format(format)}, Splitter{Format: Format(format)}
		a, _ := split(&whole, stream, max(1, len(stream)))
		b, _ := split(&cut, stream, 1+int(size))
		if len(a) != len(b) || whole.Stats() != cut.Stats() || whole.Pending() != cut.Pending() {
			t.Fatalf("%d packets %+v, cut %d packets %+v", len(a), whole.Stats(), len(b), cut.Stats())
		}
		if Format(format) == FormatDLF {
			n := int(whole.Stats().Lost) + whole.Pending()
			for _, p := range a {
				n += len(AppendDLF(nil, p.Code, p.Logged, p.Body))
			}
			if n != len(stream) {
				t.Fatalf("%d bytes accounted for, want %d", n, len(stream))
			}
		}
	})
}

func TestAppendLimits(t *testing.T) {
	for name, got := range map[string]int{
		"dlf, body too long":      len(AppendDLF(nil, LogB139, 1, make([]byte, maxBody+1))),
		"router, nothing":         len(AppendRouter(nil, nil)),
		"router, payload of 64 K": len(AppendRouter(nil, make([]byte, 1<<16))),
	} {
		if got != 0 {
			t.Errorf("%s: %d bytes, want none", name, got)
		}
	}
	if got := len(AppendDLF(nil, LogB139, 1, make([]byte, maxBody))); got != 1<<16-1 {
		t.Errorf("longest packet of DLF: %d bytes, want 65535", got)
	}
}
