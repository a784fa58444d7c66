// SPDX-License-Identifier: MIT

package gcc

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func testAIMD(bps float64) aimd {
	cfg := Config{}.withDefaults()
	a := newAIMD(&cfg)
	a.rate, a.acked, a.starting = bps, bps, false

	return a
}

var t0 = time.Unix(1_000, 0)

// The table of draft-ietf-rmcat-gcc-02 5.5 with goog_cc's way out of Decrease.
func TestAIMDStateTable(t *testing.T) {
	const now, later = 1_000, 2_000 // ms
	for _, tt := range []struct {
		from  State
		usage Usage
		want  State
		// grows: the time since the last update counts as growth.
		grows bool
	}{
		{StateHold, UsageNormal, StateIncrease, false},
		{StateHold, UsageOver, StateDecrease, false},
		{StateHold, UsageUnder, StateHold, false},
		{StateIncrease, UsageNormal, StateIncrease, true},
		{StateIncrease, UsageOver, StateDecrease, false},
		{StateIncrease, UsageUnder, StateHold, false},
		{StateDecrease, UsageNormal, StateIncrease, false},
		{StateDecrease, UsageOver, StateDecrease, false},
		{StateDecrease, UsageUnder, StateHold, false},
	} {
		a := testAIMD(1_000_000)
		a.state = tt.from
		a.grownAt, a.updatedAt = t0.Add(now*time.Millisecond), t0.Add(now*time.Millisecond)
		a.update(t0.Add(later*time.Millisecond), aimdInput{usage: tt.usage, ackedBps: 1_000_000, rtt: 100 * time.Millisecond})
		if a.state != tt.want {
			t.Errorf("%v, %v -> %v, want %v", tt.from, tt.usage, a.state, tt.want)
		}
		want := 1_000_000.0
		switch {
		case tt.usage == UsageOver:
			want = 845_000
		case tt.grows:
			want = 1_080_000
		}
		if math.Abs(a.rate-want) > 1 {
			t.Errorf("%v, %v: rate %.0f, want %.0f", tt.from, tt.usage, a.rate, want)
		}
	}
}

func TestAIMDDecrease(t *testing.T) {
	for _, tt := range []struct {
		name           string
		rate, acked    float64
		capacityKbps   float64
		appLimited     bool
		want, capacity float64
	}{
		{name: "0.85 of acked less 5k", rate: 3e6, acked: 2e6, want: 1_695_000, capacity: 2_000},
		{name: "never up", rate: 1e6, acked: 2e6, want: 1e6, capacity: 2_000},
		{name: "acked above, capacity known", rate: 1e6, acked: 2e6, capacityKbps: 1_100, want: 935_000, capacity: 1_145},
		{name: "capacity above too: stays", rate: 1e6, acked: 2e6, capacityKbps: 1_900, want: 1e6, capacity: 1_905},
		{name: "acked far below capacity: new one", rate: 3e6, acked: 1e6, capacityKbps: 2_900, want: 845_000, capacity: 1_000},
		{name: "not below min", rate: 150_000, acked: 50_000, want: 100_000, capacity: 50},
		{name: "app limited", rate: 3e6, acked: 200_000, appLimited: true, want: 2_550_000},
		{name: "app limited, acked still higher", rate: 1e6, acked: 1.1e6, appLimited: true, want: 930_000},
	} {
		a := testAIMD(tt.rate)
		if tt.capacityKbps > 0 {
			a.capacity.kbps, a.capacity.known = tt.capacityKbps, true
		}
		a.update(t0, aimdInput{usage: UsageOver, ackedBps: tt.acked, appLimited: tt.appLimited})
		if math.Abs(a.rate-tt.want) > 1 {
			t.Errorf("%s: rate %.0f, want %.0f", tt.name, a.rate, tt.want)
		}
		if a.capacity.known != (tt.capacity > 0) || (tt.capacity > 0 && math.Abs(a.capacity.kbps-tt.capacity) > 0.5) {
			t.Errorf("%s: capacity %v %.1f, want %.1f kbit/s", tt.name, a.capacity.known, a.capacity.kbps, tt.capacity)
		}
	}
}

func TestAIMDReduceSpacing(t *testing.T) {
	for _, tt := range []struct {
		name           string
		rttMs, afterMs int
		acked          float64
		appLimited     bool
		cut            bool
	}{
		{"within the round trip", 100, 99, 2e6, false, false},
		{"after it", 100, 100, 2e6, false, true},
		{"at least 10 ms", 1, 9, 2e6, false, false},
		{"10 ms", 1, 10, 2e6, false, true},
		{"at most 200 ms", 900, 200, 2e6, false, true},
		{"default is 200 ms", 0, 199, 2e6, false, false},
		{"far too high", 100, 1, 1.4e6, false, true},
		{"half is not far enough", 100, 1, 1.5e6, false, false},
		{"far too high, but unused", 100, 1, 1.4e6, true, false},
	} {
		a := testAIMD(3e6)
		rtt := time.Duration(tt.rttMs) * time.Millisecond
		a.update(t0, aimdInput{usage: UsageNormal, ackedBps: 3e6, rtt: rtt})
		a.update(t0.Add(time.Duration(tt.afterMs)*time.Millisecond), aimdInput{usage: UsageOver, ackedBps: tt.acked, rtt: rtt, appLimited: tt.appLimited})
		if cut := a.rate < 3e6; cut != tt.cut {
			t.Errorf("%s: rate %.0f, cut %v want %v", tt.name, a.rate, cut, tt.cut)
		}
		if a.rate > 3e6 {
			t.Errorf("%s: rate %.0f rose on overuse", tt.name, a.rate)
		}
	}
}

func TestAIMDHalvesBeforeAcked(t *testing.T) {
	a := testAIMD(800_000)
	a.update(t0, aimdInput{usage: UsageOver})
	a.update(t0.Add(199*time.Millisecond), aimdInput{usage: UsageOver})
	if a.rate != 400_000 {
		t.Errorf("rate %.0f, want 400000", a.rate)
	}
	a.update(t0.Add(200*time.Millisecond), aimdInput{usage: UsageOver})
	if a.rate != 200_000 {
		t.Errorf("rate %.0f, want 200000", a.rate)
	}
}

// grow runs normal updates each 50 ms.
func grow(a *aimd, from time.Time, d time.Duration, acked float64) time.Time {
	for end := from.Add(d); from.Before(end); {
		from = from.Add(50 * time.Millisecond)
		a.update(from, aimdInput{usage: UsageNormal, ackedBps: acked, rtt: 100 * time.Millisecond})
	}

	return from
}

func TestAIMDGrowth(t *testing.T) {
	normal := aimdInput{usage: UsageNormal, ackedBps: 5e6, rtt: 100 * time.Millisecond}
	for _, tt := range []struct {
		name string
		set  func(a *aimd)
		want float64 // after 1 s from 1 Mbit/s
	}{
		{"multiplicative", func(*aimd) {}, 1_080_000},
		{"until the first cut", func(a *aimd) { a.starting = true }, 2_500_000},
		// 33333 bit frames in 4 packets of 8333 bit, one per 2 * 200 ms.
		{"additive near capacity", func(a *aimd) { a.capacity.kbps, a.capacity.known = 5_000, true }, 1_020_900},
		{"capacity outgrown", func(a *aimd) { a.capacity.kbps, a.capacity.known = 900, true }, 1_080_000},
		{"least growth", func(a *aimd) { a.rate = 100_000 }, 120_000},
	} {
		a := testAIMD(1e6)
		tt.set(&a)
		a.update(t0, normal)
		grow(&a, t0, time.Second, 5e6)
		if math.Abs(a.rate-tt.want) > 2_000 {
			t.Errorf("%s: %.0f, want %.0f", tt.name, a.rate, tt.want)
		}
	}
}

func TestAIMDGapEarnsOneSecond(t *testing.T) {
	a := testAIMD(1e6)
	a.update(t0, aimdInput{usage: UsageNormal, ackedBps: 5e6})
	a.update(t0.Add(time.Minute), aimdInput{usage: UsageNormal, ackedBps: 5e6})
	if math.Abs(a.rate-1_080_000) > 1 {
		t.Errorf("rate %.0f after a minute's gap, want 1080000", a.rate)
	}
}

// The cap stops growth; it never takes away.
func TestAIMDCap(t *testing.T) {
	a := testAIMD(1e6)
	now := grow(&a, t0, 30*time.Second, 1e6)
	if a.rate != 1_510_000 {
		t.Errorf("rate %.0f, want 1.5*acked+10k = 1510000", a.rate)
	}
	grow(&a, now, 5*time.Second, 200_000)
	if a.rate != 1_510_000 {
		t.Errorf("rate %.0f after the source fell asleep, want 1510000 still", a.rate)
	}

	a = testAIMD(29e6)
	grow(&a, t0, 5*time.Second, 29e6)
	if a.rate != 30e6 {
		t.Errorf("rate %.0f, want the maximum", a.rate)
	}
}

func TestAIMDSetEstimateDoesNotDelayCuts(t *testing.T) {
	a := testAIMD(3e6)
	a.update(t0, aimdInput{usage: UsageNormal, ackedBps: 3e6, rtt: 100 * time.Millisecond})
	a.setEstimate(t0.Add(99*time.Millisecond), 2.9e6)
	a.update(t0.Add(100*time.Millisecond), aimdInput{usage: UsageOver, ackedBps: 2.9e6, rtt: 100 * time.Millisecond})
	if a.rate >= 2.9e6 {
		t.Errorf("rate %.0f, the cut did not happen", a.rate)
	}
}

func TestLinkCapacity(t *testing.T) {
	l := newLinkCapacity()
	if lo, hi := l.bounds(); lo != 0 || !math.IsInf(hi, 1) {
		t.Errorf("bounds %v..%v while unknown", lo, hi)
	}
	l.onOveruse(500_000)
	lo, hi := l.bounds()
	d := 3 * math.Sqrt(0.4*500) * 1000 // libwebrtc's own note: about 14 kbit/s of deviation
	if math.Abs(lo-(500_000-d)) > 1 || math.Abs(hi-(500_000+d)) > 1 {
		t.Errorf("bounds %.0f..%.0f, want 500000 +- %.0f", lo, hi, d)
	}
	for range 20 {
		l.onOveruse(900_000)
	}
	if want := 900 - 400*math.Pow(0.95, 20); math.Abs(l.kbps-want) > 0.01 {
		t.Errorf("estimate %.2f, want %.2f kbit/s", l.kbps, want)
	}
	if l.variance != capacityMaxVar {
		t.Errorf("variance %v, want it clamped to 2.5", l.variance)
	}
}

// Two rates that share a link and are cut together whenever they fill it: the
// difference halves in about a minute, at any start.
func TestAIMDSharesInMinutes(t *testing.T) {
	const link, rtt = 4e6, 100 * time.Millisecond
	for _, first := range []float64{3.6e6, 3e6, 2.2e6} {
		a, b := testAIMD(first), testAIMD(link-first)
		for _, x := range []*aimd{&a, &b} {
			x.capacity.kbps, x.capacity.known = x.rate/1000, true
		}
		halved, start := 0.0, a.rate-b.rate
		for at := time.Duration(0); at < 5*time.Minute; at += 50 * time.Millisecond {
			usage := UsageNormal
			if a.rate+b.rate > link {
				usage = UsageOver
			}
			now := t0.Add(at)
			a.update(now, aimdInput{usage: usage, ackedBps: a.rate, rtt: rtt})
			b.update(now, aimdInput{usage: usage, ackedBps: b.rate, rtt: rtt})
			if halved == 0 && a.rate-b.rate < start/2 {
				halved = at.Seconds()
			}
		}
		what := fmt.Sprintf("from %.1f of %.1f Mbit/s: ", first/1e6, link/1e6)
		band(t, what+"difference halved", halved, 30, 90, "s")
		band(t, what+"difference after 5 min", (a.rate-b.rate)/start, 0, 0.15, "of the first")
	}
}
