// SPDX-License-Identifier: MIT

package cell

import (
	"math"
	"math/rand/v2"
	"time"
)

// Streams of the synthetic traces, apart from those of a cell.
const (
	seedSynthNR = iota + 101
	seedSynthDriving
	seedSynthEdge
)

// SynthNR is a synthetic trace of one phone's uplink in a 5G cell with TDD at
// 30 kHz, cut as SynthLTE:
//
//   - the pattern DDDSU: one uplink slot of 0.5 ms each 2.5 ms, so the phone
//     sends in two milliseconds of five (the third and the fifth);
//   - other users come and go (2 s each, 0.8 at a time) and share the cell;
//   - the phone's own rate fades: slowly with 2.5 dB over 3 s (a hand, a body
//     before the antenna), quickly with 1 dB over 40 ms;
//   - about twice a minute the rate falls to a fifth for 0.3 to 1.5 s, as when
//     the beam is blocked.
//
// The mean, which the seed picks, is between 30 and 60 Mbit/s, with at most 130
// Mbit/s over 5 ms; within seconds it swings between about 10 and 110 Mbit/s.
func SynthNR(seed uint64, duration time.Duration) Trace {
	rng := rand.New(rand.NewPCG(seed, seedSynthNR))
	target := 30e6 + 30e6*rng.Float64()

	const blockEvery = 30_000.0 // ms
	rate := make([]float64, synthLen(duration))
	share := users{stay: 2000, others: 0.8}
	slow, fast := rng.NormFloat64(), rng.NormFloat64()
	blocked, next := 0, rng.ExpFloat64()*blockEvery
	for i := range rate {
		others := share.step(rng)
		slow, fast = fade(slow, 3000, rng), fade(fast, 40, rng)
		if next--; next < 0 {
			blocked = 300 + rng.IntN(1201)
			next = float64(blocked) + rng.ExpFloat64()*blockEvery
		}
		if i%5 != 2 && i%5 != 4 {
			blocked = max(blocked-1, 0)
			continue
		}
		rate[i] = decibel(2.5*slow+fast) / float64(1+others)
		if blocked > 0 {
			blocked--
			rate[i] /= 5
		}
	}
	// In an uplink slot it is 2.5 times the mean of the pattern.
	return scaled(rate, target, 2.5*130e6).trace("synth-nr")
}

// SynthDriving is a synthetic trace of a phone in a car on LTE, cut as SynthLTE:
//
//   - handovers 3 times a minute: over the last second before one the rate
//     falls to a quarter, then there is nothing for 30 to 60 ms (one in six:
//     200 to 800 ms, as when it fails and the phone has to find a cell), then
//     the new cell carries 0.3 to 3 times as much, uniform in the logarithm;
//   - the rate fades: slowly with 3 dB over 1.5 s, quickly with 2 dB over 20 ms;
//   - 6 times a minute a bridge or a truck leaves nothing for 50 to 250 ms.
//
// The mean, which the seed picks, is between 3 and 5 Mbit/s, with at most 20
// Mbit/s at any time.
func SynthDriving(seed uint64, duration time.Duration) Trace {
	rng := rand.New(rand.NewPCG(seed, seedSynthDriving))
	target := 3e6 + 2e6*rng.Float64()

	const stay, gapEvery, edge = 20_000.0, 10_000.0, 1000.0 // ms
	rate := make([]float64, synthLen(duration))
	slow, fast := rng.NormFloat64(), rng.NormFloat64()
	cell := newCell(rng)
	left := edge + rng.ExpFloat64()*(stay-edge)
	gap, nextGap := 0, rng.ExpFloat64()*gapEvery
	for i := range rate {
		slow, fast = fade(slow, 1500, rng), fade(fast, 20, rng)
		if nextGap--; nextGap < 0 {
			gap = max(gap, 50+rng.IntN(201))
			nextGap = rng.ExpFloat64() * gapEvery
		}
		if left--; left < 0 {
			cell = newCell(rng)
			left = edge + rng.ExpFloat64()*(stay-edge)
			gap = 30 + rng.IntN(31)
			if rng.IntN(6) == 0 {
				gap = 200 + rng.IntN(601)
			}
		}
		if gap > 0 {
			gap--
			continue
		}
		rate[i] = cell * decibel(3*slow+2*fast)
		if left < edge {
			rate[i] *= math.Pow(4, left/edge-1)
		}
	}
	return scaled(rate, target, 20e6).trace("synth-driving")
}

// SynthEdge is a synthetic trace of a phone at the edge of an LTE cell, at the
// end of its transmit power, cut as SynthLTE: the rate fades with 3 dB over 3 s
// and 1.5 dB over 50 ms, and is always between 0.3 and 2 Mbit/s. The middle,
// which the seed picks, is between 0.6 and 1 Mbit/s. There are no gaps: at the
// edge one has little, but all the time.
func SynthEdge(seed uint64, duration time.Duration) Trace {
	rng := rand.New(rand.NewPCG(seed, seedSynthEdge))
	middle := 0.6e6 + 0.4e6*rng.Float64()
	slow, fast := rng.NormFloat64(), rng.NormFloat64()
	b := &builder{cum: []int64{0}}
	for range synthLen(duration) {
		slow, fast = fade(slow, 3000, rng), fade(fast, 50, rng)
		b.add(1, min(max(middle*decibel(3*slow+1.5*fast), 0.3e6), 2e6))
	}
	return b.trace("synth-edge")
}

// synthLen is the milliseconds of a synthetic trace.
func synthLen(d time.Duration) int { return int(min(max(d.Milliseconds(), 0), maxTraceMs)) }

func decibel(db float64) float64 { return math.Pow(10, db/10) }

// newCell is how much of the mean a cell carries.
func newCell(rng *rand.Rand) float64 { return 0.3 * math.Pow(10, rng.Float64()) }

// users are the others in a cell, who stay for stay ms on average.
type users struct {
	stay, others float64
	n            int
}

// step is one millisecond.
func (u *users) step(rng *rand.Rand) int {
	if rng.Float64() < u.others/u.stay {
		u.n++
	}
	if u.n > 0 && rng.Float64() < float64(u.n)/u.stay {
		u.n--
	}
	return u.n
}
