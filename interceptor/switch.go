// SPDX-License-Identifier: MIT

package interceptor

import (
	"fmt"
	"io"

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

// newCore makes what steers, and what of it is to be closed, nil for nothing.
func (c *config) newCore() (*gbr.Estimator, io.Closer, error) {
	outer, err := c.newOuter()
	if err != nil {
		return nil, nil, err
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
	old, err := e.install(&c, outer)
	e.closeOuter(old)

	return err
}

// install lets the core steer by c, over another outer loop unless that is nil,
// and returns what is to be closed then: the old loop, or, with an error, the new
// one.
func (e *Estimator) install(c *config, outer gbr.Outer) (old io.Closer, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	closer, _ := outer.(io.Closer)
	if e.closed {
		return closer, ErrClosed
	}
	now := e.now()
	if err := e.core.Reconfigure(now, outer, c.core); err != nil {
		return closer, fmt.Errorf("interceptor: %w", err)
	}
	if outer != nil {
		old, e.outer = e.outer, closer
		e.core.SetNeed(now, e.needBps)
	}
	e.cfg, e.minBps = c, c.core.MinBps
	e.coreNotBefore = now
	if e.rec != nil {
		e.rec.Record(now, c.configured())
	}
	e.follow(now)
	e.arm(now)

	return old, nil
}
