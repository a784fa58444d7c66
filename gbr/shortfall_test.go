// SPDX-License-Identifier: MIT

package gbr

import (
	"math/rand/v2"
	"testing"
)

// fed is a shortfall after frames' times of TTIs, of which each is a share of what
// was expected.
func fed(frames int, share func(frame int) float64) *shortfall {
	var s shortfall
	for i := range frames {
		bytes := 1000 * share(i)
		for range shortfallTTIs {
			s.add(bytes, 1, 1000)
		}
	}

	return &s
}

func TestShortfall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name      string
		share     func(int) float64
		low, high float64 // of 0.97
	}{
		{"steady", func(int) float64 { return 1 }, 0.97, 0.97},
		{"always more", func(int) float64 { return 1.5 }, 0.97, 0.97},
		{"every second one a tenth less", func(i int) float64 { return 1 - 0.1*float64(i%2) }, 0.88, 0.9},
		{"a hundredth less", func(i int) float64 { return 1 - 0.01*float64(i%2) }, 0.94, 0.96},
		{"cell", func(int) float64 { return 1 + 0.2*rng.NormFloat64() }, 0.82, 0.87},
		{"wild", func(int) float64 { return 2 * rng.Float64() }, cautionFloor, cautionFloor},
		{"outages only", func(i int) float64 { return float64(i % 2) }, 0.97, 0.97},
	} {
		if got := fed(300, c.share).safety(0.97); got < c.low-1e-9 || got > c.high+1e-9 {
			t.Errorf("%s: safety %.3f, want %.2f to %.2f", c.name, got, c.low, c.high)
		}
	}
}

// What was long ago does not count, and who wants less than the floor has it.
func TestShortfallForgets(t *testing.T) {
	got := fed(500, func(i int) float64 { return map[bool]float64{true: 0.5, false: 1}[i < 100] })
	if s := got.safety(0.97); s < 0.965 {
		t.Errorf("13 s later: safety %.3f, want above 0.965", s)
	}
	wild := fed(100, func(i int) float64 { return 0.2 + float64(i%2) })
	if s := wild.safety(0.5); s != 0.5 {
		t.Errorf("safety %.3f of 0.5, want that", s)
	}
}
