// SPDX-License-Identifier: MIT

// Package gcc is the end-to-end loop: a send-side bandwidth estimator after
// Google Congestion Control, as libwebrtc builds it today (goog_cc), and
// draft-ietf-rmcat-gcc-02 where that still agrees.
//
// The controller is told which packets left and what the receiver reported of
// them, and says at which rate to send. It reads no clock, starts nothing and
// does no I/O; a [Controller] is not safe for concurrent use.
//
//	OnPacketSent ──────► alr ─────────────────────────┐ application limited
//	             └─────► silence ──► OnTimeout: ×0.8  │
//	                                                  ▼
//	OnDelay ─► grouping ─► trendline ─► overuse ─► aimd ──► delay limit ┐
//	           5 ms groups  slope        threshold   ▲  ▲               ├ min ─► Estimate
//	                                                 │  └ acked rate    │
//	OnAcked ─┬► ackedRate ───────────────────────────┴──┐               │
//	         ├► rtt                                     rtt             │
//	         └► reports ─► loss ───────────────────────────► loss limit ┘
//
// What can be said at once (OnAcked) and what a caller may hold back or correct
// (OnDelay) are two calls; OnFeedback is both.
//
// # Files
//
//	file              idea                                       libwebrtc
//	types.go          what goes in and out                       api/transport/network_types.h
//	config.go         Config, its defaults and ranges            -
//	controller.go     wires the parts                            goog_cc/goog_cc_network_control.cc, delay_based_bwe.cc
//	sample.go         results to plain microseconds              -
//	arrival_group.go  packets to groups to deltas                goog_cc/inter_arrival_delta.cc
//	trendline.go      deltas to a slope                          goog_cc/trendline_estimator.cc
//	overuse.go        slope to a hypothesis                      goog_cc/trendline_estimator.cc
//	aimd.go           hypothesis to a rate                       remote_bitrate_estimator/aimd_rate_control.cc
//	link_capacity.go  where additive growth is wise              goog_cc/link_capacity_estimator.cc
//	acked_rate.go     rate at which bytes arrive                 goog_cc/robust_throughput_estimator.cc
//	rtt.go            round trips without waiting times          goog_cc/goog_cc_network_control.cc
//	reports.go        what is lost and what is only late         rtp/transport_feedback_adapter.cc
//	loss.go           limit after heavy loss                     goog_cc/send_side_bandwidth_estimation.cc
//	alr.go            does the source use the estimate           goog_cc/alr_detector.cc, pacing/interval_budget.cc
//	silence.go        nobody answers                             goog_cc/send_side_bandwidth_estimation.cc
//	event.go          Event and Recorder                         -
//	events.go         the events of this package                 -
//
// # Constants
//
// Rates are bit/s, times are [time.Duration], sizes are bytes with all headers;
// the receiver's clock is [RemoteTime].
//
//	grouping    5 ms of sending time; bursts of gaps up to 5 ms join, for at most 100 ms
//	            reset: arrivals 3 s ahead of local time, 3 groups in a row reordered, 2 s without packets
//	trendline   20 groups, smoothing 0.9, modified trend = min(n, 60) · slope · 4
//	threshold   12.5, 6..600; k 0.0087 up, 0.039 down; blind beyond +15
//	overuse     above the threshold for 10 ms and 2 groups, slope not falling; underuse at once
//	aimd        cut to 0.85 · acked − 5 kbit/s, one clamp(rtt, 10, 200 ms) apart or acked < 0.5 · rate
//	            grow 8 %/s, or half a packet per (rtt + 100 ms) near a known capacity
//	            stop growing at 1.5 · acked + 10 kbit/s
//	capacity    weight 0.05, normalised variance 0.4..2.5 kbit/s, bounds at 3 deviations
//	acked rate  20..500 packets, 1..5 s, from 10 packets on
//	loss        cut above 10 % by half the loss, 300 ms + rtt apart; hold from 2 %; grow 8 %/s below
//	alr         80 % of the estimate over 500 ms, start 0.40, stop -0.60
//	pacing      2.5 times the estimate before the first feedback, 1.1 times after
//
// # Deviations
//
//	ours                                       libwebrtc                         reason and effect
//	doubling per second until the first cut    probes at 3 and 6 times start     no probing here yet; 0.3 to 3 Mbit/s in 3.5 s
//	loss limit exists only after a cut         loss v2 model, v1 before it       no model here yet; free of loss means free of limit
//	delay limit waits while loss limits        it runs on                        the loss limit catches up and goes
//	missing is lost after 2 reports, 100 ms    lost at once                      late packets are no loss; cuts come that much later
//	app limited: cut to 0.85 · rate at most    cut to 0.85 · acked, then probe   an idle source measures nothing; keeps the estimate usable
//	app limited: no capacity sample            sample taken                      same
//	silence after 2 s, from first unanswered   3 s, from last feedback           no congestion window stops the sender before that
//	silence also before any feedback           never                             a path that never answers gets the minimum
//	silence forgets the capacity, ramps anew   target alone is cut               the ramp back takes seconds, not a minute
//	least growth 20 kbit/s per second          1 kbit/s per update               the same at 50 ms, independent of feedback spacing
//	additive growth counts 1 s at most         the whole gap                     a gap in feedback earns nothing
//	SetEstimate leaves the cut spacing alone   it restarts it                    an inner loop may set rates each millisecond
//	rtt from feedback                          from RTCP reports                 the only one known here; waiting times taken out
//	a step of the remote clock voids the slope regression goes over the step     no phantom slope; the threshold stays
//	arrival in fractions of a millisecond      whole milliseconds                the epoch of the remote clock cannot matter
//	no probing, loss v2, REMB, window          present                           not built yet
package gcc
