// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

func telemetryScenarios() []Scenario {
	synth := capacity(cell.SynthLTE)
	late := func(d time.Duration) change { return agent(d, 0, 0) }
	gap := func(from, to time.Duration) change { return agent(2*time.Millisecond, from, to) }
	faults := func(f cell.TelemetryFaults) change { return func(s *Scenario) { s.Cell.Telemetry.Faults = f } }
	modem := func(t cell.TelemetryConfig) change { return func(s *Scenario) { s.Cell.Telemetry = t } }
	period := func(d time.Duration) change { return func(s *Scenario) { s.Cell.BSRPeriod = d } }
	freeze := func(repeat bool) change {
		return faults(cell.TelemetryFaults{Freezes: []cell.Freeze{{At: 25 * second, For: 15 * second, Repeat: repeat}}})
	}
	dip := steps(hold(20*mbit, 25), hold(5*mbit, 15), hold(20*mbit, 20))

	return []Scenario{
		scenario("telemetry-gap", "synthetic LTE cell; the agent is dead from 25 s to 40 s", synth, gap(25*second, 40*second)),
		scenario("telemetry-late", "synthetic LTE cell; telemetry 100 ms late", synth, late(100*time.Millisecond)),
		scenario("telemetry-late-120", "synthetic LTE cell; telemetry 120 ms late", synth, late(120*time.Millisecond)),
		scenario("telemetry-late-1000", "synthetic LTE cell; telemetry 1 s late", synth, late(second)),
		scenario("telemetry-none", "synthetic LTE cell; no telemetry at all", synth, gap(0, 1000*time.Hour)),
		scenario("telemetry-duplicated", "synthetic LTE cell; half of the log packets come twice", synth, faults(cell.TelemetryFaults{Duplicate: 0.5})),
		scenario("telemetry-reordered", "synthetic LTE cell; 20 % of the log packets are overtaken, by up to 50 ms", synth,
			faults(cell.TelemetryFaults{Reorder: cell.Reorder{Share: 0.2, Max: 50 * time.Millisecond}})),
		scenario("telemetry-loss", "synthetic LTE cell; 5 % of the log packets are lost", synth, faults(cell.TelemetryFaults{Loss: 0.05})),
		scenario("telemetry-silent", "synthetic LTE cell; the modem logs nothing from 25 s to 40 s while its agent lives", synth, freeze(false)),
		scenario("telemetry-frozen", "synthetic LTE cell; from 25 s to 40 s the modem repeats its last log packets, old stamps and all", synth, freeze(true)),
		scenario("telemetry-restart", "synthetic LTE cell; the modem's log starts anew at 25 s and 40 s", synth,
			faults(cell.TelemetryFaults{Restarts: []time.Duration{25 * second, 40 * second}})),
		scenario("telemetry-x2", "synthetic LTE cell; grants are told twice as large as they are", synth, faults(cell.TelemetryFaults{Scale: 2})),
		scenario("telemetry-x0.5", "synthetic LTE cell; grants are told half as large as they are", synth, faults(cell.TelemetryFaults{Scale: 0.5})),
		scenario("telemetry-x10", "synthetic LTE cell; grants are told ten times as large as they are", synth, faults(cell.TelemetryFaults{Scale: 10})),
		scenario("telemetry-x0.1", "synthetic LTE cell; grants are told a tenth as large as they are", synth, faults(cell.TelemetryFaults{Scale: 0.1})),
		scenario("telemetry-drained", "synthetic LTE cell; a modem that commits BSRs every 102 ms, with a reader that drains its port", synth, modem(cell.DrainedTelemetry())),
		scenario("telemetry-batched", "synthetic LTE cell; a phone as it is: BSRs up to 102 ms old, grants up to 10 ms", synth, modem(cell.BatchedTelemetry())),
		scenario("telemetry-undrained", "synthetic LTE cell; a phone whose port is not drained: everything 100 to 380 ms late", synth, modem(cell.UndrainedTelemetry())),
		scenario("telemetry-bursts", "synthetic LTE cell; the same port, given out every 380 ms", synth, modem(cell.BurstTelemetry())),
		scenario("telemetry-t-10", "synthetic LTE cell; a BSR every 10 ms in place of 5", synth, period(10*time.Millisecond)),
		scenario("telemetry-t-20", "synthetic LTE cell; a BSR every 20 ms", synth, period(20*time.Millisecond)),
		scenario("telemetry-t-40", "synthetic LTE cell; a BSR every 40 ms", synth, period(40*time.Millisecond)),
		scenario("telemetry-t-inf", "synthetic LTE cell; no periodic BSRs", synth, period(diag.Infinite)),
		scenario("telemetry-bsr-legacy", "radio falls from 20 to 5 Mbit/s; the BSR table ends at 150 kB", dip, upTo20),
		scenario("telemetry-bsr-extended", "radio falls from 20 to 5 Mbit/s; the BSR table is the extended one", dip, upTo20,
			func(s *Scenario) { s.Cell.ExtendedBSR = true }),
		scenario("telemetry-bsr-nr", "the same on NR FDD with short BSRs, 5 bits up to 150 kB", dip, upTo20, on(cell.NRFDD)),
		scenario("telemetry-bsr-nr-long", "the same on NR FDD with long BSRs, 8 bits up to 81 MB", dip, upTo20, on(cell.NRFDD),
			func(s *Scenario) { s.Cell.ExtendedBSR = true }),
	}
}
