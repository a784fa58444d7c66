// SPDX-License-Identifier: MIT

package interceptor

import (
	"fmt"
	"io"
	"time"

	"github.com/pion/logging"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/gcc/pacing"
)

// Defaults of the options, in bit/s and time at the pacing rate.
const (
	DefaultMinBps   = 100_000
	DefaultStartBps = 300_000
	DefaultMaxBps   = 30_000_000
	DefaultMaxQueue = pacing.DefaultMaxQueue
)

// Option configures an Estimator.
type Option func(*config) error

type config struct {
	core      gbr.Config
	outer     func() (gbr.Outer, error) // nil: package gcc's
	noProbing bool
	pacer     pacing.Config
	skipDelay time.Duration
	uplink    *Uplink    // nil: none
	weight    float64    // on the uplink
	scheduler *Scheduler // nil: one of its own
	loggers   logging.LoggerFactory
	recorders []gcc.Recorder
	events    *EventLog
}

func newConfig(opts []Option) (*config, error) {
	c := &config{pacer: pacing.Config{MaxQueue: DefaultMaxQueue}, skipDelay: DefaultSkipDelay}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(c); err != nil {
			return nil, err
		}
	}
	c.resolve()

	return c, nil
}

// check tries what is configured, but for an end-to-end loop of the application's.
func (c *config) check() error {
	trial := *c
	trial.outer, trial.core.Recorder = nil, nil
	if _, _, err := trial.newCore(); err != nil {
		return err
	}
	_, err := pacing.New[*packet](trial.pacer)
	if err != nil {
		return fmt.Errorf("interceptor: %w", err)
	}

	return nil
}

// resolve fills in what no option has set.
func (c *config) resolve() {
	if c.core.MinBps == 0 {
		c.core.MinBps = DefaultMinBps
		if c.core.MaxBps != 0 {
			c.core.MinBps = min(DefaultMinBps, c.core.MaxBps)
		}
	}
	if c.core.MaxBps == 0 {
		c.core.MaxBps = max(DefaultMaxBps, c.core.MinBps)
	}
	if c.core.StartBps == 0 {
		c.core.StartBps = max(c.core.MinBps, min(DefaultStartBps, c.core.MaxBps))
	}
	if c.loggers == nil {
		f := logging.NewDefaultLoggerFactory()
		f.DefaultLogLevel = max(f.DefaultLogLevel, logging.LogLevelWarn)
		c.loggers = f
	}
	if c.core.Recorder != nil {
		c.recorders = append(c.recorders, c.core.Recorder)
	}
	switch len(c.recorders) {
	case 0:
	case 1:
		c.core.Recorder = c.recorders[0]
	default:
		c.core.Recorder = tee(c.recorders)
	}
}

func (c *config) newGCC() (gbr.Outer, error) {
	return gcc.New(gcc.Config{
		StartBps: c.core.StartBps, MinBps: c.core.MinBps, MaxBps: c.core.MaxBps, Recorder: c.core.Recorder,
		NoProbing: c.noProbing,
	})
}

// WithBitrateBounds sets the lowest, the first and the highest target, in
// bit/s with all headers, ascending within 1 bit/s and 1 Gbit/s. Defaults 100 kbit/s,
// 300 kbit/s, 30 Mbit/s.
func WithBitrateBounds(minBps, startBps, maxBps int) Option {
	return func(c *config) error {
		if minBps <= 0 || startBps < minBps || maxBps < startBps {
			return fmt.Errorf("%w: bitrate bounds min %d, start %d, max %d bit/s are not ascending from 1: give the lowest one first",
				ErrOption, minBps, startBps, maxBps)
		}
		c.core.MinBps, c.core.StartBps, c.core.MaxBps = minBps, startBps, maxBps

		return nil
	}
}

// WithScheduler lets an Estimator share the goroutines of s. The Estimators of a
// factory share one without it; for those of [NewEstimator], each of which has one
// of its own otherwise, it saves most of what timers cost.
func WithScheduler(s *Scheduler) Option {
	return func(c *config) error {
		if s == nil {
			return fmt.Errorf("%w: the scheduler is nil, make one with NewScheduler", ErrOption)
		}
		c.scheduler = s

		return nil
	}
}

// WithPreset chooses the use by its name in package qoe: "default", "call",
// "broadcast" or "teleop".
func WithPreset(name string) Option {
	return func(c *config) error {
		c.core.Preset = name

		return nil
	}
}

// WithAlgorithm chooses the way of steering. Default [gbr.Default].
func WithAlgorithm(a gbr.Algorithm) Option {
	return func(c *config) error {
		c.core.Algorithm = a

		return nil
	}
}

// WithConfig sets the whole configuration of the core, for experiments. It
// replaces what options before it have set there and adds its Recorder to
// theirs.
func WithConfig(cfg gbr.Config) Option {
	return func(c *config) error {
		c.core = cfg

		return nil
	}
}

// WithOuter replaces the end-to-end loop, which is [gcc.Controller] with the
// same bounds by default: [gcc.Fixed] is another, and package pionbwe makes one
// of Pion's estimators. newOuter is called once for each Estimator; a loop that
// is an [io.Closer] is closed when the Estimator is, or has got another.
func WithOuter(newOuter func() (gbr.Outer, error)) Option {
	return func(c *config) error {
		if newOuter == nil {
			return fmt.Errorf("%w: WithOuter needs a function that makes an end-to-end loop; leave the option out for package gcc's", ErrOption)
		}
		c.outer = newOuter

		return nil
	}
}

// WithoutProbing keeps the default end-to-end loop from sending bursts above its
// rate, padding included. It then takes seconds where probes take tenths.
func WithoutProbing() Option {
	return func(c *config) error {
		c.noProbing = true

		return nil
	}
}

// WithMaxQueue bounds the time that a packet may wait in the pacer at the
// current rate; packets that would wait longer are dropped. Default 1 s: a key
// frame at a low rate takes that long.
func WithMaxQueue(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("%w: a queue of %v holds nothing, give a time above 0", ErrOption, d)
		}
		c.pacer.MaxQueue = d

		return nil
	}
}

// WithPacer sets the pacer's burst, queue and lowest rate, zero values of which
// are the defaults of package pacing.
func WithPacer(cfg pacing.Config) Option {
	return func(c *config) error {
		c.pacer = cfg

		return nil
	}
}

// WithSkipDelay sets the pacer's queue from which on the encoder is asked to
// leave out frames, see [Estimator.OnAdvice]. Default 250 ms.
func WithSkipDelay(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("%w: with a skip delay of %v every frame would be left out, give a time above 0", ErrOption, d)
		}
		c.skipDelay = d

		return nil
	}
}

// WithLoggerFactory sets the logger, whose scope is "gbrcc"; that of the
// SettingEngine for one, which interceptors are not told. The default is Pion's,
// which writes to stderr and obeys PION_LOG_*, but with warnings: each is said once
// and is about a mistake in the set-up that makes the estimator useless.
func WithLoggerFactory(f logging.LoggerFactory) Option {
	return func(c *config) error {
		c.loggers = f

		return nil
	}
}

// WithRecorder hands all inputs and decisions to r. It is called with the
// Estimator's lock held: it must be quick and must not call back. With several
// PeerConnections it is called from several goroutines.
func WithRecorder(r gcc.Recorder) Option {
	return func(c *config) error {
		if r != nil {
			c.recorders = append(c.recorders, r)
		}

		return nil
	}
}

// WithEventWriter writes all inputs and decisions to w as JSON lines, see
// [EventLog]. Writing never delays packets: the log is written by a goroutine
// of the Estimator, and events are dropped and counted if w is too slow. The
// rest is written by Close; w is not closed. Give each PeerConnection a writer
// of its own to keep their events apart.
func WithEventWriter(w io.Writer) Option {
	if w == nil {
		return func(*config) error { return fmt.Errorf("%w: the event writer is nil", ErrOption) }
	}
	// One for all Estimators of a Factory, so that lines stay whole.
	log := NewEventLog(w)

	return func(c *config) error {
		c.events = log
		c.recorders = append(c.recorders, log)

		return nil
	}
}

// tee hands events to several recorders.
type tee []gcc.Recorder

func (t tee) Record(now time.Time, ev gcc.Event) {
	for _, r := range t {
		r.Record(now, ev)
	}
}
