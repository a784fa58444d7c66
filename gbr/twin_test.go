// SPDX-License-Identifier: MIT

package gbr_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

type twinCase struct {
	name  string
	trace func(seed uint64, d time.Duration) cell.Trace
	// share of the mean capacity of the last 200 ms that frames ask for.
	share  float64
	change func(*cell.Config)
	skew   time.Duration // added to the telemetry's times
	link   time.Duration
	slow   bool // mean capacity below 5 Mbit/s
	others int  // of so many packets one is another sender's; 0 for none
}

// twinErrors sends frames of a varying size through a cell and returns by how
// much, in ms, the twin misses each packet's departure, asked when the feedback
// on it would be there.
func twinErrors(t *testing.T, c twinCase, seed uint64) (errs []float64, missed int) {
	t.Helper()
	const dur = 30 * time.Second
	const pathDelay = 25 * time.Millisecond
	cfg := cell.Config{Start: epoch, Seed: seed, Capacity: c.trace(seed, dur), Path: cell.PathConfig{Delay: pathDelay}}
	if c.change != nil {
		c.change(&cfg)
	}
	phone, err := cell.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	asm, err := ratio.New(ratio.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 99))
	twin := gbr.NewTwin(epoch)
	type ask struct {
		at   time.Time
		seq  int64
		real time.Duration
	}
	type batch struct {
		at   time.Time
		recs []diag.Record
	}
	var asks []ask
	var batches []batch
	var seq int64
	var frame, credit float64 // bytes left of the frame, bytes that may leave
	deliver := func(now time.Time, m gbr.Telemetry) {
		for i := range m.Grants {
			m.Grants[i].At = m.Grants[i].At.Add(c.skew)
		}
		for i := range m.Reports {
			m.Reports[i].At = m.Reports[i].At.Add(c.skew)
		}
		twin.OnTelemetry(now, m)
	}
	for ms := range dur.Milliseconds() {
		// Not on the TTIs' borders, as senders' clocks are.
		now := epoch.Add(time.Duration(ms)*time.Millisecond + 370*time.Microsecond)
		out := phone.Advance(now)
		for _, d := range out.Delivered {
			if d.ID < 0 {
				continue
			}
			// Behind the radio there is nothing but a delay, so that it arrives as the
			// base station hands it on, in order.
			asks = append(asks, ask{d.At.Add(50 * time.Millisecond), d.ID, d.At.Sub(d.Queued) - pathDelay})
		}
		for _, r := range out.Records {
			at := r.At.Add(c.link)
			if n := len(batches); n > 0 && batches[n-1].at.Equal(at) {
				batches[n-1].recs = append(batches[n-1].recs, r.Record)
			} else {
				batches = append(batches, batch{at, []diag.Record{r.Record}})
			}
		}
		for len(batches) > 0 && !batches[0].at.After(now) {
			deliver(now, asm.OnRecords(now, batches[0].recs))
			batches = batches[1:]
		}
		if next := asm.NextTimeout(); !next.IsZero() && !next.After(now) {
			deliver(now, asm.OnTimeout(now))
		}
		for len(asks) > 0 && !asks[0].at.After(now) {
			a := asks[0]
			asks = asks[1:]
			if ms < 5000 {
				continue
			}
			got, ok := twin.RadioDelay(a.seq)
			if !ok {
				missed++

				continue
			}
			errs = append(errs, math.Abs(float64(got-a.real))/1e6)
		}
		if ms%33 == 0 {
			from := time.Duration(max(0, ms-200)) * time.Millisecond
			mean := float64(cfg.Capacity.MeanBps(from, from+200*time.Millisecond)) / 8 * 0.033
			frame = max(300, mean*c.share*math.Exp(0.15*rng.NormFloat64())-float64(phone.Backlog())/2)
			credit = 0
		}
		for credit += 2 * 1500; frame >= 1 && credit > 0; {
			size := int(min(frame, 1250))
			frame -= float64(size)
			credit -= float64(size)
			size = max(size, 60)
			if c.others > 0 && rng.IntN(c.others) == 0 {
				phone.Enqueue(now, cell.Packet{ID: -1, Size: size})
				twin.OnOthersSent(now, size)

				continue
			}
			phone.Enqueue(now, cell.Packet{ID: seq, Size: size})
			twin.OnSent(now, seq, size)
			seq++
		}
	}

	return errs, missed
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)

	return v[min(len(v)-1, int(q*float64(len(v))))]
}

func TestTwinKnowsWhenPacketsLeave(t *testing.T) {
	constant := func(bps int) func(uint64, time.Duration) cell.Trace {
		return func(uint64, time.Duration) cell.Trace { return cell.Constant(bps) }
	}
	all := func(c *cell.Config) { c.BLER, c.OtherAppsBps = 0.1, 500_000 }
	on := func(r cell.Radio, more ...func(*cell.Config)) func(*cell.Config) {
		return func(c *cell.Config) {
			c.Radio = r
			for _, f := range more {
				f(c)
			}
		}
	}
	for _, c := range []twinCase{
		{name: "constant 8", trace: constant(8_000_000), share: 0.8},
		{name: "constant 8 overfull", trace: constant(8_000_000), share: 1.3},
		{name: "constant 2", trace: constant(2_000_000), share: 0.8, slow: true},
		{name: "lte", trace: cell.SynthLTE, share: 0.9},
		{name: "lte, other apps", trace: cell.SynthLTE, share: 0.9, change: func(c *cell.Config) { c.OtherAppsBps = 500_000 }},
		{name: "lte, others known", trace: cell.SynthLTE, share: 0.9, others: 2},
		{name: "constant 8 overfull, others known", trace: constant(8_000_000), share: 1.3, others: 3},
		{name: "lte, harq", trace: cell.SynthLTE, share: 0.9, change: func(c *cell.Config) { c.BLER = 0.1 }},
		{name: "lte, offset +20", trace: cell.SynthLTE, share: 0.9, skew: 20 * time.Millisecond},
		{name: "lte, offset -20", trace: cell.SynthLTE, share: 0.9, skew: -20 * time.Millisecond},
		{name: "lte, all", trace: cell.SynthLTE, share: 0.9, skew: -20 * time.Millisecond, change: all},
		{name: "lte, T 20", trace: cell.SynthLTE, share: 0.9, change: func(c *cell.Config) { c.BSRPeriod = 20 * time.Millisecond }},
		{name: "lte, undrained", trace: cell.SynthLTE, share: 0.9, change: func(c *cell.Config) { c.Telemetry = cell.BatchedTelemetry() }},
		{name: "lte, late", trace: cell.SynthLTE, share: 0.9, link: 30 * time.Millisecond},
		{name: "driving", trace: cell.SynthDriving, share: 0.9, slow: true},
		{name: "edge", trace: cell.SynthEdge, share: 0.9, slow: true},
		{name: "nr", trace: cell.SynthNR, share: 0.2},
		{name: "constant 8, all", trace: constant(8_000_000), share: 0.9, skew: -20 * time.Millisecond, change: all},
		{name: "nr fdd", trace: cell.SynthLTE, share: 0.9, change: on(cell.NRFDD)},
		{name: "nr fdd, all", trace: cell.SynthLTE, share: 0.9, skew: 20 * time.Millisecond, change: on(cell.NRFDD, all)},
		{name: "nr tdd", trace: cell.SynthLTE, share: 0.9, change: on(cell.NRTDD)},
		{name: "nr tdd, other apps", trace: cell.SynthLTE, share: 0.9, change: on(cell.NRTDD, func(c *cell.Config) { c.OtherAppsBps = 500_000 })},
		{name: "nr tdd, harq", trace: cell.SynthLTE, share: 0.9, change: on(cell.NRTDD, func(c *cell.Config) { c.BLER = 0.1 })},
		{name: "nr tdd, offset +20", trace: cell.SynthLTE, share: 0.9, skew: 20 * time.Millisecond, change: on(cell.NRTDD)},
		{name: "nr tdd, all", trace: cell.SynthLTE, share: 0.9, skew: -20 * time.Millisecond, change: on(cell.NRTDD, all)},
		{name: "nr tdd 7d, all", trace: cell.SynthLTE, share: 0.9, skew: 20 * time.Millisecond, change: on(cell.NRTDD7D1S2U, all)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 3; seed++ {
				errs, missed := twinErrors(t, c, seed)
				p50, p95 := quantile(errs, 0.5), quantile(errs, 0.95)
				limit := 8.0
				if c.slow {
					// A grant carries less than a packet: two packet times.
					limit = 2 * 1250 * 8 / (float64(c.trace(seed, 30*time.Second).MeanBps(0, 30*time.Second)) / 1000)
				}
				if !(p50 < 2) || !(p95 < limit) {
					t.Errorf("seed %d: the departure is missed by %.1f ms in the median, %.1f ms in 95 %%; want less than 2 and %.1f", seed, p50, p95, limit)
				}
				if missed > len(errs)/100 || len(errs) < 1000 {
					t.Errorf("seed %d: %d departures not known, %d known", seed, missed, len(errs))
				}
			}
		})
	}
}
