// SPDX-License-Identifier: MIT

package gbr

import (
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
