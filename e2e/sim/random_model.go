// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// kinds of models of a capacity.
type modelKind uint8

const (
	// steady never changes.
	steady modelKind = iota
	// drifting is an Ornstein-Uhlenbeck process in the logarithm of the rate.
	drifting
	// jumping stays at one of a few rates for an exponential time, then goes to
	// another one (a Markov-modulated rate).
	jumping
	// sharing divides a rate that drifts by the users there are, who come and go.
	sharing
)

// model makes capacities. Rates are Mbit/s, times ms, deviations dB.
type model struct {
	kind modelKind
	mean float64

	slow, slowFor float64 // drift
	fast, fastFor float64 // fading on top, of all but steady
	levels        []float64
	stay          float64 // at a level, or of a user
	users         float64
	gaps          float64 // outages a minute
	gap           float64 // their mean length
}

// model draws one of a mean.
func (d *dice) model(mean float64) model {
	m := model{
		kind: one(d, drifting, jumping, jumping, sharing), mean: mean,
		slow: d.between(1.5, 5), slowFor: d.log(300, 10_000), fast: d.between(0.3, 2), fastFor: d.log(10, 120),
		stay: d.log(150, 6000), users: d.between(0.5, 3),
	}
	sum := 0.0
	for range 3 + d.IntN(4) {
		m.levels = append(m.levels, d.log(0.1, 1))
		sum += m.levels[len(m.levels)-1]
	}
	for i := range m.levels {
		m.levels[i] *= float64(len(m.levels)) / sum
	}
	if d.chance(0.5) {
		m.gaps, m.gap = d.log(1, 15), d.log(40, 700)
	}

	return m
}

func (m model) String() string {
	parts := []string{fmt.Sprintf("%.1f Mbit/s", m.mean)}
	switch m.kind {
	case steady:
		return parts[0]
	case drifting:
		parts = append(parts, fmt.Sprintf("drifting with %.1f dB over %.1f s", m.slow, m.slowFor/1000))
	case jumping:
		parts = append(parts, fmt.Sprintf("jumping between %d rates every %.1f s", len(m.levels), m.stay/1000))
	case sharing:
		parts = append(parts, fmt.Sprintf("shared with %.1f users for %.1f s each", m.users, m.stay/1000))
	}
	if m.gaps > 0 {
		parts = append(parts, fmt.Sprintf("%.0f gaps a minute of %.0f ms", m.gaps, m.gap))
	}

	return strings.Join(parts, ", ")
}

// trace has whole bytes each millisecond, up to six times the mean.
func (m model) trace(seed uint64, run time.Duration) cell.Trace {
	rng := rand.New(rand.NewPCG(seed, seedCapacity))
	bytes := make([]int, min(run, time.Hour).Milliseconds())
	slow, fast := rng.NormFloat64(), rng.NormFloat64()
	level, users, gap := rng.IntN(max(1, len(m.levels))), int(m.users), 0
	left := 0.0
	for i := range bytes {
		rate := m.mean
		if m.kind != steady {
			slow, fast = wander(slow, m.slowFor, rng), wander(fast, m.fastFor, rng)
			rate *= math.Pow(10, m.fast*fast/10)
		}
		switch m.kind {
		case drifting:
			rate *= math.Pow(10, m.slow*slow/10)
		case jumping:
			if rng.Float64() < 1/m.stay {
				level = (level + 1 + rng.IntN(len(m.levels)-1)) % len(m.levels)
			}
			rate *= m.levels[level]
		case sharing:
			if rng.Float64() < m.users/m.stay {
				users++
			}
			if users > 0 && rng.Float64() < float64(users)/m.stay {
				users--
			}
			rate *= math.Pow(10, m.slow*slow/20) * (1 + m.users) / float64(1+users)
		case steady:
		}
		if m.gaps > 0 && gap == 0 && rng.Float64() < m.gaps/60_000 {
			gap = 1 + int(rng.ExpFloat64()*m.gap)
		}
		if gap > 0 {
			gap--
			rate = 0
		}
		left += min(rate, 6*m.mean) * mbit / 8000
		bytes[i] = int(left)
		left -= float64(bytes[i])
	}
	t, err := cell.NewTrace("random", bytes)
	if err != nil {
		return cell.Constant(int(m.mean * mbit)) // it is within the limits
	}

	return t
}

// wander is one millisecond of a Gaussian process of unit variance that forgets
// over ms.
func wander(v, ms float64, rng *rand.Rand) float64 {
	return v*(1-1/ms) + math.Sqrt(2/ms)*rng.NormFloat64()
}
