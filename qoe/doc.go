// SPDX-License-Identifier: MIT

// Package qoe is about what a viewer notices: how calm the encoder's rate is,
// how late a frame is shown, and when the picture freezes.
//
//	sender                                        receiver
//	rate --> Smoother --> encoder --> network --> Receiver or JitterBuffer --> screen
//	            ^                                   |    |         |
//	         Preset                           stats |    | latency | render times
//	      (call, broadcast, teleop)                 v    v         v
//	                                       ReceiverStats Report <-- FreezeDetector
//
// There are two models of playout. [Receiver] is libwebrtc's: jitter estimate,
// playout delay, release to the decoder, timeouts and the figures of getStats,
// for frames or packets in the order in which they come. [JitterBuffer] is the
// older and simple one: a frame in order, a render time at once, and no figure
// that a browser would show.
//
// Files: preset.go (numbers for a use), smoother.go (the encoder's rate),
// freeze.go (what counts as a freeze), series.go (quantiles), report.go (all
// of the receiver's figures), jitterbuffer.go (the simple model).
//
// Files of the Receiver, in the order of a frame: receiver.go (events, stats),
// assembler.go (packets to frames), frame_buffer.go (what can be decoded),
// extrapolator.go (RTP to local time), decode_timing.go (when to release,
// timeouts), frame_delay_variation.go (Kalman filter of delay by size),
// jitter_estimator.go (jitter delay), nack_history.go (round trips on top),
// timing.go (all delays together, decode times), rtp_clock.go (units).
//
// Rates are bit/s; times on the local clock are [time.Time], times on the
// sender's clock are [time.Duration] since an arbitrary start; ratios are 0..1;
// figures in a [Series] have the unit of what was added, which in a [Report]
// is milliseconds. A time before the latest one seen counts as the latest one.
//
// Nothing here is safe for concurrent use.
//
// # Sources
//
// Freezes and the 10 ms of render delay follow libwebrtc
// (video/video_quality_observer2.cc, modules/video_coding/timing/timing.cc);
// names and meaning of the figures follow W3C webrtc-stats. Receiver follows
// libwebrtc of 2026 (modules/video_coding/timing, video/frame_decode_timing.cc,
// video/video_stream_buffer_controller.cc, video/decode_synchronizer.cc,
// video/video_receive_stream2.cc, api/video/frame_buffer.cc) with its default
// field trials; its times are whole microseconds, rounded to milliseconds where
// theirs are. Package e2e/browser holds it against Chromium: over 20 scripts of
// arrivals the same freezes, and mean jitter buffer delays within 2 ms unless
// the machine is busy.
//
// # Deviations
//
// Of JitterBuffer and FreezeDetector:
//
//	what            libwebrtc                  here                   effect
//	playout delay   Kalman filter of delay     jumps to the worst     higher after a burst,
//	                by frame size, clock       frame, decays 1 % of   lower in rare outliers;
//	                extrapolation, decode      the difference each    no decode time
//	                time, NACK add-on          frame
//	missing frame   waits, asks again, then    skipped, the next one  gaps are shorter than
//	                for a key frame            is shown               with a long GOP
//	freeze time     decode completion, ms of   render time, ms since  none here: render is a
//	                the local clock            the first frame        constant after decode
//	last gap        not counted until a        Close and StatsAt      an outage at the end
//	                frame ends it              count it               is seen
//
// Of Receiver:
//
//	what            libwebrtc                  here                   effect
//	references      any earlier frames,        the frame before, or   temporal layers only
//	                spatial layers             none                   by DecodableWithoutPrevious
//	frame after a   H.264, VP8 with temporal   in the buffer at       the extrapolator sees
//	missing one     layers or without picture  once                   it some frames earlier
//	                IDs: kept back before it
//	screen          vsync, compositor          at the time asked for  up to a refresh earlier
//	timers          late, more so on a busy    exact                  Current rises slower to
//	                machine                                           a target far above it
//	metronome       in Chromium, of 1/64 s     DecodeTick, 0 unless   without it released up
//	                                           set                    to 16 ms later
//	decoder         fails, asks for a key      RequireKeyFrame        none if the caller knows
//	                frame
//	cleared buffer  dropped frames not counted counted                framesDropped is higher
//	jump of RTP     a second reset when        one reset              one frame
//	                timestamps have wrapped
//	reset of timing minimum delay is 0 until   kept                   until the next update
//	                set again
//	A/V sync, FEC,  yes                        no                     set MinPlayout
//	key frames for
//	lost packets
package qoe
