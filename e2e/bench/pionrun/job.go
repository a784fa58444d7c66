// SPDX-License-Identifier: MIT

package pionrun

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// Job is one run.
type Job struct {
	Scenario sim.Scenario
	CC       string
	Seed     uint64
	Params   sim.Params
	// ObserveEvery asks for points, as sim.Options does; 0 for none.
	ObserveEvery time.Duration
}

// Reply is what a run gave.
type Reply struct {
	Result sim.Result
	Points []sim.Point
}

// classes are what the rows run on: the rest is about telemetry, or about more
// than one sender, or about sources that Pion's estimator is known to fail with.
func classes() []string {
	return []string{"const", "step", "trace", "backhaul", "rmcat", "random-trace", "random-recorded", "random-backhaul"}
}

// Supports tells why a row does not run on a scenario, nil if it does.
func Supports(sc sim.Scenario) error {
	if !slices.Contains(classes(), sc.Class) {
		return fmt.Errorf("it runs on the classes %s, not on %s", strings.Join(classes(), " "), sc.Class)
	}

	return sim.CheckOutside(sc)
}

// Check tells, without running anything, what Run would say about a row and its
// parameters.
func Check(sc sim.Scenario, cc string, p sim.Params) error {
	switch cc {
	case Pion, PionLeaky:
		return nil
	case Own, OnPion:
		return sim.Check(sc, "gbrcc", p)
	default:
		return fmt.Errorf("pionrun: unknown row %q, choose from %s", cc, strings.Join(Names(), ", "))
	}
}

// Check tells, without running anything, what Run would say.
func (j Job) Check() error {
	if err := Supports(j.Scenario); err != nil {
		return fmt.Errorf("pionrun: %s: %w", j.Scenario.Name, err)
	}
	if err := sim.CheckOutside(j.Scenario); err != nil {
		return err
	}

	return Check(j.Scenario, j.CC, j.Params)
}

// wireJob is a Job between processes. A scenario is plain data but for its
// capacity, which is a function: of the catalogue, which the worker has too, or
// a recorded trace, which goes along, byte by byte.
type wireJob struct {
	Scenario     wireScenario
	Trace        []int `json:",omitempty"`
	TraceName    string
	CC           string
	Seed         uint64
	Params       sim.Params
	ObserveEvery time.Duration
}

type wireScenario struct {
	sim.Scenario
	// In place of the functions.
	Trace  *struct{} `json:",omitempty"`
	Shared *struct{} `json:",omitempty"`
}

type wireReply struct {
	Reply
	Error string `json:",omitempty"`
}

func (j Job) encode() ([]byte, error) {
	w := wireJob{
		Scenario: wireScenario{Scenario: j.Scenario}, CC: j.CC, Seed: j.Seed, Params: j.Params, ObserveEvery: j.ObserveEvery,
	}
	if _, ok := inCatalogue(j.Scenario); !ok {
		if j.Scenario.Shared != nil {
			return nil, fmt.Errorf("pionrun: %s has a shared cell and is not in the catalogue", j.Scenario.Name)
		}
		t := j.Scenario.Cell.Capacity
		if j.Scenario.Trace != nil {
			t = j.Scenario.Trace(j.Seed, j.Scenario.Duration)
		}
		w.TraceName = t.Name
		for i := range t.Len().Milliseconds() {
			w.Trace = append(w.Trace, t.At(i))
		}
	}
	b, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("pionrun: %w", err)
	}

	return append(b, '\n'), nil
}

func decode(line []byte) (Job, error) {
	var w wireJob
	if err := json.Unmarshal(line, &w); err != nil {
		return Job{}, fmt.Errorf("pionrun: not a job: %w", err)
	}
	j := Job{Scenario: w.Scenario.Scenario, CC: w.CC, Seed: w.Seed, Params: w.Params, ObserveEvery: w.ObserveEvery}
	if sc, ok := inCatalogue(j.Scenario); ok {
		j.Scenario.Trace, j.Scenario.Shared, j.Scenario.Cell.Capacity = sc.Trace, sc.Shared, sc.Cell.Capacity
	} else {
		t, err := cell.NewTrace(w.TraceName, w.Trace)
		if err != nil {
			return Job{}, fmt.Errorf("pionrun: not a job: %w", err)
		}
		j.Scenario.Trace = func(uint64, time.Duration) cell.Trace { return t }
	}

	return j, j.Check()
}

// inCatalogue finds a scenario's original. A recording may be called like one.
func inCatalogue(sc sim.Scenario) (sim.Scenario, bool) {
	for _, c := range sim.Catalogue() {
		if c.Name == sc.Name && c.Class == sc.Class && c.Doc == sc.Doc {
			return c, true
		}
	}

	return sim.Scenario{}, false
}
