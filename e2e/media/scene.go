// SPDX-License-Identifier: MIT

package media

import (
	"math/rand/v2"
	"time"
)

const (
	// sceneMean is the mean time between scenes and sceneLeast the least share
	// of the cap that one needs; the share is uniform above. Deviation: no
	// standard has numbers for this.
	sceneMean  = 4 * time.Second
	sceneLeast = 0.3
)

// scene is content that needs no more than it needs.
type scene struct {
	rng    *rand.Rand
	end    time.Time
	capBps int
	need   int
}

// look returns what the scene at that time needs, bit/s.
func (s *scene) look(now time.Time) int {
	for i := 0; !now.Before(s.end); i++ {
		s.need = max(1, int(float64(s.capBps)*(sceneLeast+(1-sceneLeast)*s.rng.Float64())))
		s.end = s.end.Add(time.Duration(float64(sceneMean) * s.rng.ExpFloat64()))
		if i == 100 { // asked after a long time
			s.end = now.Add(sceneMean)
		}
	}

	return s.need
}
