// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

func stressScenarios() []Scenario {
	return []Scenario{
		scenario("stress-150k", "radio of 150 kbit/s", constant(150*kbit)),
		scenario("stress-loss-5", "radio of 6 Mbit/s; 5 % of the packets are lost behind it", constant(6*mbit), path(func(p *cell.PathConfig) { p.Loss = 0.05 })),
		scenario("stress-rtt-300", "radio of 6 Mbit/s; 150 ms each way", constant(6*mbit), path(func(p *cell.PathConfig) { p.Delay = 150 * time.Millisecond }),
			func(s *Scenario) { s.ReturnDelay = 150 * time.Millisecond }),
		scenario("stress-feedback-loss", "radio of 6 Mbit/s; 30 % of the feedback is lost, in bursts of 5", constant(6*mbit),
			func(s *Scenario) { s.Return.Burst = cell.Bursts(0.3, 5) }),
		scenario("stress-feedback-late", "radio of 6 Mbit/s; feedback 2 s late", constant(6*mbit), func(s *Scenario) { s.ReturnDelay = 2 * second }),
		scenario("stress-feedback-slow", "radio of 6 Mbit/s; 60 kbit/s for the feedback, with a queue of 1 s", constant(6*mbit),
			func(s *Scenario) { s.Return.RateBps, s.Return.QueueBytes = 60*kbit, 7500 }),
		scenario("stress-apps-0.5", "radio of 6 Mbit/s; other apps on the phone send 0.5 Mbit/s", constant(6*mbit), otherApps(500*kbit)),
		scenario("stress-apps-2", "radio of 6 Mbit/s; other apps on the phone send 2 Mbit/s", constant(6*mbit), otherApps(2*mbit)),
		scenario("stress-apps-cubic", "radio of 6 Mbit/s; another app on the phone uploads over TCP from 20 s to 40 s", constant(6*mbit),
			beside(Flow{CC: Cubic, Where: SamePhone, From: 20 * second, To: 40 * second})),
		scenario("stress-bler", "synthetic LTE cell; one block in ten is sent again, one in 200 lost to HARQ and sent by RLC 40 to 80 ms later", capacity(cell.SynthLTE),
			func(s *Scenario) { s.Cell.BLER, s.Cell.RLC.Loss = 0.1, 0.005 }),
		scenario("stress-buffer", "radio falls from 8 to 0.5 Mbit/s at 25 s, back at 40 s; the phone buffers 3 MB",
			steps(hold(8*mbit, 25), hold(500*kbit, 15), hold(8*mbit, 20)), func(s *Scenario) { s.Cell.BufferBytes = 3_000_000 }),
		scenario("stress-outage", "radio of 6 Mbit/s; no radio for 10 s at 25 s", constant(6*mbit), outages(10*second, 25)),
		scenario("stress-all", "synthetic LTE drive with handovers, 1 % loss, jitter, other apps of 0.2 Mbit/s and a phone's batched telemetry", capacity(cell.SynthDriving),
			randomly(cell.RandomHandovers{PerMinute: 4, Lowest: 0.5, Highest: 2}), otherApps(200*kbit),
			path(func(p *cell.PathConfig) { p.Loss, p.JitterMax = 0.01, 15*time.Millisecond }),
			func(s *Scenario) { s.Cell.Telemetry = cell.BatchedTelemetry() }),
	}
}

func otherApps(bps int) change { return func(s *Scenario) { s.Cell.OtherAppsBps = bps } }
