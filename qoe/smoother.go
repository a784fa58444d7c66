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

// arrived is how close to a target, as a share of it, a rise is over: the
// exponential never gets there.
const arrived = 0.001

// SmootherConfig shapes a [Smoother]. The zero value follows the target at
// once, both ways.
type SmootherConfig struct {
	// Rise is the time constant of growth: after it 63 % of a step up are
	// done, after 3 Rise 95 %. 0 grows at once.
	Rise time.Duration
	// Fall is the longest that a step down may take. 0 falls at once.
	Fall time.Duration
	// DeadBand, 0 <= DeadBand < 1, keeps the output where a fall left it
	// until the target exceeds it by this share. A fall has no dead band:
	// what is above the target becomes a queue.
	DeadBand float64
	// FloorBps is the lowest output, in bit/s.
	FloorBps int
}

// Smoother turns a rate that changes every few milliseconds into one that an
// encoder can follow: down at once, up slowly.
//
//	target  ___              ________
//	           |            |      ...   <- output: exponential, Rise
//	           |____________| ..''
//	output  ___|____________..
//	            ^ within Fall
//
// The output is a function of time and targets alone: further updates with the
// same target change nothing. Not safe for concurrent use.
type Smoother struct {
	cfg     SmootherConfig
	out     float64 // bit/s
	target  float64 // bit/s, holds since last
	slope   float64 // bit/s per s of a fall under way, 0 if none
	rising  bool
	last    time.Time
	timed   bool // last is set
	started bool // out is set
}

// NewSmoother returns a smoother whose first output is its first target. The
// error wraps [ErrSmootherConfig].
func NewSmoother(cfg SmootherConfig) (*Smoother, error) {
	switch {
	case cfg.Rise < 0, cfg.Fall < 0:
		return nil, fmt.Errorf("qoe: %w: negative time in %+v", ErrSmootherConfig, cfg)
	case math.IsNaN(cfg.DeadBand) || cfg.DeadBand < 0 || cfg.DeadBand >= 1:
		return nil, fmt.Errorf("qoe: %w: dead band %v is not in [0, 1)", ErrSmootherConfig, cfg.DeadBand)
	case cfg.FloorBps < 0:
		return nil, fmt.Errorf("qoe: %w: negative floor %d bit/s", ErrSmootherConfig, cfg.FloorBps)
	}

	return &Smoother{cfg: cfg}, nil
}

// Reset makes bps the output from which the next Update goes on, whenever that
// is, and forgets what went before.
func (s *Smoother) Reset(bps int) {
	v := s.floored(bps)
	*s = Smoother{cfg: s.cfg, out: v, target: v, started: true}
}

// Update returns the output at now, in bit/s, and holds targetBps from now on.
// Without Fall the result is never above both targetBps and the floor.
func (s *Smoother) Update(now time.Time, targetBps int) int {
	target := s.floored(targetBps)
	if !s.started {
		s.started, s.out = true, target
	}
	if s.timed {
		if elapsed := now.Sub(s.last); elapsed > 0 {
			s.run(elapsed)
			s.last = now
		}
	} else {
		s.timed, s.last = true, now
	}
	s.aim(target)

	return toBps(s.out)
}

// aim takes a new target.
func (s *Smoother) aim(target float64) {
	s.target = target
	switch {
	case target < s.out && s.cfg.Fall == 0:
		s.out, s.slope, s.rising = target, 0, false
	case target < s.out:
		// The steepest slope so far holds until the target is met, so an
		// older and higher target keeps its own deadline.
		s.slope = max(s.slope, (s.out-target)/s.cfg.Fall.Seconds())
		s.rising = false
	case s.cfg.Rise == 0 && target > s.out*(1+s.cfg.DeadBand):
		s.out, s.slope = target, 0
	default:
		s.slope = 0
		s.rising = s.rising || target > s.out*(1+s.cfg.DeadBand)
	}
}

// run moves the output towards the target that held for elapsed.
func (s *Smoother) run(elapsed time.Duration) {
	switch {
	case s.out > s.target:
		s.out -= s.slope * elapsed.Seconds()
		// A fall is over at its deadline, whatever rounding says.
		if s.out <= s.target*(1+1e-9) {
			s.out, s.slope = s.target, 0
		}
	case s.rising:
		left := (s.target - s.out) * math.Exp(-elapsed.Seconds()/s.cfg.Rise.Seconds())
		if left <= s.target*arrived {
			s.out, s.rising = s.target, false
		} else {
			s.out = s.target - left
		}
	}
}

func (s *Smoother) floored(bps int) float64 { return float64(max(bps, s.cfg.FloorBps)) }

func toBps(v float64) int {
	if v >= math.MaxInt { // the conversion would overflow
		return math.MaxInt
	}

	return int(v)
}
