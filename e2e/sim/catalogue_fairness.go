// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// fairnessScenarios have others beside the measured call. Those without a name
// for their algorithm have that of the measured call.
func fairnessScenarios() []Scenario {
	const queue = 200 * time.Millisecond
	ours := func(p Place, from ...time.Duration) change {
		return func(s *Scenario) {
			for _, f := range from {
				beside(Flow{Where: p, From: f})(s)
			}
		}
	}
	against := func(cc string, p Place) change { return beside(Flow{CC: cc, Where: p, From: 2 * second}) }
	ourCell := inCell(cell.SharedConfig{RBs: 15}) // about 12 Mbit/s

	return []Scenario{
		scenario("fairness-cell-2", "LTE cell of 3 MHz, about 12 Mbit/s: two phones with the same algorithm", ourCell, ours(OwnPhone, 2*second)),
		scenario("fairness-cell-4", "the same cell, four phones, joining every 5 s", ourCell, ours(OwnPhone, 5*second, 10*second, 15*second)),
		scenario("fairness-cell-gcc", "the same cell, a phone beside one with GCC", ourCell, against("gcc", OwnPhone)),
		scenario("fairness-cell-cubic", "the same cell, a phone beside one with a TCP upload", ourCell, against(Cubic, OwnPhone)),
		scenario("fairness-phone-2", "radio of 4 Mbit/s: two calls with the same algorithm on one phone", constant(4*mbit), ours(SamePhone, 2*second)),
		scenario("fairness-phone-gcc", "radio of 4 Mbit/s: a call beside one with GCC on the same phone", constant(4*mbit), against("gcc", SamePhone)),
		scenario("fairness-backhaul-2", "4 Mbit/s behind radios of 8: two phones with the same algorithm", constant(8*mbit), backhaul(4*mbit, queue), ours(OwnRadio, 2*second)),
		scenario("fairness-backhaul-4", "6 Mbit/s behind radios of 8: four phones with the same algorithm, joining every 5 s", constant(8*mbit), backhaul(6*mbit, queue),
			ours(OwnRadio, 5*second, 10*second, 15*second)),
		scenario("fairness-backhaul-late", "4 Mbit/s behind radios of 8: a second phone with the same algorithm joins at 25 s", constant(8*mbit), backhaul(4*mbit, queue),
			ours(OwnRadio, 25*second)),
		scenario("fairness-backhaul-gcc", "4 Mbit/s behind radios of 8: a phone beside one with GCC", constant(8*mbit), backhaul(4*mbit, queue), against("gcc", OwnRadio)),
		scenario("fairness-backhaul-gcc-3", "6 Mbit/s behind radios of 8: a phone beside three with GCC", constant(8*mbit), backhaul(6*mbit, queue),
			times(3, Flow{CC: "gcc", Where: OwnRadio, From: 2 * second})),
		scenario("fairness-backhaul-cubic", "4 Mbit/s behind radios of 8: a phone beside one with a TCP upload", constant(8*mbit), backhaul(4*mbit, queue), against(Cubic, OwnRadio)),
		scenario("fairness-backhaul-cubic-deep", "the same with a queue of 1 s", constant(8*mbit), backhaul(4*mbit, second), against(Cubic, OwnRadio)),
		scenario("fairness-backhaul-synth", "4 Mbit/s behind synthetic LTE cells: two phones with the same algorithm", capacity(cell.SynthLTE), backhaul(4*mbit, queue),
			ours(OwnRadio, 2*second)),
		scenario("fairness-rtt", "4 Mbit/s behind radios of 8: two phones with the same algorithm, one of which has 200 ms more to go and come back", constant(8*mbit),
			backhaul(4*mbit, queue), beside(Flow{Where: OwnRadio, From: 2 * second, Delay: 100 * time.Millisecond})),
	}
}
