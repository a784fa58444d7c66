// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

func handoverScenarios() []Scenario {
	return []Scenario{
		scenario("handover-lte", "radio of 6 Mbit/s; a handover of 50 ms every 7 s, with RLC AM, to cells as good", constant(6*mbit),
			handovers(20, 7, 6, cell.Handover{KeepQueue: true})),
		scenario("handover-flush", "the same with RLC UM: what the phone has queued is dropped", constant(6*mbit),
			handovers(20, 7, 6, cell.Handover{})),
		scenario("handover-down", "radio of 8 Mbit/s; a handover at 25 s to a cell with 0.3 of it, back at 45 s", constant(8*mbit),
			handoversTo(cell.Handover{At: 25 * second, RateFactor: 0.3, KeepQueue: true}, cell.Handover{At: 45 * second, KeepQueue: true})),
		scenario("handover-up", "radio of 3 Mbit/s; a handover at 25 s to a cell with 3 times as much, back at 45 s", constant(3*mbit),
			handoversTo(cell.Handover{At: 25 * second, RateFactor: 3, KeepQueue: true}, cell.Handover{At: 45 * second, KeepQueue: true})),
		scenario("handover-pingpong", "radio of 5 Mbit/s; from 25 s on, eight handovers within 8 s between it and a cell with half of it", constant(5*mbit),
			pingPong(25*second, 8)),
		scenario("handover-driving", "synthetic LTE cell; 4 handovers a minute of 30 to 60 ms, to cells with 0.3 to 3 times as much, 1 in 10 flushing",
			capacity(cell.SynthLTE), randomly(cell.RandomHandovers{PerMinute: 4, Flush: 0.1})),
		scenario("handover-nsa", "NR TDD of 8 Mbit/s; 6 changes of the PSCell a minute of 100 to 200 ms, to 0.5 to 2 times as much", constant(8*mbit), on(cell.NRTDD),
			randomly(cell.RandomHandovers{PerMinute: 6, Shortest: 100 * time.Millisecond, Longest: 200 * time.Millisecond, Lowest: 0.5, Highest: 2})),
		scenario("outage-0.3", "radio of 6 Mbit/s; no radio for 0.3 s at 20 s and every 10 s after", constant(6*mbit), outages(300*time.Millisecond, 20, 30, 40, 50)),
		scenario("outage-1", "radio of 6 Mbit/s; no radio for 1 s at 20 s and 40 s", constant(6*mbit), outages(second, 20, 40)),
		scenario("outage-3", "radio of 6 Mbit/s; no radio for 3 s at 25 s", constant(6*mbit), outages(3*second, 25)),
	}
}

func handoversTo(list ...cell.Handover) change {
	return func(s *Scenario) { s.Cell.Handovers = list }
}

func randomly(r cell.RandomHandovers) change {
	return func(s *Scenario) { s.Cell.RandomHandovers = r }
}

// handovers are n of one kind, from a second on, so many seconds apart.
func handovers(from, every, n int, h cell.Handover) change {
	var list []cell.Handover
	for i := range n {
		h.At = time.Duration(from+every*i) * second
		list = append(list, h)
	}

	return handoversTo(list...)
}

// pingPong changes between two cells each second.
func pingPong(from time.Duration, n int) change {
	var list []cell.Handover
	for i := range n {
		h := cell.Handover{At: from + time.Duration(i)*second, RateFactor: 0.5, KeepQueue: true}
		if i%2 == 1 {
			h.RateFactor = 1
		}
		list = append(list, h)
	}

	return handoversTo(list...)
}

func outages(d time.Duration, at ...int) change {
	return func(s *Scenario) {
		for _, t := range at {
			s.Cell.Outages = append(s.Cell.Outages, cell.Outage{At: time.Duration(t) * second, For: d})
		}
	}
}
