// SPDX-License-Identifier: MIT

package video

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestLadderFallsSoonAndClimbsLater(t *testing.T) {
	l := newLadder(1280, 720, 30)
	n := -1
	// height feeds a frame's target.
	height := func(bps int) int {
		n++
		_, h := l.update(time.Duration(n)*time.Second/30, bps).size(1280, 720)

		return h
	}
	// frames is how many it takes until the picture has so many lines.
	frames := func(bps, lines int) float64 {
		for k := range 300 {
			if height(bps) == lines {
				return float64(k)
			}
		}

		return math.Inf(1)
	}
	// Where it begins needs no waiting.
	within(t, "frames until 720 lines at the beginning", frames(3_000_000, 720), 0, 0, "")
	within(t, "time to fall", frames(300_000, 270)/30, 0.35, 0.45, "s")
	// 3 Mbit/s are 1.9 times what is wanted for a climb to 720 lines, 1.7 Mbit/s
	// are little more.
	within(t, "time to climb with room", frames(3_000_000, 720)/30, 1.3, 1.8, "s")
	frames(300_000, 270)
	within(t, "time to climb with little room", frames(1_700_000, 720)/30, 1.9, 3.2, "s")
	// A dip that is soon over, to whatever, changes nothing on the way down nor up.
	for k := range 300 {
		bps := 3_000_000
		if k%60 < 8 {
			bps = 100_000
		}
		if h := height(bps); h != 720 {
			t.Fatalf("%d lines in a dip of 0.27 s", h)
		}
	}
	frames(300_000, 270)
	for range 90 {
		height(300_000)
	}
	for k := range 300 {
		bps := 300_000
		if k%60 < 15 {
			bps = 3_000_000
		}
		if h := height(bps); h != 270 {
			t.Fatalf("%d lines in a peak of 0.5 s", h)
		}
	}
	frames(100_000, 180)
	for range 30 {
		height(100_000)
	}
	if !l.rungs[l.at].half {
		t.Error("100 kbit/s at the full frame rate")
	}
}

// A fall ends where the target is enough, in one step however the target got
// there, and after an outage the way up has a few steps at most.
func TestLadderFallsInOneStep(t *testing.T) {
	l := newLadder(1280, 720, 30)
	n, changes, last := 0, 0, 0
	run := func(seconds float64, from, to int) {
		for k := range int(seconds * 30) {
			bps := from + (to-from)*k/int(seconds*30)
			l.update(time.Duration(n)*time.Second/30, bps)
			if n++; l.at != last {
				changes, last = changes+1, l.at
			}
		}
	}
	run(3, 3_000_000, 3_000_000)
	changes = 0
	run(0.3, 3_000_000, 100_000) // a fade, not a step
	run(1, 100_000, 100_000)
	if changes != 1 || l.at != len(l.rungs)-1 {
		t.Errorf("%d changes down to rung %d", changes, l.at)
	}
	changes = 0
	run(1.5, 3_000_000, 3_000_000)
	if changes < 1 || changes > 3 || l.rungs[l.at].half {
		t.Errorf("%d changes up to rung %d", changes, l.at)
	}
	run(2, 3_000_000, 3_000_000)
	if changes > 4 || l.at != 0 {
		t.Errorf("%d changes up to rung %d", changes, l.at)
	}
}

// A target that is restless around a rung's rate does not change the size again
// and again, and the size is always one that the target is about enough for.
func TestLadderIsCalm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, r := range rungs()[:4] {
		l := newLadder(1280, 720, 30)
		changes, last := 0, -1
		for n := range 60 * 30 {
			bps := int(r.bpp * l.full * (0.95 + 0.1*rng.Float64()))
			got := l.update(time.Duration(n)*time.Second/30, bps)
			if float64(bps) < 0.9*got.bpp*l.full {
				t.Fatalf("%d bit/s at a rung for %.0f", bps, got.bpp*l.full)
			}
			if l.at != last {
				changes++
				last = l.at
			}
		}
		within(t, "changes in a minute", float64(changes), 1, 3, "")
	}
}
