// SPDX-License-Identifier: MIT

package gbr_test

import (
	"math"
	"testing"

	"github.com/gbrcc/gbrcc/gbr"
)

func gain() gbr.GainParams {
	return gbr.GainParams{Beta: 25, Low: 0.16, High: 0.4, Min: 0.99, Max: 1.01}
}

func TestGainBoundsAndZone(t *testing.T) {
	p := gain()
	for _, c := range []struct{ ratio, want float64 }{
		{-1, p.Min},
		{0, p.Min},
		{p.Low, 1},
		{0.2, 1},
		{p.High, 1},
		{1, p.Max},
		{2, p.Max},
		{math.Inf(1), p.Max},
		{math.Inf(-1), p.Min},
		{math.NaN(), 1},
		// The middle of each sigmoid is the middle of its range.
		{p.Low / 2, 0.995},
		{(p.High + 1) / 2, 1.005},
	} {
		if got := gbr.Gain(p, c.ratio); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("gain(%g) = %.9f, want %.9f", c.ratio, got, c.want)
		}
	}
}

// The gain never falls in the ratio, has no step, and stays within its bounds,
// for every steepness.
func TestGainIsMonotoneAndContinuous(t *testing.T) {
	for _, beta := range []float64{1e-9, 0.1, 1, 10, 25, 50, 200, 1000} {
		p := gain()
		p.Beta = beta
		last := gbr.Gain(p, 0)
		const step = 1e-4
		// The steepest logistic rises by beta/4 per unit of ratio and range.
		limit := (p.Max-p.Min)*math.Max(beta, 10)*step + 1e-12
		for r := 0.0; r <= 1.2; r += step {
			g := gbr.Gain(p, r)
			if g < last-1e-12 || g-last > limit {
				t.Fatalf("beta %g: gain(%g) = %g after %g", beta, r, g, last)
			}
			if g < p.Min || g > p.Max {
				t.Fatalf("beta %g: gain(%g) = %g out of bounds", beta, r, g)
			}
			last = g
		}
	}
}

// A larger beta is flatter at the ends of a range and steeper in its middle.
func TestBetaIsSteepness(t *testing.T) {
	flat, steep := gain(), gain()
	flat.Beta, steep.Beta = 10, 100
	for _, c := range []struct {
		ratio       float64
		steepBelow1 bool
	}{{0.04, true}, {0.12, false}} {
		g, h := gbr.Gain(flat, c.ratio), gbr.Gain(steep, c.ratio)
		if (h < g) != c.steepBelow1 {
			t.Errorf("ratio %g: beta 10 gives %.5f, beta 100 %.5f", c.ratio, g, h)
		}
	}
}

func BenchmarkGain(b *testing.B) {
	p := gain()
	b.ReportAllocs()
	sum := 0.0
	for i := range b.N {
		sum += gbr.Gain(p, float64(i%100)/100)
	}
	_ = sum
}
