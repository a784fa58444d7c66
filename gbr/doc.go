// SPDX-License-Identifier: MIT

// Package gbr steers a sender by GBR, the ratio of what the base station
// grants to what the phone reports as queued, and joins that inner loop with an
// end-to-end outer one.
//
// About every five milliseconds a phone with data tells its base station how
// much it has queued (a buffer status report, BSR) and is told how much it may
// send (grants). For a report and the grants of the time T after it,
//
//	ratio = granted / reported = T / tau
//
// where tau is the time a byte spends in the phone's queue, as long as the queue
// does not run empty. So a ratio is a queueing delay, known within
// milliseconds, before any receiver could see it. A ratio of 1 or more says that
// the radio took all there was; a ratio of 0 says that the phone asked and got
// nothing. The inner loop multiplies the rate by a bounded gain of the ratio on
// every sample: below the neutral zone the rate falls, above it the rate grows,
// inside it nothing happens. The outer loop still sees the whole path: it cuts
// on delay that grows anywhere and on loss, and it takes over alone, from the
// rate as it stands, when telemetry stays away.
//
//	            samples (phone's modem, ~5 ms)
//	                 │
//	           ┌─────▼─────┐  gain ≥1 up to 1.5 x acked, ≤1 at once
//	           │   inner   ├───────────────┐
//	           └───────────┘               ▼
//	feedback   ┌───────────┐  cuts     ┌──────┐   ┌──────────┐ TargetBps
//	(~50 ms) ─►│   outer   ├──────────►│ rate ├─┬─► smoother ├──────────► encoder
//	           └───────────┘  growth   └──────┘ │ └──────────┘
//	                          only when         └───────────────────────► pacer
//	                          telemetry is stale                PacingBps
//
// # Files
//
//	telemetry.go  what the modem says: samples, grants, reports, configuration
//	gain.go       the bounded sigmoid gain
//	inner.go      ratio history to gain
//	outer.go      what the estimator asks of an end-to-end loop
//	estimator.go  arbitration of the two loops, staleness, outputs
//	config.go     algorithms by name, constants with their reasons
//	event.go      what is recorded: inputs and decisions
//
// # Constants
//
// See [Config] and [GainParams]. A fixed target ratio is not portable, since the
// ratio scales with T: the target is a queueing delay, and each sample's window
// turns it into a ratio.
//
// # Staleness
//
// Unknown is not zero: a window without a report is idle and gives no ratio. An
// empty batch of telemetry is a sign of life. Without any for
// [Config.HoldAfter] the rate is held (the outer loop may cut, nobody grows);
// after [Config.HandOverAfter] the outer loop is alone. Both ways the
// rate goes on from where it stands.
//
// # Units and concurrency
//
// Rates are bit/s, sizes bytes, times local. Nothing here reads a clock, locks or
// does IO. Types are not safe for concurrent use.
package gbr
