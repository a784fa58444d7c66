// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/e2e/bench/pionrun"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// engine has runs on all cores and keeps them.
type engine struct {
	store    *store
	progress *progress
	stack    *pionrun.Pool
	// looks, when not nil, collects what the runs of seed 1 look like over time.
	looks map[key][]sim.Point

	mu sync.Mutex
	// errs are the runs of the stack that failed.
	errs map[key]error
}

func newEngine(st *store, p *progress) *engine {
	return &engine{store: st, progress: p, stack: pionrun.NewPool(), errs: map[key]error{}}
}

// interruptedError says how to go on.
type interruptedError struct {
	done, all int
	kept      bool
}

func (e interruptedError) Error() string {
	if e.kept {
		return fmt.Sprintf("interrupted after %d of %d runs: the same command goes on from there", e.done, e.all)
	}

	return fmt.Sprintf("interrupted after %d of %d runs, which are lost: with -out DIR the same command could go on from there", e.done, e.all)
}

func (interruptedError) Unwrap() error { return context.Canceled }

// run has what is not there yet.
func (e *engine) run(ctx context.Context, jobs []job) error {
	var todo []job
	for _, j := range jobs {
		if _, ok := e.store.results.rows[j.key()]; !ok {
			todo = append(todo, j)
		}
	}
	e.progress.begin(len(jobs)-len(todo), todo)
	defer e.progress.end()
	err := each(ctx, todo, e.one)
	if errors.Is(err, context.Canceled) {
		return interruptedError{e.progress.done, len(jobs), e.store.dir != ""}
	}

	return err
}

// each does the same to all jobs, on all cores, until one fails.
func each(ctx context.Context, jobs []job, do func(context.Context, job) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan job)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		wg.Go(func() {
			for j := range next {
				if err := do(ctx, j); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for _, j := range jobs {
		select {
		case next <- j:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()

	return context.Cause(ctx)
}

func (e *engine) one(ctx context.Context, j job) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e.progress.running(j)
	frontier, err := e.frontierOf(ctx, j)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r, points, err := frontier[0], []sim.Point(nil), error(nil)
	if !j.onFrontier() || e.observes(j) {
		r, points, err = e.look(ctx, j)
	}
	if err != nil {
		return e.fail(ctx, j, err)
	}
	r.SetOracle(frontier)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.store.results.add(record{r, j.variant.label}); err != nil {
		return err
	}
	if points != nil {
		e.looks[j.key()] = points
	}
	e.progress.finished(j)

	return nil
}

// observes tells whether a run is looked at over time.
func (e *engine) observes(j job) bool { return e.looks != nil && j.seed == 1 }

// look has a run, and its points when they are wanted.
func (e *engine) look(ctx context.Context, j job) (sim.Result, []sim.Point, error) {
	var points []sim.Point
	opts := sim.Options{Foresight: j.frontier.ahead}
	if e.observes(j) {
		opts.ObserveEvery = pointEvery(j.scenario.Duration)
		opts.Observe = func(p sim.Point) { points = append(points, p) }
	}
	if pionrun.Known(j.variant.cc) {
		r, err := e.stack.Run(ctx, j.stack(opts.ObserveEvery))

		return r.Result, r.Points, err
	}
	r, err := sim.Run(*j.scenario, j.variant.cc, j.seed, j.variant.params, opts)

	return r, points, err
}

// pointEvery keeps a plot at a few hundred points, however long the run.
func pointEvery(d time.Duration) time.Duration {
	return max(100*time.Millisecond, (d / 600).Round(time.Millisecond))
}

func (e *engine) frontierOf(ctx context.Context, j job) ([]sim.Result, error) {
	f := j.frontier
	f.once.Do(func() {
		if f.ahead, f.err = sim.Foresee(*j.scenario, j.seed); f.err != nil {
			return
		}
		for _, v := range frontierVariants() {
			fj := job{scenario: j.scenario, variant: v, seed: j.seed}
			e.mu.Lock()
			rec, ok := e.store.frontier.rows[fj.key()]
			e.mu.Unlock()
			if !ok {
				if f.err = context.Cause(ctx); f.err != nil {
					return
				}
				if rec.Result, f.err = sim.Run(*j.scenario, v.cc, j.seed, v.params, sim.Options{Foresight: f.ahead}); f.err != nil {
					return
				}
				rec.Params = v.label
				e.mu.Lock()
				f.err = e.store.frontier.add(rec)
				e.mu.Unlock()
				if f.err != nil {
					return
				}
			}
			f.runs = append(f.runs, rec.Result)
		}
	})

	return f.runs, f.err
}

// lookAgain has the points of runs that were had by an earlier process.
func (e *engine) lookAgain(ctx context.Context, jobs []job) error {
	var todo []job
	for _, j := range jobs {
		if _, ok := e.looks[j.key()]; !ok && j.seed == 1 {
			todo = append(todo, j)
		}
	}

	return each(ctx, todo, func(ctx context.Context, j job) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, points, err := e.look(ctx, j)
		if pionrun.Known(j.variant.cc) && ctx.Err() == nil {
			err = nil // its figures are there; the plot goes without it
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.looks[j.key()] = points

		return err
	})
}
