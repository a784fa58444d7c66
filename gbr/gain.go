// SPDX-License-Identifier: MIT

package gbr

import "math"

// GainParams shapes the gain over the ratio granted / reported.
type GainParams struct {
	// Beta is the steepness of both sigmoids per unit of ratio; 10 is nearly
	// a straight line, 50 a switch.
	Beta float64
	// Low and High bound the neutral zone, 0 < Low <= High < 1: between them
	// the gain is 1.
	Low, High float64
	// Min is the gain at ratio 0, Max the gain at ratio 1 and above.
	Min, Max float64
}

// Gain returns the factor for one sample: continuous and never falling in the
// ratio, Min at 0, 1 in the neutral zone, Max from 1 on. A ratio that is not a
// number gives 1.
func Gain(p GainParams, ratio float64) float64 {
	c := newCurve(p)

	return c.gain(ratio)
}

// curve is a gain with what does not depend on the ratio worked out.
type curve struct {
	GainParams
	low, high ramp
}

func newCurve(p GainParams) curve {
	return curve{p, newRamp(p.Beta, 0, p.Low), newRamp(p.Beta, p.High, 1)}
}

func (c *curve) gain(ratio float64) float64 {
	switch {
	case math.IsNaN(ratio):
		return 1
	case ratio < c.Low:
		return c.Min + (1-c.Min)*c.low.at(max(ratio, 0))
	case ratio > c.High:
		return 1 + (c.Max-1)*c.high.at(min(ratio, 1))
	default:
		return 1
	}
}

// ramp is a logistic of steepness beta, centred between from and to and scaled
// so that it runs from exactly 0 to exactly 1.
type ramp struct{ beta, from, to, half, lo float64 }

func newRamp(beta, from, to float64) ramp {
	half := beta * (to - from) / 2

	return ramp{beta, from, to, half, logistic(-half)}
}

func (r *ramp) at(x float64) float64 {
	if r.half < 1e-6 { // the logistic is a straight line here
		return (x - r.from) / (r.to - r.from)
	}
	v := (logistic(r.beta*(x-r.from)-r.half) - r.lo) / (1 - 2*r.lo)

	return max(0, min(1, v))
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
