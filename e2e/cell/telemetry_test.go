// SPDX-License-Identifier: MIT

package cell

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// telemetry is what a reader of a saturated cell's modem has after so many ms.
func telemetry(t *testing.T, cfg Config, length int) []TimedRecord {
	c := mustNew(t, cfg)
	var recs []TimedRecord
	var dec diag.Decoder
	saturate(c, 0, length, 20_000, func(i int, out Output) {
		for _, r := range out.Records {
			if r.At.After(at(i)) {
				t.Fatalf("record of %v at %v", r.At, at(i))
			}
			recs = append(recs, r)
		}
		for _, chunk := range out.Diag {
			dec.Write(chunk.Bytes)
			for {
				rs, err := dec.Next(nil)
				if errors.Is(err, diag.ErrMore) {
					break
				}
				for _, r := range rs {
					recs = append(recs, TimedRecord{At: chunk.At, Record: r})
				}
			}
		}
	})
	if s := dec.Stats(); s.BadCRC+s.Malformed+s.Other > 0 {
		t.Errorf("decoder: %+v", s)
	}
	return recs
}

func TestEncodedIsTheSame(t *testing.T) {
	cfg := Config{Capacity: Constant(10e6), BLER: 0.1, Seed: 8}
	plain := telemetry(t, cfg, 3000)
	cfg.Telemetry.Encoded = true
	encoded := telemetry(t, cfg, 3000)
	if len(plain) < 5000 || len(plain) != len(encoded) {
		t.Fatalf("%d records, %d encoded", len(plain), len(encoded))
	}
	for i := range plain {
		if plain[i] != encoded[i] {
			t.Fatalf("record %d:\n%+v\nencoded\n%+v", i, plain[i], encoded[i])
		}
	}
	want := diag.Record{Code: diag.LogB060, Kind: diag.KindConfig, RAT: diag.LTE, Logged: diag.TimestampOf(t0()), PeriodicBSR: 5 * tti, RetxBSR: 320 * tti}
	if plain[0].Record != want {
		t.Errorf("first record %+v", plain[0])
	}
}

func TestRecords(t *testing.T) {
	recs := telemetry(t, Config{Capacity: Constant(10e6), BLER: 0.1, Seed: 8}, 25_000)
	var last time.Time
	var logged diag.Timestamp
	grant := map[diag.LogCode]map[int]int{diag.LogB139: {}, diag.LogB064: {}}
	lastTTI, wraps, retx := -1, 0, 0
	for _, r := range recs {
		if r.At.Before(last) || r.Logged < logged {
			t.Fatalf("%+v comes after %v, %v", r, last, logged)
		}
		last, logged = r.At, r.Logged
		if r.Kind != diag.KindGrant {
			continue
		}
		if r.TTI < 0 || r.TTI >= ttiWrap || r.Bytes <= 0 {
			t.Fatalf("bad record %+v", r)
		}
		if r.Retx > 0 {
			retx++
			if r.Code != diag.LogB139 {
				t.Fatalf("retransmission in %v", r.Code)
			}
			continue
		}
		grant[r.Code][wraps*ttiWrap+r.TTI] += r.Bytes
		if r.Code == diag.LogB139 {
			if r.TTI < lastTTI {
				wraps++
			}
			lastTTI = r.TTI
		}
	}
	if wraps < 2 || wraps > 3 {
		t.Errorf("the TTI wraps %d times in 25 s", wraps)
	}
	if retx < 1500 {
		t.Errorf("%d retransmissions", retx)
	}
	// Both codes tell of the same blocks, but for the last packets.
	a, b := total(grant[diag.LogB139]), total(grant[diag.LogB064])
	within(t, "bytes in B064", float64(b), float64(a), 25_000, "bytes")
}

func total(m map[int]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func TestAges(t *testing.T) {
	// The age of a record is from the end of its TTI to its reader. As the
	// SFN has no date, it is taken from the first record of a fresh cell.
	ages := func(cfg TelemetryConfig, code diag.LogCode) (median, most float64) {
		whole := Config{Capacity: Constant(10e6), Telemetry: cfg}
		c, recs := mustNew(t, whole), telemetry(t, whole, 5000)
		var age []float64
		for _, r := range recs {
			if r.Code != code || r.Kind != diag.KindGrant || r.At.Before(at(500)) {
				continue // not those of the start, when there are gaps
			}
			k := (int64(r.TTI) - c.log.first + 2*ttiWrap) % ttiWrap
			age = append(age, ms(r.At.Sub(c.begin(k+1))))
		}
		slices.Sort(age)
		return age[len(age)/2], age[len(age)-1]
	}
	for _, tc := range []struct {
		name         string
		cfg          TelemetryConfig
		code         diag.LogCode
		median, most float64
	}{
		// A full TTI train fills ten records in ten TTIs.
		{"B139", TelemetryConfig{}, diag.LogB139, 4.5 + 3.5, 13},
		{"B064 drained", TelemetryConfig{}, diag.LogB064, 5 + 3.5, 14},
		{"B064 batched, 25 samples a packet", BatchedTelemetry(), diag.LogB064, 12 + 3.5, 28},
		{"no delay", TelemetryConfig{B064Span: tti, Delay: -1, JitterMax: -1}, diag.LogB064, 1, 1},
		{"undrained", UndrainedTelemetry(), diag.LogB139, 370, 390},
	} {
		median, most := ages(tc.cfg, tc.code)
		within(t, tc.name+": median age", median, tc.median, max(1, tc.median/10), "ms")
		within(t, tc.name+": largest age", most, tc.most, max(1, tc.most/50), "ms")
	}
}

func TestTelemetryOff(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6), Telemetry: TelemetryConfig{Off: true}})
	saturate(c, 0, 1000, 20_000, func(_ int, out Output) {
		if len(out.Records)+len(out.Diag) > 0 {
			t.Fatal("telemetry though it is off")
		}
	})
	if c.Stats().PacketsDelivered < 800 {
		t.Errorf("%+v", c.Stats())
	}
}
