// SPDX-License-Identifier: MIT

package diag

import (
	"errors"
	"testing"
)

// ParseLog does not panic, appends within what the body can hold, gives back
// dst on error, and what it decodes from B139 and B064 can be encoded again.
func FuzzParseLog(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(uint16(v.code), v.body)
	}
	f.Fuzz(func(t *testing.T, code uint16, body []byte) {
		before := []Record{{TTI: 1}}
		recs, err := ParseLog(Packet{Code: LogCode(code), Body: body}, before)
		if len(recs) < 1 || recs[0] != before[0] {
			t.Fatal("dst was touched")
		}
		recs = recs[1:]
		if err != nil {
			if len(recs) != 0 {
				t.Fatalf("%d records with an error", len(recs))
			}

			return
		}
		// The smallest sample is 12 bytes and gives two records.
		if len(recs) > len(body)/6 {
			t.Fatalf("%d records from %d bytes", len(recs), len(body))
		}
		for _, r := range recs {
			low, high := r.Buffer(false)
			if r.TTI < 0 || r.TTI >= ttiWrap || low < 0 || high != -1 && high < low {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func FuzzParseFrame(f *testing.F) {
	f.Add(AppendLog(nil, LogB139, 1, []byte{1, 2}))
	f.Add(AppendLog(AppendRadio(nil, 2), LogB139, 1, nil))
	f.Fuzz(func(t *testing.T, frame []byte) {
		p, err := ParseFrame(frame)
		if err != nil {
			return
		}
		again, err := ParseFrame(AppendLog(AppendRadio(nil, p.Radio), p.Code, p.Logged, p.Body))
		if err != nil || again.Code != p.Code || again.Logged != p.Logged || again.Radio != p.Radio ||
			string(again.Body) != string(p.Body) {
			t.Fatalf("%+v came back as %+v, %v", p, again, err)
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	stream := readFile(b, dataFile(b, "diag", "mi_latency_sample.hdlc"))
	benchmarkDecoder(b, stream)
}

func BenchmarkDecoderSynthetic(b *testing.B) {
	var stream []byte
	for i := range 1000 {
		g := Record{Kind: KindGrant, TTI: i, Bytes: 5000}
		r := Record{Kind: KindBSR, TTI: i, Form: FormShort, LCGs: 8, Trigger: TriggerPeriodic}
		b064, _ := AppendB064(nil, g, r, g, g, g, g)
		b139, _ := AppendB139(nil, g, g, g, g, g)
		stream = AppendHDLC(stream, AppendLog(nil, LogB064, 1, b064))
		stream = AppendHDLC(stream, AppendLog(nil, LogB139, 1, b139))
	}
	benchmarkDecoder(b, stream)
}

func benchmarkDecoder(b *testing.B, stream []byte) {
	b.Helper()
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	var (
		d    Decoder
		recs []Record
	)
	n := 0
	for b.Loop() {
		for rest := stream; len(rest) > 0; {
			k := min(len(rest), 16<<10)
			d.Write(rest[:k])
			rest = rest[k:]
			for {
				var err error
				if recs, err = d.Next(recs[:0]); errors.Is(err, ErrMore) {
					break
				}
				n += len(recs)
			}
		}
	}
	if n == 0 {
		b.Fatal("no records")
	}
}

// Decoding allocates nothing once the buffers have grown.
func TestDecodeAllocations(t *testing.T) {
	g := Record{Kind: KindGrant, TTI: 1, Bytes: 5000}
	bsr := Record{Kind: KindBSR, TTI: 1, Form: FormLong, LCGs: 15, Trigger: TriggerPeriodic}
	b064, err := AppendB064(nil, g, bsr, g, g)
	if err != nil {
		t.Fatal(err)
	}
	b139, err := AppendB139(nil, g, g, g)
	if err != nil {
		t.Fatal(err)
	}
	stream := AppendHDLC(nil, AppendLog(nil, LogB064, 1, b064))
	stream = AppendHDLC(stream, AppendLog(nil, LogB139, 1, b139))
	var (
		d    Decoder
		recs []Record
	)
	allocs := testing.AllocsPerRun(1000, func() {
		d.Write(stream)
		for {
			if recs, err = d.Next(recs[:0]); err != nil {
				return
			}
		}
	})
	if allocs != 0 {
		t.Errorf("%.2f allocations per two packets, want 0", allocs)
	}
}
