// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
)

// warmup is not counted in any figure.
const warmup = 10 * time.Second

// base is what a scenario starts from: the fixed conditions of the comparison.
func base(name, class, doc string) Scenario {
	return Scenario{
		Name: name, Class: class, Doc: doc,
		Duration: 60 * time.Second, Warmup: warmup,
		Cell: cell.Config{
			Path: cell.PathConfig{Delay: 25 * time.Millisecond},
		},
		Limits:        Limits{StartBps: 300_000, MinBps: 100_000, MaxBps: 10_000_000},
		Source:        media.Config{Noise: 0.15},
		SkipAbove:     250 * time.Millisecond,
		FeedbackEvery: 50 * time.Millisecond, ReturnDelay: 25 * time.Millisecond,
		TelemetryLink: 2 * time.Millisecond,
	}
}

// Catalogue lists the built-in scenarios.
func Catalogue() []Scenario {
	with := func(s Scenario, change func(*Scenario)) Scenario {
		change(&s)

		return s
	}
	steps := func(parts ...cell.Step) func(uint64, time.Duration) cell.Trace {
		return func(uint64, time.Duration) cell.Trace { return cell.Steps(parts...) }
	}
	constant := func(bps int) func(uint64, time.Duration) cell.Trace {
		return func(uint64, time.Duration) cell.Trace { return cell.Constant(bps) }
	}

	return []Scenario{
		with(base("const-3", "const", "radio of 3 Mbit/s"), func(s *Scenario) { s.Trace = constant(3_000_000) }),
		with(base("const-8", "const", "radio of 8 Mbit/s"), func(s *Scenario) { s.Trace = constant(8_000_000) }),
		with(base("step-8-2-8", "step", "radio falls from 8 to 2 Mbit/s at 25 s, back at 40 s"), func(s *Scenario) {
			s.Trace = steps(cell.Step{Bps: 8_000_000, For: 25 * time.Second},
				cell.Step{Bps: 2_000_000, For: 15 * time.Second}, cell.Step{Bps: 8_000_000, For: 20 * time.Second})
		}),
		with(base("step-3-1-3", "step", "radio falls from 3 to 1 Mbit/s at 25 s, back at 40 s"), func(s *Scenario) {
			s.Trace = steps(cell.Step{Bps: 3_000_000, For: 25 * time.Second},
				cell.Step{Bps: 1_000_000, For: 15 * time.Second}, cell.Step{Bps: 3_000_000, For: 20 * time.Second})
		}),
		with(base("synth-lte", "trace", "built-in synthetic LTE cell: other users, fading, short outages"), func(s *Scenario) {
			s.Trace = cell.SynthLTE
		}),
		with(base("backhaul-3", "backhaul", "radio of 8 Mbit/s, a path of 3 Mbit/s behind it"), func(s *Scenario) {
			s.Trace = constant(8_000_000)
			s.Cell.Path.RateBps, s.Cell.Path.QueueBytes = 3_000_000, 300_000
		}),
		with(base("backhaul-3-late", "backhaul", "radio of 8 Mbit/s; the path behind it falls to 3 Mbit/s at 25 s"), func(s *Scenario) {
			s.Trace = constant(8_000_000)
			s.Cell.Path.RateBps, s.Cell.Path.QueueBytes, s.Cell.Path.RateFrom = 3_000_000, 300_000, 25*time.Second
		}),
		with(base("telemetry-gap", "telemetry", "synthetic LTE cell; the agent is dead from 25 s to 40 s"), func(s *Scenario) {
			s.Trace = cell.SynthLTE
			s.TelemetryGapFrom, s.TelemetryGapTo = 25*time.Second, 40*time.Second
		}),
		with(base("telemetry-late", "telemetry", "synthetic LTE cell; telemetry 100 ms late"), func(s *Scenario) {
			s.Trace = cell.SynthLTE
			s.TelemetryLink = 100 * time.Millisecond
		}),
		with(base("telemetry-none", "telemetry", "synthetic LTE cell; no telemetry at all"), func(s *Scenario) {
			s.Trace = cell.SynthLTE
			s.TelemetryGapTo = 1000 * time.Hour
		}),
		with(base("applimited-1", "applimited", "the content needs 1 Mbit/s on a radio of 6 Mbit/s"), func(s *Scenario) {
			s.Trace = constant(6_000_000)
			s.Source.CapBps = 1_000_000
		}),
	}
}

// FromTrace is a scenario over a recorded capacity.
func FromTrace(t cell.Trace) Scenario {
	s := base(t.Name, "trace", "capacity from "+t.Name)
	s.Trace = func(uint64, time.Duration) cell.Trace { return t }

	return s
}

// Select finds scenarios by a comma-separated list of names and classes, or
// "all". The error names what is unknown and what there is.
func Select(list string) ([]Scenario, error) {
	all := Catalogue()
	var picked []Scenario
	for want := range strings.SplitSeq(list, ",") {
		want = strings.TrimSpace(want)
		found := false
		for _, s := range all {
			if want != "all" && want != s.Name && want != s.Class {
				continue
			}
			found = true
			if !slices.ContainsFunc(picked, func(p Scenario) bool { return p.Name == s.Name }) {
				picked = append(picked, s)
			}
		}
		if !found {
			var names []string
			for _, s := range all {
				names = append(names, s.Name)
			}

			return nil, fmt.Errorf("sim: unknown scenario or class %q, choose from all, a class, or %s", want, strings.Join(names, ", "))
		}
	}

	return picked, nil
}
