// SPDX-License-Identifier: MIT

// Package gcc is the end-to-end loop: a send-side bandwidth estimator after
// Google Congestion Control, as libwebrtc builds it today (goog_cc), and
// draft-ietf-rmcat-gcc-02 where that still agrees.
//
// The controller is told which packets left and what the receiver reported of
// them, and says at which rate to send and which bursts to probe the path with.
// It reads no clock, starts nothing and does no I/O; a [Controller] is not safe
// for concurrent use.
//
//	OnPacketSent ─┬► alr ──► probe control ──► NextProbe: clusters for the pacer
//	              ├► in flight ─► window ─────────────────────────┐ pushback
//	              └► silence ──► OnTimeout: ×0.8                  │
//	                                                              │
//	OnDelay ─► grouping ─► trendline ─► overuse ┐                 ▼
//	  less     20 ms groups   slope   threshold ├► aimd ─► delay ┐
//	  RadioDelay            └─► standing queue ─┘   ▲      limit ├ min ─► Estimate
//	                                                │            │
//	OnAcked ─┬► acked rate ─────────────────────────┤            │
//	         ├► probe rate ─────────────────────────┘            │
//	         ├► rtt                                              │
//	         └► reports ─► loss model ───────────────► loss limit┘
//
// What can be said at once (OnAcked) and what a caller may hold back or correct
// (OnDelay) are two calls; OnFeedback is both.
//
// # Components
//
// The source is libwebrtc at 3710345e of 2026-01-13, below
// modules/congestion_controller where no other folder is named.
//
//	component                        our file          source                                    constants
//	what goes in and out             types.go          api/transport/network_types.h             -
//	how the parts are wired          controller.go     goog_cc/goog_cc_network_control.cc        pacing 2.5, from the first feedback on 1.1
//	                                 feedback.go       goog_cc/delay_based_bwe.cc                low probe results not below 0.85 acked; 2 s without packets reset
//	packets to groups to deltas      arrival_group.go  goog_cc/inter_arrival_delta.cc            20 ms of sending or arriving; bursts of gaps up to 5 ms, at most 100 ms; reset after 3 reordered or 3 s of jump
//	deltas to a slope                trendline.go      goog_cc/trendline_estimator.cc            20 groups, smoothing 0.9, min(n, 60) · slope · 4
//	slope to a hypothesis            overuse.go        goog_cc/trendline_estimator.cc            threshold 12.5 in 6..600, k 0.0087 and 0.039, blind beyond +15; 10 ms and 2 groups
//	hypothesis to a rate             aimd.go           modules/remote_bitrate_estimator/         0.85 · acked − 5 kbit/s, clamp(rtt, 10, 200 ms) apart or acked < 0.5 · rate;
//	                                                   aimd_rate_control.cc                      8 %/s, or half a packet per rtt + 100 ms; up to 1.5 · acked + 10 kbit/s
//	where additive growth is wise    link_capacity.go  goog_cc/link_capacity_estimator.cc        weight 0.05, variance 0.4..2.5 kbit/s, 3 deviations
//	rate at which bytes arrive       acked_rate.go     goog_cc/robust_throughput_estimator.cc    20..500 packets, 1..5 s, from 10 on
//	the largest gaps of those         largest.go        -                                         the two largest, kept while they slide
//	the same, older (AckedBayesian)  bayes_rate.go     goog_cc/bitrate_estimator.cc              500 ms, then 150 ms; uncertainty 10, variance 50 + 5, +200 after ALR
//	round trips                      rtt.go            goog_cc/goog_cc_network_control.cc        -
//	lost or only late                reports.go        rtp/transport_feedback_adapter.cc         -
//	loss model                       loss_model.go     goog_cc/loss_based_bwe_v2.cc              15 observations of 250 ms, weight 0.9; candidates 1.02, 1, 0.95, acked, delay;
//	                                                                                             Newton 0.75; bias 2e-4, 0.02 to 20 % of loss; bound 100 kbit/s/(loss − 5 %); hold 300 ms doubling to 60 s
//	loss thresholds (LossThresholds) loss.go           goog_cc/send_side_bandwidth_estimation.cc 2 % and 10 %, half the loss, 300 ms + rtt apart
//	application-limited region       alr.go            goog_cc/alr_detector.cc,                  80 % of the estimate over 500 ms, start 0.40, stop −0.60
//	                                                   modules/pacing/interval_budget.cc
//	when to probe                    probe.go          goog_cc/probe_controller.cc               3x, 6x, then 2x above 0.7; 1 s; ALR 5 s at 2x; drops below 0.66 at 0.85; 15 ms, ALR 40 ms, 5 packets; 5 Mbit/s
//	what a probe says                probe_rate.go     goog_cc/probe_bitrate_estimator.cc        80 %, 1 s, ratio 2, saturated below 0.9, then 0.95
//	bytes under way, pushback        window.go         goog_cc/congestion_window_pushback_controller.cc  min of 32 + 350 ms, 3000 B; 0.9, 0.95, 1.05; 30 kbit/s
//	nobody answers                   silence.go        goog_cc/send_side_bandwidth_estimation.cc 0.8 each second
//	a full queue without a slope     standing.go       -                                         200 ms above the shortest for 1 s, at most every 5 s
//	no control at all                fixed.go          -                                         Fixed: for known paths and experiments
//	configuration, events            config.go, bounds.go, event.go, events.go, sample.go
//	sending of clusters              ../gcc/pacing     modules/pacing/bitrate_prober.cc          see there
//
// Rates are bit/s, times are [time.Duration], sizes are bytes with all headers;
// the receiver's clock is [RemoteTime].
//
// # Deviations
//
//	ours                                       libwebrtc                         reason and impact
//	probing out of ALR for all video           screen sharing only               estimates of idle cameras are stale; 30 kB each 5 s at 3 Mbit/s
//	such probes take 40 ms                     15 ms                             jitter of 20 ms hides what is there: up to 27 s, now 5, until it is found
//	a fifth more than the estimate leads on    0.7 of the probe's rate alone     the same
//	one result of a cluster, or a higher one   each, as its packets come in      a late last packet took back what the others had shown
//	a probe lifts a loss limit that rises      growth to 1.5 · acked alone       an idle source earned no growth: 30 s and more, now 5
//	no probe without anything to gain          probes at the maximum too         saves bytes
//	an unsaturated probe never lowers          replaces the estimate             it says what the path carries at least
//	saturation by times, not by rates          rates without first or last size  unequal packets; frames can be probes
//	2.5-fold per second until a limit is seen  probes alone                      senders without padding: 2.6 s instead of 30 s to 2.7 Mbit/s
//	up to 2 · acked then, without any probe    1.5 · acked                       the same; what is known to arrive is a second old
//	probes after an outage                     growth of 8 %/s                   back in tenths of a second
//	pushback lowers the estimate               drops frames                      Pion's encoders take a rate; queue of a 3-to-1 drop under 300 ms in 2 s, not 7 s
//	groups of 20 ms of sending or arriving     5 ms, behind bursts of 40 ms      as long a memory, without the bursts in the phone's queue
//	rate of arrival alone while held back      the lower of both rates           what was not sent was taken for what the path lacks
//	SetEstimate: no pushback for 1 s           no such call                      an inner loop sees the queue sooner
//	full queue without a slope is overuse      waits for loss                    RFC 8867 5.1: 300 ms of standing queue gone
//	no padding while loss limits               2 s at the target rate            uplink bytes are dear; probes at 1.5x instead
//	idle loss model is no limit                capped each 250 ms                growth and probes act at once
//	a loss threshold makes no limit by 2 %     owns the target at all times      a radio may lose that much with room to spare
//	delay limit waits while thresholds limit   it runs on                        the loss limit catches up and goes
//	missing is lost after 2 reports, 100 ms    lost at once                      late packets are no loss; cuts come that much later
//	app limited: cut to 0.85 · rate at most    cut to 0.85 · acked, then probe   an idle source measures nothing; keeps the estimate usable; not with a queue of 200 ms
//	app limited: no capacity sample            sample taken                      same
//	silence after 2 s, from first unanswered   3 s, from last feedback           the path that never answers is found sooner
//	silence also before any feedback           never                             a path that never answers gets the minimum
//	silence forgets the capacity, ramps anew   target alone is cut               the ramp back takes seconds, not a minute
//	least growth 20 kbit/s per second          1 kbit/s per update               the same at 50 ms, independent of feedback spacing
//	additive growth counts 1 s at most         the whole gap                     a gap in feedback earns nothing
//	SetEstimate leaves the cut spacing alone   it restarts it                    an inner loop may set rates each millisecond
//	rtt from feedback                          from RTCP reports                 the only one known here; waiting times taken out
//	a step of the remote clock voids the slope regression goes over the step     no phantom slope; the threshold stays
//	arrival in fractions of a millisecond      whole milliseconds                the epoch of the remote clock cannot matter
//	RadioDelay taken from arrivals             no such thing                     the radio's queue is the inner loop's; neutral at 0
//	no REMB, no repeated initial probing       present, the latter off           transport-wide or RFC 8888 feedback says more
package gcc
