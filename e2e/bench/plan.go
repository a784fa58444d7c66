// SPDX-License-Identifier: MIT

package main

import (
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// record is a run as it is printed and kept.
type record struct {
	sim.Result
	// Params is what -set and -sweep have changed for it, "beta=10 pacing=2".
	Params string `json:"params"`
}

// key tells runs apart.
type key struct {
	scenario, cc, params string
	seed                 uint64
	seconds              float64
}

func (r record) key() key { return key{r.Scenario, r.CC, r.Params, r.Seed, r.DurationS} }

func (r record) variant() variant { return variant{cc: r.CC, label: r.Params} }

// job is one run to be had.
type job struct {
	scenario *sim.Scenario // shared by all its jobs
	variant  variant
	seed     uint64
	// frontier is shared by the jobs of one scenario and seed.
	frontier *frontier
}

func (j job) key() key {
	return key{j.scenario.Name, j.variant.cc, j.variant.label, j.seed, j.scenario.Duration.Seconds()}
}

// work is about how much a run costs, in seconds of a call.
func (j job) work() float64 {
	calls := 1 + len(j.scenario.Flows)
	if j.scenario.Shared != nil {
		calls += 2 // its other users, and the cell beside it that tells the capacity
	}

	return j.scenario.Duration.Seconds() * float64(calls)
}

// frontier is the clairvoyant's runs on one scenario and seed, had once, and what
// it foresees there.
type frontier struct {
	once  sync.Once
	ahead *sim.Foresight
	runs  []sim.Result
	err   error
}

// frontierVariants are the clairvoyant over the horizons, the shortest first.
// It is free of encoder noise: it obeys its budget.
func frontierVariants() []variant {
	var vs []variant
	for _, ms := range []int{33, 50, 66, 100} {
		s := setting{param{key: "horizon_ms"}, float64(ms)}
		vs = append(vs, variant{cc: "oracle", label: s.String(), params: sim.Params{Horizon: time.Duration(ms) * time.Millisecond}})
	}

	return vs
}

// onFrontier tells whether the run is the first of frontierVariants, which has
// the clairvoyant's own horizon.
func (j job) onFrontier() bool { return j.variant.cc == "oracle" && j.variant.label == "" }

// plan is all jobs, in the order of the output.
func (o options) plan(scenarios []sim.Scenario) []job {
	var variants []variant
	for _, cc := range o.cc {
		variants = append(variants, o.variants(cc)...)
		if o.bound && knowsPast(cc) {
			variants = append(variants, family(cc)...)
		}
	}
	var jobs []job
	for i := range scenarios {
		s := &scenarios[i]
		phases := o.seeds
		if o.check && s.Name == stepName {
			phases = max(phases, checkPhases)
		}
		for seed := 1; seed <= phases; seed++ {
			f := &frontier{}
			for _, v := range variants {
				if runs(v.cc, *s) && (seed <= o.seeds || isDefault(v.cc) || knowsPast(v.cc)) {
					jobs = append(jobs, job{s, v, uint64(seed), f})
				}
			}
			if o.check && s.Class == traceClass && seed <= o.seeds {
				jobs = append(jobs, job{s, calm(), uint64(seed), f})
			}
		}
	}

	return jobs
}
