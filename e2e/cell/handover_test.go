// SPDX-License-Identifier: MIT

package cell

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// A planned handover, seen from all sides.
func TestHandover(t *testing.T) {
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			c := mustNew(t, Config{
				Capacity: Constant(10e6), BLER: 0.1, Seed: 2,
				Handovers: []Handover{{At: time.Second, Interruption: 50 * tti, RateFactor: 0.5, KeepQueue: keep}},
				Telemetry: TelemetryConfig{Delay: -1, JitterMax: -1},
			})
			var left [2]float64 // bytes before and after
			var sent []float64  // ms at which blocks are logged
			pcis := map[int]int{}
			jump, lastTTI, lastAt := 0, -1, 0.0
			lost, lastID := 0, int64(0)
			saturate(c, 0, 2000, 30_000, func(i int, out Output) {
				for _, d := range out.Delivered {
					if d.ID < lastID {
						t.Fatalf("packet %d after %d", d.ID, lastID)
					}
					lastID = d.ID
					switch at := ms(d.LeftPhone.Sub(t0())); {
					case at > 1000 && at < 1058:
						t.Errorf("packet %d left the phone at %v ms", d.ID, at)
					case at > 500 && at <= 1000:
						left[0] += float64(d.Size)
					case at > 1100 && at <= 1600:
						left[1] += float64(d.Size)
					}
				}
				lost += len(out.Dropped)
				for _, r := range out.Records {
					if r.Code != diag.LogB139 || r.Retx > 0 {
						continue
					}
					at := ms(r.At.Sub(t0()))
					pcis[r.PCI]++
					sent = append(sent, at)
					if r.PCI != firstPCI && jump == 0 {
						jump = (r.TTI - lastTTI - int(at-lastAt) + 2*ttiWrap) % ttiWrap
					}
					lastTTI, lastAt = r.TTI, at
				}
			})
			within(t, "rate before", left[0]*8/0.5/1e6, 10*0.985/1.101, 0.35, "Mbit/s")
			within(t, "rate after", left[1]*8/0.5/1e6, 5*0.985/1.101, 0.25, "Mbit/s")
			gap := 0.0
			for i := 1; i < len(sent); i++ {
				gap = max(gap, sent[i]-sent[i-1])
			}
			// The interruption, the first grant 4 ms after it, batching.
			within(t, "silence of telemetry", gap, 60, 9, "ms")
			if len(pcis) != 2 || pcis[firstPCI] < 800 {
				t.Errorf("records by PCI: %v, want two cells", pcis)
			}
			if jump < 20 || jump > ttiWrap-20 {
				t.Errorf("TTI numbers jump by %d", jump)
			}
			if keep {
				within(t, "lost", float64(lost), 0, 0, "packets")
			} else {
				// 30 kB wait, and a few blocks are under way.
				within(t, "lost", float64(lost), 28, 4, "packets")
				within(t, "flushed", float64(c.Events().Flushed), float64(lost), 0, "packets")
			}
			if e := c.Events(); e.Handovers != 1 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// What a light sender sees: one packet of every 10 ms waits for the new cell.
func TestHandoverUnderLightLoad(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6), Handovers: []Handover{{At: time.Second, Interruption: 40 * tti, KeepQueue: true}}})
	worst, n := 0.0, 0
	for i := range 3000 {
		for _, d := range c.Advance(at(i)).Delivered {
			n++
			worst = max(worst, ms(d.At.Sub(d.Queued))-25)
		}
		if i%10 == 0 {
			c.Enqueue(at(i), Packet{ID: int64(i), Size: 200})
		}
	}
	within(t, "delivered", float64(n), 295, 3, "packets")
	// The oldest one waits for up to an SR period before the handover, for
	// it, and for the first grant.
	within(t, "worst delay in the phone", worst, 55, 10, "ms")
}

// The first grant in the new cell comes 4 ms after the interruption, without
// waiting for an occasion of a scheduling request.
func TestFirstGrantAfterHandover(t *testing.T) {
	for seed := range uint64(20) {
		c := mustNew(t, Config{Capacity: Constant(10e6), Seed: seed, SRPeriod: 80 * tti, Handovers: []Handover{{At: time.Second, KeepQueue: true}}})
		c.Advance(at(1020))
		c.Enqueue(at(1020), Packet{Size: 300})
		var left []float64
		for i := range 200 {
			for _, d := range c.Advance(at(1020 + i)).Delivered {
				left = append(left, ms(d.LeftPhone.Sub(t0())))
			}
		}
		if len(left) != 1 {
			t.Fatalf("delivered at %v", left)
		}
		within(t, "left the phone", left[0], 1055, 0, "ms")
	}
}

func TestRandomHandovers(t *testing.T) {
	cfg := Config{Capacity: Constant(8e6), RandomHandovers: RandomHandovers{PerMinute: 4}}
	a := newAir(mustNew(t, cfg).cfg, newFrame(LTEFDD, 4), mustNew(t, cfg).air.rng)
	const minutes = 200
	a.extend(minutes * 60_000)
	n := len(a.visits) - 1
	within(t, "handovers", float64(n)/minutes, 4, 0.5, "a minute")
	var length, factor, low, high float64 = 0, 0, 1e9, 0
	shortest, longest := int64(1e9), int64(0)
	for i, v := range a.visits[1:] {
		if v.from < a.visits[i].to {
			t.Fatalf("handover %d at %d, before the end of the last one at %d", i, v.from, a.visits[i].to)
		}
		if v.pci == a.visits[i].pci || v.sfn == a.visits[i].sfn || v.pci < 0 || v.pci >= pcis || !v.keep {
			t.Fatalf("%+v after %+v", v, a.visits[i])
		}
		d := v.to - v.from
		length += float64(d) / float64(n)
		shortest, longest = min(shortest, d), max(longest, d)
		factor += math.Log(v.factor) / float64(n)
		low, high = min(low, v.factor), max(high, v.factor)
	}
	within(t, "mean interruption", length, 44.5, 1.5, "ms")
	within(t, "shortest", float64(shortest), 30, 1, "ms")
	within(t, "longest", float64(longest), 59, 1, "ms")
	within(t, "mean factor", math.Exp(factor), math.Sqrt(0.3*3), 0.06, "of the trace")
	within(t, "lowest factor", low, 0.31, 0.01, "of the trace")
	within(t, "highest factor", high, 2.95, 0.05, "of the trace")

	// Memory is bounded, whatever the time.
	c := mustNew(t, Config{Capacity: Constant(8e6), RandomHandovers: RandomHandovers{PerMinute: 60, Flush: 0.5}})
	c.Enqueue(t0(), Packet{Size: 100})
	c.Advance(at(1000))
	c.Advance(t0().AddDate(0, 1, 0))
	c.Enqueue(t0().AddDate(0, 1, 0), Packet{Size: 100})
	if n := len(c.Advance(t0().AddDate(0, 1, 1)).Delivered); n != 1 || len(c.air.visits) > maxVisits || cap(c.air.visits) > 2*maxVisits {
		t.Errorf("delivered %d, %d visits kept", n, len(c.air.visits))
	}
}

// A mean over any stretch is what its milliseconds add up to.
func TestCapacityOfAir(t *testing.T) {
	cfg := Config{
		Capacity: SynthLTE(4, 7*time.Second), RandomHandovers: RandomHandovers{PerMinute: 40},
		Outages: []Outage{{At: 2 * time.Second, For: 300 * tti}, {At: 9 * time.Second, For: 2 * time.Second}},
	}
	c := mustNew(t, cfg)
	sum := 0
	for i := range int64(30_000) {
		sum += c.air.bytes(0, i)
		if i%1000 == 999 {
			within(t, fmt.Sprintf("mean of second %d", i/1000), float64(c.CapacityBps(at(int(i+1)), time.Second)), float64(sum*8), 8, "bit/s")
			sum = 0
		}
	}
	if got := c.CapacityBps(at(11_000), time.Second); got != 0 {
		t.Errorf("%d bit/s in an outage", got)
	}
	whole := 0
	for i := range int64(30_000) {
		whole += c.air.bytes(0, i)
	}
	within(t, "mean of all", float64(c.CapacityBps(at(30_000), 30*time.Second)), float64(whole*8)/30, 10, "bit/s")
}

func TestOutage(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6), BLER: 0.1, Outages: []Outage{{At: time.Second, For: 700 * tti}}})
	worst, n := 0.0, 0
	for i := range 4000 {
		out := c.Advance(at(i))
		for _, d := range out.Delivered {
			n++
			left := ms(d.LeftPhone.Sub(t0()))
			if left > 1000 && left < 1701 {
				t.Fatalf("packet %d left the phone at %v ms", d.ID, left)
			}
			worst = max(worst, ms(d.At.Sub(d.Queued))-25)
		}
		for _, r := range out.Records {
			if r.Code == diag.LogB139 && r.PCI != firstPCI {
				t.Fatalf("another cell: %+v", r)
			}
		}
		if i%10 == 0 {
			c.Enqueue(at(i), Packet{ID: int64(i), Size: 500})
		}
	}
	within(t, "delivered", float64(n), 395, 5, "packets")
	within(t, "worst delay in the phone", worst, 725, 20, "ms")
}

func TestMobilityErrors(t *testing.T) {
	for _, tc := range []struct {
		want string
		set  func(*Config)
	}{
		{"handover", func(c *Config) { c.Handovers = []Handover{{}} }},
		{"must not overlap", func(c *Config) { c.Handovers = []Handover{{At: time.Second}, {At: time.Second + 50*tti}} }},
		{"handover", func(c *Config) { c.Handovers = []Handover{{At: time.Second, RateFactor: -1}} }},
		{"handover", func(c *Config) { c.Handovers = []Handover{{At: time.Second, RateFactor: math.NaN()}} }},
		{"handover", func(c *Config) { c.Handovers = []Handover{{At: time.Second, Interruption: 2 * time.Hour}} }},
		{"more of trace", func(c *Config) {
			c.Capacity = Constant(300e6)
			c.RandomHandovers.PerMinute = 1
		}},
		{"both planned and at random", func(c *Config) {
			c.Handovers = []Handover{{At: time.Second}}
			c.RandomHandovers.PerMinute = 1
		}},
		{"per minute", func(c *Config) { c.RandomHandovers.PerMinute = 61 }},
		{"per minute", func(c *Config) { c.RandomHandovers.PerMinute = math.NaN() }},
		{"per minute", func(c *Config) { c.RandomHandovers.Flush = 1 }},
		{"random handovers take", func(c *Config) { c.RandomHandovers = RandomHandovers{PerMinute: 1, Longest: tti} }},
		{"of the rate", func(c *Config) { c.RandomHandovers = RandomHandovers{PerMinute: 1, Highest: 0.1} }},
		{"flushing", func(c *Config) { c.RandomHandovers = RandomHandovers{PerMinute: 1, Flush: 2} }},
		{"outage", func(c *Config) { c.Outages = []Outage{{At: time.Second}} }},
		{"outage", func(c *Config) { c.Outages = []Outage{{At: time.Second, For: tti}, {At: time.Second, For: tti}} }},
		{"lost blocks", func(c *Config) { c.RLC.Loss = 0.6 }},
		{"lost blocks", func(c *Config) { c.RLC.Loss = math.NaN() }},
		{"status round", func(c *Config) { c.RLC = RLCConfig{Loss: 0.1, RoundMin: 2 * tti, RoundMax: tti} }},
	} {
		cfg := Config{Start: t0(), Capacity: Constant(1e6)}
		tc.set(&cfg)
		_, err := New(cfg)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
	planned := []Handover{{At: time.Second}}
	mustNew(t, Config{Capacity: Constant(1e6), Handovers: planned})
	if planned[0] != (Handover{At: time.Second}) {
		t.Errorf("New wrote into the caller's handovers: %+v", planned)
	}
}
