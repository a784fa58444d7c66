// SPDX-License-Identifier: MIT

package media

import (
	"math"
	"math/rand/v2"
	"time"
)

// The streams of a seed: one for each random quantity.
const (
	seedSize     = 0x50c
	seedInterval = 0x51c
	seedContent  = 0x52c
	seedSpeech   = 0x53c
)

const (
	// laplaceScale is of sizes and of intervals. RFC 8593 table 1: SCALE_B and
	// SCALE_t.
	laplaceScale = 0.15
	// laplaceLimit is where the noise is cut off, on both sides so that its
	// mean stays 0. RFC 8593 5.3 wants a truncated distribution; six scales
	// leave one draw in 400 outside.
	laplaceLimit = 0.9
)

// sizeNoise draws factors with mean 1.
type sizeNoise struct {
	rng   *rand.Rand
	model Model
	sigma float64
}

func (n *sizeNoise) draw() float64 {
	if n.model == RFC8593 {
		return 1 + laplace(n.rng)
	}
	// The mean of exp(N(0, sigma)) is exp(sigma^2/2); taking it out keeps the
	// mean rate at the target.
	return math.Exp(n.sigma*n.rng.NormFloat64() - n.sigma*n.sigma/2)
}

func laplace(rng *rand.Rand) float64 {
	// The difference of two exponentials.
	v := laplaceScale * (rng.ExpFloat64() - rng.ExpFloat64())

	return min(max(v, -laplaceLimit), laplaceLimit)
}

// ticker draws the intervals between captures.
type ticker struct {
	rng    *rand.Rand // nil for a steady tick
	model  Model
	period time.Duration
}

func newTicker(cfg Config) ticker {
	t := ticker{model: cfg.Model, period: time.Second / time.Duration(cfg.FPS)}
	if cfg.Model == RFC8593 || cfg.Kind == ScreenShare {
		t.rng = rand.New(rand.NewPCG(cfg.Seed, seedInterval))
	}

	return t
}

func (t *ticker) draw() time.Duration {
	switch {
	case t.rng == nil:
		return t.period
	case t.model == RFC8593:
		return time.Duration(float64(t.period) * (1 + laplace(t.rng)))
	default: // a screen is captured when something has moved
		return time.Duration(float64(t.period) * (2 + 2*t.rng.Float64()) / 3)
	}
}
