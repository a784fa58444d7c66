// SPDX-License-Identifier: MIT

package cell

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// saturate keeps backlog bytes in the phone for so many ms and calls each
// after every millisecond.
func saturate(c *Cell, from, to, backlog int, each func(ms int, out Output)) {
	for i := from; i < to; i++ {
		out := c.Advance(at(i))
		for c.Backlog() < backlog && c.Enqueue(at(i), Packet{ID: int64(i), Size: 1200}) {
		}
		if each != nil {
			each(i, out)
		}
	}
}

func TestSaturatedConstantLink(t *testing.T) {
	const bps, backlog = 10e6, 50_000
	c := mustNew(t, Config{Capacity: Constant(bps)})
	var bytes, n int
	var sojourn, latency float64
	saturate(c, 0, 6000, backlog, func(i int, out Output) {
		if i < 1000 {
			return
		}
		for _, d := range out.Delivered {
			n++
			bytes += d.Size
			sojourn += ms(d.LeftPhone.Sub(d.Queued))
			latency += ms(d.At.Sub(d.LeftPhone))
		}
	})
	within(t, "utilisation", float64(bytes)*8/5/bps, 0.985, 0.015, "of the link")
	// A byte waits for what is before it: backlog / rate, and on average half
	// of the packet that overshoots it.
	within(t, "time in the phone", sojourn/float64(n), backlog*8/bps*1000, 2.5, "ms")
	within(t, "path", latency/float64(n), 25, 1e-9, "ms")
}

// With enough in the phone the cell carries what the trace has, gaps and all.
func TestSaturatedRealTraces(t *testing.T) {
	for _, file := range []string{"Verizon-LTE-short.up", "TMobile-LTE-short.up", "ATT-LTE-driving-2016.up"} {
		tr, err := ParseTrace(file, readTrace(t, file))
		if err != nil {
			t.Fatal(err)
		}
		c := mustNew(t, Config{Capacity: tr, ExtendedBSR: true})
		bytes := 0
		saturate(c, 0, 60_000, 200_000, func(_ int, out Output) {
			for _, d := range out.Delivered {
				bytes += d.Size
			}
		})
		within(t, file+": utilisation", float64(bytes)*8/60/float64(tr.MeanBps(0, time.Minute)), 0.98, 0.02, "of the trace")
	}
}

func TestLightLoad(t *testing.T) {
	for _, tc := range []struct {
		size      int
		low, high float64
	}{
		// Wait for an SR occasion, 0..20 ms; SR to grant to PUSCH, 8 ms; the
		// TTI itself. What does not fit into the blind grant waits for the
		// report's own grant, 8 ms more.
		{400, 9, 29},
		{1200, 17, 37},
	} {
		c := mustNew(t, Config{Capacity: Constant(10e6), Seed: 3})
		var low, high, sum, n float64 = 1e9, 0, 0, 0
		for i := range 20_000 {
			for _, d := range c.Advance(at(i)).Delivered {
				v := ms(d.At.Sub(d.Queued)) - 25
				low, high, sum, n = min(low, v), max(high, v), sum+v, n+1
			}
			if i%101 == 0 {
				c.Enqueue(at(i), Packet{Size: tc.size})
			}
		}
		what := fmt.Sprintf("%d bytes: ", tc.size)
		within(t, what+"least delay", low, tc.low, 1, "ms")
		within(t, what+"largest delay", high, tc.high, 1, "ms")
		within(t, what+"mean delay", sum/n, (tc.low+tc.high)/2, 1, "ms")
	}
}

func TestStepDown(t *testing.T) {
	c := mustNew(t, Config{Capacity: Steps(Step{time.Second, 20e6}, Step{9 * time.Second, 5e6})})
	worst := time.Duration(0)
	for i := range 2000 { // 9.6 Mbit/s
		for _, d := range c.Advance(at(i)).Delivered {
			if i < 1000 {
				worst = max(worst, d.LeftPhone.Sub(d.Queued))
			}
		}
		c.Enqueue(at(i), Packet{Size: 1200})
	}
	within(t, "worst delay before the step", ms(worst), 20, 12, "ms")
	within(t, "backlog 1 s after it", float64(c.Backlog()), (9.6e6-5e6)/8, 30_000, "bytes")
	within(t, "age of the head", ms(c.QueueDelay(at(2000))), (9.6-5)/9.6*1000, 40, "ms")
}

// audit checks the books of a cell against the outputs that it is fed.
type audit struct {
	t                            *testing.T
	c                            *Phone
	in, delivered, dropped, last int64
	packets                      int
	at                           time.Time
	// Reordered packets overtake, and a handover may fill the buffer beyond
	// its limit.
	overtake, overfull bool
}

func (a *audit) enqueue(now time.Time, p Packet) {
	a.in += int64(p.Size)
	a.c.Enqueue(now, p)
}

func (a *audit) read(out Output) {
	a.t.Helper()
	for _, d := range out.Delivered {
		if d.ID <= a.last && !a.overtake {
			a.t.Fatalf("packet %d after %d", d.ID, a.last)
		}
		a.last = d.ID
		a.packets++
		a.delivered += int64(d.Size)
		if d.At.Before(a.at) {
			a.t.Fatalf("packet %d arrives before the one ahead of it", d.ID)
		}
		a.at = d.At
		if d.LeftPhone.Before(d.Queued) || d.At.Before(d.LeftPhone) {
			a.t.Fatalf("packet %d: queued %v, left %v, at %v", d.ID, d.Queued, d.LeftPhone, d.At)
		}
	}
	for _, p := range out.Dropped {
		a.dropped += int64(p.Size)
	}
	s := a.c.Stats()
	if s.BytesIn != a.in || s.BytesDelivered != a.delivered || s.BytesDropped != a.dropped {
		a.t.Fatalf("in %d delivered %d dropped %d, but %+v", a.in, a.delivered, a.dropped, s)
	}
	if s.BytesIn != s.BytesDelivered+s.BytesDropped+s.BytesQueued+s.BytesInFlight {
		a.t.Fatalf("bytes got lost: %+v", s)
	}
	if s.BytesQueued < 0 || s.BytesInFlight < 0 || s.PacketsInFlight < 0 || a.c.Backlog() < 0 || a.c.Backlog() > a.c.cfg.BufferBytes && !a.overfull {
		a.t.Fatalf("out of range: %+v", s)
	}
	rest := 0
	for i := range a.c.phone.q.n {
		rest += a.c.phone.q.at(i).rest
	}
	if rest != a.c.Backlog() {
		a.t.Fatalf("backlog %d, but the packets have %d to send", a.c.Backlog(), rest)
	}
}

// randomConfig has everything in it that a seed can turn on.
func randomConfig(rng *rand.Rand) Config {
	cfg := Config{
		Start: t0(), Seed: rng.Uint64(),
		BSRPeriod:    []time.Duration{tti, 5 * tti, 10 * tti, 80 * tti, 2560 * tti, diag.Infinite}[rng.IntN(6)],
		SRPeriod:     []time.Duration{tti, 5 * tti, 20 * tti, 80 * tti}[rng.IntN(4)],
		SRGrantBytes: 1 + rng.IntN(600),
		BufferBytes:  []int{3000, 30_000, 1_500_000}[rng.IntN(3)],
		ExtendedBSR:  rng.IntN(2) == 0,
		BLER:         []float64{0, 0.1, 0.5}[rng.IntN(3)],
		ReportTTIs:   1 + rng.IntN(7),
		GrantTTIs:    1 + rng.IntN(7),
		Telemetry:    TelemetryConfig{Encoded: rng.IntN(2) == 0},
	}
	switch rng.IntN(5) {
	case 0:
		cfg.Capacity = Constant(20_000 + rng.IntN(20_000_000))
	case 1:
		cfg.Capacity = SynthLTE(rng.Uint64(), 20*time.Second)
	case 2: // hardly ever anything, as in a driving trace
		b := make([]int, 997)
		for range 30 {
			b[rng.IntN(len(b))] += mahimahiBytes
		}
		b[0] = mahimahiBytes
		cfg.Capacity, _ = NewTrace("sparse", b)
	case 3: // a few bytes at a time
		cfg.Capacity, _ = NewTrace("thin", []int{3, 0, 7, 1})
	case 4:
		cfg.Capacity = Steps(Step{300 * tti, 8e6}, Step{700 * tti, 0}, Step{200 * tti, 100_000})
	}
	if rng.IntN(3) == 0 {
		cfg.OtherAppsBps = 3000
	}
	if rng.IntN(2) == 0 {
		cfg.Path = PathConfig{RateBps: 2e6, RateFrom: time.Second, Loss: 0.02, JitterMax: 9 * tti}
	}
	return cfg
}

// Whatever the traffic and the cell, no byte is lost count of, nothing is
// overtaken, and the queue empties once the sender is quiet.
func TestNeverDeadlocksAndKeepsTheBooks(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 99))
			cfg := randomConfig(rng)
			a := &audit{t: t, c: &mustNew(t, cfg).Phone}
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
			// Quiet: what is left, at a tenth of the mean capacity, and a
			// few rounds of requests.
			mean := max(cfg.Capacity.MeanBps(0, cfg.Capacity.Len())-cfg.OtherAppsBps, 1000)
			limit := ms + a.c.Backlog()*8*1000/mean*10 + 15_000
			for ; ms < limit; ms += 10 {
				a.read(a.c.Advance(at(ms)))
			}
			s := a.c.Stats()
			if s.BytesQueued != 0 || s.BytesInFlight != 0 {
				t.Errorf("stuck after %d ms of quiet: %+v (%+v)", limit-5000, s, cfg)
			}
			if s.PacketsDelivered == 0 || s.PacketsDelivered != int64(a.packets) {
				t.Errorf("delivered %d of %d", s.PacketsDelivered, a.packets)
			}
			if cfg.OtherAppsBps == 0 && !a.c.Advance(at(limit+1000)).isEmpty() {
				t.Error("something came out of an idle cell")
			}
			if next := a.c.NextTimeout(); cfg.OtherAppsBps == 0 && !next.IsZero() {
				t.Errorf("an idle cell waits for %v", next)
			}
		})
	}
}

func (o Output) isEmpty() bool {
	return len(o.Delivered)+len(o.Dropped)+len(o.Records)+len(o.Diag) == 0
}

// trail is all that comes out of a cell, in order.
func trail(c *Cell, seed uint64, step func(ms int) bool) string {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(seed, 7))
	id := int64(0)
	for i := range 4000 {
		arrivals := rng.IntN(3)
		if i/200%3 == 2 {
			arrivals = 0
		}
		if step(i) || i == 3999 {
			o := c.Advance(at(i))
			for _, d := range o.Delivered {
				fmt.Fprintf(&b, "d %d %d %d %d\n", d.ID, d.Queued.Sub(t0()), d.LeftPhone.Sub(t0()), d.At.Sub(t0()))
			}
			for _, p := range o.Dropped {
				fmt.Fprintf(&b, "x %d\n", p.ID)
			}
			for _, r := range o.Records {
				fmt.Fprintf(&b, "r %d %+v\n", r.At.Sub(t0()), r.Record)
			}
		}
		for range arrivals {
			id++
			c.Enqueue(at(i), Packet{ID: id, Size: 300 + int(id%1000)})
		}
	}
	return b.String()
}

// kinds keeps the lines of one kind: how kinds mix depends on when one looks.
func kinds(s string, kind byte) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line[0] == kind {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestStepSizeDoesNotMatter(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 98))
		cfg := randomConfig(rng)
		cfg.Telemetry.Encoded = false
		one := trail(mustNew(t, cfg), seed, func(int) bool { return true })
		few := trail(mustNew(t, cfg), seed, func(int) bool { return rng.IntN(40) == 0 })
		none := trail(mustNew(t, cfg), seed, func(int) bool { return false })
		for _, k := range []byte("dxr") {
			if kinds(one, k) != kinds(few, k) || kinds(one, k) != kinds(none, k) {
				t.Errorf("seed %d: lines %q depend on the steps", seed, k)
			}
		}
		if one == "" {
			t.Errorf("seed %d: nothing came out", seed)
		}
	}
}

func TestSeeds(t *testing.T) {
	cfg := Config{Capacity: SynthLTE(1, 10*time.Second), BLER: 0.1, Path: PathConfig{Loss: 0.01}}
	every := func(int) bool { return true }
	a, b := trail(mustNew(t, cfg), 1, every), trail(mustNew(t, cfg), 1, every)
	cfg.Seed = 1
	if c := trail(mustNew(t, cfg), 1, every); a != b || a == c {
		t.Errorf("same seed same trail: %v; other seed other trail: %v", a == b, a != c)
	}
}

// The golden pins the whole chain: 20 frames a second into a synthetic cell.
func TestGolden(t *testing.T) {
	c := mustNew(t, Config{Seed: 42, Capacity: SynthLTE(42, 10*time.Second), BLER: 0.08})
	var b strings.Builder
	b.WriteString("ms: capacity kbit/s, delivered packets, mean ms in phone, backlog bytes, grants, BSRs, highest index\n")
	n, grants, bsrs, index, id := 0, 0, 0, uint8(0), int64(0)
	var sum float64
	for i := range 10_001 {
		out := c.Advance(at(i))
		for _, d := range out.Delivered {
			n++
			sum += ms(d.LeftPhone.Sub(d.Queued))
		}
		for _, r := range out.Records {
			switch {
			case r.Kind == diag.KindGrant && r.Code == diag.LogB139 && r.Retx == 0:
				grants++
			case r.Kind == diag.KindBSR:
				bsrs++
				index = max(index, r.Index[userLCG])
			}
		}
		if i%50 == 0 {
			for range 20 {
				id++
				c.Enqueue(at(i), Packet{ID: id, Size: 1200})
			}
		}
		if i > 0 && i%500 == 0 {
			fmt.Fprintf(&b, "%5d: %5d %3d %4.0f %6d %3d %3d %2d\n", i, c.CapacityBps(at(i), 500*time.Millisecond)/1000,
				n, math.Round(sum/max(float64(n), 1)), c.Backlog(), grants, bsrs, index)
			n, grants, bsrs, index, sum = 0, 0, 0, 0, 0
		}
	}
	fmt.Fprintf(&b, "%+v\n", c.Stats())
	golden.Assert(t, b.String(), "synth.golden")
}

func TestIdle(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6)})
	if next := c.NextTimeout(); !next.After(t0()) || next.After(at(4)) {
		t.Errorf("the configuration is readable at %v", next.Sub(t0()))
	}
	c.Advance(at(10))
	if !c.NextTimeout().IsZero() {
		t.Errorf("waits for %v", c.NextTimeout())
	}
	// Ten years take no time, and the clock may stand still or run back.
	later := t0().AddDate(10, 0, 0).Add(300 * time.Microsecond)
	if !c.Advance(later).isEmpty() || !c.Advance(t0()).isEmpty() {
		t.Error("an idle cell says something")
	}
	c.Enqueue(at(5), Packet{ID: 1, Size: 100})
	var got []Delivery
	for i := 0; len(got) == 0 && i < 1000; i++ {
		next := c.NextTimeout()
		if next.Before(later) || next.After(later.Add(100*tti)) {
			t.Fatalf("next timeout %v from now", next.Sub(later))
		}
		got = c.Advance(next).Delivered
	}
	if len(got) != 1 || !got[0].Queued.Equal(later) {
		t.Fatalf("got %+v", got)
	}
	within(t, "delay", ms(got[0].At.Sub(later)), 44, 11, "ms")
}

func TestBufferIsDropTail(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(1e6), BufferBytes: 3000})
	for i, want := range []bool{true, true, false, true, false} {
		size := 1200
		if i == 3 {
			size = 600
		}
		if got := c.Enqueue(t0(), Packet{ID: int64(i), Size: size}); got != want {
			t.Errorf("packet %d: %v, want %v", i, got, want)
		}
	}
	for _, size := range []int{0, -5} {
		if c.Enqueue(t0(), Packet{ID: 9, Size: size}) {
			t.Errorf("took a packet of %d bytes", size)
		}
	}
	out := c.Advance(t0())
	ids := []int64{}
	for _, p := range out.Dropped {
		ids = append(ids, p.ID)
	}
	if fmt.Sprint(ids) != "[2 4 9 9]" || c.Stats().PhoneDrops != 4 || c.Stats().BytesDropped != 2400 {
		t.Errorf("dropped %v, %+v", ids, c.Stats())
	}
	if len(c.Advance(t0()).Dropped) != 0 {
		t.Error("dropped twice")
	}
}

func TestPath(t *testing.T) {
	run := func(p PathConfig) (n int, mean, low, high float64, s Stats) {
		c := mustNew(t, Config{Capacity: Constant(20e6), Path: p})
		low = 1e9
		for i := range 10_000 {
			for _, d := range c.Advance(at(i)).Delivered {
				if i < 1000 {
					continue
				}
				v := ms(d.At.Sub(d.LeftPhone))
				n, mean, low, high = n+1, mean+v, min(low, v), max(high, v)
			}
			if i%2 == 0 { // 4.8 Mbit/s
				c.Enqueue(at(i), Packet{Size: 1200})
			}
		}
		return n, mean / float64(n), low, high, c.Stats()
	}
	n, _, low, high, _ := run(PathConfig{Delay: -1})
	within(t, "no delay", high-low, 0, 0, "ms")
	within(t, "packets", float64(n), 4500, 10, "packets")

	_, mean, low, high, _ := run(PathConfig{JitterMax: 10 * tti})
	// Packets come every 2 ms and may not overtake, which lifts the mean.
	within(t, "jitter: mean", mean, 31.5, 1.5, "ms")
	within(t, "jitter: least", low, 25, 0.5, "ms")
	within(t, "jitter: most", high, 35, 0.5, "ms")

	_, _, _, _, s := run(PathConfig{Loss: 0.1})
	within(t, "loss", float64(s.PathDrops)/float64(s.PacketsIn), 0.1, 0.015, "")

	n, _, _, high, s = run(PathConfig{RateBps: 2_400_000, QueueBytes: 24_000})
	within(t, "bottleneck: packets", float64(n), 2250, 15, "packets")
	within(t, "bottleneck: full queue", high, 25+80, 5, "ms")
	within(t, "bottleneck: loss", float64(s.PathDrops)/float64(s.PacketsIn), 0.5, 0.02, "")

	_, _, _, _, s = run(PathConfig{RateBps: 2_400_000, QueueBytes: 24_000, RateFrom: 5 * time.Second})
	within(t, "bottleneck half the time: loss", float64(s.PathDrops)/float64(s.PacketsIn), 0.25, 0.02, "")
}

func TestHARQ(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6), BLER: 0.1})
	comb := map[int]int{}
	n, bytes := 0, 0
	saturate(c, 0, 20_000, 20_000, func(_ int, out Output) {
		for _, d := range out.Delivered {
			comb[int(d.At.Sub(d.LeftPhone)/tti)-25]++
			n++
			bytes += d.Size
		}
	})
	s := c.Stats()
	within(t, "retransmissions", float64(s.Retransmissions)/float64(s.Grants), 0.101, 0.01, "of blocks")
	// A retransmission takes a TTI away: 1 / 1.101 of the TTIs are new data.
	within(t, "goodput", float64(bytes)*8/20/10e6, 0.985/1.101, 0.015, "of the link")
	if comb[8] == 0 || comb[0] == 0 || comb[8] < comb[16] {
		t.Errorf("delays behind the phone: %v", comb)
	}
	for late, k := range comb {
		if late < 0 || late > 24 {
			t.Errorf("%d packets %d ms late", k, late)
		}
	}
	// A packet waits when its own block is in error or one of the seven TTIs
	// before, 1 / 1.101 of which are new blocks.
	within(t, "packets in time", float64(comb[0])/float64(n), math.Pow(0.9, 1+7/1.101), 0.02, "")
}

func TestOtherApps(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6), OtherAppsBps: 2_000_000})
	bytes := 0
	saturate(c, 0, 5000, 20_000, func(_ int, out Output) {
		for _, d := range out.Delivered {
			bytes += d.Size
		}
	})
	within(t, "left for us", float64(bytes)*8/5/1e6, 7.85, 0.2, "Mbit/s")
	s := c.Stats()
	if s.BytesIn != s.BytesDelivered+s.BytesDropped+s.BytesQueued+s.BytesInFlight {
		t.Errorf("books: %+v", s)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		want string
		set  func(*Config)
	}{
		{"no start time", func(c *Config) { c.Start = time.Time{} }},
		{"no capacity", func(c *Config) { c.Capacity = Trace{} }},
		{"no capacity", func(c *Config) { c.Capacity = Constant(0) }},
		{"bytes in one TTI", func(c *Config) { c.Capacity = Constant(800e6) }},
		{"BSR period", func(c *Config) { c.BSRPeriod = 500 * time.Microsecond }},
		{"BSR period", func(c *Config) { c.BSRPeriod = -tti }},
		{"retx BSR", func(c *Config) { c.RetxBSR = time.Hour }},
		{"SR period", func(c *Config) { c.SRPeriod = 1500 * time.Microsecond }},
		{"SR grant", func(c *Config) { c.SRGrantBytes = -1 }},
		{"lags", func(c *Config) { c.GrantTTIs = 8 }},
		{"lags", func(c *Config) { c.ReportTTIs = -1 }},
		{"buffer", func(c *Config) { c.BufferBytes = -1 }},
		{"BLER", func(c *Config) { c.BLER = 0.6 }},
		{"BLER", func(c *Config) { c.BLER = math.NaN() }},
		{"other apps", func(c *Config) { c.OtherAppsBps = -1 }},
		{"path delay", func(c *Config) { c.Path.JitterMax = -1 }},
		{"path rate", func(c *Config) { c.Path.RateBps = -1 }},
		{"path queue", func(c *Config) { c.Path.QueueBytes = -1 }},
		{"path loss", func(c *Config) { c.Path.Loss = 1.1 }},
		{"B139", func(c *Config) { c.Telemetry.B139Records = 32 }},
		{"B064", func(c *Config) { c.Telemetry.B064Samples = 256 }},
		{"spans", func(c *Config) { c.Telemetry.B064Span = -1 }},
		{"telemetry delay", func(c *Config) { c.Telemetry.Delay = 2 * time.Hour }},
	} {
		cfg := Config{Start: t0(), Capacity: Constant(1e6)}
		if _, err := New(cfg); err != nil {
			t.Fatal(err)
		}
		tc.set(&cfg)
		_, err := New(cfg)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}

// Steady traffic makes no garbage.
func TestAllocs(t *testing.T) {
	for _, encoded := range []bool{false, true} {
		c := mustNew(t, Config{Capacity: Constant(10e6), BLER: 0.1, Telemetry: TelemetryConfig{Encoded: encoded}})
		i := 0
		second := func() {
			saturate(c, i, i+1000, 30_000, nil)
			i += 1000
		}
		second()
		second()
		if n := testing.AllocsPerRun(5, second); n > 2 && !raceEnabled {
			t.Errorf("encoded %v: %v allocations per second of traffic", encoded, n)
		}
	}
}

func BenchmarkSecond(b *testing.B) {
	for _, tc := range []struct {
		name string
		cfg  Config
	}{
		{"saturated", Config{Capacity: Constant(10e6)}},
		{"harq", Config{Capacity: Constant(10e6), BLER: 0.1}},
		{"encoded", Config{Capacity: Constant(10e6), Telemetry: TelemetryConfig{Encoded: true}}},
	} {
		b.Run(tc.name, func(b *testing.B) {
			c := mustNew(b, tc.cfg)
			saturate(c, 0, 1000, 30_000, nil)
			i := 1000
			b.ReportAllocs()
			for b.Loop() {
				saturate(c, i, i+1000, 30_000, nil)
				i += 1000
			}
		})
	}
	b.Run("idle", func(b *testing.B) {
		c := mustNew(b, Config{Capacity: Constant(10e6)})
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			for range 1000 {
				i++
				c.Advance(at(i))
			}
		}
	})
}
