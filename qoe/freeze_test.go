// SPDX-License-Identifier: MIT

package qoe

import (
	"math/rand/v2"
	"testing"
	"time"
)

// render feeds frames with these gaps in ms; a negative gap is a pause.
func render(f *FreezeDetector, at time.Time, gaps ...int) time.Time {
	for _, g := range gaps {
		if g < 0 {
			f.OnPause()
			g = -g
		}
		at = at.Add(time.Duration(g) * ms)
		f.OnFrameRendered(at)
	}

	return at
}

func repeat(n, gap int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = gap
	}

	return out
}

func TestFreezeRule(t *testing.T) {
	for _, c := range []struct {
		name   string
		gaps   []int // after a first frame
		count  int
		frozen int // ms
	}{
		{"no frame more", nil, 0, 0},
		{"30 fps, 187 ms", append(repeat(60, 33), 187), 0, 0},
		{"30 fps, 188 ms", append(repeat(60, 33), 188), 1, 188},
		// What a reading without the gap in the average would count.
		{"30 fps, 183 ms", append(repeat(60, 33), 183), 0, 0},
		// avg of 29*100 and the gap: 3 avg rules below 13 fps.
		{"10 fps, 320 ms", append(repeat(60, 100), 320), 0, 0},
		{"10 fps, 321 ms", append(repeat(60, 100), 321), 1, 321},
		{"a fourth gap is too early", append(repeat(3, 30), 1000), 0, 0},
		{"a fifth gap is not", append(repeat(4, 30), 1000), 1, 1000},
		// The freeze itself stays in the window: (28*33+188+g)/30 + 150.
		{"the second freeze is harder, 192", append(repeat(60, 33), 188, 192), 1, 188},
		{"the second freeze is harder, 193", append(repeat(60, 33), 188, 193), 2, 381},
		{"30 frames later it is forgotten", append(append(append(repeat(60, 33), 188), repeat(30, 33)...), 188), 2, 376},
		{"29 frames later it is not", append(append(append(repeat(60, 33), 188), repeat(28, 33)...), 188), 1, 188},
		{"a pause is not a freeze", append(repeat(60, 33), -5000), 0, 0},
		{"nor part of the average", append(repeat(60, 33), -5000, 188), 1, 188},
		{"frames at one instant, 154 ms", append(repeat(60, 0), 154), 0, 0},
		{"frames at one instant, 155 ms", append(repeat(60, 0), 155), 1, 155},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f FreezeDetector
			at := epoch()
			f.OnFrameRendered(at)
			at = render(&f, at, c.gaps...)
			got := f.Stats()
			if got.Count != c.count || got.Frozen != time.Duration(c.frozen)*ms {
				t.Errorf("%d freezes of %v, want %d of %d ms", got.Count, got.Frozen, c.count, c.frozen)
			}
			if got.Frames != 1+len(c.gaps) {
				t.Errorf("%d frames, want %d", got.Frames, 1+len(c.gaps))
			}
			if got.Playback+got.Paused != at.Sub(epoch()) {
				t.Errorf("playback %v and pauses %v of %v", got.Playback, got.Paused, at.Sub(epoch()))
			}
		})
	}
}

func TestPauses(t *testing.T) {
	var f FreezeDetector
	f.OnPause() // before the first frame: nothing has played yet
	f.OnFrameRendered(epoch())
	at := render(&f, epoch(), -5432)
	f.OnPause()
	f.OnPause()
	render(&f, at, -100, 50)
	got := f.Stats()
	if got.Pauses != 2 || got.Paused != 5532*ms || got.Count != 0 || got.Playback != 50*ms {
		t.Errorf("%+v", got)
	}
}

func TestFreezeAtTheEnd(t *testing.T) {
	var f FreezeDetector
	if got := f.StatsAt(epoch()); got != (FreezeStats{}) {
		t.Errorf("without frames: %+v", got)
	}
	f.OnFrameRendered(epoch())
	at := render(&f, epoch(), repeat(30, 33)...)
	before := f.Stats()
	got := f.StatsAt(at.Add(10 * time.Second))
	if got.Count != 1 || got.Frozen != 10*time.Second || got.Frames != before.Frames || got.Playback != before.Playback+10*time.Second {
		t.Errorf("%+v", got)
	}
	within(t, "ratio", got.Ratio(), 10/10.99, 1e-9, "")
	if f.Stats() != before {
		t.Error("StatsAt changed the detector")
	}
	if (FreezeStats{}).Ratio() != 0 {
		t.Error("a ratio without playback")
	}
}

// Whole milliseconds since the first frame: the clock's own phase is no matter,
// and rounding does not add up.
func TestFreezeClock(t *testing.T) {
	for _, shift := range []time.Duration{0, 1, 499_999, 999_999, time.Hour} {
		var f FreezeDetector
		for i := range 3001 {
			f.OnFrameRendered(epoch().Add(shift + time.Duration(i)*time.Second/30))
		}
		if got := f.Stats(); got.Playback != 100*time.Second || got.Count != 0 {
			t.Errorf("shift %v: %+v", shift, got)
		}
	}
	var f FreezeDetector
	f.OnFrameRendered(epoch())
	render(&f, epoch(), repeat(10, 33)...)
	f.OnFrameRendered(epoch().Add(-time.Hour))
	if got := f.Stats(); got.Playback != 330*ms || got.Count != 0 || got.Frames != 12 {
		t.Errorf("time going backwards: %+v", got)
	}
}

// naiveFreezes is the rule again, over all the gaps at once.
func naiveFreezes(gaps []int) (count, frozen int) {
	for i, g := range gaps {
		window := gaps[max(0, i-29) : i+1]
		sum := 0
		for _, w := range window {
			sum += w
		}
		avg := sum / len(window)
		if len(window) >= 5 && g >= 3*avg && g >= avg+150 {
			count++
			frozen += g
		}
	}

	return count, frozen
}

func TestFreezeAgainstNaive(t *testing.T) {
	total := 0
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 5))
		base := 1 + rng.IntN(120)
		gaps := make([]int, 500)
		for i := range gaps {
			gaps[i] = base + rng.IntN(10)
			if rng.IntN(15) == 0 {
				gaps[i] += rng.IntN(600)
			}
		}
		var f FreezeDetector
		f.OnFrameRendered(epoch())
		render(&f, epoch(), gaps...)
		count, frozen := naiveFreezes(gaps)
		got := f.Stats()
		if got.Count != count || got.Frozen != time.Duration(frozen)*ms {
			t.Fatalf("seed %d: %d freezes of %v, want %d of %d ms", seed, got.Count, got.Frozen, count, frozen)
		}
		total += count
	}
	if total < 100 {
		t.Errorf("only %d freezes compared", total)
	}
}

func BenchmarkFreezeDetector(b *testing.B) {
	var f FreezeDetector
	at := epoch()
	b.ReportAllocs()
	for b.Loop() {
		at = at.Add(33 * ms)
		f.OnFrameRendered(at)
	}
}
