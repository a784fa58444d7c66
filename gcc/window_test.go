// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	var w window
	w.onReport(100*time.Millisecond, 800_000)
	band(t, "first: 450 ms of the rate", w.bytes, 45_000, 45_000, "B")
	w.onReport(200*time.Millisecond, 800_000)
	band(t, "the shortest counts, half with the last", w.bytes, 45_000, 45_000, "B")
	w.onReport(50*time.Millisecond, 800_000)
	band(t, "a shorter one", w.bytes, 42_500, 42_500, "B")
	for range windowRTTs + 10 {
		w.onReport(150*time.Millisecond, 800_000)
	}
	band(t, "32 longer ones later", w.bytes, 49_900, 50_000, "B")
	for range 50 {
		w.onReport(10*time.Millisecond, 1000)
	}
	band(t, "lowest", w.bytes, 3000, 3000, "B")
}

func TestPushback(t *testing.T) {
	now := t0
	push := func(w *window, fill float64) float64 {
		now = now.Add(25 * time.Millisecond)
		w.push(now, int64(fill*w.bytes))

		return w.pushback(1e6)
	}
	w := &window{bytes: 10_000}
	for i, tt := range []struct{ fill, want float64 }{
		{0.5, 0}, {1, 0}, {1.2, 0.05}, {1.6, 0.145}, {0.9, 0.10225}, {0.05, 0}, {0.9, 0},
	} {
		band(t, "pushback", push(w, tt.fill), tt.want-1e-9, tt.want+1e-9, "")
		if w.push(now.Add(24*time.Millisecond), 1e6) {
			t.Errorf("%d: changed after 24 ms", i)
		}
	}
	for range 200 {
		push(w, 2)
	}
	band(t, "at most all but 30 kbit/s", w.pushback(1e6), 0.97, 0.97, "")
	band(t, "of 20 kbit/s", w.pushback(20_000), 0, 0, "")
	w.release(now)
	band(t, "after release", w.pushback(1e6), 0, 0, "")
	if w.push(now.Add(999*time.Millisecond), 1e6) || !w.push(now.Add(time.Second), 1e6) {
		t.Error("rests for something else than 1 s")
	}
}

func TestInFlight(t *testing.T) {
	var f inFlight
	for i := range int64(10) {
		f.sent(i, 100)
	}
	f.received(3)
	band(t, "after 4 of 10", float64(f.bytes), 600, 600, "B")
	f.received(1) // late
	f.received(3)
	f.sent(2, 100) // told too late
	band(t, "late news", float64(f.bytes), 600, 600, "B")
	f.received(9)
	band(t, "all", float64(f.bytes), 0, 0, "B")
	for i := range int64(3 * inFlightSlots) {
		f.sent(10+i, 100)
	}
	band(t, "bounded", float64(f.bytes), 100*inFlightSlots, 100*inFlightSlots, "B")
	f.received(1 << 40)
	band(t, "far ahead", float64(f.bytes), 0, 0, "B")
	for _, seq := range []int64{math.MaxInt64, math.MinInt64, -5, 0} {
		f = inFlight{}
		f.sent(seq, 100)
		f.received(seq)
		f.received(math.MaxInt64)
		f.sent(math.MinInt64, 100)
		if f.bytes < 0 {
			t.Errorf("%d: %d bytes", seq, f.bytes)
		}
	}
}
