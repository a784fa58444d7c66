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
	// Default is what users get: capacity from grants, an outer loop that does
	// not see the radio, frames that are sized by what the radio carries. See
	// the package comment and [Ingredient].
	Default Algorithm = iota
	// Seed is the bare law: the gain on every sample, the outer loop's cuts,
	// no smoothing, the outer loop's pacing.
	Seed
	// SeedQoE is Seed with a flat gain and a wide neutral zone, for an encoder
	// that is left alone.
	SeedQoE
	// SeedMin is the lower of an inner rate and a complete outer loop.
	SeedMin
	// PublishedRTC and PublishedBulk are the gains found in the public code of
	// GBR-CC's authors, for real-time video and for bulk transfer.
	PublishedRTC
	PublishedBulk
)

func (a Algorithm) String() string {
	switch a {
	case Default:
		return "gbrcc"
	case Seed:
		return "seed"
	case SeedQoE:
		return "seed-qoe"
	case SeedMin:
		return "seed-min"
	case PublishedRTC:
		return "published-rtc"
	case PublishedBulk:
		return "published-bulk"
	default:
		return fmt.Sprintf("algorithm(%d)", uint8(a))
	}
}

// Algorithms lists all of them.
func Algorithms() []Algorithm {
	return []Algorithm{Default, Seed, SeedQoE, SeedMin, PublishedRTC, PublishedBulk}
}

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

// Ingredient is a part of Default that can be left out, to see what it does.
type Ingredient uint16

// Ingredients.
const (
	// Correction takes the radio's delay from what the outer loop's detector
	// sees; without it that loop takes every fade for an overuse.
	Correction Ingredient = 1 << iota
	// HoldBack keeps packets from the detector until telemetry has told when
	// they left the phone; without it such packets come uncorrected.
	HoldBack
	// PathLaw steers by the queue behind the radio as the inner loop does by
	// the one in front of it, and does not let the outer loop cut without one.
	PathLaw
	// FastGrowth raises the outer loop's rate faster than it would by itself.
	FastGrowth
	// Bursts paces frames above the radio's rate, so that each of them fills
	// the phone's queue and measures the radio.
	Bursts
	// QuickFall believes a few TTIs when they are far below what they vary by.
	QuickFall
	// Prediction extrapolates the queue over the time of which nothing is
	// known yet.
	Prediction
	// CrossCheck stops believing telemetry that what arrives contradicts.
	CrossCheck
	// Smoothing is the encoder's own output: down at once, up to what held.
	Smoothing
	// Caution lowers the rate by how much less than expected the radio carried.
	Caution
	// Outages remembers over one what the radio carried before.
	Outages
	// Skipping advises to leave out a frame that the radio has become too slow
	// for, see [Estimator.SkipFrame].
	Skipping
)

// Has tells whether all of j are in i.
func (i Ingredient) Has(j Ingredient) bool { return i&j == j }

// Config tunes an Estimator. Zero values stand for the defaults.
type Config struct {
	Algorithm Algorithm
	// Preset is the use, by its name in package qoe. Default "default".
	Preset string
	// MinBps and MaxBps bound every output, StartBps is the first one.
	// Defaults 100 kbit/s, 30 Mbit/s, 300 kbit/s.
	MinBps, MaxBps, StartBps int

	// AckedHeadroom caps growth at this multiple of the acknowledged rate
	// plus 10 kbit/s. Default 1.5, as in goog_cc: aimd_rate_control.
	AckedHeadroom float64

	// The next ones shape the gain of the seed and published laws.

	// Beta is the gain's steepness per unit of ratio. Default: the preset's.
	Beta float64
	// TargetDelay is the queueing delay in the phone that the gain steers to.
	// Shorter starves the scheduler, which grants by the queue it knows, longer
	// is felt. Default: the preset's.
	TargetDelay time.Duration
	// ZoneLow and ZoneHigh bound the neutral zone in multiples of the target
	// ratio. BSR bins are 17 % wide (TS 36.321 table 6.1.3.1-1), so a zone
	// much narrower than 2x follows noise. Defaults: the preset's.
	ZoneLow, ZoneHigh float64
	// GainMin and GainMax bound one sample's factor. Default 0.99 and 1.01,
	// as published: at 200 samples/s the rate can double or halve in 0.35 s.
	GainMin, GainMax float64
	// RatioWeight is the newest ratio's weight in the moving average, 0..1.
	// Default 0.6.
	RatioWeight float64

	// The next ones shape Default.

	// Without leaves ingredients out. Default: none.
	Without Ingredient
	// CapacityMemory is the time constant of the radio's rate, in TTIs in which
	// the base station knew of a backlog: about two frames at 30 fps, since a
	// shorter one follows the scheduler's bursts and a longer one the fades too
	// late. Default 60.
	CapacityMemory float64
	// Safety is the share of the radio's rate for an encoder that follows a
	// rate, whose frames miss it by 15 % or so and come as late as the encoder
	// is; while the radio is steady, see [Caution]. Standing is the queue, as
	// time, that may be left when the next frame comes; for Drain of queue above
	// that the rate goes down by the radio's whole rate. Defaults 0.98 and the preset's.
	Safety          float64
	Standing, Drain time.Duration
	// FrameSafety and FrameStanding are the same for frame budgets. Defaults 1
	// and the preset's.
	FrameSafety   float64
	FrameStanding time.Duration
	// FrameInterval is the source's. Default 33.3 ms.
	FrameInterval time.Duration
	// EncoderLag is how old a target is when a frame obeys it. Default 20 ms.
	EncoderLag time.Duration
	// Band, Free, RiseWindow and Creep are the smoother's, see qoe.SmootherConfig.
	// Defaults: the preset's.
	Band, Free, Creep float64
	RiseWindow        time.Duration
	// PacingFactor times the radio's rate is how fast a frame leaves while
	// telemetry is fresh: bursts make the phone's queue non-empty for a few
	// milliseconds, so that every frame measures the radio, and the base station
	// knows of the whole frame early. Default 2.5.
	PacingFactor float64
	// Growth is the factor per second of fast growth. A radio that gives four
	// times as much is followed within 1.5 s by 2.5 and more. Default 4.
	Growth float64
	// HoldDelay bounds how long the outer loop's detector waits for telemetry
	// once a packet has been reported as received; then the telemetry is too
	// late to be used at all. Default 300 ms.
	HoldDelay time.Duration
	// Glide is how long, and GlideTo to which share at the least, the rate comes
	// down after the telemetry was lost: the outer loop alone sees the radio's
	// falls later. On a steady radio it comes down by less. Defaults 1 s and 0.5.
	Glide   time.Duration
	GlideTo float64

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

// resolve fills in the defaults.
func (c Config) resolve() (Config, error) {
	if c.Preset == "" {
		c.Preset = "default"
	}
	preset, err := qoe.PresetByName(c.Preset)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	def(&c.MinBps, 100_000)
	def(&c.MaxBps, 30_000_000)
	def(&c.StartBps, max(c.MinBps, min(c.MaxBps, 300_000)))
	switch c.Algorithm {
	case SeedQoE:
		// The public data of GBR-CC's authors name 10, 20 and 50 as betas that
		// were tried for the picture's sake.
		def(&c.Beta, 50)
		def(&c.ZoneLow, 0.5)
		def(&c.ZoneHigh, 2.5)
	case Default, Seed, SeedMin, PublishedRTC, PublishedBulk:
	}
	def(&c.Beta, preset.Beta)
	def(&c.TargetDelay, preset.TargetDelay)
	def(&c.ZoneLow, preset.ZoneLow)
	def(&c.ZoneHigh, preset.ZoneHigh)
	def(&c.GainMin, 0.99)
	def(&c.GainMax, 1.01)
	def(&c.RatioWeight, 0.6)
	def(&c.AckedHeadroom, 1.5)
	def(&c.CapacityMemory, 60)
	def(&c.Safety, 0.98)
	def(&c.Standing, preset.Standing)
	def(&c.Drain, preset.Drain)
	def(&c.FrameSafety, 1)
	def(&c.FrameStanding, preset.FrameStanding)
	def(&c.FrameInterval, time.Second/30)
	def(&c.Band, preset.Smoother.Band)
	def(&c.Free, min(c.Band, preset.Smoother.Free))
	def(&c.EncoderLag, 20*time.Millisecond)
	def(&c.Creep, preset.Smoother.Creep)
	def(&c.RiseWindow, preset.Smoother.Window)
	def(&c.PacingFactor, 2.5)
	def(&c.Growth, 4)
	def(&c.HoldDelay, 300*time.Millisecond)
	def(&c.Glide, time.Second)
	def(&c.GlideTo, 0.5)
	def(&c.HoldAfter, 150*time.Millisecond)
	def(&c.HandOverAfter, max(2*c.HoldAfter, 300*time.Millisecond))
	def(&c.MaxSampleAge, 500*time.Millisecond)

	return c, c.check()
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
		{"CapacityMemory", c.CapacityMemory, 1, 10_000},
		{"Safety", c.Safety, 0.1, 2},
		{"Standing (s)", c.Standing.Seconds(), 0, 1},
		{"Drain (s)", c.Drain.Seconds(), 0.001, 10},
		{"FrameSafety", c.FrameSafety, 0.1, 2},
		{"FrameStanding (s)", c.FrameStanding.Seconds(), 0, 1},
		{"FrameInterval (s)", c.FrameInterval.Seconds(), 0.001, 1},
		{"Band", c.Band, 0, 0.95},
		{"Free", c.Free, 0, c.Band},
		{"EncoderLag (s)", c.EncoderLag.Seconds(), 0, 0.1},
		{"Creep", c.Creep, 0, 10},
		{"RiseWindow (s)", c.RiseWindow.Seconds(), 0, 60},
		{"PacingFactor", c.PacingFactor, 1, 100},
		{"Growth", c.Growth, 1, 100},
		{"HoldDelay (s)", c.HoldDelay.Seconds(), 0.01, 10},
		{"Glide (s)", c.Glide.Seconds(), 0.001, 60},
		{"GlideTo", c.GlideTo, 0.01, 1},
		{"HoldAfter (s)", c.HoldAfter.Seconds(), 0.01, 10},
		{"HandOverAfter (s)", c.HandOverAfter.Seconds(), c.HoldAfter.Seconds(), 60},
		{"MaxSampleAge (s)", c.MaxSampleAge.Seconds(), 0.01, 10},
	} {
		if !(r.v >= r.from && r.v <= r.to) { // also false for NaN
			return fmt.Errorf("%w: %s is %g, want %g to %g", ErrConfig, r.name, r.v, r.from, r.to)
		}
	}
	if c.Algorithm > PublishedBulk {
		return fmt.Errorf("%w: unknown %v, see Algorithms", ErrConfig, c.Algorithm)
	}

	return nil
}
