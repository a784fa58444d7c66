// SPDX-License-Identifier: MIT

package qoe

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrSmootherConfig is wrapped by [NewSmoother].
var ErrSmootherConfig = errors.New("invalid smoother config")

// smootherParts is how finely the window slides.
const smootherParts = 4

// SmootherConfig shapes a [Smoother]. The zero value follows the target at
// once, both ways.
type SmootherConfig struct {
	// Band, 0 <= Band < 1, is how far the target may go, as a share of the
	// output, before the output moves.
	Band float64
	// Window is for how long a target must have been higher for the output to
	// rise, and then to the lowest of it; up to a quarter longer, as the window
	// slides in steps. A fall does not wait.
	Window time.Duration
	// Free, 0 <= Free <= Band, is how far the output follows the target at once,
	// as a share of where it last moved to: less than is seen, yet it takes off
	// what a frame had too much of.
	Free float64
	// Creep is the share of the output per second by which it rises within the
	// band, 0..10: no move that is seen, but rate that is not left.
	Creep float64
}

// Smoother turns a rate that changes every few milliseconds into one that an
// encoder can follow: it moves seldom, down at once, up to what has held.
//
//	target      _   ____________
//	  ___      | | |            |     within Band of the output: no move
//	     |_____| |_|   |Window| |__
//	output                ______
//	  ___                |      |
//	     |_______________|      |__
//	     ^ at once       ^ to the window's lowest
//
// Deviation: libwebrtc's encoder gets every change of its estimate. That one
// moves by a few percent a second; this one sees every fade of the radio.
//
// Not safe for concurrent use.
type Smoother struct {
	cfg SmootherConfig
	// level is where the output last moved to; it is within Free of that.
	level float64
	any   bool
	lows  [smootherParts + 1]int // lowest targets of the parts of the window, newest first
	at    time.Time              // when the newest part began
	last  int                    // target, holds until the next one
	seen  time.Time
}

// NewSmoother returns a smoother whose first output is its first target. The
// error wraps [ErrSmootherConfig].
func NewSmoother(cfg SmootherConfig) (*Smoother, error) {
	switch {
	case math.IsNaN(cfg.Band) || cfg.Band < 0 || cfg.Band >= 1:
		return nil, fmt.Errorf("qoe: %w: band %v is not in [0, 1)", ErrSmootherConfig, cfg.Band)
	case math.IsNaN(cfg.Free) || cfg.Free < 0 || cfg.Free > cfg.Band:
		return nil, fmt.Errorf("qoe: %w: free %v is not in 0..band", ErrSmootherConfig, cfg.Free)
	case math.IsNaN(cfg.Creep) || cfg.Creep < 0 || cfg.Creep > 10:
		return nil, fmt.Errorf("qoe: %w: creep %v is not in 0..10", ErrSmootherConfig, cfg.Creep)
	case cfg.Window < 0 || cfg.Window > time.Minute:
		return nil, fmt.Errorf("qoe: %w: window %v is not in 0..1m", ErrSmootherConfig, cfg.Window)
	}

	return &Smoother{cfg: cfg}, nil
}

// Reset makes bps the output from which the next Update goes on, and forgets
// what went before.
func (s *Smoother) Reset(bps int) {
	*s = Smoother{cfg: s.cfg, level: float64(bps), any: true}
}

// Update returns the output at now, in bit/s. A time before one already seen
// counts as that one.
func (s *Smoother) Update(now time.Time, targetBps int) int {
	if !s.any {
		s.level, s.any = float64(targetBps), true
	}
	if s.at.IsZero() {
		s.at = now
		for i := range s.lows {
			s.lows[i] = int(s.level) // it held before
		}
		s.last, s.seen = int(s.level), now
	}
	low := s.lowest(now, targetBps)
	dt := min(max(now.Sub(s.seen), 0), time.Second).Seconds()
	if now.After(s.seen) {
		s.seen = now
	}
	target, high := float64(targetBps), float64(low)
	switch {
	case target < s.level*(1-s.cfg.Band):
		s.level = target
	case high > s.level*(1+s.cfg.Band):
		s.level = high
	case high > s.level:
		s.level = min(high, s.level*(1+s.cfg.Creep*dt))
	}

	return int(min(max(target, s.level*(1-s.cfg.Free)), s.level*(1+s.cfg.Free)))
}

// lowest slides the window and returns the lowest target in it.
func (s *Smoother) lowest(now time.Time, target int) int {
	part := s.cfg.Window / smootherParts
	if part == 0 {
		return target
	}
	if since := now.Sub(s.at); since >= part {
		parts := int(min(since/part, smootherParts+1))
		copy(s.lows[parts:], s.lows[:])
		for i := range parts {
			s.lows[i] = s.last
		}
		s.at = s.at.Add(since - since%part)
	}
	s.last = target
	s.lows[0] = min(s.lows[0], target)
	low := target
	for _, v := range s.lows {
		low = min(low, v)
	}

	return low
}
