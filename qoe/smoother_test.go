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

// A table of targets, one each 10 ms, and what comes out.
func TestSmoother(t *testing.T) {
	call := SmootherConfig{Band: 0.2, Window: 40 * ms}
	for _, c := range []struct {
		name     string
		cfg      SmootherConfig
		in, want []int
	}{
		{"zero value", SmootherConfig{}, []int{100, 50, 200, 201, 199}, []int{100, 50, 200, 201, 199}},
		{"small moves", call, []int{100, 85, 119, 100, 81}, []int{100, 100, 100, 100, 100}},
		{"falls at once", call, []int{100, 79, 79, 40, 100}, []int{100, 79, 79, 40, 40}},
		{"one high target", call, []int{100, 300, 100, 100, 100, 100, 100}, []int{100, 100, 100, 100, 100, 100, 100}},
		{"rises after the window", call, []int{100, 200, 200, 200, 200, 200, 200, 200}, []int{100, 100, 100, 100, 100, 100, 200, 200}},
		{"rises to the lowest", call, []int{100, 200, 150, 300, 300, 300, 300, 300, 300}, []int{100, 100, 100, 100, 100, 100, 150, 150, 300}},
		{"band alone", SmootherConfig{Band: 0.2}, []int{100, 119, 121, 140, 100, 96}, []int{100, 100, 121, 121, 121, 96}},
		{"free", SmootherConfig{Band: 0.2, Free: 0.05}, []int{100, 97, 90, 103, 119, 121, 130, 110, 90}, []int{100, 97, 95, 103, 105, 121, 127, 114, 90}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSmoother(t, c.cfg)
			for i, v := range c.in {
				if got := s.Update(epoch().Add(time.Duration(i)*10*ms), v); got != c.want[i] {
					t.Errorf("step %d: %d -> %d, want %d", i, v, got, c.want[i])
				}
			}
		})
	}
}

// A target holds until the next one: the window counts it while nobody asks.
func TestSmootherCountsTheTimeBetween(t *testing.T) {
	for _, c := range []struct {
		gap  time.Duration
		want int
	}{{20 * ms, 100}, {100 * ms, 200}, {time.Hour, 200}} {
		s := newSmoother(t, SmootherConfig{Window: 40 * ms})
		s.Update(epoch(), 100)
		s.Update(epoch().Add(ms), 200)
		if got := s.Update(epoch().Add(ms).Add(c.gap), 200); got != c.want {
			t.Errorf("after %v: %d, want %d", c.gap, got, c.want)
		}
	}
}

func TestSmootherReset(t *testing.T) {
	s := newSmoother(t, SmootherConfig{Band: 0.2, Window: 40 * ms})
	s.Update(epoch(), 100)
	s.Reset(500)
	if got := s.Update(epoch().Add(ms), 450); got != 500 {
		t.Errorf("%d, want to go on from 500", got)
	}
	if got := s.Update(epoch().Add(2*ms), 300); got != 300 {
		t.Errorf("%d, want 300", got)
	}
}

// Whatever comes, the output is within what is free of one of the targets, and
// above the newest one by less than the band, and what is free.
func TestSmootherProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		cfg := SmootherConfig{Band: 0.9 * rng.Float64(), Window: time.Duration(rng.IntN(300)) * ms}
		if rng.IntN(2) == 0 {
			cfg.Free = cfg.Band * rng.Float64()
		}
		s := newSmoother(t, cfg)
		seen := map[int]bool{}
		now := epoch()
		for range 200 {
			now = now.Add(time.Duration(rng.IntN(40)-5) * ms)
			v := 1000 + rng.IntN(1_000_000)
			seen[v] = true
			out := s.Update(now, v)
			near := false
			for v := range seen {
				near = near || math.Abs(float64(out-v)) <= cfg.Free*float64(v)+1
			}
			if !near {
				t.Fatalf("%+v: %d is not near any target", cfg, out)
			}
			if float64(out)*(1-cfg.Band) > float64(v)*(1+cfg.Free)+1 {
				t.Fatalf("%+v: %d for a target of %d", cfg, out, v)
			}
		}
	}
}

func TestSmootherConfig(t *testing.T) {
	for _, cfg := range []SmootherConfig{
		{Free: 0.1},
		{Band: 0.1, Free: 0.2},
		{Band: 0.1, Free: math.NaN()},
		{Band: 0.1, Free: -0.1},
		{Band: -0.1},
		{Band: 1},
		{Band: math.NaN()},
		{Window: -1},
		{Window: time.Hour},
	} {
		if _, err := NewSmoother(cfg); !errors.Is(err, ErrSmootherConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func BenchmarkSmoother(b *testing.B) {
	s := newSmoother(b, SmootherConfig{Band: 0.3, Window: 30 * ms})
	now := epoch()
	b.ReportAllocs()
	for i := range b.N {
		now = now.Add(5 * ms)
		s.Update(now, 1_000_000+i%7*100_000)
	}
}
