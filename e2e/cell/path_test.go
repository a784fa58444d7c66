// SPDX-License-Identifier: MIT

package cell

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// arrivals sends a packet of size bytes every gap over a wire and
// returns the delay of each in ms, -1 for those that were lost.
func arrivals(t *testing.T, p PathConfig, n, size int, gap time.Duration) []float64 {
	t.Helper()
	r, err := NewWire(WireConfig{Start: t0(), Seed: 5, Path: p})
	if err != nil {
		t.Fatal(err)
	}
	delays := make([]float64, n)
	var last time.Time
	read := func(now time.Time) {
		out := r.Advance(now)
		for _, d := range out.Delivered {
			if d.At.Before(last) || d.At.After(now) {
				t.Fatalf("packet %d at %v, after one at %v, read at %v", d.ID, d.At, last, now)
			}
			last = d.At
			delays[d.ID] = ms(d.At.Sub(d.Queued))
		}
		for _, d := range out.Dropped {
			delays[d.ID] = -1
		}
	}
	now := t0()
	for i := range n {
		read(now)
		r.Enqueue(now, Packet{ID: int64(i), Size: size})
		now = now.Add(gap)
	}
	for range 10 * n {
		next := r.NextTimeout()
		if next.IsZero() {
			break
		}
		read(next)
	}
	s := r.Stats()
	if s.PacketsInFlight != 0 || s.BytesInFlight != 0 || s.PacketsIn != int64(n) || s.PacketsIn != s.PacketsDelivered+s.PacketsDropped ||
		s.BytesIn != s.BytesDelivered+s.BytesDropped {
		t.Fatalf("books: %+v", s)
	}
	return delays
}

// stats of delays: mean, least and most of those that arrived, share of lost.
func stats(delays []float64) (mean, low, high, lost float64) {
	low = math.Inf(1)
	n := 0.0
	for _, d := range delays {
		if d < 0 {
			lost++
			continue
		}
		n, mean, low, high = n+1, mean+d, min(low, d), max(high, d)
	}
	return mean / n, low, high, lost / float64(len(delays))
}

func TestWire(t *testing.T) {
	delays := arrivals(t, PathConfig{}, 1000, 100, 5*tti)
	mean, low, high, lost := stats(delays)
	within(t, "nothing in the way: delay", mean+low+high, 0, 0, "ms")
	within(t, "nothing in the way: loss", lost, 0, 0, "")

	delays = arrivals(t, PathConfig{Delay: 30 * tti, JitterMax: 10 * tti, Loss: 0.1}, 20_000, 100, 20*tti)
	mean, low, high, lost = stats(delays)
	within(t, "mean", mean, 35, 0.2, "ms")
	within(t, "least", low, 30, 0.1, "ms")
	within(t, "most", high, 40, 0.1, "ms")
	within(t, "loss", lost, 0.1, 0.01, "")

	// 100 bytes at 100 kbit/s take 8 ms each; sent every 4 ms they fill the
	// queue of 1500 bytes, 120 ms.
	delays = arrivals(t, PathConfig{RateBps: 100_000, QueueBytes: 1500}, 2000, 100, 4*tti)
	_, low, high, lost = stats(delays)
	within(t, "rate: least", low, 8, 0.1, "ms")
	within(t, "rate: most", high, 120, 4.1, "ms")
	within(t, "rate: loss", lost, 0.5, 0.01, "")

	for _, p := range []PathConfig{{Loss: 2}, {RateBps: -1}, {Delays: []DelayStep{{At: -1}}}} {
		if _, err := NewWire(WireConfig{Start: t0(), Path: p}); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: error %v", p, err)
		}
	}
	if _, err := NewWire(WireConfig{}); !errors.Is(err, ErrConfig) {
		t.Errorf("no start: error %v", err)
	}
	r, _ := NewWire(WireConfig{Start: t0()})
	if r.Enqueue(t0(), Packet{}) || len(r.Advance(t0()).Dropped) != 1 {
		t.Error("took a packet without bytes")
	}
}

func TestWireNextTimeout(t *testing.T) {
	for _, aqm := range []AQM{DropTail, CoDel} {
		r, err := NewWire(WireConfig{Start: t0(), Path: PathConfig{Delay: 10 * tti, RateBps: 1_000_000, AQM: aqm}})
		if err != nil {
			t.Fatal(err)
		}
		if !r.NextTimeout().IsZero() {
			t.Errorf("%v: empty, but waits for %v", aqm, r.NextTimeout())
		}
		for i := range 5 {
			r.Enqueue(at(3), Packet{ID: int64(i), Size: 125}) // 1 ms each
		}
		var got []string
		for n := 0; !r.NextTimeout().IsZero() && n < 50; n++ {
			for _, d := range r.Advance(r.NextTimeout()).Delivered {
				got = append(got, fmt.Sprint(d.ID, " ", d.At.Sub(t0())))
			}
		}
		if want := "0 14ms,1 15ms,2 16ms,3 17ms,4 18ms"; strings.Join(got, ",") != want {
			t.Errorf("%v: got %v, want %v", aqm, got, want)
		}
	}
}

func TestBurstLoss(t *testing.T) {
	for _, tc := range []struct{ share, length float64 }{{0.05, 1}, {0.05, 8}, {0.2, 3}} {
		delays := arrivals(t, PathConfig{Burst: Bursts(tc.share, tc.length)}, 100_000, 100, tti)
		bursts, lost, in := 0.0, 0.0, false
		for _, d := range delays {
			if d < 0 {
				lost++
				if !in {
					bursts++
				}
			}
			in = d < 0
		}
		what := fmt.Sprintf("%v in bursts of %v: ", tc.share, tc.length)
		within(t, what+"loss", lost/float64(len(delays)), tc.share, tc.share/10, "")
		within(t, what+"burst", lost/bursts, tc.length, tc.length/12, "packets")
	}
	// The four parameters: a third of the time bad, half lost there, 1 % else.
	delays := arrivals(t, PathConfig{Burst: GilbertElliott{0.05, 0.1, 0.01, 0.5}}, 100_000, 100, tti)
	_, _, _, lost := stats(delays)
	within(t, "four parameters: loss", lost, 0.01*2/3+0.5/3, 0.012, "")
	if g := Bursts(0.9, 1); g.GoodToBad > 1 || g.BadToGood > 1 || g.GoodToBad/(g.GoodToBad+g.BadToGood) < 0.89 {
		t.Errorf("%+v", g)
	}
}

func TestReorder(t *testing.T) {
	delays := arrivals(t, PathConfig{Delay: 20 * tti, Reorder: Reorder{Share: 0.1, Max: 30 * tti}}, 50_000, 100, tti)
	late, overtaken, sum := 0.0, 0.0, 0.0
	for i, d := range delays {
		if d > 20 {
			late++
			sum += d - 20
		}
		if i+1 < len(delays) && delays[i+1]+1 < d {
			overtaken++
		}
	}
	n := float64(len(delays))
	within(t, "delayed", late/n, 0.1, 0.01, "of packets")
	within(t, "delay of those", sum/late, 15, 0.7, "ms")
	// Overtaken by the next one, 1 ms behind: 29/30 of them, unless the next
	// one is held back as well and longer.
	within(t, "overtaken", overtaken/late, 29.0/30*0.95, 0.02, "of those")
}

func TestDelaySteps(t *testing.T) {
	p := PathConfig{Delay: 20 * tti, Delays: []DelayStep{{At: time.Second, Delay: 60 * tti}, {At: 2 * time.Second, Delay: 10 * tti}}}
	delays := arrivals(t, p, 3000, 100, tti)
	for _, tc := range []struct {
		i    int
		want float64
	}{{0, 20}, {999, 20}, {1000, 60}, {1999, 60}, {2000, 59}, {2025, 34}, {2049, 10}, {2999, 10}} {
		within(t, fmt.Sprintf("packet %d", tc.i), delays[tc.i], tc.want, 0, "ms")
	}
}

func TestRateSchedule(t *testing.T) {
	// 125 bytes at 1 Mbit/s are 1 ms, and one comes every ms.
	p := PathConfig{QueueBytes: 1 << 20, Rate: []Step{{time.Second, 1_000_000}, {time.Second, 500_000}, {time.Second, 0}, {0, 100_000}}}
	delays := arrivals(t, p, 4000, 125, tti)
	for _, tc := range []struct {
		i    int
		want float64
	}{
		{0, 1},
		{999, 1},
		{1000, 2}, // at 2 ms each
		{1001, 3},
		{1499, 501},
		{1500, 500}, // no bottleneck from 2 s on
		{1999, 1},
		{2000, 0},
		{2999, 0},
		{3000, 10}, // at 10 ms each, for good
		{3001, 19},
		{3999, 9001},
	} {
		within(t, fmt.Sprintf("packet %d", tc.i), delays[tc.i], tc.want, 1e-3, "ms")
	}
	// A packet that is half sent when the rate halves.
	p.Rate = []Step{{1000*tti + tti/2, 1_000_000}, {0, 500_000}}
	delays = arrivals(t, p, 1001, 125, tti)
	within(t, "across a step", delays[1000], 1.5, 1e-3, "ms")
	// The old way to say it.
	a := arrivals(t, PathConfig{RateBps: 700_000, RateFrom: time.Second, QueueBytes: 4000}, 3000, 125, tti)
	b := arrivals(t, PathConfig{Rate: []Step{{time.Second, 0}, {0, 700_000}}, QueueBytes: 4000}, 3000, 125, tti)
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("packet %d: %v ms with RateFrom, %v with Rate", i, a[i], b[i])
		}
	}
}

func TestCoDel(t *testing.T) {
	run := func(aqm AQM, bps int) []float64 {
		// 1200 bytes at 2.4 Mbit/s are 4 ms.
		gap := time.Duration(1200 * 8e9 / float64(bps))
		delays := arrivals(t, PathConfig{RateBps: 2_400_000, QueueBytes: 1 << 20, AQM: aqm}, 3000, 1200, gap)
		return delays
	}
	// Below the rate they are the same: every packet in 4 ms.
	for _, aqm := range []AQM{DropTail, CoDel} {
		mean, _, high, lost := stats(run(aqm, 2_300_000))
		within(t, aqm.String()+" below the rate: loss", lost, 0, 0, "")
		within(t, aqm.String()+" below the rate: delay", mean+high, 8, 1e-3, "ms")
	}
	// 10 % above: 12 s of it make 1.1 s of queue, or drops of the surplus.
	mean, _, _, lost := stats(run(DropTail, 2_640_000)[1500:])
	within(t, "drop-tail above the rate: delay", mean, 820, 40, "ms")
	within(t, "drop-tail above the rate: loss", lost, 0, 0, "")
	mean, _, high, lost := stats(run(CoDel, 2_640_000)[1500:])
	within(t, "CoDel above the rate: delay", mean, 12, 6, "ms")
	within(t, "CoDel above the rate: most", high, 22, 10, "ms")
	within(t, "CoDel above the rate: loss", lost, 0.0909, 0.015, "")
}

// The first drop comes an interval after the queue stands, the next ones at
// interval/sqrt(1), /sqrt(2), ... RFC 8289 3.3.
func TestCoDelControlLaw(t *testing.T) {
	r, err := NewWire(WireConfig{Start: t0(), Path: PathConfig{RateBps: 2_400_000, QueueBytes: 1 << 20, AQM: CoDel}})
	if err != nil {
		t.Fatal(err)
	}
	var drops []float64
	for i := range 500 {
		for range r.Advance(at(i)).Dropped {
			drops = append(drops, float64(i))
		}
		if i%2 == 0 { // twice the rate
			r.Enqueue(at(i), Packet{Size: 1200})
		}
	}
	if len(drops) < 6 {
		t.Fatalf("drops at %v", drops)
	}
	within(t, "first drop", drops[0], 114, 10, "ms")
	want := drops[0]
	for i := 1; i < 6; i++ {
		want += 100 / math.Sqrt(float64(i))
		within(t, fmt.Sprintf("drop %d", i+1), drops[i], want, 5, "ms")
	}
}

func TestPathConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		want string
		path PathConfig
	}{
		{"path AQM", PathConfig{AQM: 7}},
		{"both as a schedule", PathConfig{RateBps: 1e6, Rate: []Step{{0, 1e6}}}},
		{"neither 0 nor within", PathConfig{Rate: []Step{{0, 999}}}},
		{"neither 0 nor within", PathConfig{Rate: []Step{{0, -1}}}},
		{"path rate", PathConfig{Rate: []Step{{0, 1e6}, {0, 2e6}}}},
		{"burst loss", PathConfig{Burst: GilbertElliott{GoodToBad: 1.5}}},
		{"burst loss", PathConfig{Burst: GilbertElliott{LossBad: math.NaN()}}},
		{"reordering", PathConfig{Reorder: Reorder{Share: -1}}},
		{"reordering", PathConfig{Reorder: Reorder{Share: 0.1, Max: -1}}},
		{"delay step", PathConfig{Delays: []DelayStep{{time.Second, tti}, {time.Second, tti}}}},
		{"delay step", PathConfig{Delays: []DelayStep{{0, -tti}}}},
	} {
		_, err := New(Config{Start: t0(), Capacity: Constant(1e6), Path: tc.path})
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}

// A packet keeps its times of before.
func TestWireForwards(t *testing.T) {
	w, err := NewWire(WireConfig{Start: t0(), Path: PathConfig{Delay: 10 * tti}})
	if err != nil {
		t.Fatal(err)
	}
	in := Delivery{Packet: Packet{ID: 7, Size: 100}, Queued: at(1), LeftPhone: at(3), At: at(8)}
	if !w.Forward(at(8), in) {
		t.Fatal("lost")
	}
	want := in
	want.At = at(18)
	out := w.Advance(at(18)).Delivered
	if len(out) != 1 || out[0].ID != want.ID || !out[0].Queued.Equal(want.Queued) || !out[0].LeftPhone.Equal(want.LeftPhone) || !out[0].At.Equal(want.At) {
		t.Errorf("got %+v, want %+v", out, want)
	}
}

// What a reference is told of the bottleneck is what packets meet.
func TestBpsAt(t *testing.T) {
	steps := PathConfig{Rate: []Step{{Bps: 4e6, For: time.Second}, {Bps: 0, For: time.Second}, {Bps: 1e6}}}
	late := PathConfig{RateBps: 3e6, RateFrom: time.Second}
	for _, c := range []struct {
		path PathConfig
		at   time.Duration
		want int
	}{
		{PathConfig{}, 0, 0},
		{late, time.Second - 1, 0},
		{late, time.Second, 3e6},
		{steps, 0, 4e6},
		{steps, time.Second, 0},
		{steps, 2 * time.Second, 1e6},
		{steps, time.Hour, 1e6},
	} {
		if got := c.path.BpsAt(c.at); got != c.want {
			t.Errorf("%+v at %v: %d bit/s, want %d", c.path, c.at, got, c.want)
		}
		s := c.path.schedule(t0())
		if i := s.find(t0().Add(c.at)); i >= 0 && int(s.parts[i].bps) != c.want || i < 0 && c.want != 0 {
			t.Errorf("%+v at %v: packets meet something else", c.path, c.at)
		}
	}
}

// The future is what then comes to pass.
func TestBytesAt(t *testing.T) {
	cfg := Config{
		Capacity: Constant(8e6), RandomHandovers: RandomHandovers{PerMinute: 20},
		Outages: []Outage{{At: 2 * time.Second, For: time.Second}},
	}
	c := mustNew(t, cfg)
	sum := 0
	for ms := range int64(10_000) {
		sum += c.BytesAt(ms)
		if ms >= 2000 && ms < 3000 && c.BytesAt(ms) != 0 {
			t.Fatalf("%d bytes in the outage", c.BytesAt(ms))
		}
	}
	c.Advance(at(10_000))
	if got, want := sum*8/10, c.CapacityBps(at(10_000), 10*time.Second); got < want-100 || got > want+100 || c.BytesAt(-1) != 0 {
		t.Errorf("%d bit/s foretold, %d came", got, want)
	}
}

func TestWireBacklog(t *testing.T) {
	for _, aqm := range []AQM{DropTail, CoDel} {
		w, err := NewWire(WireConfig{Start: t0(), Path: PathConfig{RateBps: 1_000_000, AQM: aqm, Delay: 10 * tti}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			w.Enqueue(at(0), Packet{ID: int64(i), Size: 500}) // 4 ms each
		}
		w.Advance(at(16))
		within(t, aqm.String()+": half-way", float64(w.Backlog()), 2000, 500, "B")
		w.Advance(at(40))
		within(t, aqm.String()+": all through", float64(w.Backlog()), 0, 0, "B")
	}
}
