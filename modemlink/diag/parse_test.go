// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

// checkDecode holds what is true of any body: no panic, no more records than the
// body has room for, dst given back on error, values in range, and the same
// verdict by ParseLog and Details.
func checkDecode(t *testing.T, code LogCode, body []byte) {
	t.Helper()
	p := Packet{Code: code, Body: body}
	before := []Record{{TTI: 1}}
	recs, err := ParseLog(p, before)
	if len(recs) < 1 || recs[0] != before[0] {
		t.Fatal("dst was touched")
	}
	recs = recs[1:]
	details, detailsErr := Details(p)
	if (err == nil) != (detailsErr == nil) || err != nil && err.Error() != detailsErr.Error() {
		t.Fatalf("ParseLog: %v, Details: %v", err, detailsErr)
	}
	if err != nil {
		if len(recs)+len(details) != 0 {
			t.Fatalf("%d records and %d details with an error", len(recs), len(details))
		}

		return
	}
	// The smallest sample is three bytes.
	if len(recs) > len(body)/3 {
		t.Fatalf("%d records from %d bytes", len(recs), len(body))
	}
	for _, r := range recs {
		low, high := r.Buffer(false)
		unknown := r.Kind == KindBuffer && r.TTI == -1
		if r.Code != code || !unknown && (r.TTI < 0 || r.TTI >= ttiWrap<<r.Numerology) || low < 0 || high != -1 && high < low ||
			r.Bytes < 0 || r.Retx < 0 || r.Queued < r.Signalling || r.AgeMs < 0 {
			t.Fatalf("%+v", r)
		}
	}
	if _, err := json.Marshal(details); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseLog(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(uint16(v.code), v.body)
	}
	f.Fuzz(func(t *testing.T, code uint16, body []byte) { checkDecode(t, LogCode(code), body) })
}

// fuzzCodes fuzzes the bodies of a group of log codes.
func fuzzCodes(f *testing.F, codes ...LogCode) {
	f.Helper()
	for _, v := range vectors(f) {
		if slices.Contains(codes, v.code) {
			f.Add(v.body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, code := range codes {
			checkDecode(t, code, body)
		}
	})
}

func FuzzLTEMAC(f *testing.F) { fuzzCodes(f, LogB060, LogB064, LogB066, LogB067) }

func FuzzLTEML1(f *testing.F) { fuzzCodes(f, LogB139, LogB16C) }

func FuzzLTERRC(f *testing.F) { fuzzCodes(f, LogB0C0) }

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

// The whole decoder, every record of every code, against deframing and checksums
// alone on the same stream; speed is the ratio of the best of each.
func BenchmarkDecoder(b *testing.B) {
	const minSpeed = 0.6
	stream := readFile(b, dataset.File(b, "diag", "mi_latency_sample.hdlc"))
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	var (
		bare    Deframer
		full    = Decoder{Buffers: true}
		recs    []Record
		records int
		best    = [2]time.Duration{time.Hour, time.Hour}
	)
	drain := func(i int, write func([]byte), next func() error) {
		start := time.Now()
		for chunk := range slices.Chunk(stream, 16<<10) {
			write(chunk)
			for !errors.Is(next(), ErrMore) {
				records += len(recs)
			}
		}
		best[i] = min(best[i], time.Since(start))
	}
	decode := func() error {
		var err error
		recs, err = full.Next(recs[:0])

		return err
	}
	deframe := func() error {
		_, err := bare.Next()

		return err
	}
	drain(1, full.Write, decode) // grow the buffers
	records = 0
	for b.Loop() {
		recs = recs[:0]
		drain(0, bare.Write, deframe)
		drain(1, full.Write, decode)
	}
	speed := best[0].Seconds() / best[1].Seconds()
	b.ReportMetric(speed, "of-bare-speed")
	b.ReportMetric(float64(records)/float64(b.N), "records/op")
	if records == 0 || b.N >= 10 && speed < minSpeed {
		b.Errorf("%d records at %.2f of the bare speed, want at least %.1f", records, speed, minSpeed)
	}
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
