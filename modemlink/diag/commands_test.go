// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"testing"
)

// Whatever the mask is built from, a code with keys is refused.
func TestLogMaskRefuses(t *testing.T) {
	forbidden := []LogCode{0xB871, 0xB0E0, 0xB0EC, 0xB0EF, 0xB800, 0xB80A, 0xB840}
	for code := LogCode(0xB0A0); code <= 0xB0B5; code++ {
		forbidden = append(forbidden, code)
	}
	for _, code := range forbidden {
		if !Forbidden(code) {
			t.Errorf("%v is not forbidden", code)
		}
		m, _, err := BuildLogMask(0xFFF, LogB139, code)
		if !errors.Is(err, ErrForbidden) || m.Bits != nil {
			t.Errorf("%v: %v, want ErrForbidden and no mask", code, err)
		}
		m = LogMask{Equipment: 0xB, Items: 0x1000, Bits: make([]byte, 0x200)}
		m.Bits[code&0xFFF/8] |= 1 << (code % 8)
		if b, err := AppendLogMaskSet([]byte{1}, m); !errors.Is(err, ErrForbidden) || len(b) != 1 {
			t.Errorf("%v by hand: %d bytes, %v, want ErrForbidden and nothing", code, len(b)-1, err)
		}
	}
	all := LogMask{Equipment: 0xB, Items: 0x1000, Bits: bytes.Repeat([]byte{0xFF}, 0x200)}
	if _, err := AppendLogMaskSet(nil, all); !errors.Is(err, ErrForbidden) {
		t.Errorf("everything: %v, want ErrForbidden", err)
	}
	for _, code := range slices.Concat(GBRCodes(), Codes()) {
		if Forbidden(code) {
			t.Errorf("%v is forbidden", code)
		}
	}
}

func TestLogMaskOfGBR(t *testing.T) {
	m, beyond, err := BuildLogMask(0x9FF, GBRCodes()...)
	if err != nil || len(beyond) != 0 || m.Items != 0xA00 || len(m.Bits) != 0x140 {
		t.Fatalf("%+v, %v, %v", m, beyond, err)
	}
	for code := 0; code <= 0xFFFF; code++ {
		if got, want := m.Has(LogCode(code)), slices.Contains(GBRCodes(), LogCode(code)); got != want {
			t.Errorf("%v: %v, want %v", LogCode(code), got, want)
		}
	}
	// An LTE modem has fewer items: its command is shorter, and says what is left out.
	m, beyond, err = BuildLogMask(0x1A6, GBRCodes()...)
	want := []LogCode{0xB821, 0xB872, 0xB873, 0xB881, 0xB883, 0xB885}
	if err != nil || !slices.Equal(beyond, want) || m.Items != 0x1A7 || len(m.Bits) != 0x35 {
		t.Errorf("%d items, %d bytes, %v, %v", m.Items, len(m.Bits), beyond, err)
	}
	for name, codes := range map[string][]LogCode{"none": nil, "two equipment ids": {0xB139, 0x1234}} {
		if _, _, err := BuildLogMask(0xFFF, codes...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, bad := range []LogMask{{Equipment: 16}, {Items: 9, Bits: []byte{1}}, {Items: 4097, Bits: make([]byte, 513)}} {
		if _, err := AppendLogMaskSet(nil, bad); !errors.Is(err, ErrNotEncodable) {
			t.Errorf("%d items in %d bytes: %v, want ErrNotEncodable", bad.Items, len(bad.Bits), err)
		}
	}
}

// The bytes of the commands, from the layouts.
func TestLogMaskBytes(t *testing.T) {
	m, _, err := BuildLogMask(9, 0xB000, 0xB009)
	if err != nil {
		t.Fatal(err)
	}
	set, err := AppendLogMaskSet(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		got        []byte
	}{
		{"disable", "7300000000000000", AppendLogMaskDisable(nil)},
		{"ranges", "7300000001000000", AppendLogMaskRanges(nil)},
		{"set", "7300000003000000" + "0b000000" + "0a000000" + "0102", set},
		{"get", "7300000004000000" + "0b000000", AppendLogMaskGet(nil, 0xB)},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestLogMaskReply(t *testing.T) {
	ranges := LogMaskReply{Op: LogMaskRanges}
	ranges.Last[1], ranges.Last[0xB] = 0xFFF, 0x9FF
	mask := LogMask{Equipment: 0xB, Items: 9, Bits: []byte{1, 1}}
	for _, want := range []LogMaskReply{
		{Op: LogMaskDisable},
		ranges,
		{Op: LogMaskSet, Mask: mask},
		{Op: LogMaskGet, Mask: mask},
		{Op: LogMaskSet, Status: 2},
	} {
		frame := AppendLogMaskReply(nil, want)
		got, err := ParseLogMaskReply(frame)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
		for n := 1; n < len(frame); n++ {
			if _, err := ParseLogMaskReply(frame[:n]); !errors.Is(err, ErrTruncated) {
				t.Errorf("operation %d, %d of %d bytes: %v, want ErrTruncated", want.Op, n, len(frame), err)
			}
		}
	}
	for _, frame := range [][]byte{nil, {0x13, 0x73}, AppendLog(nil, LogB139, 1, nil)} {
		if _, err := ParseLogMaskReply(frame); !errors.Is(err, ErrNotLogMask) {
			t.Errorf("% x: %v, want ErrNotLogMask", frame, err)
		}
	}
}

// Logs go off before anything else is set, and no command of the start switches
// any on.
func TestStartUp(t *testing.T) {
	off := slices.IndexFunc(StartUp(), func(b []byte) bool { return bytes.Equal(b, AppendLogMaskDisable(nil)) })
	if off < 0 {
		t.Fatal("logs are not turned off")
	}
	for i, b := range StartUp() {
		if len(b) == 0 || b[0] == cmdLogMask && i != off {
			t.Errorf("command %d: % x", i, b)
		}
	}
	if !bytes.Equal(StartUp()[0], []byte{0x1D}) || len(StartUp()) != 15 {
		t.Errorf("%d commands, the first % x", len(StartUp()), StartUp()[0])
	}
}

func FuzzLogMaskReply(f *testing.F) {
	f.Add(AppendLogMaskReply(nil, LogMaskReply{Op: LogMaskRanges}))
	f.Add(AppendLogMaskReply(nil, LogMaskReply{Op: LogMaskGet, Mask: LogMask{Equipment: 0xB, Items: 9, Bits: []byte{1, 1}}}))
	f.Fuzz(func(t *testing.T, frame []byte) {
		r, err := ParseLogMaskReply(frame)
		if err != nil {
			return
		}
		again, err := ParseLogMaskReply(AppendLogMaskReply(nil, r))
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v came back as %+v, %v", r, again, err)
		}
		b, err := AppendLogMaskSet(nil, r.Mask)
		for code := range 0x10000 {
			if err == nil && len(b) > 0 && r.Mask.Has(LogCode(code)) && Forbidden(LogCode(code)) {
				t.Fatalf("%v enabled", LogCode(code))
			}
		}
	})
}
