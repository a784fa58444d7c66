// SPDX-License-Identifier: MIT

package cell

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

func radios() []Radio { return []Radio{LTEFDD, NRFDD, NRTDD, NRTDD7D1S2U} }

// Every uplink slot is granted exactly once, from a slot that goes down and is
// far enough ahead; and the time is shared out without gaps.
func TestFrames(t *testing.T) {
	for _, r := range radios() {
		for k2 := int64(1); k2 <= 12; k2++ {
			f := newFrame(r, k2)
			granted := map[int64]int64{}
			for k := range 40 * f.n {
				for _, ahead := range f.targets[k%f.n] {
					if f.pattern[k%f.n] == 'U' || ahead < k2 || ahead > k2+f.n || granted[k+ahead] != 0 {
						t.Errorf("%v, k2 %d: slot %d grants %d", r, k2, k, k+ahead)
					}
					granted[k+ahead] = k
				}
			}
			end := int64(0)
			for k := range 39 * f.n {
				if !f.up(k) {
					continue
				}
				if k > k2+2*f.n && k < 38*f.n && granted[k] == 0 {
					t.Errorf("%v, k2 %d: nobody grants slot %d", r, k2, k)
				}
				from, to := f.share(k)
				if from != end || to <= from || to > (k+1)*f.micros() {
					t.Errorf("%v: slot %d has %d..%d µs, the one before ended at %d", r, k, from, to, end)
				}
				end = to
				if c := f.chance(max(k-k2-f.n, 0)); k > k2+2*f.n && c > k {
					t.Errorf("%v, k2 %d: chance %d is beyond %d", r, k2, c, k)
				}
			}
		}
	}
}

func TestRadiosCarryTheTrace(t *testing.T) {
	const bps = 10e6
	for _, tc := range []struct {
		r             Radio
		spacing, wait float64 // ms between uplink slots, and of a lone packet
	}{
		{LTEFDD, 1, 28}, {NRFDD, 1, 23}, {NRTDD, 2.5, 22}, {NRTDD7D1S2U, 2.5, 21},
	} {
		for _, bler := range []float64{0, 0.1} {
			c := mustNew(t, Config{Radio: tc.r, Capacity: Constant(bps), BLER: bler, ExtendedBSR: true})
			bytes := 0
			saturate(c, 0, 6000, 50_000, func(i int, out Output) {
				for _, d := range out.Delivered {
					if i >= 1000 {
						bytes += d.Size
					}
					at := d.LeftPhone.Sub(t0())
					if f := c.frame; !f.up(int64(at/f.slot) - 1) {
						t.Fatalf("%v: a packet left at the end of slot %d", tc.r, int64(at/f.slot)-1)
					}
				}
			})
			// A retransmission takes its slot.
			within(t, fmt.Sprintf("%v, BLER %v: utilisation", tc.r, bler), float64(bytes)*8/5/bps, 0.985-bler, 0.02, "of the trace")
			s := c.Stats()
			within(t, tc.r.String()+": slots used", float64(s.Grants+s.Retransmissions)/6000, 1/tc.spacing, 0.01, "a ms")
		}
		c := mustNew(t, Config{Radio: tc.r, Capacity: Constant(bps), Seed: 3})
		var sum, n float64
		for i := range 20_000 {
			for _, d := range c.Advance(at(i)).Delivered {
				sum, n = sum+ms(d.At.Sub(d.Queued))-25, n+1
			}
			if i%101 == 0 {
				c.Enqueue(at(i), Packet{Size: 1200})
			}
		}
		within(t, tc.r.String()+": mean delay of a lone packet", sum/n, tc.wait, 2, "ms")
	}
}

// What leaves as telemetry of NR is what the ratio is computed from.
func TestRadiosTelemetry(t *testing.T) {
	for _, r := range radios() {
		for _, long := range []bool{false, true} {
			for _, tc := range []struct {
				bps       int
				low, high float64 // of the mean ratio
			}{
				{2_000_000, 0.9, 3}, {12_000_000, 0, 0.15},
			} {
				c := mustNew(t, Config{Radio: r, Capacity: Constant(8e6), ExtendedBSR: long})
				a, err := ratio.New(ratio.Config{ExtendedBSR: long})
				if err != nil {
					t.Fatal(err)
				}
				var granted, reported float64
				take := func(tel gbr.Telemetry) {
					for _, s := range tel.Samples {
						if s.At.After(at(3000)) {
							granted += float64(s.Granted)
							reported += float64(s.Reported)
						}
					}
				}
				due := 0.0
				for i := range 6000 {
					for _, rec := range c.Advance(at(i)).Records {
						if want := c.frame.rat; rec.RAT != want || rec.Kind != diag.KindConfig && rec.Numerology != c.frame.mu {
							t.Fatalf("%v: record %+v", r, rec)
						}
						take(a.OnRecords(at(i), []diag.Record{rec.Record}))
					}
					take(a.OnTimeout(at(i)))
					for due += float64(tc.bps) / 8000; due >= 1200; due -= 1200 {
						c.Enqueue(at(i), Packet{Size: 1200})
					}
				}
				what := fmt.Sprintf("%v, long %v, %d bit/s of 8 Mbit/s", r, long, tc.bps)
				if got := granted / reported; !(got >= tc.low && got <= tc.high) {
					t.Errorf("%s: ratio %.3f, want %v to %v", what, got, tc.low, tc.high)
				}
			}
		}
	}
}

func TestRadioErrors(t *testing.T) {
	for name, cfg := range map[string]Config{
		"radio 4":           {Radio: 4},
		"cannot be encoded": {Radio: NRTDD, Telemetry: TelemetryConfig{Encoded: true}},
		"in one TTI":        {Radio: NRTDD, Capacity: Constant(1e9)},
		"within 1..20":      {Radio: NRTDD, GrantTTIs: 21},
	} {
		cfg.Start = t0()
		if cfg.Capacity.Len() == 0 {
			cfg.Capacity = Constant(1e6)
		}
		if _, err := New(cfg); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q: %v", name, err)
		}
	}
	if s := Radio(9).String() + Scheduler(9).String(); !strings.Contains(s, "unknown") {
		t.Error(s)
	}
}

// Transport blocks of NR grow with the RBs and follow the code rate.
func TestNRTransportBlocks(t *testing.T) {
	for mcs := range topMCS + 1 {
		last := 0
		for rbs := 1; rbs <= nrMaxRBs; rbs++ {
			got := nrTBS(mcs, rbs)
			info := float64(nrREs*rbs) * nrMCS[mcs].efficiency()
			if got < last || got%8 != 0 || math.Abs(float64(got)-info) > 0.07*info+24 {
				t.Fatalf("MCS %d, %d RBs: %d bits for %.0f, after %d", mcs, rbs, got, info, last)
			}
			last = got
		}
	}
}
