// SPDX-License-Identifier: MIT

package gcc

import "time"

const (
	standingUs    = 200_000         // of delay above the shortest lately
	standingFor   = time.Second     // until that counts as overuse
	standingEvery = 5 * time.Second // at most one such cut
	standingMin   = 10 * time.Second
)

// standing notices a queue that is long and does not change: a full one that
// drops its tail has no slope for the trendline to see.
//
// Deviation: goog_cc stays there until loss makes it cut, which it does not below
// what arrives.
type standing struct {
	// The shortest one-way delay, plus the offset of the clocks, is kept over
	// two half-windows.
	cur, prev int64
	since     time.Time
	known     int // windows

	above time.Time // long since then; zero when it is not
	cutAt time.Time
}

// update takes the shortest delay of a report.
func (s *standing) update(now time.Time, us int64) {
	switch {
	case s.known == 0:
		s.cur, s.prev, s.since, s.known = us, us, now, 1
	case now.Sub(s.since) >= standingMin:
		s.prev, s.cur, s.since = s.cur, us, now
	default:
		s.cur = min(s.cur, us)
	}
	switch {
	case us-min(s.cur, s.prev) < standingUs:
		s.above = time.Time{}
	case s.above.IsZero():
		s.above = now
	}
}

// long tells whether the queue is.
func (s *standing) long() bool { return !s.above.IsZero() }

// full tells whether to cut now.
func (s *standing) full(now time.Time) bool {
	if !s.long() || now.Sub(s.above) < standingFor || !s.cutAt.IsZero() && now.Sub(s.cutAt) < standingEvery {
		return false
	}
	s.cutAt = now

	return true
}

// reset forgets what a step of the remote clock has made void.
func (s *standing) reset() { *s = standing{cutAt: s.cutAt} }
