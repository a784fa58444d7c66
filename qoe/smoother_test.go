// SPDX-License-Identifier: MIT

package qoe

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func newSmoother(t testing.TB, cfg SmootherConfig) *Smoother {
	t.Helper()
	s, err := NewSmoother(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func TestSmootherConfig(t *testing.T) {
	for _, cfg := range []SmootherConfig{{Rise: -1}, {Fall: -1}, {DeadBand: -0.1}, {DeadBand: 1}, {DeadBand: math.NaN()}, {FloorBps: -1}} {
		if _, err := NewSmoother(cfg); !errors.Is(err, ErrSmootherConfig) {
			t.Errorf("NewSmoother(%+v): %v", cfg, err)
		}
	}
	// The zero value is no smoother at all.
	s := newSmoother(t, SmootherConfig{})
	for i, target := range []int{5, 1_000_000, 1_000_001, 0, 77} {
		if got := s.Update(epoch(), target); got != target {
			t.Errorf("update %d: %d, want %d", i, got, target)
		}
	}
}

func TestSmootherRise(t *testing.T) {
	s := newSmoother(t, SmootherConfig{Rise: time.Second})
	now := epoch()
	s.Update(now, 1_000_000)
	s.Update(now, 2_000_000)
	for _, c := range []struct {
		after time.Duration
		want  float64
	}{{0, 1e6}, {time.Second, 1.632e6}, {2 * time.Second, 1.865e6}, {3 * time.Second, 1.950e6}, {8 * time.Second, 2e6}} {
		got := s.Update(now.Add(c.after), 2_000_000)
		within(t, "rate", float64(got), c.want, 0.001e6, "bit/s")
	}
	if got := s.Update(now.Add(9*time.Second), 2_000_000); got != 2_000_000 {
		t.Errorf("the rise ends at %d, not at the target", got)
	}
}

func TestSmootherDeadBand(t *testing.T) {
	s := newSmoother(t, SmootherConfig{Rise: 100 * ms, DeadBand: 0.05})
	now := epoch()
	s.Update(now, 2_000_000)
	s.Update(now, 1_000_000)
	step := func(target int) int {
		s.Update(now, target)
		now = now.Add(10 * time.Second)

		return s.Update(now, target)
	}
	if got := step(1_050_000); got != 1_000_000 {
		t.Errorf("a rise within the band gives %d", got)
	}
	if got := step(1_060_000); got != 1_060_000 {
		t.Errorf("a rise beyond the band ends at %d, want all of it", got)
	}
	if got := step(1_059_000); got != 1_059_000 {
		t.Errorf("a fall within the band gives %d, want it at once", got)
	}
}

func TestSmootherFloorAndLimits(t *testing.T) {
	s := newSmoother(t, SmootherConfig{FloorBps: 100_000, Rise: time.Second})
	for _, target := range []int{0, -5, math.MinInt, 99_999} {
		if got := s.Update(epoch(), target); got != 100_000 {
			t.Errorf("target %d gives %d", target, got)
		}
	}
	s.Reset(5)
	if got := s.Update(epoch(), 100_000); got != 100_000 {
		t.Errorf("Reset below the floor gives %d", got)
	}
	s.Reset(math.MaxInt)
	if got := s.Update(epoch(), math.MaxInt); got != math.MaxInt {
		t.Errorf("the largest rate gives %d", got)
	}
}

func TestSmootherReset(t *testing.T) {
	s := newSmoother(t, SmootherConfig{Rise: time.Second})
	now := epoch()
	s.Update(now, 5_000_000)
	s.Reset(300_000)
	// However long ago: nothing has been asked since.
	now = now.Add(time.Hour)
	if got := s.Update(now, 1_000_000); got != 300_000 {
		t.Errorf("after Reset %d, want 300000", got)
	}
	within(t, "a second later", float64(s.Update(now.Add(time.Second), 1_000_000)), 742_500, 100, "bit/s")
}

func TestSmootherTimeGoingBackwards(t *testing.T) {
	s := newSmoother(t, SmootherConfig{Rise: time.Second})
	now := epoch()
	s.Update(now, 1_000_000)
	s.Update(now, 2_000_000)
	if got := s.Update(now.Add(-time.Hour), 2_000_000); got != 1_000_000 {
		t.Errorf("an earlier time moves the output to %d", got)
	}
	within(t, "rate", float64(s.Update(now.Add(time.Second), 2_000_000)), 1.632e6, 1000, "bit/s")
}

// history is a target as a function of time.
type history []struct {
	at     time.Duration
	target int
}

func randomHistory(rng *rand.Rand, n int) history {
	h := make(history, n)
	at := time.Duration(0)
	target := 1_000_000
	for i := range h {
		at += time.Duration(1 + rng.Int64N(int64(60*ms)))
		if rng.IntN(4) == 0 {
			target = 50_000 + rng.IntN(5_000_000)
		} else {
			target = max(1, int(float64(target)*(0.9+0.2*rng.Float64())))
		}
		h[i].at, h[i].target = at, target
	}

	return h
}

// However often the same target is repeated in between, the output at the same
// instants is the same, to 1 bit/s of rounding.
func TestSmootherSpacingDoesNotMatter(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cfg := SmootherConfig{
			Rise:     time.Duration(rng.Int64N(int64(time.Second))),
			Fall:     time.Duration(rng.IntN(2)) * time.Duration(rng.Int64N(int64(100*ms))),
			DeadBand: 0.1 * rng.Float64(),
			FloorBps: 100_000,
		}
		sparse, dense := newSmoother(t, cfg), newSmoother(t, cfg)
		h := randomHistory(rng, 300)
		for i, c := range h {
			a := sparse.Update(epoch().Add(c.at), c.target)
			b := dense.Update(epoch().Add(c.at), c.target)
			if d := a - b; d < -1 || d > 1 {
				t.Fatalf("seed %d step %d %+v: %d with few updates, %d with many", seed, i, cfg, a, b)
			}
			if i+1 < len(h) {
				for at := c.at; at < h[i+1].at; at += time.Duration(1 + rng.Int64N(int64(10*ms))) {
					dense.Update(epoch().Add(at), c.target)
				}
			}
		}
	}
}

// A fall is never later than Fall: at any time the output is at or below the
// highest target of the last Fall. And a rise never overshoots its target.
func TestSmootherNeverFallsLate(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		cfg := SmootherConfig{
			Rise:     time.Duration(rng.Int64N(int64(300 * ms))),
			Fall:     time.Duration(rng.IntN(3)) * 30 * ms,
			DeadBand: 0.05,
			FloorBps: 60_000,
		}
		s := newSmoother(t, cfg)
		h := randomHistory(rng, 400)
		for i, c := range h {
			got := s.Update(epoch().Add(c.at), c.target)
			highest := max(c.target, cfg.FloorBps)
			for k := i - 1; k >= 0; k-- {
				// Target k held until change k+1.
				if cfg.Fall == 0 || h[k+1].at <= c.at-cfg.Fall {
					break
				}
				highest = max(highest, h[k].target)
			}
			if got > highest {
				t.Fatalf("seed %d step %d %+v: output %d, highest target of the last %v is %d", seed, i, cfg, got, cfg.Fall, highest)
			}
			if got < cfg.FloorBps {
				t.Fatalf("seed %d: output %d below the floor", seed, got)
			}
		}
	}
}

func TestSmootherFallIsGradualWithFall(t *testing.T) {
	s := newSmoother(t, SmootherConfig{Fall: 100 * ms})
	now := epoch()
	s.Update(now, 2_000_000)
	s.Update(now, 1_000_000)
	within(t, "half way", float64(s.Update(now.Add(50*ms), 1_000_000)), 1_500_000, 1, "bit/s")
	// A second cut meets both deadlines.
	s.Update(now.Add(50*ms), 500_000)
	within(t, "second cut", float64(s.Update(now.Add(100*ms), 500_000)), 1_000_000, 1, "bit/s")
	within(t, "its deadline", float64(s.Update(now.Add(150*ms), 500_000)), 500_000, 1, "bit/s")
}

// The higher the targets, the higher the output (without a dead band, whose
// memory breaks this).
func TestSmootherIsMonotone(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		cfg := SmootherConfig{Rise: 200 * ms, FloorBps: 100_000}
		low, high := newSmoother(t, cfg), newSmoother(t, cfg)
		for i, c := range randomHistory(rng, 300) {
			a := low.Update(epoch().Add(c.at), c.target)
			b := high.Update(epoch().Add(c.at), c.target+rng.IntN(1_000_000))
			// The end of a rise snaps by 0.1 %.
			if float64(a) > float64(b)*1.0011 {
				t.Fatalf("seed %d step %d: %d above %d", seed, i, a, b)
			}
		}
	}
}

func BenchmarkSmoother(b *testing.B) {
	s := newSmoother(b, Presets()[0].Smoother)
	now := epoch()
	target := 1_000_000
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(5 * ms)
		target = target*7%4_000_037 + 100_000
		s.Update(now, target)
	}
}

// A fall that a rise has ended does not speed up the next one.
func TestSmootherForgetsAbortedFalls(t *testing.T) {
	s := newSmoother(t, SmootherConfig{Fall: 100 * ms})
	now := epoch()
	s.Update(now, 2_000_000)
	s.Update(now, 100_000)
	s.Update(now.Add(10*ms), 2_000_000)
	s.Update(now.Add(20*ms), 1_900_000)
	within(t, "half way", float64(s.Update(now.Add(70*ms), 1_900_000)), 1_950_000, 1, "bit/s")
}
