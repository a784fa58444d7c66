// SPDX-License-Identifier: MIT

package sim

import "github.com/gbrcc/gbrcc/e2e/cell"

func constScenarios() []Scenario {
	return []Scenario{
		scenario("const-1", "radio of 1 Mbit/s", constant(1*mbit)),
		scenario("const-3", "radio of 3 Mbit/s", constant(3*mbit)),
		scenario("const-8", "radio of 8 Mbit/s", constant(8*mbit)),
		scenario("const-20", "radio of 20 Mbit/s, and a source that can use it", constant(20*mbit), upTo20),
		scenario("const-8-harq", "radio of 8 Mbit/s on which one block in ten is sent again", constant(8*mbit),
			func(s *Scenario) { s.Cell.BLER = 0.1 }),
		scenario("const-8-nr-fdd", "radio of 8 Mbit/s, NR FDD", constant(8*mbit), on(cell.NRFDD)),
		scenario("const-8-nr-tdd", "radio of 8 Mbit/s, NR TDD with the pattern DDDSU", constant(8*mbit), on(cell.NRTDD)),
		scenario("const-8-nr-tdd-7d", "radio of 8 Mbit/s, NR TDD with the pattern 7D1S2U", constant(8*mbit), on(cell.NRTDD7D1S2U)),
	}
}
