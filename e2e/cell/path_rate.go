// SPDX-License-Identifier: MIT

package cell

import "time"

// schedule is the rate of the bottleneck over time. The last part has no end.
type schedule struct {
	parts []part
}

// part is a rate that holds until the next one begins; 0 is no bottleneck.
type part struct {
	from time.Time
	bps  float64
}

// schedule turns the configuration into parts.
func (p PathConfig) schedule(start time.Time) schedule {
	var s schedule
	if len(p.Rate) == 0 {
		if p.RateBps > 0 {
			s.parts = append(s.parts, part{start.Add(p.RateFrom), float64(p.RateBps)})
		}
		return s
	}
	for _, step := range p.Rate {
		s.parts = append(s.parts, part{start, float64(step.Bps)})
		start = start.Add(step.For)
	}
	return s
}

// BpsAt is the rate of the bottleneck a while after Start; 0 where there is
// none.
func (p PathConfig) BpsAt(t time.Duration) int {
	if len(p.Rate) == 0 {
		if t < p.RateFrom {
			return 0
		}
		return p.RateBps
	}
	for _, s := range p.Rate[:len(p.Rate)-1] {
		if t < s.For {
			return s.Bps
		}
		t -= s.For
	}
	return p.Rate[len(p.Rate)-1].Bps
}

// peakBps is the largest rate.
func (p PathConfig) peakBps() int {
	bps := p.RateBps
	for _, s := range p.Rate {
		bps = max(bps, s.Bps)
	}
	return bps
}

// find is the index of the part at a time; -1 before the first.
func (s *schedule) find(at time.Time) int {
	i := len(s.parts) - 1
	for i >= 0 && at.Before(s.parts[i].from) {
		i--
	}
	return i
}

// limits says whether there is a bottleneck at a time.
func (s *schedule) limits(at time.Time) bool {
	i := s.find(at)
	return i >= 0 && s.parts[i].bps > 0
}

// bytes is what the bottleneck sends from one time to another. Where there is
// none it counts nothing: nothing waits there.
func (s *schedule) bytes(from, to time.Time) float64 {
	sum := 0.0
	for i := max(s.find(from), 0); i < len(s.parts) && s.parts[i].from.Before(to); i++ {
		end := to
		if i+1 < len(s.parts) && s.parts[i+1].from.Before(to) {
			end = s.parts[i+1].from
		}
		sum += end.Sub(later(from, s.parts[i].from)).Seconds() * s.parts[i].bps / 8
	}
	return sum
}

// finish is when a packet has been sent whose first bit goes at a time.
func (s *schedule) finish(at time.Time, size int) time.Time {
	rest := float64(size)
	for i := s.find(at); i >= 0 && s.parts[i].bps > 0; i++ {
		need := time.Duration(rest * 8e9 / s.parts[i].bps)
		if i+1 == len(s.parts) || !at.Add(need).After(s.parts[i+1].from) {
			return at.Add(need)
		}
		next := s.parts[i+1].from
		rest -= next.Sub(at).Seconds() * s.parts[i].bps / 8
		at = next
	}
	return at
}

func (p PathConfig) validateRate(bad func(string, ...any) error) error {
	if len(p.Rate) > 0 && (p.RateBps != 0 || p.RateFrom != 0) {
		return bad("path rate both as a schedule and as %d bit/s from %v on", p.RateBps, p.RateFrom)
	}
	for i, s := range p.Rate {
		// Less than 1 kbit/s is a mistake of units; an outage belongs to the radio.
		if s.Bps < 0 || s.Bps > 2e9 || s.Bps > 0 && s.Bps < 1000 {
			return bad("path rate %d bit/s is neither 0 nor within 1 kbit/s..2 Gbit/s", s.Bps)
		}
		if s.For < 0 || s.For > 1000*time.Hour || s.For == 0 && i+1 < len(p.Rate) {
			return bad("path rate %d bit/s for %v", s.Bps, s.For)
		}
	}
	return nil
}
