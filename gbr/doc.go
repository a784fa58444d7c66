// SPDX-License-Identifier: MIT

// Package gbr steers a sender by what the base station grants its phone, and
// joins that inner loop with an end-to-end outer one.
//
// About every five milliseconds a phone with data tells its base station how
// much it has queued (a buffer status report, BSR) and is told how much it may
// send (grants). Their ratio, GBR, is granted / reported = T / tau, where T is
// the time of the grants and tau is how long a byte waits in the phone, as long
// as its queue does not run empty: a queueing delay, known within milliseconds,
// before any receiver could see it.
//
// The default law takes the two apart. While the base station knows of a
// backlog, every TTI is a measurement of what the radio carries, mu, the TTIs
// without a grant too. And a twin of the phone's queue, fed with what was sent,
// granted and reported, knows what waits there and when each packet left. So
//
//   - a frame may have what the radio carries until the next one, less what is
//     left of those before;
//   - the outer loop does not see the time that a packet was in the phone: what
//     delay remains is elsewhere, and it cuts only for that;
//   - while there is none, its rate grows as fast as feedback can confirm it;
//   - a rate is all of what the radio carries while that is steady, and less by as
//     much as it lately fell short within a frame;
//   - an outage says nothing of what comes after it, and a frame that was sized
//     before a fall is better left out, see [Estimator.SkipFrame].
//
// Frames leave in bursts, which fill the phone's queue for a moment, so that
// each of them measures the radio however little the encoder sends.
//
//	            grants, reports (phone's modem, 5 to 20 ms old)
//	               │
//	       ┌───────▼──────┐ mu ┌────────────────┐ FrameBudget
//	       │   capacity   ├───►│                ├────────────► encoder that obeys
//	       └──────────────┘    │ frame, less    │ ┌──────────┐ TargetBps
//	       ┌──────────────┐tau │ what is left   ├─► smoother ├─┬──────► encoder
//	sent ─►│     twin     ├───►│                │ └──────────┘ │min
//	       └───────┬──────┘    └────────────────┘ PacingBps    │
//	               │ time in the phone            (mu x 2.5)   │
//	feedback  ┌────▼─────────────────┐ cuts, growth ┌──────────┴─┐
//	(~50 ms) ─► arrivals less that:  ├─────────────►│ outer rate │
//	          │ path, delay detector │              └────────────┘
//	          └──────────────────────┘
//
// # Files
//
//	telemetry.go  what the modem says: samples, grants, reports, configuration
//	estimator.go  Estimator: time, staleness, outputs, around one of the laws
//	law.go        what the laws have in common
//	grantlaw.go   Default: the figure above
//	capacity.go   what the radio carries, from grants
//	shortfall.go  how much less than expected it carries
//	skip.go       a frame that it has become too slow for
//	pattern.go    the TTIs in which the phone can send at all
//	twin.go       the phone's queue, run again
//	offset.go     how far the modem's clock is ahead of the sender's
//	path.go       the queue behind the radio
//	lows.go       the least of what was seen more than once
//	trains.go     frames as probes of what is behind the radio
//	compete.go    a share beside those who fill that queue
//	overflow.go   a queue there that drops before it delays
//	ceiling.go    a rate at which something else than the radio was full
//	check.go      telemetry that what arrives contradicts
//	seed.go       Seed, SeedQoE, SeedMin: a bounded gain of the ratio
//	gain.go       that gain; inner.go its input, the averaged ratio
//	published.go  the gains found in the public code of GBR-CC's authors
//	outer.go      what is asked of an end-to-end loop
//	config.go     algorithms and ingredients, constants with their reasons;
//	              reconfigure.go changes them in mid call
//	ingredient.go the ingredients by name
//	event.go      what is recorded: inputs and decisions
//
// # Behind the radio
//
// A frame's packets leave the phone at the radio's rate. Where something is
// narrower they arrive slower than they left, and that is its rate, known before any
// queue is left by the time of the next frame. What it tells depends on whether it
// stays the same:
//
//	all frames arrive at one rate      nobody else is there: 0.97 of it is used,
//	                                   paced so evenly that it has no queue; what
//	                                   queue there is is let go, no more
//	some slower than others            others are: a small step at a time, the
//	                                   smaller the larger the share already is; at a
//	                                   queue of 25 ms all give back, most who has most
//	the queue stays although this      somebody fills it: as CUBIC does, deaf to
//	sender has given way               delay, until it is gone or nobody else's
//	there is loss, and hardly a queue  0.85 of what arrives
//
// # Staleness and lies
//
// Unknown is not zero: a window without a report is idle and gives no ratio. An
// empty batch of telemetry is a sign of life. Without any for
// [Config.HoldAfter] the rate is held; after [Config.HandOverAfter], when packets
// arrive of which the modem does not say that they left, or when more arrives
// than it says was granted, the outer loop is alone: from where the rate stands,
// and coming down from there for a second, as it sees the radio's falls later.
// Silence is no lie: it ends with the first grant that is news. A lie is not
// believed again for a second, then four, and so on. What is old, far in the future
// or told again says nothing.
//
// Telemetry is on the local clock, as well as the link could translate it. What
// that misses, any time at all, is found in two steps. Nothing is told before it
// was: the freshest telemetry of the last seconds tells the least that the modem's
// clock is ahead. From there on, -60 to 240 ms, what was sent is shifted against
// what the reports say came in. Frames of equal size at equal distances fit with
// every shift of that distance: then the least one is taken. When it fits no more,
// or the least jumps, all begins anew, and the outer loop is alone meanwhile; for
// twice as long each time, and until it fits better. Silence counts as no grants only
// while the link is alive. Who has steered only briefly gives back the rate that it
// took over. Packets that the modem did not tell of in time seem to have left late
// and to have arrived soon: how long the path is counts only when seen three times.
//
// # Deviations
//
//   - From the ratio as published: the default law steers by delay and rate, not
//     by a gain of the ratio, whose loop has no damping of its own and needs 70
//     samples to halve a rate. Seed and the published laws are there to compare.
//   - From draft-ietf-rmcat-gcc-02: a cut of the delay detector is undone while
//     corrected delays show no queue and none was ever found, or nobody else is in
//     the way; and a queue behind the radio is emptied at once, from the rate at
//     which packets leave it. What is behind the radio, if it is narrower, is shared
//     by other rules than GCC's, see there.
//
// # Units and concurrency
//
// Rates are bit/s, sizes bytes, times local; inside, µs on the modem's clock.
// Nothing here reads a clock, locks or does IO. Types are not safe for concurrent
// use.
package gbr
