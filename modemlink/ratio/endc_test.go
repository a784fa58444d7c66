// SPDX-License-Identifier: MIT

package ratio

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// ms of air time after which both radios have been in use for a while.
const endcFrom = 400

// outstanding is what a radio's last report by the end of a TTI leaves, less
// what was sent since.
func (tr *truth) outstanding(ms int) (low, high int, inferred bool) {
	sent := 0
	for s := (ms+1)<<tr.mu - 1; s >= 0; s-- {
		if r := tr.bsr[s]; r != nil {
			low, high = r.Buffer(false)
			low = max(0, low-sent)
			if high < 0 {
				return low, low, r.Inferred
			}

			return low, max(0, high-sent), r.Inferred
		}
		sent += max(0, tr.tx[s])
	}

	return 0, 0, false
}

// joined is the windows of one radio with the other one's part; shift is how
// many TTIs the other one's count is ahead.
func (tr *truth) joined(other *truth, shift int) []window {
	var out []window
	for _, w := range tr.naive(oracleTTIs - 500) {
		from, to := w.start+shift, w.to+shift
		if from < 0 {
			continue
		}
		low, high, inferred := other.outstanding(from)
		if w.idle && low > 0 {
			continue
		}
		if !w.idle {
			w.Reported += high
			w.ReportedLow += low
			for s := (from + 1) << other.mu; s < (to+1)<<other.mu; s++ {
				w.Granted += max(0, other.tx[s])
			}
			for ms := from + 1; ms <= to; ms++ {
				inferred = inferred || other.inferredIn(ms)
			}
		}
		w.Flags |= gbr.FlagSummed
		if inferred {
			w.Flags |= gbr.FlagInferred
		}
		out = append(out, w)
	}
	tr.finish(out)

	return out
}

// With both radios in use a window is the sum of both, as recomputed from
// what was on air. The frames of both begin at different times.
func TestDualConnectivityAgainstNaive(t *testing.T) {
	const offset = 400 * time.Microsecond // NR's TTIs begin later
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 11))
		lte := randomTruth(rng, gbr.RATLTE, 0, 60)
		nr := randomTruth(rng, gbr.RATNR, int(seed%4), 60)
		a := newAssembler(t, Config{
			Period: millis(int64(lte.period)), Lag: millis(int64(lte.lag)),
			NRPeriod: millis(int64(nr.period)), NRLag: millis(int64(nr.lag)), Hold: 40 * time.Millisecond, Settle: -1,
		})
		var gotLTE, gotNR []gbr.Sample
		granted, last := 0, time.Time{}
		sink := func(_ time.Time, tel gbr.Telemetry) {
			for _, s := range tel.Samples {
				ms := int(s.At.Sub(start()) / time.Millisecond)
				nr := s.At.Sub(start())%time.Millisecond != 0
				if s.At = (time.Time{}); ms < endcFrom {
					continue
				}
				if nr {
					gotNR = append(gotNR, s)
				} else {
					gotLTE = append(gotLTE, s)
				}
			}
			last = time.Time{}
			for _, g := range tel.Grants {
				granted += g.Bytes
				if g.At.Before(last) {
					t.Fatalf("seed %d: grants do not ascend", seed)
				}
				last = g.At
			}
		}
		sink(start(), a.OnRecord(start(), lte.marker()))
		sink(start(), a.OnRecord(start().Add(offset), nr.marker()))
		packets := lte.packets(rng, false, 30)
		for _, p := range nr.packets(rng, false, 30) {
			p.at += offset
			packets = append(packets, p)
		}
		slices.SortStableFunc(packets, func(a, b packet) int { return int(a.at - b.at) })
		feed(a, rng, packets, sink)

		compare := func(name string, got []gbr.Sample, want []window) {
			n := 0
			for _, w := range want {
				if w.end < endcFrom {
					continue
				}
				if n >= len(got) || got[n] != w.Sample {
					t.Fatalf("seed %d mu %d: %s sample %d of TTIs %d..%d:\n got %s\nwant %+v",
						seed, nr.mu, name, n, w.start, w.end, show(got, n), w.Sample)
				}
				n++
			}
			if n < 50 {
				t.Fatalf("seed %d: %d samples of %s", seed, n, name)
			}
		}
		// An LTE TTI begins within NR's TTI of a lower number.
		compare("lte", gotLTE, lte.joined(nr, -1))
		compare("nr", gotNR, nr.joined(lte, 0))
		total := 0
		for _, tr := range []*truth{lte, nr} {
			for _, n := range tr.tx {
				total += max(0, n)
			}
		}
		if granted != total {
			t.Fatalf("seed %d: %d bytes granted, want %d", seed, granted, total)
		}
		if s := a.Stats(); s.Late != 0 || s.Corrected != 0 || s.Restarts != 0 || s.Summed == 0 {
			t.Fatalf("seed %d: %+v", seed, s)
		}
	}
}
