// SPDX-License-Identifier: MIT

package cell

import (
	"fmt"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// Two carriers carry what both traces have, and what leaves as telemetry adds
// up to it.
func TestTwoCarriers(t *testing.T) {
	for _, r := range radios() {
		for _, bler := range []float64{0, 0.1} {
			c := mustNew(t, Config{Radio: r, Capacity: Constant(6e6), Second: Constant(3e6), BLER: bler, ExtendedBSR: true})
			within(t, r.String()+": capacity", float64(c.CapacityBps(at(2000), time.Second)), 9e6, 1, "bit/s")
			bytes := 0
			logged := map[int]int{}
			reports := map[string]int{}
			last := int64(-1)
			id := int64(0)
			for i := range 6000 {
				out := c.Advance(at(i))
				for _, d := range out.Delivered {
					if d.ID <= last {
						t.Fatalf("%v: packet %d after %d", r, d.ID, last)
					}
					last = d.ID
					if i >= 1000 {
						bytes += d.Size
					}
				}
				for _, rec := range out.Records {
					if slow := rec.Code == diag.LogB064 || rec.Code == diag.LogB872; !slow {
						continue
					}
					if rec.Kind == diag.KindGrant {
						logged[rec.Cell] += rec.Bytes
					} else {
						reports[fmt.Sprint(rec.TTI, i/5000)]++
					}
				}
				for ; c.Backlog() < 50_000; id++ {
					c.Enqueue(at(i), Packet{ID: id, Size: 1200})
				}
			}
			what := fmt.Sprintf("%v, BLER %v: ", r, bler)
			within(t, what+"utilisation", float64(bytes)*8/5/9e6, 0.98-bler, 0.03, "of both")
			within(t, what+"share of the second", float64(logged[1])/float64(logged[0]+logged[1]), 1.0/3, 0.01, "")
			for tti, n := range reports {
				if n > 1 {
					t.Errorf("%s%d reports in TTI %s", what, n, tti)
				}
			}
			if len(reports) < 400 {
				t.Errorf("%s%d reports", what, len(reports))
			}
		}
	}
}

// The ratio is that of both carriers together: no sign of congestion while both
// have room, and one as soon as both are full.
func TestTwoCarriersRatio(t *testing.T) {
	for _, tc := range []struct {
		bps       int
		low, high float64
	}{
		{6_000_000, 0.9, 3}, {12_000_000, 0, 0.15},
	} {
		c := mustNew(t, Config{Capacity: Constant(4e6), Second: Constant(4e6), ExtendedBSR: true})
		a, err := ratio.New(ratio.Config{ExtendedBSR: true})
		if err != nil {
			t.Fatal(err)
		}
		granted, reported, due := 0.0, 0.0, 0.0
		for i := range 6000 {
			for _, rec := range c.Advance(at(i)).Records {
				for _, s := range a.OnRecords(at(i), []diag.Record{rec.Record}).Samples {
					if i > 3000 {
						granted += float64(s.Granted)
						reported += float64(s.Reported)
					}
				}
			}
			for due += float64(tc.bps) / 8000; due >= 1200; due -= 1200 {
				c.Enqueue(at(i), Packet{Size: 1200})
			}
		}
		if got := granted / reported; !(got >= tc.low && got <= tc.high) {
			t.Errorf("%d bit/s of 8 Mbit/s: ratio %.3f, want %v to %v", tc.bps, got, tc.low, tc.high)
		}
	}
}

// A second carrier that is not there changes nothing, and the encoded log has
// the carriers.
func TestTwoCarriersEncoded(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(6e6), Second: Constant(3e6), Telemetry: TelemetryConfig{Encoded: true}})
	var d diag.Deframer
	cells := map[int]int{}
	saturate(c, 0, 1000, 50_000, func(_ int, out Output) {
		for _, chunk := range out.Diag {
			d.Write(chunk.Bytes)
		}
		for {
			f, err := d.Next()
			if err != nil {
				break
			}
			p, err := diag.ParseFrame(f)
			if err != nil {
				t.Fatal(err)
			}
			recs, err := diag.ParseLog(p, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range recs {
				if r.Kind == diag.KindGrant {
					cells[r.Cell]++
				}
			}
		}
	})
	if cells[0] < 900 || cells[1] < 900 || len(cells) != 2 {
		t.Errorf("grants by carrier: %v", cells)
	}
}
