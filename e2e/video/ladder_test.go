// SPDX-License-Identifier: MIT

package video

import (
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestLadderFallsAtOnceAndClimbsLater(t *testing.T) {
	l := newLadder(1280, 720, 30)
	frame := func(n int) time.Duration { return time.Duration(n) * time.Second / 30 }
	height := func(n, bps int) int {
		_, h := l.update(frame(n), bps).size(1280, 720)

		return h
	}
	// Where it begins needs no climbing.
	if h := height(0, 3_000_000); h != 720 {
		t.Errorf("begins with %d lines at 3 Mbit/s, want 720", h)
	}
	if h := height(1, 300_000); h != 270 {
		t.Errorf("%d lines at 300 kbit/s, want 270", h)
	}
	climbed := -1
	for n := 2; n < 150; n++ {
		if height(n, 3_000_000) == 720 {
			climbed = n

			break
		}
	}
	within(t, "time to climb", frame(climbed-2).Seconds(), 1.95, 2.05, "s")
	// A dip on the way begins the wait anew.
	l = newLadder(1280, 720, 30)
	height(0, 300_000)
	for n := 1; n < 300; n++ {
		bps := 3_000_000
		if n%50 == 0 {
			bps = 300_000
		}
		if h := height(n, bps); h != 270 {
			t.Fatalf("%d lines after %v, want 270: it does not last", h, frame(n))
		}
	}
	if l.update(0, 100_000); !l.rungs[l.at].half {
		t.Error("100 kbit/s at the full frame rate")
	}
}

// A target that is restless around a rung's rate does not change the size again
// and again, and the size is always one that the target is enough for.
func TestLadderIsCalm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, r := range rungs()[:4] {
		l := newLadder(1280, 720, 30)
		changes, last := 0, -1
		for n := range 60 * 30 {
			bps := int(r.bpp * l.full * (0.95 + 0.1*rng.Float64()))
			got := l.update(time.Duration(n)*time.Second/30, bps)
			if float64(bps) < got.bpp*l.full {
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
