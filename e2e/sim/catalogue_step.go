// SPDX-License-Identifier: MIT

package sim

import "github.com/gbrcc/gbrcc/e2e/cell"

func stepScenarios() []Scenario {
	return []Scenario{
		scenario("step-8-2-8", "radio falls from 8 to 2 Mbit/s at 25 s, back at 40 s",
			steps(hold(8*mbit, 25), hold(2*mbit, 15), hold(8*mbit, 20))),
		scenario("step-3-1-3", "radio falls from 3 to 1 Mbit/s at 25 s, back at 40 s",
			steps(hold(3*mbit, 25), hold(1*mbit, 15), hold(3*mbit, 20))),
		scenario("step-20-5-20", "radio falls from 20 to 5 Mbit/s at 25 s, back at 40 s; the source can use 20",
			steps(hold(20*mbit, 25), hold(5*mbit, 15), hold(20*mbit, 20)), upTo20),
		scenario("step-10x", "radio rises from 1 to 10 Mbit/s at 25 s",
			steps(hold(1*mbit, 25), hold(10*mbit, 35))),
		scenario("step-dip", "radio of 8 Mbit/s that has 0.8 for 300 ms at 20 s and every 10 s after",
			steps(hold(8*mbit, 20), hold(800*kbit, 0.3), hold(8*mbit, 9.7), hold(800*kbit, 0.3), hold(8*mbit, 9.7),
				hold(800*kbit, 0.3), hold(8*mbit, 9.7), hold(800*kbit, 0.3), hold(8*mbit, 9.7))),
		scenario("step-ramp", "radio falls from 8 to 1 Mbit/s within 15 s from 20 s on, and is back 10 s later",
			steps(ramps(hold(8*mbit, 20), ramp{8 * mbit, 1 * mbit, 15}, ramp{1 * mbit, 8 * mbit, 10}, ramp{8 * mbit, 8 * mbit, 15})...)),
		scenario("step-sawtooth", "radio rises from 2 to 8 Mbit/s within 8 s and falls back at once, again and again",
			steps(ramps(hold(2*mbit, 4), ramp{2 * mbit, 8 * mbit, 8}, ramp{2 * mbit, 8 * mbit, 8}, ramp{2 * mbit, 8 * mbit, 8},
				ramp{2 * mbit, 8 * mbit, 8}, ramp{2 * mbit, 8 * mbit, 8}, ramp{2 * mbit, 8 * mbit, 8}, ramp{2 * mbit, 8 * mbit, 8})...)),
	}
}

// ramp goes evenly from one rate to another within so many seconds.
type ramp struct{ from, to, seconds int }

// ramps are steps of 100 ms.
func ramps(first cell.Step, parts ...ramp) []cell.Step {
	all := []cell.Step{first}
	for _, r := range parts {
		for n, i := 10*r.seconds, 0; i < n; i++ {
			all = append(all, hold(r.from+(r.to-r.from)*(2*i+1)/(2*n), 0.1))
		}
	}

	return all
}
