// SPDX-License-Identifier: MIT

// Package browser compares package qoe's Receiver and package gcc with what is
// in headless Chromium. It consists of tests; those that need the browser have
// the build tag browser (make browser).
//
// # The receiver
//
//	script ─► Pion sender ─► UDP on loopback ─► Chromium: decode, <video>, getStats
//	             ▲   │                               │               │
//	             └───│── NACK, PLI ──────────────────┘               ▼
//	                 └─ what was sent, when ─► qoe.Receiver ─► getStats' figures: the same?
//
// A script says when each packet of a video arrives: steady, with jitter, with
// stalls, on a slow link, with loss and repair. The sender follows it in real
// time and notes when each packet really left its socket, which on loopback is
// when it arrives. Those notes, repaired packets and key frames that the browser
// asked for included, go through a Receiver in virtual time.
//
// The video is real VP8 and made here, one level of grey per macroblock: a
// frame can be a key frame whenever one is asked for, and can have any size, as
// decoders take no notice of what follows the last partition. An encoder would
// do neither, and its sizes would change with its version.
//
// Chromium releases frames to its decoder at the ticks of a metronome, 64 a
// second at whole multiples on the system's monotonic clock. The model gets the
// same ticks. What it cannot get is the time for which the browser's threads wait
// for a processor, so make browser gives both sides a real-time priority where it
// may, and a script is played again, up to twice, if the browser's decoder (p95
// over 20 ms) or a timer on a thread of its own (50 ms late, once) tells of a
// machine that is too busy. The third run counts, whatever it was like.
//
// One comparison is stored in testdata. The model is held against it without a
// browser, and closer; -record stores a new one:
//
//	go test -tags browser ./e2e/browser -run Receiver -args -record
//
// # The estimator
//
//	Chromium, or a Pion sender        relay: cell.Wire, in real time         Pion
//	with our estimator          ─UDP─► rate, queue, loss, jitter, 25 ms ─UDP─► receiver
//	        ▲                                        │ arrivals                │
//	        └───── 25 ms ◄── transport feedback ◄────┴── their times ◄─────────┘
//
// libwebrtc's congestion control in Chromium and ours go through the same
// courses of a bottleneck, all at once. Compared are where estimate and received
// rate settle and how long it takes to get near. Chromium films noise of 320x240
// that fills any target up to 5 Mbit/s; the Pion sender has the encoder of
// e2e/media with the same cap. That one follows a target faster than libvpx, so
// that the first seconds of what arrives differ.
//
// The receiver reports when packets left the emulated link, and they entered it
// when the kernel got them: a busy machine delays feedback, but does not look like
// congestion. The receiver asks for no repairs, see sink.
//
// Linux only, for those times. A table, curves by the second and pictures are
// left behind as gcc.md and gcc-*.svg. make browser has one run of each course,
// half as wide again in its tolerances, and two more of a course that is beyond
// them; then, and with -runs 3 (make evidence), medians are compared.
//
// # The picture
//
//	GBR-CC, or Pion's GCC, with a real encoder    cell, in real time    Chromium: decode,
//	or Chromium                            ─UDP─► uplink, 25 ms ─UDP─► <video>, getStats
//
// One after the other, over the same cell and trace, to the same page (tests with
// the build tag codec too: make browser has a short pair, make evidence three
// rounds on three traces). All send e2e/video's pattern of 1280x720 at 30 fps, from
// 100 kbit/s to 6 Mbit/s, 300 kbit/s at first. Compared are getStats' figures; the
// time from capture to display, by a number in the picture that the page reads back
// from what is shown; and SSIM, of a picture twice a second that the page sends
// back, against its original. Pion's senders have libvpx by way of e2e/video, which
// takes a smaller picture for a low target, as Chromium does by itself. What goes
// into the cell and out of it is relayed between sockets: nobody knows of it.
// Tables are left behind as pairs.md and pairs.json: all runs, where the
// milliseconds around median and 95th percentile go, medians and whether each
// threshold is met; and all frames as pair-frames.csv.
//
// Files: vp8_test.go (the video), script_test.go (arrivals), sender_test.go (the
// Pion side), replay_test.go (the Receiver's side), verdict_test.go (tolerances,
// table), recording_test.go (the stored comparison), chromium_test.go and
// page.html (the browser's side), browser_test.go (the comparison). Of the
// estimator: shape_test.go (courses, tolerances, table), relay_linux_test.go (the
// path), sendside_linux_test.go and sender.html (both senders, the receiver),
// gcc_linux_test.go (the comparison). Of the picture: pairpath_linux_test.go (the
// cell between two sockets), pairsender_linux_test.go (the senders), pair.html (the
// viewer, and Chromium as a sender), pair_linux_test.go (runs, tables, verdict).
//
// Times are since the start of a script; sizes are bytes. Of all this only
// sender, relay and sink are used by several goroutines, and they have locks.
package browser
