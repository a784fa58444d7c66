// SPDX-License-Identifier: MIT

package ratio

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// truth is everything that happened on air, TTI by TTI.
type truth struct {
	lag, period int
	tx          []int // bytes, -1 for none
	bsr         []*diag.Record
}

// naive computes the samples from the whole log: it walks TTI by TTI, looks at
// everything anew in each, and ends a window as soon as its rule holds. It
// leaves out windows that end after limit.
func (tr *truth) naive(limit int) []gbr.Sample {
	var (
		out         []gbr.Sample
		start, last = -1, 0
		low, high   int
	)
	sample := func(end, low, high int) {
		s := gbr.Sample{Reported: high, ReportedLow: low}
		window, onItsWay := end-start, false
		for t := start + 1; t < end+tr.lag; t++ {
			s.Granted += max(0, tr.tx[t])
			onItsWay = onItsWay || tr.tx[t] >= 0 && t < start+tr.lag
		}
		if onItsWay {
			window += tr.lag - 1
		}
		s.Window = millis(int64(window))
		if high < 0 {
			s.Reported = low
		}
		if end <= limit && (s.Granted > 0 || low > 0) {
			out = append(out, s)
		}
	}
	idle := func(t int) {
		if start = -1; t <= limit {
			out = append(out, gbr.Sample{Window: millis(int64(tr.period))})
		}
	}
	open := func(t int) {
		low, high = tr.bsr[t].Buffer(false)
		start, last = t, t
		if high == 0 {
			idle(t)
		}
	}
	for k := range tr.tx {
		if start < 0 {
			if tr.border(k) {
				open(k)
			}

			continue
		}
		for again := true; again && start >= 0; {
			again = false
			next := start + 1
			for next <= k && !tr.border(next) {
				next++
			}
			drained, lastTx := 0, last
			for t := start + 1; t <= k && t < next; t++ {
				if tr.tx[t] >= 0 {
					drained += tr.tx[t]
					lastTx = t
				}
			}
			quiet := max(start+tr.period, lastTx+1)
			need := quiet + tr.lag - 1
			if drained >= low && (high < 0 || drained < high) {
				need = max(need, lastTx+tr.period+1)
			}
			switch {
			case next <= k && need >= next: // the next BSR ends it, once its answers are over
				if k < next+tr.lag-1 {
					break
				}
				sample(next, low, high)
				start, last = next, next
				low, high = tr.bsr[next].Buffer(false)
				if high == 0 {
					idle(next)
					// A BSR that came meanwhile opens the next one.
					for t := next + 1; t <= k && start < 0; t++ {
						if tr.border(t) {
							open(t)
						}
					}
				}
				again = true
			case k >= need && drained >= low:
				end := max(start+tr.period, lastTx-tr.lag+1)
				sample(end, low, high)
				idle(end)
				for t := end + 1; t <= k && start < 0; t++ {
					if tr.border(t) {
						open(t)
					}
				}
				again = true
			case k >= need:
				sample(quiet, low, high)
				start, last = quiet, lastTx
				low -= drained
				if high >= 0 {
					high -= drained
				}
				again = true
			}
		}
	}

	return out
}

func (tr *truth) border(t int) bool {
	return tr.bsr[t] != nil && tr.bsr[t].Trigger != diag.TriggerPadding
}

const oracleTTIs = 6000

// randomTruth makes bursts of transmissions with BSRs; silences are at most
// gap TTIs.
func randomTruth(rng *rand.Rand, gap int) *truth {
	tr := &truth{
		lag: 4 + rng.IntN(9), period: []int{5, 10, 16, 20}[rng.IntN(4)],
		tx: make([]int, oracleTTIs), bsr: make([]*diag.Record, oracleTTIs),
	}
	for i := range tr.tx {
		tr.tx[i] = -1
	}
	since := 0
	for t := 10; t < oracleTTIs-20; {
		tr.tx[t] = 1 + rng.IntN(1+rng.IntN(3000))
		if since >= tr.period && rng.IntN(4) > 0 || rng.IntN(10) == 0 {
			r := diag.Record{
				Kind: diag.KindBSR, Code: diag.LogB064, RAT: diag.LTE, TTI: t,
				Form: diag.FormShort, LCGs: 1, Trigger: diag.TriggerPeriodic,
			}
			if rng.IntN(4) > 0 {
				r.Index[0] = uint8(rng.IntN(64))
			}
			if rng.IntN(5) == 0 {
				r.Trigger = diag.TriggerPadding
			}
			tr.bsr[t] = &r
			since = 0
		}
		d := 1 + rng.IntN(4)
		if rng.IntN(8) == 0 {
			d = 1 + rng.IntN(gap)
		}
		since += d
		t += d
	}

	return tr
}

type packet struct {
	at   int
	recs []diag.Record
}

// packets logs the truth as a modem would: B139 in batches of 10 ms, B064 in
// batches of up to 102 ms, retransmissions, some packets twice.
func (tr *truth) packets(rng *rand.Rand, both bool, base int) []packet {
	var out []packet
	add := func(step, delay int, code diag.LogCode) {
		for t := 0; t < oracleTTIs; {
			end := min(t+1+rng.IntN(step), oracleTTIs)
			p := packet{at: end + rng.IntN(delay)}
			for ; t < end; t++ {
				r := diag.Record{Kind: diag.KindGrant, Code: code, RAT: diag.LTE, TTI: (base + t) % wrap, Bytes: tr.tx[t]}
				if r.Bytes >= 0 {
					p.recs = append(p.recs, r)
				}
				if code == diag.LogB139 && rng.IntN(10) == 0 {
					r.Bytes, r.Retx = 500, 1
					p.recs = append(p.recs, r)
				}
				if code == diag.LogB064 && tr.bsr[t] != nil {
					b := *tr.bsr[t]
					b.TTI = r.TTI
					p.recs = append(p.recs, b)
				}
			}
			if len(p.recs) > 0 {
				out = append(out, p)
				if rng.IntN(10) == 0 {
					out = append(out, p)
				}
			}
		}
	}
	add(100, 2, diag.LogB064)
	if both {
		add(10, 2, diag.LogB139)
	}
	slices.SortStableFunc(out, func(a, b packet) int { return a.at - b.at })

	return out
}

// The assembler gives the same windows as a computation on the whole log,
// whichever log codes there are and however late and repeated their packets.
func TestAgainstNaive(t *testing.T) {
	for seed := range uint64(150) {
		both := seed%2 == 0
		gap := 250
		if both {
			// Longer silences are told before the BSRs before them are known.
			gap = outage - 2
		}
		rng := rand.New(rand.NewPCG(seed, 7))
		tr := randomTruth(rng, gap)
		base := rng.IntN(wrap)
		a := newAssembler(t, Config{
			Period: millis(int64(tr.period)), Lag: millis(int64(tr.lag)), Settle: -1,
		})
		t0 := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		at := func(ms int) time.Time { return t0.Add(millis(int64(ms))) }
		var (
			got     []gbr.Sample
			grants  = map[time.Time]bool{}
			sum     int
			reports int
			prev    time.Time
		)
		sink := func(now time.Time, tel gbr.Telemetry) {
			for _, s := range tel.Samples {
				if s.At.Before(prev.Add(-120*time.Millisecond)) || s.At.After(now) {
					t.Fatalf("seed %d: sample at %v told at %v", seed, s.At, now)
				}
				prev = s.At
				s.At = time.Time{}
				got = append(got, s)
			}
			for _, g := range tel.Grants {
				grants[g.At] = true
				sum += g.Bytes
			}
			reports += len(tel.Reports)
		}
		run := func(until time.Time) {
			for {
				next := a.NextTimeout()
				if next.IsZero() || next.After(until) {
					return
				}
				sink(next, a.OnTimeout(next))
			}
		}
		// A record without delay sets the clock.
		sink(at(0), a.OnRecord(at(0), diag.Record{Kind: diag.KindGrant, RAT: diag.LTE, TTI: base % wrap, Retx: 1, Bytes: 1}))
		for _, p := range tr.packets(rng, both, base) {
			run(at(p.at).Add(-time.Microsecond))
			if rng.IntN(2) == 0 {
				sink(at(p.at), a.OnRecords(at(p.at), p.recs))
			} else {
				for _, r := range p.recs {
					sink(at(p.at), a.OnRecord(at(p.at), r))
				}
			}
		}
		run(at(oracleTTIs + 500))

		// After the last BSRs nothing contradicts the silence.
		want := tr.naive(oracleTTIs - 500)
		for i, w := range want {
			if i >= len(got) || got[i] != w {
				t.Fatalf("seed %d both=%v lag=%d period=%d: sample %d:\n got %s\nwant %s", seed, both, tr.lag, tr.period,
					i, show(got, i), show(want, i))
			}
		}
		if len(want) < 50 {
			t.Fatalf("seed %d: %d samples compared", seed, len(want))
		}
		total, bsrs := 0, 0
		for i, n := range tr.tx {
			total += max(0, n)
			if tr.bsr[i] != nil {
				bsrs++
			}
		}
		if sum != total || reports != bsrs {
			t.Fatalf("seed %d: %d bytes granted, want %d; %d reports, want %d", seed, sum, total, reports, bsrs)
		}
		if s := a.Stats(); s.Late != 0 && !both || s.Restarts != 0 || s.Stale != 0 {
			t.Fatalf("seed %d: %+v", seed, s)
		}
	}
}

func show(s []gbr.Sample, i int) string {
	return fmt.Sprintf("%+v", s[min(len(s), max(0, i-2)):min(len(s), i+3)])
}
