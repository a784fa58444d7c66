// SPDX-License-Identifier: MIT

package media

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	// pageSpread and smallSpread are standard deviations of logarithms, and
	// smallBytes the median of a frame in which a cursor moves or a line is
	// typed. Deviation: no standard has numbers for this; they are of the
	// order of a text document of 1080 lines.
	pageSpread  = 0.5
	smallBytes  = 400.0
	smallSpread = 0.8
)

// screen is a page, of which a part is still to be sent, and what moves on it.
type screen struct {
	rng      *rand.Rand
	every    time.Duration
	median   float64
	next     time.Time // the page changes
	page     float64   // bytes on the link
	unsent   float64
	appeared bool // since the last frame
}

func newScreen(cfg Config, rng *rand.Rand) screen {
	return screen{rng: rng, every: cfg.PageEvery, median: float64(cfg.PageBytes), next: cfg.Start}
}

// look draws what has happened since the last frame and returns what moves. It
// draws once for what moves whatever happens, and pages come at times of their
// own, so that the content is the same for every controller.
func (s *screen) look(now time.Time) (moving float64) {
	for i := 0; !now.Before(s.next); i++ {
		s.page = s.median * math.Exp(pageSpread*s.rng.NormFloat64())
		s.unsent, s.appeared = s.page, true
		s.next = s.next.Add(time.Duration(float64(s.every) * s.rng.ExpFloat64()))
		if i == 100 { // asked after a long time
			s.next = now.Add(s.every)
		}
	}

	return smallBytes * math.Exp(smallSpread*s.rng.NormFloat64())
}
