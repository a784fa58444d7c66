// SPDX-License-Identifier: MIT

package sim

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
		{Class{"cell", "a cell with a scheduler and other users, its edge, carrier aggregation"}, cellScenarios},
		{Class{"handover", "changes of cell, and no radio at all for a while"}, handoverScenarios},
		{Class{"backhaul", "a bottleneck, loss or disorder behind the radio"}, backhaulScenarios},
		{Class{"rmcat", "the tests of RFC 8867 and RFC 8869, with the uplink and with the backhaul as the bottleneck"}, rmcatScenarios},
		{Class{"telemetry", "a modem that tells late, wrongly or not at all"}, telemetryScenarios},
		{Class{"applimited", "content that does not use what there is, or not all the time"}, applimitedScenarios},
		{Class{"fairness", "several senders in one cell, on one phone, behind one backhaul"}, fairnessScenarios},
		{Class{"stress", "what is hard on everyone"}, stressScenarios},
	}
}

// scenario is one of the catalogue, which knows its class. The doc is one line.
func scenario(name, doc string, changes ...change) Scenario { return base(name, "", doc, changes...) }
