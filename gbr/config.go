// SPDX-License-Identifier: MIT

package gbr

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/qoe"
)

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("gbr: bad configuration")

// Algorithm names a way of steering.
type Algorithm uint8

// Algorithms.
const (
	// Default is what users get: the seed law with frames paced as short
	// bursts and an encoder target smoothed for the chosen preset.
	Default Algorithm = iota
	// Seed is the bare law: the gain on every sample, the outer loop's cuts,
	// no smoothing, the outer loop's pacing.
	Seed
)

func (a Algorithm) String() string {
	switch a {
	case Default:
		return "gbrcc"
	case Seed:
		return "seed"
	default:
		return fmt.Sprintf("algorithm(%d)", uint8(a))
	}
}

// Algorithms lists all of them.
func Algorithms() []Algorithm { return []Algorithm{Default, Seed} }

// AlgorithmByName finds an algorithm by its String.
func AlgorithmByName(name string) (Algorithm, error) {
	var names []string
	for _, a := range Algorithms() {
		if a.String() == name {
			return a, nil
		}
		names = append(names, a.String())
	}

	return 0, fmt.Errorf("%w: unknown algorithm %q, choose one of %s", ErrConfig, name, strings.Join(names, ", "))
}

// Config tunes an Estimator. Zero values stand for the defaults.
type Config struct {
	Algorithm Algorithm
	// Preset is the use, by its name in package qoe: encoder smoothing, beta,
	// target delay and neutral zone. Default "call".
	Preset string
	// MinBps and MaxBps bound every output, StartBps is the first one.
	// Defaults 100 kbit/s, 30 Mbit/s, 300 kbit/s.
	MinBps, MaxBps, StartBps int

	// Beta is the gain's steepness per unit of ratio. Default: the preset's.
	Beta float64
	// TargetDelay is the queueing delay in the phone that the inner loop
	// steers to. Shorter starves the scheduler, which grants by the queue it
	// knows, longer is felt. Default: the preset's.
	TargetDelay time.Duration
	// ZoneLow and ZoneHigh bound the neutral zone in multiples of the target
	// ratio. BSR bins are 17 % wide (TS 36.321 table 6.1.3.1-1), so a zone
	// much narrower than 2x follows noise. Defaults: the preset's.
	ZoneLow, ZoneHigh float64
	// GainMin and GainMax bound one sample's factor. For Seed 0.99 and 1.01,
	// as published: at 200 samples/s the rate can double or halve in 0.35 s.
	// For Default 0.98 and 1.02, which halves the queue of a radio that falls
	// to a quarter and costs nothing elsewhere in the catalogue.
	GainMin, GainMax float64
	// RatioWeight is the newest ratio's weight in the moving average, 0..1.
	// Default 0.6.
	RatioWeight float64
	// AckedHeadroom caps growth at this multiple of the acknowledged rate
	// plus 10 kbit/s. Default 1.5, as in goog_cc: aimd_rate_control.
	AckedHeadroom float64
	// PacingFactor times the rate is how fast a frame leaves while telemetry
	// is fresh; bursts make the phone's queue non-empty for a few
	// milliseconds, so that every frame measures the radio. Default 2.5 for
	// Default; 0 keeps the outer loop's pacing (Seed).
	PacingFactor float64

	// HoldAfter is how long after the last sign of life the estimator stops
	// trusting the inner loop, HandOverAfter when the outer loop is alone.
	// The agent sends a sign of life every 100 ms at least. Defaults 150 ms
	// and 300 ms.
	HoldAfter, HandOverAfter time.Duration
	// MaxSampleAge discards samples that were too late to steer by. Default
	// 500 ms.
	MaxSampleAge time.Duration

	// Recorder, when not nil, gets inputs and decisions.
	Recorder gcc.Recorder
}

// resolve fills defaults and returns the preset.
func (c Config) resolve() (Config, qoe.Preset, error) {
	if c.Preset == "" {
		c.Preset = "call"
	}
	preset, err := qoe.PresetByName(c.Preset)
	if err != nil {
		return c, preset, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	def(&c.MinBps, 100_000)
	def(&c.MaxBps, 30_000_000)
	def(&c.StartBps, max(c.MinBps, min(c.MaxBps, 300_000)))
	def(&c.Beta, preset.Beta)
	def(&c.TargetDelay, preset.TargetDelay)
	def(&c.ZoneLow, preset.ZoneLow)
	def(&c.ZoneHigh, preset.ZoneHigh)
	if c.Algorithm == Seed {
		def(&c.GainMin, 0.99)
		def(&c.GainMax, 1.01)
	}
	def(&c.GainMin, 0.98)
	def(&c.GainMax, 1.02)
	def(&c.RatioWeight, 0.6)
	def(&c.AckedHeadroom, 1.5)
	if c.Algorithm == Default {
		def(&c.PacingFactor, 2.5)
	}
	def(&c.HoldAfter, 150*time.Millisecond)
	def(&c.HandOverAfter, max(2*c.HoldAfter, 300*time.Millisecond))
	def(&c.MaxSampleAge, 500*time.Millisecond)

	return c, preset, c.check()
}

func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

func (c Config) check() error {
	for _, r := range []struct {
		name     string
		v        float64
		from, to float64
	}{
		{"MinBps", float64(c.MinBps), 1, math.MaxInt32},
		{"MaxBps", float64(c.MaxBps), float64(c.MinBps), math.MaxInt32},
		{"StartBps", float64(c.StartBps), float64(c.MinBps), float64(c.MaxBps)},
		{"Beta", c.Beta, 0.1, 1000},
		{"TargetDelay (s)", c.TargetDelay.Seconds(), 0.001, 1},
		{"ZoneLow", c.ZoneLow, 0.05, 1},
		{"ZoneHigh", c.ZoneHigh, 1, 20},
		{"GainMin", c.GainMin, 0.5, 1},
		{"GainMax", c.GainMax, 1, 2},
		{"RatioWeight", c.RatioWeight, 0.01, 1},
		{"AckedHeadroom", c.AckedHeadroom, 1, 10},
		{"PacingFactor", c.PacingFactor, 0, 100},
		{"HoldAfter (s)", c.HoldAfter.Seconds(), 0.01, 10},
		{"HandOverAfter (s)", c.HandOverAfter.Seconds(), c.HoldAfter.Seconds(), 60},
		{"MaxSampleAge (s)", c.MaxSampleAge.Seconds(), 0.01, 10},
	} {
		if !(r.v >= r.from && r.v <= r.to) { // also false for NaN
			return fmt.Errorf("%w: %s is %g, want %g to %g", ErrConfig, r.name, r.v, r.from, r.to)
		}
	}
	if c.Algorithm != Default && c.Algorithm != Seed {
		return fmt.Errorf("%w: unknown %v", ErrConfig, c.Algorithm)
	}

	return nil
}
