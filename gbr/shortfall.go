// SPDX-License-Identifier: MIT

package gbr

import "math"

const (
	// shortfallTTIs is the time for which a frame's rate is decided, one frame at
	// 30 fps; shortfallMemory is in such times: a second.
	shortfallTTIs, shortfallMemory = 33, 30
	// usualMemory is that of what the radio usually carries, 2 s.
	usualMemory = 60
	// caution is by how much the encoder's share of the radio's rate is lower, for
	// each share by which a frame's worth was less than expected: what is missing
	// makes that frame late and the next one, what is left over is only not used.
	// cautionFloor bounds it.
	caution, cautionFloor = 0.7, 0.8
	// cautionStep is what the first cautionSoon of it cost on top: a radio that never
	// falls short can be used up, as what a frame had too much of is taken off the
	// next one; one that may fall leaves all that waits then for later. A constant
	// radio falls short by less than 0.01, one with retransmissions or others in the
	// cell by 0.05 and more.
	cautionStep, cautionSoon = 0.03, 0.013
	// cautionAway is the same for a rate that nobody corrects for a second or more:
	// a radio that falls short by an eighth comes down to a half, a steady one by a
	// tenth. Less than 3 is late where telemetry goes missing, 6 gives rate away on
	// a steady one.
	cautionAway = 4
)

// shortfall is how much less the radio carried, in the time of a frame, than was
// expected when that began: 0 on a radio that is steady, about 0.1 beside some
// others in a cell, 0.3 in a car.
type shortfall struct {
	bytes, ttis, expected float64 // of the frame's time that runs
	square                float64 // mean of the squared share
	usual                 float64 // mean of what a TTI carried
}

// add takes TTIs of which the bytes are known, and what is expected of one now.
func (s *shortfall) add(bytes, ttis, expected float64) {
	if s.ttis == 0 {
		s.expected = expected
	}
	s.bytes += bytes
	if s.ttis += ttis; s.ttis < shortfallTTIs {
		return
	}
	// Less rate does not help against an outage.
	if s.bytes > 0 && s.expected > 0 {
		short := max(0, 1-s.bytes/s.ttis/s.expected)
		s.square += (short*short - s.square) / shortfallMemory
	}
	if s.usual == 0 {
		s.usual = s.bytes / s.ttis
	}
	s.usual += (s.bytes/s.ttis - s.usual) / usualMemory
	s.bytes, s.ttis = 0, 0
}

// safety is what is left of a share of the radio's rate that suits a steady one.
func (s *shortfall) safety(steady float64) float64 {
	short := math.Sqrt(s.square)
	first := cautionStep * min(1, short/cautionSoon)

	return max(steady-first-caution*short, min(steady, cautionFloor))
}

// away is the share of a rate to come down to, least at the least, while the radio
// is not seen: a steady one is as it was.
func (s *shortfall) away(least float64) float64 {
	return max(least, 1-cautionAway*math.Sqrt(s.square))
}
