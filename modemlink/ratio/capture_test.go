// SPDX-License-Identifier: MIT

package ratio

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// replay runs a capture through an assembler as an agent would, with 2 ms from
// the modem's commit to the reader, and calls sink with each batch. Without
// config the MAC configuration records are left out.
func replay(tb testing.TB, a *Assembler, name string, config bool, sink func(now time.Time, t gbr.Telemetry)) {
	tb.Helper()
	stream, err := os.ReadFile(dataset.File(tb, "diag", name+".hdlc"))
	if err != nil {
		tb.Fatal(err)
	}
	var (
		d    = diag.Decoder{Buffers: true}
		recs []diag.Record
		at   time.Time
	)
	d.Write(stream)
	for {
		if recs, err = d.Next(recs[:0]); err != nil {
			break
		}
		if !config && recs[0].Kind == diag.KindConfig {
			continue
		}
		// Packets come in the order of the stream; stamps of different codes
		// are a little out of order.
		if t := recs[0].Logged.Time().Add(2 * time.Millisecond); t.After(at) {
			at = t
		}
		for {
			next := a.NextTimeout()
			if next.IsZero() || next.After(at) {
				break
			}
			sink(next, a.OnTimeout(next))
		}
		sink(at, a.OnRecords(at, recs))
	}
}

// Real phones' records give the T that the network configured (B060, or RRC in
// the whole capture), also when it has to be learned, and a plausible L.
func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		name        string
		config      bool
		period, lag time.Duration
		// samples with a ratio, idle ones, and the median ratio: bands
		// around what this definition of the window gives.
		ratios, idle [2]int
		median       [2]float64
	}{
		{"mi_att", true, 5 * time.Millisecond, 8 * time.Millisecond, [2]int{150, 220}, [2]int{10, 40}, [2]float64{0.01, 0.1}},
		{"mi_att", false, 5 * time.Millisecond, 8 * time.Millisecond, [2]int{150, 220}, [2]int{10, 40}, [2]float64{0.01, 0.1}},
		{"mi_tmobile", false, 20 * time.Millisecond, 7 * time.Millisecond, [2]int{40, 60}, [2]int{60, 100}, [2]float64{0.9, 1.6}},
		{"mi_att_iphone", true, 5 * time.Millisecond, 0, [2]int{1, 3}, [2]int{2, 6}, [2]float64{0.5, 2}},
		{"mi_pixel5", true, 0, 0, [2]int{0, 0}, [2]int{0, 0}, [2]float64{0, 0}}, // padding BSRs alone
		// Grants and the phone's own queue: packets of 65 bytes, each in one grant
		// of 97 to 145.
		{"mi_latency_sample", true, 0, 0, [2]int{1900, 2200}, [2]int{650, 800}, [2]float64{1.5, 2}},
	} {
		a := newAssembler(t, Config{})
		var ratios []float64
		starved, idle, grants, reports := 0, 0, 0, 0
		replay(t, a, c.name, c.config, func(now time.Time, tel gbr.Telemetry) {
			grants += len(tel.Grants)
			reports += len(tel.Reports)
			for _, r := range tel.Reports {
				if r.At.After(now) {
					t.Fatalf("%s: report of %v told at %v", c.name, r.At, now)
				}
			}
			for _, s := range tel.Samples {
				eta, ok := s.Ratio()
				if !ok {
					idle++

					continue
				}
				if ratios = append(ratios, eta); eta == 0 {
					starved++
				}
				if s.At.After(now) {
					t.Fatalf("%s: sample of %v told at %v", c.name, s.At, now)
				}
			}
		})
		slices.Sort(ratios)
		median := 0.0
		if len(ratios) > 0 {
			median = ratios[len(ratios)/2]
		}
		s := a.Stats()
		t.Logf("%s: T %v, L %v, %d ratios (median %.3f, %d starved), %d idle, %d grants, %d reports, %d stale, %d restarts",
			c.name, s.Period, s.Lag, len(ratios), median, starved, idle, grants, reports, s.Stale, s.Restarts)
		if s.Period != c.period || s.Lag != c.lag {
			t.Errorf("%s: T %v, L %v, want %v, %v", c.name, s.Period, s.Lag, c.period, c.lag)
		}
		if n := len(ratios); n < c.ratios[0] || n > c.ratios[1] || idle < c.idle[0] || idle > c.idle[1] {
			t.Errorf("%s: %d ratios, %d idle, want %v and %v", c.name, n, idle, c.ratios, c.idle)
		}
		if median < c.median[0] || median > c.median[1] {
			t.Errorf("%s: median ratio %.3f, want %v", c.name, median, c.median)
		}
		if s.Late != 0 || s.Ignored != 0 {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}
