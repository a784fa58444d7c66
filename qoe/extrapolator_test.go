// SPDX-License-Identifier: MIT

package qoe

import (
	"testing"
	"time"
)

func wantDue(t *testing.T, x *extrapolator, what string, rtp uint32, want time.Duration) {
	t.Helper()
	if got, ok := x.localTime(rtp); !ok || got != want {
		t.Errorf("%s: due at %v (%v), want %v", what, got, ok, want)
	}
}

const gap25 = 40 * ms // 25 fps, 3600 ticks

func TestExtrapolatorStartup(t *testing.T) {
	x := newExtrapolator(0)
	if _, ok := x.localTime(90000); ok {
		t.Error("due before the first frame")
	}
	x.update(40*ms, 90000)
	wantDue(t, &x, "one frame", 90000, 40*ms)
	wantDue(t, &x, "one frame, a second ahead", 180000, 1040*ms)
	x.update(80*ms, 93600)
	wantDue(t, &x, "two frames", 93600, 80*ms)
	wantDue(t, &x, "two frames, a second ahead", 183600, 1080*ms)
}

func TestExtrapolatorWraps(t *testing.T) {
	x := newExtrapolator(0)
	rtp := ^uint32(0)
	x.update(0, rtp)
	rtp += 3600
	x.update(gap25, rtp)
	wantDue(t, &x, "after the wrap", rtp, gap25)
	wantDue(t, &x, "a second ahead", rtp+90000, gap25+time.Second)
	// The rounding of libwebrtc is towards zero after adding a half.
	wantDue(t, &x, "a second before", rtp-90000, gap25-999*ms)
	now := gap25
	for now < 30*time.Hour { // two more wraps
		now += 10 * time.Second
		rtp += 900_000
		x.update(now, rtp)
		if got, _ := x.localTime(rtp); got != now {
			t.Fatalf("due at %v, want %v", got, now)
		}
	}
	back := newExtrapolator(0)
	back.update(5*time.Second, 0)
	wantDue(t, &back, "before zero", ^uint32(90000-1), 4*time.Second)
}

func TestExtrapolatorResets(t *testing.T) {
	for _, c := range []struct {
		name    string
		silence time.Duration
		ticks   uint32
		reset   bool
	}{
		{"10 s of silence", 10 * time.Second, 900_000, false},
		{"more than 10 s of silence", 10*time.Second + time.Microsecond, 900_000, true},
		{"a jump of 10 s", gap25, 900_000, false},
		{"a larger one", gap25, 900_001, true},
		{"one back", gap25, ^uint32(900_000), true},
	} {
		x := newExtrapolator(0)
		for n := range 20 {
			x.update(time.Duration(n)*gap25, uint32(n)*3600)
		}
		x.update(19*gap25+c.silence, 19*3600+c.ticks)
		if got := x.samples == 1; got != c.reset {
			t.Errorf("%s: reset %v, want %v", c.name, got, c.reset)
		}
		if c.reset {
			wantDue(t, &x, c.name, 19*3600+c.ticks, 19*gap25+c.silence)
		}
	}
}

// A camera whose clock is 4 % off.
func TestExtrapolatorDrift(t *testing.T) {
	for _, gap := range []time.Duration{time.Second / 24, time.Second / 26} {
		gap = gap.Truncate(time.Microsecond)
		x := newExtrapolator(0)
		now, rtp := time.Duration(0), uint32(90000)
		for range 3000 {
			x.update(now, rtp)
			now += gap
			rtp += 3600
		}
		want := 3600 / (gap.Seconds() * 1000)
		within(t, "slope", x.slope, want, want*50e-6, "ticks/ms")
	}
}

// steps shows how the mapping follows a lasting rise of delay by 100 ms after n
// frames: by the k-th frame, in ms.
func steps(n int, jitterMs func(k int) int) (shift func(k int) float64) {
	x := newExtrapolator(0)
	for k := range n {
		x.update(time.Duration(k)*gap25+time.Duration(jitterMs(k))*ms, uint32(k)*3600)
	}
	k := n

	return func(to int) float64 {
		for ; k < to+n; k++ {
			x.update(time.Duration(k)*gap25+100*ms+time.Duration(jitterMs(k))*ms, uint32(k)*3600)
		}
		due, _ := x.localTime(uint32(k) * 3600)

		return (due - time.Duration(k)*gap25).Seconds() * 1000
	}
}

func noJitter(int) int { return 0 }

// After 300 frames a step of the delay does not reach the mapping for 150
// frames, and does then.
func TestExtrapolatorRefusesOutliers(t *testing.T) {
	shift := steps(1000, noJitter)
	within(t, "after 1 frame", shift(1), 0, 1, "ms")
	within(t, "after 75 frames", shift(75), 0, 1, "ms")
	within(t, "after 150 frames", shift(150), 0, 1, "ms")
	within(t, "after 152 frames", shift(152), 100, 10, "ms")
	within(t, "after 200 frames", shift(200), 100, 10, "ms")
}

// Before 300 frames it follows, as least squares do.
func TestExtrapolatorFollowsEarly(t *testing.T) {
	shift := steps(100, noJitter)
	if got := shift(50); got < 30 || got > 130 {
		t.Errorf("shift %v ms after 50 frames, want 30..130 ms", got)
	}
}

// A single late frame leaves no trace.
func TestExtrapolatorIgnoresSpike(t *testing.T) {
	a, b := newExtrapolator(0), newExtrapolator(0)
	for k := range 600 {
		at := time.Duration(k) * gap25
		b.update(at, uint32(k)*3600)
		if k == 500 {
			at += 300 * ms
		}
		a.update(at, uint32(k)*3600)
	}
	da, _ := a.localTime(700 * 3600)
	db, _ := b.localTime(700 * 3600)
	if da != db {
		t.Errorf("due at %v with a spike, %v without", da, db)
	}
}

// The alarm: 20 frames early on that are 77 ms or more late raise the variance of the
// offset, and the fit follows at once.
func TestExtrapolatorAlarm(t *testing.T) {
	x := newExtrapolator(0)
	alarms := 0
	for range 150 {
		if x.alarm(50_000) {
			alarms++
		}
	}
	if alarms != 0 {
		t.Errorf("%d alarms in 150 frames of 400 ticks each, want none", alarms)
	}
	if !x.alarm(50_000) {
		t.Error("no alarm above 60000 ticks")
	}
	for range 1000 {
		if x.alarm(6_600) || x.alarm(-6_600) {
			t.Fatal("alarm without more than the drift")
		}
	}
	for range 150 {
		x.alarm(-7_000)
	}
	if !x.alarm(-7_000) {
		t.Error("no alarm below")
	}
}
