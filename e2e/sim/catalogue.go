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

// Catalogue lists the built-in scenarios.
func Catalogue() []Scenario {
	const second = time.Second
	lte := capacity(cell.SynthLTE)
	wide := constant(8_000_000)

	return []Scenario{
		base("const-3", "const", "radio of 3 Mbit/s", constant(3_000_000)),
		base("const-8", "const", "radio of 8 Mbit/s", wide),
		base("step-8-2-8", "step", "radio falls from 8 to 2 Mbit/s at 25 s, back at 40 s", steps(
			cell.Step{Bps: 8_000_000, For: 25 * second}, cell.Step{Bps: 2_000_000, For: 15 * second}, cell.Step{Bps: 8_000_000, For: 20 * second})),
		base("step-3-1-3", "step", "radio falls from 3 to 1 Mbit/s at 25 s, back at 40 s", steps(
			cell.Step{Bps: 3_000_000, For: 25 * second}, cell.Step{Bps: 1_000_000, For: 15 * second}, cell.Step{Bps: 3_000_000, For: 20 * second})),
		base("synth-lte", "trace", "built-in synthetic LTE cell: other users, fading, short outages", lte),
		base("backhaul-3", "backhaul", "radio of 8 Mbit/s, a path of 3 Mbit/s behind it", wide, path(func(p *cell.PathConfig) {
			p.RateBps, p.QueueBytes = 3_000_000, 300_000
		})),
		base("backhaul-3-late", "backhaul", "radio of 8 Mbit/s; the path behind it falls to 3 Mbit/s at 25 s", wide, path(func(p *cell.PathConfig) {
			p.RateBps, p.QueueBytes, p.RateFrom = 3_000_000, 300_000, 25*second
		})),
		base("telemetry-gap", "telemetry", "synthetic LTE cell; the agent is dead from 25 s to 40 s", lte,
			agent(2*time.Millisecond, 25*second, 40*second)),
		base("telemetry-late", "telemetry", "synthetic LTE cell; telemetry 100 ms late", lte,
			agent(100*time.Millisecond, 0, 0)),
		base("telemetry-none", "telemetry", "synthetic LTE cell; no telemetry at all", lte,
			agent(0, 0, 1000*time.Hour)),
		base("applimited-1", "applimited", "the content needs 1 Mbit/s on a radio of 6 Mbit/s", constant(6_000_000),
			filming(func(c *media.Config) { c.CapBps = 1_000_000 })),
	}
}

// FromTrace is a scenario over a recorded capacity.
func FromTrace(t cell.Trace) Scenario {
	return base(t.Name, "trace", "capacity from "+t.Name, capacity(func(uint64, time.Duration) cell.Trace { return t }))
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
