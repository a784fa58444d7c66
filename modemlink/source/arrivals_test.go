// SPDX-License-Identifier: MIT

package source

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// arrival is a log packet of a real phone: when it was committed by the modem's
// clock, when it reached us, and how many samples it had.
type arrival struct {
	at, logged float64 // ms
	radio      uint32
	samples    int
}

func arrivals(t *testing.T) []arrival {
	t.Helper()
	f, err := os.Open(dataset.File(t, "diag", "b064_arrivals.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}

		return v
	}
	var out []arrival
	for _, r := range rows[1:] {
		out = append(out, arrival{
			at: number(r[0]), logged: number(r[1]), radio: uint32(number(r[2])),
			samples: min(max(int(number(r[3]))/17, 1), 25), // 14 bytes and a MAC header each
		})
	}

	return out
}

// The size of a block tells its ms, so that the tests know when it was on air.
const blockBase, blockCycle = 1000, 60_000

// Log packets as a real phone without draining gave them: in bursts, the newest
// a few ms old and the oldest half a second, idle at first.
func TestArrivalsOfARealPhone(t *testing.T) {
	rows := arrivals(t)
	synctest.Test(t, func(t *testing.T) {
		r, w := pipe(t)
		start := time.Now()
		epoch := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
		// By how much our clock is ahead of the modem's, as far as anybody can
		// tell: nothing arrives before it is on air.
		offset := math.Inf(1)
		for _, a := range rows {
			offset = min(offset, a.at-math.Floor(a.logged))
		}
		go func() {
			defer w.Close() //nolint:errcheck // a pipe
			var buf []byte
			for i := 0; i < len(rows); {
				at := rows[i].at
				time.Sleep(time.Until(start.Add(time.Duration(at * 1e6))))
				buf = buf[:0]
				for ; i < len(rows) && rows[i].at == at; i++ {
					buf = rows[i].append(t, buf, epoch)
				}
				if _, err := w.Write(buf); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(500 * ms)
		}()
		// air is where a local time is on the modem's clock.
		air := func(at time.Time) float64 { return float64(at.Sub(start).Microseconds())/1e3 - offset }
		var last time.Time
		var ages, late []float64
		if err := newDiag(t, r, DiagConfig{}).Run(t.Context(), func(tel gbr.Telemetry) {
			now := time.Now()
			for _, s := range tel.Samples {
				if s.Flags&gbr.FlagCorrected != 0 {
					continue // it came before
				}
				if s.At.Before(last) {
					t.Errorf("a sample of %v comes after one of %v", s.At.Sub(start), last.Sub(start))
				}
				last = s.At
				ages = append(ages, float64(now.Sub(s.At).Microseconds())/1e3)
			}
			for _, g := range tel.Grants {
				// The offset of the clocks is the fastest arrival of the last seconds:
				// never less than that of the whole, and at most as if nothing was
				// ever buffered.
				e := air(g.At) - float64(g.Bytes-blockBase)
				if e < -0.5 || e > -offset+0.5 {
					t.Errorf("%v after the start a block of ms %d is said to be %.1f ms late, want 0 to %.0f",
						now.Sub(start), g.Bytes-blockBase, e, -offset)
				}
				late = append(late, e)
			}
		}); err != nil {
			t.Error(err)
		}
		slices.Sort(ages)
		if n := len(ages); n < 1500 || ages[0] < 0 || ages[n/2] < 230 || ages[n/2] > 330 || ages[n-1] > 450 {
			t.Errorf("%d samples, ages %.0f %.0f %.0f ms (min p50 max); want 1500, >= 0, 230 to 330, <= 450",
				n, ages[0], ages[n/2], ages[n-1])
		}
		slices.Sort(late)
		if n := len(late); n < 3500 || late[n/2] > 5 || late[n*95/100] > 40 {
			t.Errorf("%d blocks, %.1f %.1f ms late (p50 p95); want 3500, at most 5 and 40", n, late[n/2], late[n*95/100])
		}
	})
}

// append appends the packet: a block of 1000 bytes in each ms before the commit,
// a BSR in every fifth.
func (a arrival) append(t *testing.T, dst []byte, epoch time.Time) []byte {
	t.Helper()
	var recs []diag.Record
	end := int(a.logged)
	for ms := max(0, end-a.samples+1); ms <= end; ms++ {
		g := diag.Record{Kind: diag.KindGrant, RAT: diag.LTE, TTI: ms % 10240, Bytes: blockBase + ms%blockCycle}
		recs = append(recs, g)
		if ms%5 == 0 {
			b := diag.Record{
				Kind: diag.KindBSR, RAT: diag.LTE, TTI: g.TTI, Form: diag.FormShort, Trigger: diag.TriggerPeriodic, LCGs: 1 << 2,
			}
			b.Index[2] = diag.LTEIndex(10_000, false)
			recs = append(recs, b)
		}
	}
	body, err := diag.AppendB064(nil, recs...)
	if err != nil {
		t.Fatal(err)
	}
	logged := diag.TimestampOf(epoch.Add(time.Duration(a.logged * 1e6)))

	return diag.AppendHDLC(dst, diag.AppendLog(diag.AppendRadio(nil, a.radio), diag.LogB064, logged, body))
}
