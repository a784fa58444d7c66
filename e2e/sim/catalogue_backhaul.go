// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

func backhaulScenarios() []Scenario {
	queued := func(bytes int) change { return path(func(p *cell.PathConfig) { p.QueueBytes = bytes }) }
	later := func(d time.Duration) change { return path(func(p *cell.PathConfig) { p.RateFrom = d }) }

	return []Scenario{
		scenario("backhaul-3", "radio of 8 Mbit/s, a path of 3 Mbit/s behind it with a queue of 0.8 s",
			constant(8*mbit), pathOf(3*mbit), queued(300_000)),
		scenario("backhaul-3-late", "radio of 8 Mbit/s; the path behind it falls to 3 Mbit/s at 25 s, with a queue of 0.8 s",
			constant(8*mbit), pathOf(3*mbit), queued(300_000), later(25*second)),
		scenario("backhaul-20-4", "radio of 20 Mbit/s, a path of 4 Mbit/s behind it; the source can use 20", constant(20*mbit), upTo20, pathOf(4*mbit)),
		scenario("backhaul-20-4-late", "radio of 20 Mbit/s; the path behind it falls to 4 Mbit/s at 20 s; the source can use 20",
			constant(20*mbit), upTo20, pathOf(4*mbit), later(20*second)),
		scenario("backhaul-6-2-6", "radio of 8 Mbit/s; the path behind it has 6 Mbit/s, 2 from 25 s on and 6 again from 40 s on", constant(8*mbit),
			path(func(p *cell.PathConfig) {
				p.Rate = []cell.Step{hold(6*mbit, 25), hold(2*mbit, 15), hold(6*mbit, 20)}
			})),
		scenario("backhaul-synth", "synthetic LTE cell with a path of 5 Mbit/s behind it: the bottleneck moves", capacity(cell.SynthLTE), pathOf(5*mbit)),
		scenario("backhaul-codel", "radio of 8 Mbit/s, a path of 3 Mbit/s with CoDel behind it", constant(8*mbit), pathOf(3*mbit), queued(300_000),
			path(func(p *cell.PathConfig) { p.AQM = cell.CoDel })),
		scenario("backhaul-shallow", "radio of 8 Mbit/s, a path of 3 Mbit/s with a queue of 50 ms behind it", constant(8*mbit), pathOf(3*mbit),
			queued(queueOf(3*mbit, 50*time.Millisecond))),
		scenario("backhaul-deep", "radio of 8 Mbit/s, a path of 3 Mbit/s with a queue of 2 s behind it", constant(8*mbit), pathOf(3*mbit),
			queued(queueOf(3*mbit, 2*second))),
		scenario("backhaul-loss-1", "radio of 8 Mbit/s; 1 % of the packets are lost behind it", constant(8*mbit),
			path(func(p *cell.PathConfig) { p.Loss = 0.01 })),
		scenario("backhaul-loss-2", "radio of 8 Mbit/s; 2 % of the packets are lost behind it", constant(8*mbit),
			path(func(p *cell.PathConfig) { p.Loss = 0.02 })),
		scenario("backhaul-bursts", "radio of 8 Mbit/s; 2 % of the packets are lost behind it, in bursts of 10", constant(8*mbit),
			path(func(p *cell.PathConfig) { p.Burst = cell.Bursts(0.02, 10) })),
		scenario("backhaul-jitter", "radio of 8 Mbit/s; up to 30 ms of jitter behind it, in order", constant(8*mbit),
			path(func(p *cell.PathConfig) { p.JitterMax = 30 * time.Millisecond })),
		scenario("backhaul-reorder", "radio of 8 Mbit/s; 2 % of the packets are overtaken, by up to 40 ms", constant(8*mbit),
			path(func(p *cell.PathConfig) { p.Reorder = cell.Reorder{Share: 0.02, Max: 40 * time.Millisecond} })),
		scenario("backhaul-reroute", "radio of 8 Mbit/s; the path takes 75 ms in place of 25 from 25 s to 40 s", constant(8*mbit),
			path(func(p *cell.PathConfig) {
				p.Delays = []cell.DelayStep{{At: 25 * second, Delay: 75 * time.Millisecond}, {At: 40 * second, Delay: 25 * time.Millisecond}}
			})),
		scenario("backhaul-cubic", "radio of 8 Mbit/s; 6 Mbit/s behind it are shared with a TCP upload from 20 s to 45 s", constant(8*mbit), backhaul(6*mbit, 200*time.Millisecond),
			beside(Flow{CC: Cubic, Where: OwnRadio, From: 20 * second, To: 45 * second})),
	}
}

// pathOf is a bottleneck behind the measured call's radio alone, with a queue of
// 200 ms unless it is given another.
func pathOf(bps int) change { return path(func(p *cell.PathConfig) { p.RateBps = bps }) }

// backhaul is one queue for all that goes up.
func backhaul(bps int, queue time.Duration) change {
	return behind(cell.PathConfig{RateBps: bps, QueueBytes: queueOf(bps, queue)})
}
