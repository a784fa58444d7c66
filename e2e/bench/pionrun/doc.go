// SPDX-License-Identifier: MIT

// Package pionrun has the benchmark's scenarios with the real Pion stack in
// place of the simulated sender: two PeerConnections with ICE, DTLS-SRTP, TWCC,
// NACK and retransmission, in virtual time, on the same cell, trace, seed,
// source, limits, return delay and feedback interval as package sim, and with
// its figures.
//
//	bench ── job, a line of JSON ──► worker: this same program, started again
//	   ▲                               │
//	   └────────── reply ──────────────┤   testing.Main ─► synctest bubble
//	                                   ▼
//	source ─► track ─► [NACK, TWCC number] ─► estimator ─► tap ─► SRTP ─► cell ─► path ─► SRTP ─► track
//	(sim's)                                       ▲                                       │
//	                                              └──────── RTCP after the return delay ◄─┘
//
// # Rows
//
// pion is Pion's own estimator, pkg/gcc of interceptor v0.1.51, set up as its
// authors would for this call:
//
//   - SendSideBWEInitialBitrate, MinBitrate and MaxBitrate are the scenario's
//     limits (300 kbit/s, 100 kbit/s, 10 Mbit/s). Its loss controller does not
//     keep to them, so the encoder does.
//   - NoOpPacer: with the leaky bucket the delay estimator can freeze at a
//     saturated bottleneck, as a group of packets has no limit in time and may
//     never end. A win over that would be none.
//   - TWCC feedback every 50 ms, as in all rows; Pion's default is 100 ms.
//   - The NACK generator asks three times for a packet, every 100 ms (Pion's
//     interval); its default asks for as long as it remembers the number.
//   - AddStream is called for the RTX stream too: both of Pion's pacers drop
//     what they were not told of, which would be every retransmission.
//   - SRTP's replay window is 4096 packets instead of 64: the NACK responder
//     reserves an RTX number for every packet that it might resend, so resends
//     that are further apart than the window would be taken for replays.
//   - An error of WriteRTCP (feedback that does not parse) is dropped: it would
//     end the application's loop on RTCP, and with it all feedback.
//   - The target is polled, not taken from OnTargetBitrateChange, whose calls
//     may overtake each other.
//
// What cannot be helped from outside stays: no probing and no ALR, a history
// of 250 packets for feedback, the slow ramp.
//
// pion-leaky is the same with the leaky bucket pacer that pkg/gcc takes by
// default, at 1.5 times the target. Its queue has no bound; frames are skipped by
// the rule of all rows, above 250 ms of it.
//
// gbrcc-pion is this project's interceptor in the same stack, fed by the cell's
// telemetry: it tells whether gbrcc in package sim is what an application gets.
//
// gbrcc-on-pion is that over Pion's GCC as the end-to-end loop, see package
// interceptor/pionbwe: Pion's rate is an upper bound, since it cannot be moved.
//
// # What is the same and what is not
//
// A packet costs its media and 50 bytes on the link in all rows, whatever the
// cipher's tag and the header extensions really take. ICE checks and RTCP pass
// the cell too, at their real size; they are in no figure. The peers connect
// before the run begins, so that the trace begins with the media. The phase of the
// feedback is drawn from the seed.
//
// Radio, paths, way back, other flows and telemetry are package sim's own, and so
// are playout, freezes and all other figures, from what has arrived (see
// sim.Outside). The viewer's requests for key frames are sim's too; those for
// packets are Pion's, which asks later and less often than a browser: after an
// episode of loss the rows differ from what the same controller does in package
// sim. Where nothing is lost, gbrcc-pion and gbrcc agree within a few percent.
//
// A scenario with audio, or with other flows of the measured algorithm, is
// refused.
//
// Goroutines make the order of things within an instant a matter of chance: two
// runs of one seed differ a little, unlike those of package sim. A run costs
// about a second a minute.
//
// # Files
//
//	job.go        what is run, and on what
//	pool.go       the parent's side: workers
//	worker.go     the child's side
//	run.go        one run, in a bubble
//	estimator.go  the rows
//	network.go    the scenario between two sockets
//	meter.go      which datagram is which piece of the source's media
//
// A Pool is safe for concurrent use.
package pionrun
