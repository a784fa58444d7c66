// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// Whoever has more of a narrow path gives more back and takes less, so that the
// shares of two come together.
func TestSharesComeTogether(t *testing.T) {
	const capacity = 4e6
	share := func(rate float64) *path {
		return &path{before: rate, trains: trains{bps: capacity, peak: capacity, radio: 10e6}}
	}
	a, b := 3.2e6, 0.4e6
	for range 6 {
		for a+b < capacity {
			a, b = share(a).grow(a, 0.1), share(b).grow(b, 0.1)
		}
		a, b = a*share(a).keep(), b*share(b).keep()
	}
	if ratio := a / b; ratio < 0.95 || ratio > 1.3 {
		t.Errorf("after six queues %.2f and %.2f Mbit/s", a/1e6, b/1e6)
	}
}

// Alone, what is used of a path follows its queue: nearly all while there is
// hardly one, less the longer it is, never nothing; and no more than arrives.
func TestAloneTheQueueIsLetGo(t *testing.T) {
	now := time.Unix(1000, 0)
	const c = 4e6
	last := math.Inf(1)
	for _, tc := range []struct {
		queue     time.Duration
		arrives   float64
		low, high float64 // share of c
	}{
		{30 * time.Millisecond, c, 0.85, 0.95},
		{60 * time.Millisecond, c, 0.7, 0.85},
		{120 * time.Millisecond, c, 0.45, 0.6},
		{time.Second, c, 0.25, 0.35},
		{30 * time.Millisecond, c / 2, 0.4, 0.48}, // it has become narrower
	} {
		p := &path{
			episode: now, mean: tc.queue, queue: tc.queue, bottleneck: tc.arrives, before: c,
			trains: trains{bps: c, peak: c, radio: 10e6, weight: 4},
		}
		got, ok := p.limit(now)
		if got /= c; !ok || got < tc.low || got > tc.high {
			t.Errorf("a queue of %v, %.1f Mbit/s arrive: %.2f of the path, want %.2f to %.2f", tc.queue, tc.arrives/1e6, got, tc.low, tc.high)
		}
		if tc.arrives == c && got >= last {
			t.Errorf("a queue of %v: not less than for a shorter one", tc.queue)
		}
		last = got
	}
}

// What does not go although less is sent, where nothing is narrow, does not take
// the rate down with it.
func TestNoSpiral(t *testing.T) {
	now := time.Unix(1000, 0)
	p := &path{episode: now, mean: 32 * time.Millisecond, bottleneck: 2e6, before: 2e6}
	rate := 2e6
	for range 20 {
		limit, ok := p.limit(now)
		if !ok {
			t.Fatal("a queue at first")
		}
		rate = min(rate, limit)
		p.bottleneck = rate // what arrives is what was sent
	}
	if rate < 0.45*2e6 || rate > 0.7*2e6 {
		t.Errorf("%.2f of the rate after a second, want 0.45 to 0.7", rate/2e6)
	}
}

func TestOverflow(t *testing.T) {
	now := time.Unix(1000, 0)
	feed := func(o *overflow, seconds float64, packets, every int) (times int) {
		for i := range int(seconds * 20) {
			results := make([]gcc.PacketResult, packets)
			for k := range results {
				results[k].Received = every == 0 || (i*packets+k)%every != 0
			}
			now = now.Add(50 * time.Millisecond)
			o.onFeedback(now, results)
			if o.full(now) {
				times++
			}
		}

		return times
	}
	for _, tc := range []struct {
		name      string
		every     int // one in so many is lost
		low, high int // times in 10 s
	}{{"none", 0, 0, 0}, {"2 %", 50, 0, 1}, {"10 %", 10, 10, 20}} {
		var o overflow
		if got := feed(&o, 10, 10, tc.every); got < tc.low || got > tc.high {
			t.Errorf("%s lost: %d times, want %d to %d", tc.name, got, tc.low, tc.high)
		}
	}
}
