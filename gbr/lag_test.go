// SPDX-License-Identifier: MIT

package gbr_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// The time from a report to its answer, on which the capacity rests, is learned
// right on every radio, with any frames and reports, and beside others.
func TestLagOfEveryRadio(t *testing.T) {
	radios := []struct {
		radio cell.Radio
		lag   time.Duration
	}{
		{cell.LTEFDD, 8 * time.Millisecond},
		{cell.NRFDD, 6 * time.Millisecond},
		{cell.NRTDD, 5 * time.Millisecond},
		{cell.NRTDD7D1S2U, 5 * time.Millisecond},
	}
	for _, r := range radios {
		for _, period := range []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond} {
			for _, frame := range []int{2000, 5000, 8000, 12_000} {
				cfg := cell.Config{Start: epoch, Seed: 1, Capacity: cell.Constant(8_000_000), Radio: r.radio, BSRPeriod: period}
				phone, err := cell.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				checkLag(t, fmt.Sprintf("%v, T %v, frames of %d bytes", r.radio, period, frame), &phone.Phone, frame, r.lag)
			}
		}
		for _, others := range []int{2, 6, 12} {
			cfg := cell.SharedConfig{Start: epoch, Seed: 1, Radio: r.radio, RBs: 100, Phones: []cell.PhoneConfig{{}}}
			for i := range others {
				cfg.Background = append(cfg.Background, cell.UserConfig{Traffic: cell.OnOff, Link: cell.Link{Distance: float64(100 + 10*i)}})
			}
			shared, err := cell.NewShared(cfg)
			if err != nil {
				t.Fatal(err)
			}
			checkLag(t, fmt.Sprintf("%v, beside %d others", r.radio, others), shared.Phone(0), 12_000, r.lag)
		}
	}
}

func checkLag(t *testing.T, what string, phone *cell.Phone, frame int, want time.Duration) {
	t.Helper()
	asm, err := ratio.New(ratio.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var batch []diag.Record
	var at time.Time
	var seq int64
	for ms := range int64(5000) {
		now := epoch.Add(time.Duration(ms)*time.Millisecond + 370*time.Microsecond)
		for _, r := range phone.Advance(now).Records {
			if !r.At.Equal(at) && len(batch) > 0 {
				asm.OnRecords(at, batch)
				batch = batch[:0]
			}
			at, batch = r.At, append(batch, r.Record)
		}
		if next := asm.NextTimeout(); !next.IsZero() && !next.After(now) && len(batch) == 0 {
			asm.OnTimeout(now)
		}
		if ms%33 == 0 {
			for left := frame; left > 0; left -= 1250 {
				phone.Enqueue(now, cell.Packet{ID: seq, Size: min(left, 1250)})
				seq++
			}
		}
	}
	if got := asm.Stats().Lag; got != want {
		t.Errorf("%s: a lag of %v, want %v", what, got, want)
	}
}
