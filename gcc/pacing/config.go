// SPDX-License-Identifier: MIT

package pacing

import (
	"errors"
	"fmt"
	"time"
)

// Defaults of [Config].
const (
	DefaultBurst      = 5 * time.Millisecond
	DefaultMaxQueue   = time.Second
	DefaultMinRateBps = 50_000
	DefaultMaxPadding = 1200
)

// ErrConfig is wrapped by the errors of [New].
var ErrConfig = errors.New("invalid config")

// Config of a [Pacer]. The zero value is usable: every zero field stands for
// its default.
type Config struct {
	// Burst is how far the pacer may run ahead of its rate after a rest, as
	// time at the rate. Default 5 ms.
	Burst time.Duration
	// MaxQueue bounds the queue: a Push that would have to wait longer than
	// this at the current rate is refused. Default 1 s.
	MaxQueue time.Duration
	// MinRateBps is the lowest rate, so that a queue always drains, and the
	// rate until the first SetRate. Default 50 kbit/s.
	MinRateBps int
	// MaxPadding bounds one packet of padding, in bytes on the link. Default
	// 1200.
	MaxPadding int
}

func (c Config) withDefaults() (Config, error) {
	if c.Burst < 0 || c.MaxQueue < 0 || c.MinRateBps < 0 || c.MaxPadding < 0 {
		return c, fmt.Errorf("pacing: %w: negative value in %+v", ErrConfig, c)
	}
	if c.Burst == 0 {
		c.Burst = DefaultBurst
	}
	if c.MaxQueue == 0 {
		c.MaxQueue = DefaultMaxQueue
	}
	if c.MinRateBps == 0 {
		c.MinRateBps = DefaultMinRateBps
	}
	if c.MaxPadding == 0 {
		c.MaxPadding = DefaultMaxPadding
	}

	return c, nil
}
