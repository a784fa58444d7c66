// SPDX-License-Identifier: MIT

// Package sim runs one video call over an emulated cellular uplink in virtual
// time: single-threaded, seeded, the same numbers on every machine.
//
//	source ──► pacer ──► cell (phone queue, grants) ──► path ──► receiver
//	 ▲ rate     ▲ pacing   │ modem records                         │ arrivals
//	 │          │          ▼                                       ▼
//	 └──────────┴── algorithm ◄── ratio ◄── diag         playout, freezes
//	                 ▲                                             │
//	                 └──────────── feedback every 50 ms ───────────┘
//
// The controllers, the ratio, the decoders, the pacer and the playout model are
// the product's own code; only the source, the cell and the path are emulated.
//
// # Files
//
//	scenario.go   what a run is: capacity, path, telemetry, source; the catalogue
//	algorithm.go  what is compared, by name
//	oracle.go     the clairvoyant sender
//	causal.go     the sender that knows the past
//	source.go     the encoder model
//	receiver.go   arrivals, feedback, frames, playout
//	run.go        the event loop
//	observe.go    what a run looks like over time
//	outside.go    the same figures for a sender outside of this package
//	result.go     what a run reports
//
// Nothing here reads a clock. A Runner is not safe for concurrent use; separate
// ones are independent.
package sim
