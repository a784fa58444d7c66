// SPDX-License-Identifier: MIT

// Package pionbwe puts an estimator that is written for Pion, its own GCC or
// another, under the inner loop of package gbr, as the end-to-end loop.
//
//	bwe, err := gcc.NewSendSideBWE( // github.com/pion/interceptor/pkg/gcc
//		gcc.SendSideBWEInitialBitrate(300_000), gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
//	interceptor.WithOuter(func() (gbr.Outer, error) { return pionbwe.New(bwe) })
//
// The estimator sees the call as it sees any other: a stream of its own, whose
// packets it is told of when they leave, and transport-wide feedback. Only that
// the feedback was corrected: a packet that has waited in the phone for 40 ms
// arrives, in it, 40 ms earlier, so what the estimator takes for a queue is one
// that the radio does not explain.
//
//	inner loop ─ OnPacketSent ─► a packet of zeros ──► AddStream's writer ┐
//	           ─ OnAcked ──────► what is lost ┐                           ├ Pion's estimator
//	           ─ OnDelay ──────► arrivals ────┴► TransportLayerCC ────────┘        │
//	           ◄ Estimate ◄──────────────────────────────────── GetTargetBitrate ──┘
//
// # Limits
//
// Pion's interface has no way to move an estimator to a rate, so what it says is
// a plain upper bound: the inner loop cuts below it at once, but grows no faster
// than the estimator does. Pion's GCC starts at 300 kbit/s in most applications
// and gains 8 % a second.
//
// The estimator reads the clock, and Pion's works in goroutines of its own: an
// Outer belongs into a real call, or a bubble of testing/synctest, not into the
// simulations of package sim, and [Outer.Estimate] tells of a report some
// microseconds after it came. Corrected arrivals come later than true ones by as
// much as the modem's telemetry is late, and Pion's GCC remembers 250 packets:
// above about 10 Mbit/s and 100 ms it forgets some of them before they are told.
// It also leaves out what seems to have overtaken other packets, which happens to
// corrected arrivals now and then: the model of the phone's queue is right to
// milliseconds, not to nothing.
//
// # Files
//
//	outer.go     Outer
//	feedback.go  packet results as transport-wide feedback
//
// An Outer is as safe for concurrent use as an interceptor.Estimator needs: that
// calls it with its lock held, and closes it.
package pionbwe
