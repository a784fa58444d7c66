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
	switch {
	case math.IsNaN(ratio):
		return 1
	case ratio < p.Low:
		return p.Min + (1-p.Min)*ramp(p.Beta, math.Max(ratio, 0), 0, p.Low)
	case ratio > p.High:
		return 1 + (p.Max-1)*ramp(p.Beta, math.Min(ratio, 1), p.High, 1)
	default:
		return 1
	}
}

// ramp is a logistic of steepness beta, centred between from and to and scaled
// so that it runs from exactly 0 to exactly 1.
func ramp(beta, x, from, to float64) float64 {
	half := beta * (to - from) / 2
	if half < 1e-6 { // the logistic is a straight line here
		return (x - from) / (to - from)
	}
	lo := logistic(-half)
	v := (logistic(beta*(x-from)-half) - lo) / (1 - 2*lo)

	return math.Max(0, math.Min(1, v))
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
