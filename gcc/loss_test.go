// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"testing"
	"time"
)

func testLoss() lossLimit { return lossLimit{low: 0.02, high: 0.10} }

const lossDelayBps = 2e6

// feed runs d of reports each 50 ms with 20 packets of which lost are lost.
func (l *lossLimit) feed(from time.Time, d time.Duration, lost int) (end time.Time, cuts int) {
	for end = from; end.Before(from.Add(d)); end = end.Add(50 * time.Millisecond) {
		l.count(end, 20, lost)
		if l.update(end, 100*time.Millisecond, lossDelayBps, 100_000) {
			cuts++
		}
		l.release(lossDelayBps)
	}

	return end, cuts
}

func TestLossCutSizeAndSpacing(t *testing.T) {
	for _, tt := range []struct {
		name string
		lost int // of 20
		cuts int // in 4 s: at most one each 400 ms, rounded up to intervals of 50 ms
		want float64
	}{
		{"none", 0, 0, 0},
		{"5 %", 1, 0, 0},
		{"10 % is not above", 2, 0, 0},
		{"15 %", 3, 10, 2e6 * math.Pow(1-0.075, 10)},
		{"half", 10, 10, 2e6 * math.Pow(0.75, 10)},
		{"all", 20, 10, 100_000},
	} {
		l := testLoss()
		_, cuts := l.feed(t0, 4*time.Second, tt.lost)
		if cuts != tt.cuts || math.Abs(l.bps-tt.want) > 1 {
			t.Errorf("%s: %d cuts to %.0f, want %d to %.0f", tt.name, cuts, l.bps, tt.cuts, tt.want)
		}
	}
}

func TestLossNeedsPacketsAndTime(t *testing.T) {
	l := testLoss()
	for i := range 19 {
		now := t0.Add(time.Duration(i) * 100 * time.Millisecond)
		l.count(now, 1, 1)
		if l.update(now, 0, 2e6, 100_000) {
			t.Fatalf("cut after %d packets", i+1)
		}
	}
	l = testLoss()
	l.count(t0, 100, 100)
	if l.update(t0.Add(249*time.Millisecond), 0, 2e6, 100_000) {
		t.Error("cut within 249 ms")
	}
	if !l.update(t0.Add(250*time.Millisecond), 0, 2e6, 100_000) {
		t.Error("no cut after 250 ms")
	}
	// What happened before a pause does not count after it.
	l = testLoss()
	l.count(t0, 19, 19)
	l.count(t0.Add(time.Minute), 1, 0)
	if l.expected != 1 || l.lost != 0 {
		t.Errorf("%d of %d lost, want 0 of 1", l.lost, l.expected)
	}
}

func TestLossHoldGrowRelease(t *testing.T) {
	l := testLoss()
	now, _ := l.feed(t0, 300*time.Millisecond, 4) // one cut by 10 %
	if math.Abs(l.bps-1.8e6) > 1 {
		t.Fatalf("limit %.0f, want 1800000", l.bps)
	}
	now, _ = l.feed(now, 3*time.Second, 1) // 5 %: hold
	if math.Abs(l.bps-1.8e6) > 1 {
		t.Errorf("limit %.0f while holding, want 1800000", l.bps)
	}
	now, _ = l.feed(now, time.Second, 0) // up to 8 %/s, by intervals of 250 ms
	band(t, "limit", l.bps, 1.91e6, 1.95e6, "bit/s")
	now, _ = l.feed(now, time.Second, 0)
	if l.bps != 0 {
		t.Errorf("limit %.0f above the delay rate of 2000000, want none", l.bps)
	}
	if _, cuts := l.feed(now, 10*time.Second, 1); cuts != 0 || l.bps != 0 {
		t.Errorf("5 %% loss made a limit of %.0f", l.bps)
	}
}

func TestLossLateArrivalIsTakenBack(t *testing.T) {
	l := testLoss()
	l.count(t0, 40, 8)
	l.count(t0.Add(250*time.Millisecond), 0, -8)
	if l.update(t0.Add(250*time.Millisecond), 0, 2e6, 100_000) || l.ratio != 0 {
		t.Errorf("loss ratio %v for packets that came late, want 0", l.ratio)
	}
}
