// SPDX-License-Identifier: MIT

package cell

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// richConfig is randomConfig with all that is off by default.
func richConfig(rng *rand.Rand) Config {
	cfg := randomConfig(rng)
	some := func() bool { return rng.IntN(3) > 0 }
	dur := func(ms int) time.Duration { return time.Duration(1+rng.IntN(ms)) * tti }
	if some() {
		cfg.RLC = RLCConfig{Loss: []float64{0.001, 0.02, 0.3}[rng.IntN(3)]}
	}
	switch rng.IntN(3) {
	case 0:
		at := time.Duration(0)
		for range rng.IntN(8) {
			h := Handover{At: at + 2*tti + dur(1000), Interruption: dur(200), RateFactor: 0.3 + 2.7*rng.Float64(), KeepQueue: some()}
			at = h.At + h.Interruption
			cfg.Handovers = append(cfg.Handovers, h)
		}
	case 1:
		cfg.RandomHandovers = RandomHandovers{PerMinute: []float64{1, 20, 60}[rng.IntN(3)], Flush: 0.3}
	}
	if some() {
		at := time.Duration(0)
		for range rng.IntN(5) {
			o := Outage{At: at + dur(1500), For: dur(400)}
			at = o.At + o.For
			cfg.Outages = append(cfg.Outages, o)
		}
	}
	p := &cfg.Path
	*p = PathConfig{JitterMax: dur(9), Loss: 0.01}
	if some() {
		p.Rate = []Step{{dur(1000), 5_000_000}, {dur(1000), 0}, {dur(1000), 100_000}, {0, 3_000_000}}
	}
	if some() {
		p.AQM = CoDel
	}
	if some() {
		p.Burst = Bursts(0.05, 5)
	}
	if some() {
		p.Reorder = Reorder{0.1, dur(100)}
	}
	if some() {
		p.Delays = []DelayStep{{dur(2000), dur(300)}, {4 * time.Second, dur(30)}}
	}
	if some() {
		cfg.Second = Constant(200_000 + rng.IntN(5_000_000))
	}
	tel := &cfg.Telemetry
	if some() {
		tel.Faults = allFaults()
	}
	if rng.IntN(3) == 0 {
		tel.BurstEvery = dur(400)
	}
	return cfg
}

// With everything on, the books still balance and nothing gets stuck.
func TestEverythingKeepsTheBooks(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 97))
			cfg := richConfig(rng)
			a := &audit{t: t, c: &mustNew(t, cfg).Phone, overtake: cfg.Path.Reorder.Share > 0, overfull: true}
			id := int64(0)
			ms, on := 0, true
			for ms < 5000 {
				ms += rng.IntN(4)
				a.read(a.c.Advance(at(ms)))
				if rng.IntN(50) == 0 {
					on = !on
				}
				for n := rng.IntN(4); on && n > 0; n-- {
					id++
					a.enqueue(at(ms).Add(time.Duration(rng.IntN(1e6))), Packet{ID: id, Size: 1 + rng.IntN(1500)})
				}
			}
			// Quiet, at a tenth of the mean capacity in the worst of cells,
			// then at the slowest rate behind it.
			mean := max(cfg.Capacity.MeanBps(0, cfg.Capacity.Len())*3/10-cfg.OtherAppsBps, 300)
			limit := ms + int(a.c.Stats().BytesQueued)*8*1000/mean*10 + int(a.c.Stats().BytesInFlight)*8*1000/3_000_000 + 30_000
			for ; ms < limit; ms += 10 {
				a.read(a.c.Advance(at(ms)))
				if s := a.c.Stats(); ms%1000 == 0 && cfg.OtherAppsBps == 0 && s.BytesQueued+s.BytesInFlight == 0 {
					break
				}
			}
			s, e := a.c.Stats(), a.c.Events()
			if s.BytesQueued != 0 || s.BytesInFlight != 0 || s.PacketsInFlight != 0 {
				t.Errorf("stuck after %d ms of quiet: %+v (%+v)", limit-5000, s, cfg)
			}
			if s.PacketsDelivered == 0 || s.PacketsDelivered != int64(a.packets) ||
				s.PacketsIn != s.PacketsDelivered+s.PhoneDrops+s.PathDrops {
				t.Errorf("delivered %d of %d, %+v", a.packets, s.PacketsIn, s)
			}
			if e.Flushed > s.PhoneDrops || e.CoDelDrops > s.PathDrops {
				t.Errorf("%+v, but %+v", e, s)
			}
			if len(cfg.Handovers) > 0 && e.Handovers != int64(len(cfg.Handovers)) {
				t.Errorf("%d handovers of %d", e.Handovers, len(cfg.Handovers))
			}
			if cfg.OtherAppsBps == 0 {
				a.c.Advance(at(limit + 10_000))
				if next := a.c.NextTimeout(); !next.IsZero() {
					t.Errorf("an idle cell waits for %v", next.Sub(at(limit)))
				}
			}
		})
	}
}

// Run in one go or ms by ms, by timeouts or at random, it is the same.
func TestEverythingStepSizeDoesNotMatter(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 96))
		cfg := richConfig(rng)
		cfg.Telemetry.Encoded = false
		one := trail(mustNew(t, cfg), seed, func(int) bool { return true })
		few := trail(mustNew(t, cfg), seed, func(int) bool { return rng.IntN(40) == 0 })
		none := trail(mustNew(t, cfg), seed, func(int) bool { return false })
		c := mustNew(t, cfg)
		due := trail(c, seed, func(i int) bool {
			next := c.NextTimeout()
			return !next.IsZero() && !next.After(at(i))
		})
		for _, k := range []byte("dxr") {
			if kinds(one, k) != kinds(few, k) || kinds(one, k) != kinds(none, k) || kinds(one, k) != kinds(due, k) {
				t.Errorf("seed %d: lines %q depend on the steps: %s", seed, k, diff(kinds(one, k), kinds(none, k)))
			}
		}
		if one == "" {
			t.Errorf("seed %d: nothing came out", seed)
		}
	}
}

// diff is the first line that differs.
func diff(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d: %q, %q", i, as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(as), len(bs))
}

// Each part has its own random numbers: one more leaves the others' alone.
func TestPartsDrawApart(t *testing.T) {
	every := func(int) bool { return true }
	cfg := Config{Capacity: SynthLTE(1, 10*time.Second), BLER: 0.1, Path: PathConfig{Loss: 0.01}}
	base := trail(mustNew(t, cfg), 1, every)
	for name, set := range map[string]func(*Config){
		"a handover after the end":      func(c *Config) { c.Handovers = []Handover{{At: time.Minute, Interruption: tti, KeepQueue: true}} },
		"an outage after the end":       func(c *Config) { c.Outages = []Outage{{time.Minute, tti}} },
		"a rate that does not bind":     func(c *Config) { c.Path.Rate = []Step{{0, 0}} },
		"CoDel without a bottleneck":    func(c *Config) { c.Path.AQM = CoDel },
		"a delay step after the end":    func(c *Config) { c.Path.Delays = []DelayStep{{time.Minute, tti}} },
		"a freeze after the end":        func(c *Config) { c.Telemetry.Faults.Freezes = []Freeze{{At: time.Minute, For: tti}} },
		"a restart after the end":       func(c *Config) { c.Telemetry.Faults.Restarts = []time.Duration{time.Minute} },
		"RLC rounds that never come up": func(c *Config) { c.RLC.Loss = 1e-12 },
	} {
		cfg := cfg
		set(&cfg)
		if got := trail(mustNew(t, cfg), 1, every); got != base {
			t.Errorf("%s changes the run: %s", name, diff(base, got))
		}
	}
}

// Steady traffic makes no garbage with everything on, either.
func TestEverythingAllocs(t *testing.T) {
	for _, encoded := range []bool{false, true} {
		cfg := Config{
			Capacity: Constant(10e6), BLER: 0.1, RLC: RLCConfig{Loss: 0.002},
			RandomHandovers: RandomHandovers{PerMinute: 30},
			Outages:         []Outage{{At: time.Second, For: 100 * tti}},
			Path: PathConfig{
				Rate: []Step{{time.Second, 0}, {0, 8_000_000}}, AQM: CoDel, Burst: Bursts(0.02, 3),
				Reorder: Reorder{0.05, 20 * tti}, JitterMax: 3 * tti, Delays: []DelayStep{{time.Second, 30 * tti}},
			},
			Telemetry: TelemetryConfig{Encoded: encoded, Faults: TelemetryFaults{Loss: 0.02, Late: 0.01, LateMax: 100 * tti, Duplicate: 0.02, Reorder: Reorder{0.05, 20 * tti}, Scale: 1.2}},
		}
		c := mustNew(t, cfg)
		i := 0
		second := func() {
			saturate(c, i, i+1000, 30_000, nil)
			i += 1000
		}
		for range 60 {
			second()
		}
		if n := testing.AllocsPerRun(10, second); n > 2 && !raceEnabled {
			t.Errorf("encoded %v: %v allocations per second of traffic", encoded, n)
		}
	}
	r, err := NewWire(WireConfig{Start: t0(), Path: PathConfig{RateBps: 1_000_000, AQM: CoDel, Delay: 20 * tti, Loss: 0.01, JitterMax: tti}})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	second := func() {
		for range 1000 {
			r.Enqueue(at(i), Packet{Size: 130})
			r.Advance(at(i))
			i++
		}
	}
	second()
	second()
	if n := testing.AllocsPerRun(5, second); n > 0 && !raceEnabled {
		t.Errorf("wire: %v allocations per second of traffic", n)
	}
}

func BenchmarkEverything(b *testing.B) {
	c := mustNew(b, Config{
		Capacity: Constant(10e6), BLER: 0.1, RLC: RLCConfig{Loss: 0.002}, RandomHandovers: RandomHandovers{PerMinute: 4},
		Path:      PathConfig{RateBps: 8_000_000, AQM: CoDel, Burst: Bursts(0.02, 3), Reorder: Reorder{0.05, 20 * tti}},
		Telemetry: TelemetryConfig{Faults: TelemetryFaults{Loss: 0.02, Duplicate: 0.02}},
	})
	saturate(c, 0, 1000, 30_000, nil)
	i := 1000
	b.ReportAllocs()
	for b.Loop() {
		saturate(c, i, i+1000, 30_000, nil)
		i += 1000
	}
}
