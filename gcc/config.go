// SPDX-License-Identifier: MIT

package gcc

import (
	"errors"
	"fmt"
	"time"
)

// ErrConfig is wrapped by every error of [Config.Validate] and [New].
var ErrConfig = errors.New("gcc: invalid config")

// Config sets up a [Controller]. The zero value is valid and means the
// defaults given with each field; most of them are libwebrtc's compiled
// defaults, the table in the package comment says where not.
type Config struct {
	// StartBps is the first estimate in bit/s. Default 300 000, moved into
	// [MinBps, MaxBps] when the default lies outside.
	StartBps int
	// MinBps is the lowest estimate in bit/s. Default 100 000, or MaxBps when
	// that is lower.
	MinBps int
	// MaxBps is the highest estimate in bit/s, at most 10^9. Default
	// 30 000 000, or MinBps when that is higher; then probes go up to 5 Mbit/s
	// only.
	MaxBps int

	// StartPacingFactor times the estimate is the pacing rate before the first
	// feedback, 1..10. Default 2.5.
	StartPacingFactor float64
	// PacingFactor times the estimate is the pacing rate afterwards, 1..10.
	// Default 1.1.
	PacingFactor float64

	// Backoff is what an overuse leaves of the acknowledged rate, in (0, 1).
	// Default 0.85.
	Backoff float64
	// Growth is the factor per second of multiplicative increase, 1..10.
	// Default 1.08.
	Growth float64
	// StartGrowth is the factor per second until the first cut, or the first
	// probe that found a limit, 1..10; it stands in for probes that the sender cannot
	// make. Default 2.5.
	StartGrowth float64
	// AckedCap times the acknowledged rate plus 10 kbit/s is where increase
	// stops, 1..10. Default 1.5.
	AckedCap float64

	// Threshold is where the overuse detector's adaptive threshold starts, in
	// its own unit (milliseconds of modified trend), 6..600. Default 12.5.
	Threshold float64

	// NoProbing: no clusters are asked for. See also [Controller.SetProbing].
	NoProbing bool

	// NoPushback: what Estimate.Pushback says is not taken off the estimate.
	NoPushback bool

	// Acked chooses how the acknowledged rate is measured.
	Acked AckedEstimator
	// Loss chooses what limits the rate after loss.
	Loss LossRule

	// LossLow and LossHigh belong to [LossThresholds], which also acts until the
	// loss model has seen enough. They are the shares of lost packets below which a loss
	// limit grows and above which it is cut, 0 < LossLow <= LossHigh < 1.
	// Defaults 0.02 and 0.10.
	LossLow, LossHigh float64
	// ReorderWindow is how long a packet that was reported missing may still
	// be reported received before it counts as lost; at least two more reports
	// are awaited as well. Up to 10 s; default 100 ms.
	ReorderWindow time.Duration

	// FeedbackTimeout is how long packets may go unanswered, the last
	// round-trip time included, before the estimate decays; 100 ms to 60 s.
	// Default 2 s.
	FeedbackTimeout time.Duration

	// Recorder receives the events of this package; nil is off.
	Recorder Recorder
}

// AckedEstimator is a way to measure the rate at which bytes arrive.
type AckedEstimator uint8

// The ways to measure the acknowledged rate.
const (
	// AckedRobust takes the lower of the rates of sending and arriving over
	// about a second, without the largest gap.
	AckedRobust AckedEstimator = iota
	// AckedBayesian weighs windows of 150 ms by how likely they are: quicker,
	// and misled by bursts.
	AckedBayesian
)

// LossRule is a way to limit the rate after loss.
type LossRule uint8

// The loss rules.
const (
	// LossModel finds the rate above which loss follows the rate, and leaves
	// loss alone that does not.
	LossModel LossRule = iota
	// LossThresholds cuts above Config.LossHigh, whatever the cause.
	LossThresholds
)

// Validate reports the first field that is out of range. The error wraps
// [ErrConfig].
func (c Config) Validate() error {
	c = c.withDefaults()

	switch {
	case c.MinBps <= 0 || c.MaxBps > maxConfigBps || c.MinBps > c.MaxBps:
		return fmt.Errorf("%w: bounds %d..%d bit/s are not ascending within 1..%d", ErrConfig, c.MinBps, c.MaxBps, maxConfigBps)
	case c.StartBps < c.MinBps || c.StartBps > c.MaxBps:
		return fmt.Errorf("%w: StartBps %d outside %d..%d", ErrConfig, c.StartBps, c.MinBps, c.MaxBps)
	case !within(c.Backoff, 0.01, 0.99):
		return fmt.Errorf("%w: Backoff %v not in 0.01..0.99", ErrConfig, c.Backoff)
	case !within(c.Threshold, minThreshold, maxThreshold):
		return fmt.Errorf("%w: Threshold %v not in %v..%v", ErrConfig, c.Threshold, minThreshold, maxThreshold)
	case !within(c.LossHigh, 0, 0.99) || !within(c.LossLow, 0, c.LossHigh):
		return fmt.Errorf("%w: LossLow %v, LossHigh %v", ErrConfig, c.LossLow, c.LossHigh)
	case c.Acked > AckedBayesian || c.Loss > LossThresholds:
		return fmt.Errorf("%w: Acked %d, Loss %d", ErrConfig, c.Acked, c.Loss)
	case c.ReorderWindow < 0 || c.ReorderWindow > 10*time.Second:
		return fmt.Errorf("%w: ReorderWindow %v not in 0..10s", ErrConfig, c.ReorderWindow)
	case c.FeedbackTimeout < 100*time.Millisecond || c.FeedbackTimeout > time.Minute:
		return fmt.Errorf("%w: FeedbackTimeout %v not in 100ms..1m", ErrConfig, c.FeedbackTimeout)
	}

	for _, f := range [...]struct {
		name  string
		value float64
	}{
		{"StartPacingFactor", c.StartPacingFactor},
		{"PacingFactor", c.PacingFactor},
		{"Growth", c.Growth},
		{"StartGrowth", c.StartGrowth},
		{"AckedCap", c.AckedCap},
	} {
		if !within(f.value, 1, 10) {
			return fmt.Errorf("%w: %s %v not in 1..10", ErrConfig, f.name, f.value)
		}
	}

	return nil
}

// maxConfigBps keeps every product of a rate and a factor far from overflow.
const maxConfigBps = 1_000_000_000

func (c Config) withDefaults() Config {
	if c.MinBps == 0 {
		c.MinBps = 100_000
		if c.MaxBps > 0 {
			c.MinBps = min(c.MinBps, c.MaxBps)
		}
	}
	orInt(&c.MaxBps, max(30_000_000, c.MinBps))
	orInt(&c.StartBps, min(max(300_000, c.MinBps), c.MaxBps))
	orFloat(&c.StartPacingFactor, 2.5)
	orFloat(&c.PacingFactor, 1.1)
	orFloat(&c.Backoff, 0.85)
	orFloat(&c.Growth, 1.08)
	orFloat(&c.StartGrowth, 2.5)
	orFloat(&c.AckedCap, 1.5)
	orFloat(&c.Threshold, 12.5)
	orFloat(&c.LossLow, 0.02)
	orFloat(&c.LossHigh, 0.10)
	orDuration(&c.ReorderWindow, 100*time.Millisecond)
	orDuration(&c.FeedbackTimeout, 2*time.Second)

	return c
}

// within is false for NaN.
func within(v, lo, hi float64) bool { return v >= lo && v <= hi }

func orInt(v *int, def int) {
	if *v == 0 {
		*v = def
	}
}

func orFloat(v *float64, def float64) {
	if *v == 0 {
		*v = def
	}
}

func orDuration(v *time.Duration, def time.Duration) {
	if *v == 0 {
		*v = def
	}
}
