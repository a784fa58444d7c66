// SPDX-License-Identifier: MIT

package sim

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
)

// Class is a kind of scenario.
type Class struct {
	Name, Doc string
}

// Classes lists the kinds of scenario, in the order of the catalogue.
func Classes() []Class {
	var all []Class
	for _, g := range groups() {
		all = append(all, g.Class)
	}

	return all
}

// Catalogue lists the built-in scenarios, class by class.
//
// All events of a scenario lie within 60 s, so that a run of that length has
// them, and from 20 s on, so that a controller has settled. A shorter run is cut
// as it is asked for; only where MinDuration is set, because a standard or the
// question itself wants a length, a run must not be shorter.
//
// What a seed changes: everything random in the radio, on the path and in the
// source; the instant of steps, within a second; where a recorded trace begins.
// Seed 1 has steps on the second and traces from their beginning.
func Catalogue() []Scenario {
	var all []Scenario
	for _, g := range groups() {
		for _, s := range g.scenarios() {
			s.Class = g.Name
			all = append(all, s)
		}
	}

	return all
}

type group struct {
	Class
	scenarios func() []Scenario
}

func groups() []group {
	return []group{
		{Class{"const", "a radio that never changes"}, constScenarios},
		{Class{"step", "a radio whose rate changes in a known way; seeds shift the instants"}, stepScenarios},
		{Class{traceClass, "capacity as it was recorded, or made up like that; seeds begin elsewhere in it"}, traceScenarios},
		{Class{"cell", "a cell with a scheduler and other users"}, cellScenarios},
		{Class{"handover", "changes of cell, and no radio at all for a while"}, handoverScenarios},
		{Class{"backhaul", "a bottleneck, loss or disorder behind the radio"}, backhaulScenarios},
		{Class{"rmcat", "the tests of RFC 8867 and RFC 8869, with the uplink and with the backhaul as the bottleneck"}, rmcatScenarios},
		{Class{"telemetry", "a modem that tells late, wrongly or not at all"}, telemetryScenarios},
		{Class{"applimited", "content that does not use what there is, or not all the time"}, applimitedScenarios},
		{Class{"fairness", "several senders in one cell, on one phone, behind one backhaul"}, fairnessScenarios},
		{Class{"stress", "what is hard on everyone"}, stressScenarios},
	}
}

const (
	// warmup is not counted in any figure.
	warmup = 10 * time.Second
	// usual is how long a run is unless there is a reason.
	usual = 60 * time.Second

	kbit = 1000
	mbit = 1000 * kbit
)

// change is one way in which a scenario differs from the usual.
type change func(*Scenario)

// scenario is the fixed conditions of the comparison, with changes. The doc is
// one line.
func scenario(name, doc string, changes ...change) Scenario {
	s := Scenario{
		Name: name, Doc: doc,
		Duration: usual, Warmup: warmup,
		Cell: cell.Config{
			Path: cell.PathConfig{Delay: 25 * time.Millisecond},
		},
		Limits:        Limits{StartBps: 300 * kbit, MinBps: 100 * kbit, MaxBps: 10 * mbit},
		Source:        media.Config{Noise: 0.15},
		SkipAbove:     250 * time.Millisecond,
		FeedbackEvery: 50 * time.Millisecond, ReturnDelay: 25 * time.Millisecond,
		TelemetryLink: 2 * time.Millisecond,
	}
	for _, c := range changes {
		c(&s)
	}

	return s
}

// radio has a capacity that never changes.
func radio(bps int) change {
	return func(s *Scenario) {
		s.Trace = func(uint64, time.Duration) cell.Trace { return cell.Constant(bps) }
	}
}

// capacity has one that comes from the seed.
func capacity(trace func(seed uint64, d time.Duration) cell.Trace) change {
	return func(s *Scenario) { s.Trace = trace }
}

// steps has one that goes from step to step; seeds shift all of them but the
// first.
func steps(parts ...cell.Step) change {
	return capacity(func(seed uint64, _ time.Duration) cell.Trace {
		shifted := append([]cell.Step(nil), parts...)
		shifted[0].For += time.Duration(phase(seed) * float64(time.Second))

		return cell.Steps(shifted...)
	})
}

// hold is a step of a rate for so many seconds.
func hold(bps int, seconds float64) cell.Step {
	return cell.Step{Bps: bps, For: time.Duration(seconds * float64(time.Second))}
}

// phase spreads seeds evenly over 0..1, however many there are: multiples of the
// golden ratio. Seed 1 is at 0.
func phase(seed uint64) float64 {
	_, f := math.Modf(float64((seed-1)%(1<<20)) * math.Phi)

	return f
}

// upTo lets controller and source use more than the usual 10 Mbit/s.
func upTo(bps int) change {
	return func(s *Scenario) { s.Limits.MaxBps, s.Source.CapBps = bps, bps }
}

// on is another air interface.
func on(r cell.Radio) change { return func(s *Scenario) { s.Cell.Radio = r } }

// onPath changes what is behind the radio.
func onPath(f func(*cell.PathConfig)) change { return func(s *Scenario) { f(&s.Cell.Path) } }

// behind is a bottleneck behind the radio, with a queue of 200 ms unless the
// path says otherwise.
func behind(bps int) change { return onPath(func(p *cell.PathConfig) { p.RateBps = bps }) }

// source is another one, with the usual noise.
func source(c media.Config) change {
	return func(s *Scenario) {
		c.Noise = s.Source.Noise
		s.Source = c
	}
}

// beside are other flows.
func beside(flows ...Flow) change { return func(s *Scenario) { s.Flows = append(s.Flows, flows...) } }

// atLeast is the least length that makes sense.
func atLeast(d time.Duration) change {
	return func(s *Scenario) {
		s.MinDuration = d
		s.Duration = max(s.Duration, d)
	}
}

// queueOf is a buffer of so much time at a rate.
func queueOf(bps int, d time.Duration) int { return int(float64(bps) / 8 * d.Seconds()) }

const second = time.Second
