// SPDX-License-Identifier: MIT

package qoe

import (
	"testing"
	"time"
)

func newTiming() *playoutTiming {
	p := &playoutTiming{clock: newExtrapolator(0)}
	p.delays.Render = 10 * ms
	p.delays.MaxPlayout = 10 * time.Second

	return p
}

func TestCurrentDelay(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name          string
		current, late time.Duration
		want          time.Duration
	}{
		// Target: 100 + 0 + 10 ms.
		{"early", 50 * ms, -ms, 50 * ms},
		{"early by less than half a millisecond: to the target", 200 * ms, -500 * us, 110 * ms},
		{"early by more", 200 * ms, -501 * us, 200 * ms},
		{"just in time, below the target", 50 * ms, 0, 50 * ms},
		{"rises by as much as it was late", 50 * ms, 7 * ms, 57 * ms},
		{"up to the target", 50 * ms, 80 * ms, 110 * ms},
		{"just in time, above the target", 200 * ms, 0, 110 * ms},
		{"seconds late at once: no limit to the slope", 0, 5 * time.Second, 110 * ms},
	} {
		p := newTiming()
		p.setJitter(100 * ms)
		p.delays.Current = c.current
		now := time.Minute
		p.onRelease(now, due{at: now + p.overhead() - c.late})
		if got := p.snapshot().Current; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDelayComposition(t *testing.T) {
	p := newTiming()
	p.setJitter(30 * ms)
	if got := p.delays.Current; got != 30*ms {
		t.Errorf("the first current delay is %v, want 30 ms", got)
	}
	p.setJitter(50 * ms)
	if got := p.delays.Current; got != 30*ms {
		t.Errorf("the current delay follows the jitter to %v", got)
	}
	for range 6 {
		p.decode.add(0, 7*ms)
	}
	want := Delays{Jitter: 50 * ms, Decode: 7 * ms, Render: 10 * ms, MaxPlayout: 10 * time.Second, Target: 67 * ms, Current: 30 * ms}
	if got := p.snapshot(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	p.delays.MinPlayout = 80 * ms
	if got := p.target(); got != 80*ms {
		t.Errorf("target %v, want the minimum of 80 ms", got)
	}
	// Due: extrapolated plus the current delay within its bounds.
	p.clock.update(time.Second, 0)
	for _, c := range []struct{ current, want time.Duration }{{0, 80 * ms}, {100 * ms, 100 * ms}, {time.Second, 500 * ms}} {
		p.delays.Current, p.delays.MaxPlayout = c.current, 500*ms
		if got := p.render(0, 0).at - time.Second; got != c.want {
			t.Errorf("current %v: delay %v, want %v", c.current, got, c.want)
		}
	}
	d := p.render(time.Second, 0)
	if got := p.wait(time.Second, d, false); got != 500*ms-17*ms {
		t.Errorf("wait %v, want 483 ms", got)
	}
}

func TestLowLatency(t *testing.T) {
	for _, c := range []struct {
		minimum, maximum time.Duration
		want             bool
	}{
		{10 * ms, 20 * ms, false},
		{0, 20 * ms, true},
		{0, 0, true},
		{0, 500 * ms, true},
		{0, 501 * ms, false},
	} {
		p := newTiming()
		p.delays.MinPlayout, p.delays.MaxPlayout = c.minimum, c.maximum
		if got := p.render(0, 0).asap; got != c.want {
			t.Errorf("%v..%v: low latency %v, want %v", c.minimum, c.maximum, got, c.want)
		}
	}
	p := newTiming()
	p.delays.MaxPlayout = 100 * ms
	d := due{asap: true}
	if got := p.wait(time.Second, d, false); got != 0 {
		t.Errorf("first wait %v", got)
	}
	p.sent, p.lastOut = true, time.Second
	for _, c := range []struct {
		after, want time.Duration
		crowded     bool
	}{{0, 8 * ms, false}, {3 * ms, 5 * ms, false}, {8 * ms, 0, false}, {time.Second, 0, false}, {0, 0, true}} {
		if got := p.wait(time.Second+c.after, d, c.crowded); got != c.want {
			t.Errorf("wait %v at %v after a frame, crowded %v; want %v", got, c.after, c.crowded, c.want)
		}
	}
	p.delays.MaxPlayout = 0
	if got := p.wait(time.Second, d, false); got > -fastForward {
		t.Errorf("wait %v without any delay allowed", got)
	}
}

func TestDecodeTimes(t *testing.T) {
	var d decodeTimes
	for range 5 {
		d.add(0, time.Second)
	}
	if got := d.required(); got != 0 {
		t.Errorf("%v of ignored samples", got)
	}
	d.add(0, 44*ms)
	if got := d.required(); got != 44*ms {
		t.Errorf("%v, want 44 ms", got)
	}
	// 1..100 ms, one after the other: index 0.95*100 of 101 values.
	for n := range 100 {
		d.add(time.Duration(n)*ms, time.Duration(n+1)*ms)
	}
	within(t, "percentile", d.required().Seconds()*1000, 95, 1.01, "ms")
	d.add(20*time.Second, 3*ms)
	if got := d.required(); got != 3*ms || len(d.sorted) != 1 {
		t.Errorf("%v of %d samples after 20 s", got, len(d.sorted))
	}
	// Against a naive window.
	d.reset()
	for range 5 {
		d.add(0, 0)
	}
	type sample struct{ at, took time.Duration }
	var all []sample
	for n := range 3000 {
		s := sample{time.Duration(n) * 17 * ms, time.Duration(n*7919%50) * ms}
		all = append(all, s)
		d.add(s.at, s.took)
		below, total := 0, 0
		for _, o := range all[max(0, len(all)-800):] {
			if s.at-o.at <= 10*time.Second {
				total++
				if o.took < d.required() {
					below++
				}
			}
		}
		if total != len(d.sorted) || below > int(0.95*float64(total)) {
			t.Fatalf("sample %d: %d of %d below %v, window of %d", n, below, total, d.required(), len(d.sorted))
		}
	}
}
