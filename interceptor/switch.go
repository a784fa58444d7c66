// SPDX-License-Identifier: MIT

package interceptor

import (
	"fmt"

	"github.com/gbrcc/gbrcc/gbr"
)

// newCore makes what steers. It runs code of the application: without any lock.
func (c *config) newCore() (*gbr.Estimator, error) {
	makeOuter := c.outer
	if makeOuter == nil {
		makeOuter = c.newGCC
	}
	outer, err := makeOuter()
	if err != nil {
		return nil, fmt.Errorf("interceptor: outer loop: %w", err)
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
// all other options are ignored. Queue, history and streams stay as they are; the
// new loops start from the present rate and get the next telemetry and feedback,
// and know nothing of what the old ones have learned.
//
// It is for experiments and for a change of use, such as from a call to screen
// sharing. On an error nothing changes.
func (e *Estimator) Switch(opts ...Option) error {
	e.switching.Lock()
	defer e.switching.Unlock()
	c := *e.cfg
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
	core, err := c.newCore()
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	now := e.now()
	e.cfg, e.core, e.minBps = &c, core, c.core.MinBps
	e.coreNotBefore = now
	core.SetNeed(now, e.needBps)
	if e.rec != nil {
		e.rec.Record(now, c.configured())
	}
	e.follow(now)
	e.kick(now)

	return nil
}
