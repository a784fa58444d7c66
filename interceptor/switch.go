// SPDX-License-Identifier: MIT

package interceptor

import (
	"fmt"
	"io"

	"github.com/gbrcc/gbrcc/gbr"
)

// newCore makes what steers, and what of it is to be closed, nil for nothing. It
// runs code of the application: without any lock.
func (c *config) newCore() (*gbr.Estimator, io.Closer, error) {
	makeOuter := c.outer
	if makeOuter == nil {
		makeOuter = c.newGCC
	}
	outer, err := makeOuter()
	if err != nil {
		return nil, nil, fmt.Errorf("interceptor: outer loop: %w", err)
	}
	closer, _ := outer.(io.Closer)
	core, err := gbr.NewEstimator(outer, c.core)
	if err != nil {
		if closer != nil {
			_ = closer.Close() // the configuration is what is wrong
		}

		return nil, nil, fmt.Errorf("interceptor: %w", err)
	}

	return core, closer, nil
}

// closeOuter closes an outer loop that is not used any more. It runs code of the
// application: without any lock.
func (e *Estimator) closeOuter(c io.Closer) {
	if c == nil {
		return
	}
	if err := c.Close(); err != nil {
		e.log.Warnf("closing the outer loop: %v", err)
	}
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
	core, closer, err := c.newCore()
	if err != nil {
		return err
	}
	old, err := e.install(&c, core, closer)
	e.closeOuter(old)

	return err
}

// install makes a new core the one that steers, and returns what is to be closed
// then: the old one's loop, or, with an error, the new one's.
func (e *Estimator) install(c *config, core *gbr.Estimator, outer io.Closer) (old io.Closer, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return outer, ErrClosed
	}
	now := e.now()
	old, e.outer = e.outer, outer
	e.cfg, e.core, e.minBps = c, core, c.core.MinBps
	e.coreNotBefore = now
	core.SetNeed(now, e.needBps)
	if e.rec != nil {
		e.rec.Record(now, c.configured())
	}
	e.follow(now)
	e.kick(now)

	return old, nil
}
