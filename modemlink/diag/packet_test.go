// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

func TestPacketRoundTrip(t *testing.T) {
	body := []byte{1, 2, 3}
	for _, radio := range []uint32{0, 1, 2, 0xFFFFFFFF} {
		frame := AppendLog(AppendRadio(nil, radio), LogB064, 77, body)
		p, err := ParseFrame(frame)
		if err != nil {
			t.Fatal(err)
		}
		if p.Code != LogB064 || p.Logged != 77 || p.Radio != radio || !bytes.Equal(p.Body, body) {
			t.Errorf("radio %d: %+v", radio, p)
		}
	}
	if got := AppendLog(nil, LogB064, 1, make([]byte, maxBody+1)); len(got) != 0 {
		t.Errorf("a body that does not fit gave %d bytes", len(got))
	}
	if p, err := ParseFrame(AppendLog(nil, LogB064, 1, make([]byte, maxBody))); err != nil || len(p.Body) != maxBody {
		t.Errorf("longest body: %d bytes, %v", len(p.Body), err)
	}
}

func TestParseFrameErrors(t *testing.T) {
	frame := AppendLog(nil, LogB139, 1, []byte{1, 2, 3})
	short := bytes.Clone(frame)
	short[4] = 11 // inner length without room for its own header
	secure := append(make([]byte, 22), 0x81, 0xB8)
	secure[0] = cmdSecureLog
	for _, c := range []struct {
		name  string
		frame []byte
		want  error
	}{
		{"empty", nil, ErrTruncated},
		{"event", []byte{0x60, 1, 2}, ErrNotLog},
		{"debug message in a wrapper", append(AppendRadio(nil, 1), 0x79), ErrNotLog},
		{"wrapper alone", AppendRadio(nil, 1), ErrTruncated},
		{"wrapper cut", AppendRadio(nil, 1)[:5], ErrTruncated},
		{"header cut", frame[:15], ErrTruncated},
		{"body cut", frame[:len(frame)-1], ErrTruncated},
		{"inner length 11", short, ErrMalformed},
		{"secure", secure, ErrEncrypted},
		{"secure cut", secure[:23], ErrTruncated},
	} {
		p, err := ParseFrame(c.frame)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.want == ErrEncrypted && p.Code != 0xB881 { //nolint:errorlint // a table of sentinels
			t.Errorf("%s: code %v, want 0xB881", c.name, p.Code)
		}
	}
}

func TestTimestamp(t *testing.T) {
	day := time.Date(1980, 1, 6, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ts   Timestamp
		want time.Time
	}{
		{0, time.Time{}},
		{1 << 16, day.Add(1250 * time.Microsecond)},
		{800 << 16, day.Add(time.Second)},
		{800<<16 | 24576, day.Add(time.Second + 625*time.Microsecond)},
		{49151, day.Add(1249974 * time.Nanosecond)},
		// 909629793389 ticks, from a capture: 13160 days and 13241.7 s.
		{59613498139567733, time.Date(2016, 1, 17, 3, 40, 41, 0, time.UTC)},
	} {
		got := c.ts.Time()
		if c.ts > 1<<50 {
			got = got.Truncate(time.Second)
		}
		if !got.Equal(c.want) {
			t.Errorf("%d: %v, want %v", c.ts, got, c.want)
		}
	}
	for _, at := range []time.Time{{}, day.Add(-time.Second), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if got := TimestampOf(at); got != 0 {
			t.Errorf("TimestampOf(%v) = %d, want 0", at, got)
		}
	}
	// Rounding up to a full tick carries.
	if got := TimestampOf(day.Add(1249999 * time.Nanosecond)); got != 1<<16 {
		t.Errorf("TimestampOf = %#x, want 0x10000", uint64(got))
	}
	rng := rand.New(rand.NewPCG(2, 0))
	for range 10000 {
		ts := Timestamp(rng.Uint64N(1<<40)<<16 | rng.Uint64N(chipsPerTick))
		if got := TimestampOf(ts.Time()); got != ts {
			t.Fatalf("%d came back as %d", ts, got)
		}
	}
}

func TestDecoderCounts(t *testing.T) {
	b139, err := AppendB139(nil, Record{Kind: KindGrant, TTI: 5, Bytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	secure := append(make([]byte, 22), 0x81, 0xB8)
	secure[0] = cmdSecureLog
	var d Decoder
	for _, frame := range [][]byte{
		{0x60, 1},
		{0x10, 1},
		secure,
		AppendLog(nil, LogB139, 9, b139),
		AppendLog(nil, LogB139, 9, b139[:20]),
		AppendLog(nil, LogB139, 9, []byte{1, 0, 0, 0, 0, 0, 0, 0}),
		AppendLog(nil, 0xB0C1, 9, []byte{26}),
	} {
		d.Write(AppendHDLC(nil, frame))
	}
	recs, err := d.Next(nil)
	if err != nil || len(recs) != 1 || recs[0].Bytes != 100 {
		t.Fatalf("%+v, %v", recs, err)
	}
	if _, err = d.Next(nil); !errors.Is(err, ErrMore) {
		t.Fatal(err)
	}
	s := d.Stats()
	if s.Frames != 7 || s.Logs != 4 || s.Other != 1 || s.Encrypted != 1 || s.Malformed != 1 {
		t.Errorf("%+v", s)
	}
	want := []struct {
		code LogCode
		version, packets, records,
		unsupported, bad int
		err string
	}{
		{0xB0C1, 26, 1, 0, 1, 0, "diag: 0xB0C1: unsupported log code"},
		{LogB139, 1, 1, 0, 1, 0, "diag: 0xB139: unsupported version 1"},
		{LogB139, 102, 2, 1, 0, 1, "diag: truncated: 0xB139: records"},
		{0xB881, -1, 1, 0, 1, 0, "diag: encrypted log packet"},
	}
	if len(s.Codes) != len(want) {
		t.Fatalf("%+v", s.Codes)
	}
	for i, w := range want {
		c := s.Codes[i]
		if c.Code != w.code || c.Version != w.version || c.Packets != uint64(w.packets) || c.Records != uint64(w.records) ||
			c.Unsupported != uint64(w.unsupported) || c.Bad != uint64(w.bad) || c.Err.Error() != w.err {
			t.Errorf("%+v, want %+v", c, w)
		}
	}
}

func TestDecoderCountersAreBounded(t *testing.T) {
	var d Decoder
	for code := range LogCode(1000) {
		d.Write(AppendHDLC(nil, AppendLog(nil, code, 1, []byte{1})))
		if _, err := d.Next(nil); !errors.Is(err, ErrMore) {
			t.Fatal(err)
		}
	}
	if s := d.Stats(); s.Logs != 1000 || len(s.Codes) != maxCodeStats {
		t.Errorf("%d logs, %d codes, want 1000 and %d", s.Logs, len(s.Codes), maxCodeStats)
	}
}
