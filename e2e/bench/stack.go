// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/bench/pionrun"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// algorithms are all names of -cc.
func algorithms() []string { return slices.Concat(sim.Algorithms(), pionrun.Names()) }

// runs tells whether an algorithm runs on a scenario.
func runs(cc string, sc sim.Scenario) bool { return !pionrun.Known(cc) || pionrun.Supports(sc) == nil }

// stack is a run of the real Pion stack.
func (j job) stack(observeEvery time.Duration) pionrun.Job {
	return pionrun.Job{
		Scenario: *j.scenario, CC: j.variant.cc, Seed: j.seed, Params: j.variant.params, ObserveEvery: observeEvery,
	}
}

// checkStack says which scenarios the rows of the stack leave out. Whoever asks
// for nothing else has made a mistake.
func (o options) checkStack(scenarios []sim.Scenario, stderr io.Writer) error {
	var rows, out []string
	for _, cc := range o.cc {
		if pionrun.Known(cc) {
			rows = append(rows, cc)
		}
	}
	if len(rows) == 0 || o.check && !o.chosen {
		return nil
	}
	var why error
	for _, sc := range scenarios {
		if err := pionrun.Supports(sc); err != nil {
			why = err
			out = append(out, sc.Name)
		}
	}
	switch {
	case len(out) == len(scenarios):
		return fmt.Errorf("-cc %s cannot run on %s: %w", rows[0], out[0], why)
	case len(out) > 0:
		fmt.Fprintf(stderr, "bench: %s not run on %s\n", strings.Join(rows, ", "), strings.Join(out, ", "))
	}

	return nil
}

// failure is a run without a result.
type failure struct {
	Scenario  string  `json:"scenario"`
	Class     string  `json:"class"`
	CC        string  `json:"cc"`
	Params    string  `json:"params"`
	Seed      uint64  `json:"seed"`
	DurationS float64 `json:"duration_s"`
	Error     string  `json:"error"`
}

// fail keeps the error of a run of the stack, whose faults are not ours, and
// lets the others go on. Anything else ends the benchmark.
func (e *engine) fail(ctx context.Context, j job, err error) error {
	if !pionrun.Known(j.variant.cc) || ctx.Err() != nil || errors.Is(err, pionrun.ErrStart) {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.errs[j.key()] = err
	e.progress.finished(j)

	return nil
}

// sort tells the jobs that have a result from those that failed.
func (e *engine) sort(jobs []job) (had []job, failed []failure) {
	for _, j := range jobs {
		err := e.errs[j.key()]
		if err == nil {
			had = append(had, j)

			continue
		}
		failed = append(failed, failure{
			j.scenario.Name, j.scenario.Class, j.variant.cc, j.variant.label, j.seed, j.scenario.Duration.Seconds(), err.Error(),
		})
	}

	return had, failed
}

func failedError(failed []failure, all int) error {
	if len(failed) == 0 {
		return nil
	}

	return fmt.Errorf("%d of %d runs failed, the first: %s", len(failed), all, failed[0])
}

func (f failure) String() string {
	return fmt.Sprintf("%s, %s, seed %d: %s", f.Scenario, strings.TrimSpace(f.CC+" "+f.Params), f.Seed, f.Error)
}
