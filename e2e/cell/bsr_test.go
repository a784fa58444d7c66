// SPDX-License-Identifier: MIT

package cell

import (
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

func TestFill(t *testing.T) {
	fresh := func() bsrState { return bsrState{period: 5, retx: 320, periodicAt: 100} }
	regular := fresh()
	regular.regular = diag.TriggerRegular
	retx := fresh()
	retx.regular = diag.TriggerRetx
	never := fresh()
	never.period = -1
	for _, tc := range []struct {
		name          string
		s             bsrState
		k             int64
		size, bytes   int
		data, padding int
		trigger       diag.Trigger
		left          int
		pending       bool
	}{
		{"full, not due", fresh(), 99, 1000, 5000, 995, 0, diag.TriggerUnknown, 0, false},
		{"full, due", fresh(), 100, 1000, 5000, 993, 0, diag.TriggerPeriodic, 4007, false},
		{"full, infinite timer", never, 1000, 1000, 5000, 995, 0, diag.TriggerUnknown, 0, false},
		{"full, regular", regular, 50, 1000, 5000, 993, 0, diag.TriggerRegular, 4007, false},
		{"regular wins over periodic", regular, 100, 1000, 5000, 993, 0, diag.TriggerRegular, 4007, false},
		{"full, retx", retx, 50, 1000, 5000, 993, 0, diag.TriggerRetx, 4007, false},
		{"all goes, room for a report", regular, 50, 1000, 900, 900, 93, diag.TriggerPadding, 0, false},
		{"all goes, room for just a report", regular, 50, 1000, 993, 993, 0, diag.TriggerPadding, 0, false},
		{"all goes, no room for a report", regular, 50, 1000, 994, 994, 1, diag.TriggerUnknown, 0, false},
		{"all goes exactly", fresh(), 100, 1000, 995, 995, 0, diag.TriggerUnknown, 0, false},
		{"one byte too many", fresh(), 100, 1000, 996, 993, 0, diag.TriggerPeriodic, 3, false},
		{"no data", fresh(), 100, 64, 0, 0, 62, diag.TriggerPadding, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data, c, padding := tc.s.fill(tc.k, tc.size, tc.bytes, true)
			want := ce{trigger: tc.trigger, index: diag.LTEIndex(tc.left, false)}
			if data != tc.data || padding != tc.padding || c != want {
				t.Errorf("data %d, padding %d, BSR %+v; want %d, %d, %+v", data, padding, c, tc.data, tc.padding, want)
			}
			if tc.s.regular != diag.TriggerUnknown {
				t.Error("a regular BSR is still pending")
			}
			if c.present() && tc.s.period > 0 && tc.s.periodicAt != tc.k+5 {
				t.Errorf("periodic timer runs to %d", tc.s.periodicAt)
			}
			if tc.s.retxAt != tc.k+320 {
				t.Errorf("retx timer runs to %d", tc.s.retxAt)
			}
		})
	}
}

// Nothing is granted any more and the phone has data: retxBSR-Timer asks again.
func TestRetxTimer(t *testing.T) {
	s := bsrState{period: 5, retx: 320, srPeriod: 20, srPhase: 7}
	s.onData(0)
	s.fill(40, 100, 500, true)
	for k := int64(41); k < 400; k++ {
		s.onTTI(k, 407)
		if got, want := s.wantsSR(k, 1), k >= 360 && k%20 == 7; got != want {
			t.Fatalf("SR in TTI %d: %v", k, got)
		}
	}
	if s.regular != diag.TriggerRetx {
		t.Errorf("trigger %v", s.regular)
	}
}

// The phone asks until it knows of a grant, and not longer.
func TestSRsEndWithTheGrant(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6), SRPeriod: tti})
	c.Enqueue(t0(), Packet{Size: 100})
	c.Advance(at(200))
	// Asked in TTI 1, granted in 5, sent in 9.
	if s := c.Stats(); s.SRs != 4 || s.Grants != 1 || s.PacketsDelivered != 1 {
		t.Errorf("%+v", s)
	}
}

// bsrs collects the BSRs of a run with the backlog right after their block.
func bsrs(t *testing.T, cfg Config, backlog func(ms int) int) (recs []TimedRecord, left []int) {
	c := mustNew(t, cfg)
	after := map[int]int{}
	for i := range 5000 {
		out := c.Advance(at(i))
		after[c.log.number(int64(i))] = c.Backlog() // TTI i has just been run
		for c.Backlog() < backlog(i) && c.Enqueue(at(i), Packet{Size: 1200}) {
		}
		for _, r := range out.Records {
			if r.Kind == diag.KindBSR {
				recs, left = append(recs, r), append(left, after[r.TTI])
			}
		}
	}
	if len(recs) < 100 {
		t.Fatalf("only %d BSRs", len(recs))
	}
	return recs, left
}

func TestBSRIsTheBinOfTheBacklog(t *testing.T) {
	for _, extended := range []bool{false, true} {
		recs, left := bsrs(t, Config{Capacity: Constant(20e6), ExtendedBSR: extended},
			func(ms int) int { return ms * ms / 20 }) // up to 1.2 MB
		capped, zero := 0, 0
		for i, r := range recs {
			low, high := r.Buffer(extended)
			if left[i] < low || high >= 0 && left[i] > high {
				t.Fatalf("extended %v: index %d (%d..%d) for %d bytes", extended, r.Index[userLCG], low, high, left[i])
			}
			if r.Index[userLCG] == 63 {
				capped++
				within(t, "lower edge of index 63", float64(low), 150_001, 0, "bytes")
			}
			if left[i] == 0 {
				zero++
			}
			if (left[i] == 0) != (r.Trigger == diag.TriggerPadding) {
				t.Fatalf("%v BSR with %d bytes left", r.Trigger, left[i])
			}
		}
		if extended && capped > 0 || !extended && capped < 300 || zero == 0 {
			t.Errorf("extended %v: %d of %d BSRs read index 63, %d are zero", extended, capped, len(recs), zero)
		}
	}
}

// Backlogged, the bytes granted over the bytes reported are T / tau.
func TestRatioIsPeriodOverQueueDelay(t *testing.T) {
	const bps, lag = 10e6, 8
	for _, period := range []int{5, 10, 20} {
		for _, backlog := range []int{20_000, 40_000, 120_000} {
			if backlog*8*1000 <= bps*(period+lag) {
				continue // the grants of a report are used up before the next one's
			}
			c := mustNew(t, Config{
				Capacity: Constant(bps), BSRPeriod: time.Duration(period) * tti,
				Telemetry: TelemetryConfig{B064Span: tti, Delay: -1, JitterMax: -1},
			})
			grants := map[int]int{}
			var at []int // of BSRs, unwrapped by the shortness of the run
			var high []int
			first := -1
			saturate(c, 0, 3000, backlog, func(_ int, out Output) {
				for _, r := range out.Records {
					if first < 0 {
						first = r.TTI
					}
					tti := (r.TTI - first + ttiWrap) % ttiWrap
					switch {
					case r.Code != diag.LogB064:
					case r.Kind == diag.KindGrant:
						grants[tti] += r.Bytes
					default:
						_, h := r.Buffer(false)
						at, high = append(at, tti), append(high, h)
					}
				}
			})
			var ratios []float64
			for k := 10; k+6 < len(at); k++ {
				within(t, "BSR spacing", float64(at[k+1]-at[k]), float64(period), 0, "ms")
				g := 0
				for i := at[k] + lag + 1; i <= at[k+1]+lag; i++ {
					g += grants[i]
				}
				ratios = append(ratios, float64(g)/float64(high[k]))
			}
			slices.Sort(ratios)
			tau := float64(backlog) * 8 / bps * 1000
			// The upper edge of a bin is up to 17 % above the backlog, and
			// the packet at the end of the backlog adds up to 1200 bytes.
			want := float64(period) / tau / 1.1
			within(t, "median ratio", ratios[len(ratios)/2], want, 0.1*want, "")
		}
	}
}

// A burst that goes on while it is served outruns its last report. It must not
// wait for retxBSR-Timer.
func TestBurstOutrunsItsReport(t *testing.T) {
	for _, period := range []int{5, 10, 20} {
		worst := time.Duration(0)
		c := mustNew(t, Config{Capacity: Constant(10e6), Seed: 5, BSRPeriod: time.Duration(period) * tti})
		for i := range 20_000 {
			for _, d := range c.Advance(at(i)).Delivered {
				worst = max(worst, d.LeftPhone.Sub(d.Queued))
			}
			if i%97 < 15 {
				c.Enqueue(at(i), Packet{Size: 200 + i%800})
			}
		}
		// SR wait and two turns.
		within(t, "worst delay", ms(worst), 37, 5, "ms")
		s := c.Stats()
		within(t, "bytes granted for a byte sent", float64(s.GrantBytes)/float64(s.BytesDelivered), 1.08, 0.04, "")
	}
}

// Without periodic BSRs there is no news but the full blocks: the base station
// finds the rate by polling.
func TestInfinitePeriod(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6), BSRPeriod: diag.Infinite})
	bytes := 0
	saturate(c, 0, 5000, 300_000, func(_ int, out Output) {
		for _, d := range out.Delivered {
			bytes += d.Size
		}
	})
	within(t, "goodput", float64(bytes)*8/5/1e6, 9, 0.8, "Mbit/s")
}
