// SPDX-License-Identifier: MIT

package interceptor

import (
	"fmt"

	"github.com/gbrcc/gbrcc/gbr"
)

// newOuter makes an end-to-end loop. It runs code of the application: without any
// lock.
func (c *config) newOuter() (gbr.Outer, error) {
	makeOuter := c.outer
	if makeOuter == nil {
		makeOuter = c.newGCC
	}
	outer, err := makeOuter()
	if err != nil {
		return nil, fmt.Errorf("interceptor: outer loop: %w", err)
	}

	return outer, nil
}

// newCore makes what steers.
func (c *config) newCore() (*gbr.Estimator, error) {
	outer, err := c.newOuter()
	if err != nil {
		return nil, err
	}
	core, err := gbr.NewEstimator(outer, c.core)
	if err != nil {
		return nil, fmt.Errorf("interceptor: %w", err)
	}

	return core, nil
}

// configured is the event of a configuration that takes effect.
func (c *config) configured() ConfiguredEvent {
	return ConfiguredEvent{
		Algorithm: c.core.Algorithm.String(), Preset: c.core.Preset,
		MinBps: c.core.MinBps, StartBps: c.core.StartBps, MaxBps: c.core.MaxBps,
		OtherOuter: c.outer != nil,
	}
}

// Switch changes the way of steering in mid call: algorithm, preset, bounds,
// outer loop or all of the core's configuration. What opts do not say stays, and
// all other options are ignored. Queue, history and streams stay as they are, and
// so does what was learned of radio and path, see [gbr.Estimator.Reconfigure]. The
// outer loop stays unless [WithOuter] gives another one, which is moved to the
// present rate.
//
// It is for experiments and for a change of use, such as from a call to screen
// sharing. On an error nothing changes.
func (e *Estimator) Switch(opts ...Option) error {
	e.switching.Lock()
	defer e.switching.Unlock()
	c := *e.cfg
	c.outer = nil
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&c); err != nil {
			return err
		}
	}
	c.recorders = nil
	c.resolve()
	c.core.Recorder = e.rec
	c.core.StartBps = max(c.core.MinBps, min(e.Target().RateBps, c.core.MaxBps))
	var outer gbr.Outer // nil: stays
	if c.outer == nil {
		c.outer = e.cfg.outer
	} else {
		var err error
		if outer, err = c.newOuter(); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	now := e.now()
	if err := e.core.Reconfigure(now, outer, c.core); err != nil {
		return fmt.Errorf("interceptor: %w", err)
	}
	e.cfg, e.minBps = &c, c.core.MinBps
	e.coreNotBefore = now
	if e.rec != nil {
		e.rec.Record(now, c.configured())
	}
	e.follow(now)
	e.kick(now)

	return nil
}
