// SPDX-License-Identifier: MIT

package cell

import (
	"math"
	"math/rand/v2"
	"time"
)

// SynthLTE is a synthetic trace of one phone's uplink in a busy LTE cell, cut
// to whole milliseconds and at one hour:
//
//   - other users come and go (each stays 2 s on average, 1.4 of them at a
//     time) and share the cell equally;
//   - the phone's own rate fades: slowly with 3 dB over 4 s, quickly with
//     1.5 dB over 60 ms;
//   - about four times a minute there is nothing for 100 to 300 ms.
//
// The whole is scaled to a mean that the seed picks between 6.2 and 7.8
// Mbit/s, with at most 16 Mbit/s at any time; within seconds it swings between
// about 1 and 15 Mbit/s.
func SynthLTE(seed uint64, duration time.Duration) Trace {
	n := int(min(max(duration.Milliseconds(), 0), maxTraceMs))
	rng := rand.New(rand.NewPCG(seed, seedSynth))
	target := 6.2e6 + 1.6e6*rng.Float64()

	const stay, others, gapEvery = 2000.0, 1.4, 15000.0 // ms, users, ms
	rate := make([]float64, n)
	users, gap := 1, 0
	slow, fast := rng.NormFloat64(), rng.NormFloat64()
	nextGap := rng.ExpFloat64() * gapEvery
	for i := range rate {
		if rng.Float64() < others/stay {
			users++
		}
		if users > 0 && rng.Float64() < float64(users)/stay {
			users--
		}
		slow = fade(slow, 4000, rng)
		fast = fade(fast, 60, rng)
		if nextGap--; nextGap < 0 {
			gap = 100 + rng.IntN(201)
			nextGap = float64(gap) + rng.ExpFloat64()*gapEvery
		}
		if gap > 0 {
			gap--
			continue
		}
		rate[i] = math.Pow(10, (3*slow+1.5*fast)/10) / float64(1+users)
	}
	return scaled(rate, target, 16e6).trace("synth-lte")
}

// fade is one millisecond of a Gaussian process of unit variance that forgets
// over ms.
func fade(v, ms float64, rng *rand.Rand) float64 {
	a := 1 / ms
	return v*(1-a) + math.Sqrt(2*a)*rng.NormFloat64()
}

// scaled brings rates to a mean, none of them above limit: what the limit cuts
// off is made up by the others.
func scaled(rate []float64, mean, limit float64) *builder {
	b := &builder{cum: []int64{0}}
	f := 1.0
	for range 8 {
		sum := 0.0
		for _, r := range rate {
			sum += min(r*f, limit)
		}
		if sum > 0 {
			f *= mean * float64(len(rate)) / sum
		}
	}
	for _, r := range rate {
		b.add(1, min(r*f, limit))
	}
	return b
}
