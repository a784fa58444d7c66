// SPDX-License-Identifier: MIT

// Package sim runs a video call over an emulated cellular uplink in virtual time,
// alone or beside other flows: single-threaded, seeded, the same numbers on every
// machine.
//
//	source ──► pacer ──► cell (phone queue, grants) ──► path ──► receiver
//	 ▲ rate     ▲ pacing   │ modem records                         │ arrivals
//	 │          │          ▼                                       ▼
//	 └──────────┴── algorithm ◄── ratio ◄── diag       jitter buffer, freezes
//	                 ▲                                             │
//	                 └────── TWCC every 50 ms, NACK, PLI ──────────┘
//
// Other flows are on the same phone, on phones of the same cell, or behind
// radios of their own and the same backhaul; calls, TCP, or media the other way:
//
//	main ────┬─► phone 0 ─┐ radio, path
//	SamePhone┘            ├ Shared ─┐
//	OwnPhone ──► phone 1 ─┘         ├─► Backhaul ─► far ends
//	OwnRadio ──► radio, path ───────┘                 │
//	   ▲                                              │
//	   └──────────── Return, one for each phone ◄─────┘
//
// The controllers, the ratio, the decoders, the pacer and the viewer's jitter
// buffer are the product's own code; only the source, the cell and the path are
// emulated.
//
// # Files
//
//	scenario.go   what a run is: radios, paths, telemetry, sources, flows
//	catalogue.go  the built-in scenarios, their classes; catalogue_*.go one each
//	random.go     held-out scenarios, drawn by numbers; random_model.go capacities
//	select.go     finding them by name, class or pattern
//	conditions.go what a sweep changes in any of them
//	build.go      what they are built from
//	run.go        a run from outside
//	world.go      the event loop
//	phone.go      a radio, the way back, the agent
//	network.go    datagrams and their ways
//	flows.go      the flows beside the measured one
//	transfer.go   TCP
//	capacity.go   the cell that phones share, what it could carry and will
//	call.go       a sender of video and audio
//	climb.go      how soon it uses a faster radio
//	feedback.go   what it hears of arrivals
//	viewer.go     the far side: what is shown, and asked for
//	nack.go       what is missing, and when to ask for it
//	pool.go       what is under way, without garbage
//	algorithm.go  what is compared, by name
//	view.go       what references may look at
//	oracle.go     the clairvoyant sender
//	causal.go     the sender that knows the past; causal_rate.go the one that
//	              tells its encoder a rate
//	past.go       what both make of the past: a family of policies
//	observe.go    what a run looks like over time
//	outside.go    a run whose measured sender is somebody else's
//	result.go     what a run reports
//
// Nothing here reads a clock. A run is not safe for concurrent use; separate ones
// are independent.
package sim
