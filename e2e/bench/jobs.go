// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// oracleHorizons span the clairvoyant's frontier, the shortest first.
func oracleHorizons() []time.Duration {
	return []time.Duration{33 * time.Millisecond, 50 * time.Millisecond, 66 * time.Millisecond, 100 * time.Millisecond}
}

// job is one scenario and seed: all algorithms share the clairvoyant's runs.
type job struct {
	scenario sim.Scenario
	seed     uint64
	cc       []string
	params   sim.Params
}

func (o options) jobs(scenarios []sim.Scenario) []job {
	var jobs []job
	for _, s := range scenarios {
		for seed := 1; seed <= o.seeds; seed++ {
			jobs = append(jobs, job{s, uint64(seed), o.cc, o.params})
		}
	}

	return jobs
}

func (j job) run() ([]sim.Result, error) {
	var frontier []sim.Result
	for _, h := range oracleHorizons() {
		// The reference is free of encoder noise: it obeys its budget.
		r, err := sim.Run(j.scenario, "oracle", j.seed, sim.Params{Horizon: h}, sim.Options{})
		if err != nil {
			return nil, err
		}
		frontier = append(frontier, r)
	}
	var out []sim.Result
	for _, cc := range j.cc {
		r, err := sim.Run(j.scenario, cc, j.seed, j.params, sim.Options{})
		if err != nil {
			return nil, err
		}
		r.SetOracle(frontier)
		out = append(out, r)
	}

	return out, nil
}

// runAll runs jobs on all cores; the results are in the order of the jobs.
func runAll(ctx context.Context, jobs []job, progress func(done, all int)) ([]sim.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([][]sim.Result, len(jobs))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		wg.Go(func() {
			for i := range next {
				r, err := jobs[i].run()
				if err != nil {
					cancel(err)

					continue
				}
				mu.Lock()
				results[i] = r
				done++
				progress(done, len(jobs))
				mu.Unlock()
			}
		})
	}
feed:
	for i := range jobs {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var all []sim.Result
	for _, r := range results {
		all = append(all, r...)
	}

	return all, nil
}

// progressTo shows a counter on a terminal and nothing elsewhere.
func progressTo(w io.Writer) func(done, all int) {
	f, ok := w.(*os.File)
	if !ok {
		return func(int, int) {}
	}
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return func(int, int) {}
	}

	return func(done, all int) {
		fmt.Fprintf(f, "\r%d of %d", done, all)
		if done == all {
			fmt.Fprint(f, "\r\033[K")
		}
	}
}
