// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// Options are what a run may be asked for beside its result.
type Options struct {
	// Observe, when not nil, gets a Point for every ObserveEvery of the run, in
	// order, when the run is over. It does not change the run.
	Observe      func(Point)
	ObserveEvery time.Duration
	// Recorder, when not nil, gets the measured controller's inputs and
	// decisions.
	Recorder gcc.Recorder
	// Foresight, when not nil, is that of the scenario and seed, which need not be
	// worked out again then. It does not change the run, and runs may share it.
	Foresight *Foresight
}

// Run runs one algorithm through one scenario. The same arguments give the same
// result, bit by bit.
func Run(sc Scenario, alg string, seed uint64, p Params, opts Options) (Result, error) {
	w, err := newWorld(sc, alg, seed, epoch(), p, opts)
	if err != nil {
		return Result{}, err
	}
	if err := w.loop(); err != nil {
		return Result{}, err
	}
	res := w.result()
	for _, p := range w.points {
		opts.Observe(p)
	}

	return res, nil
}

// epoch is when runs begin. Any instant will do; a fixed one keeps event logs the
// same.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
