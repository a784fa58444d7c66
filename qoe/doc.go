// SPDX-License-Identifier: MIT

// Package qoe is about what a viewer notices: how calm the encoder's rate is,
// how late a frame is shown, and when the picture freezes.
//
//	sender                                        receiver
//	rate --> Smoother --> encoder --> network --> JitterBuffer --> screen
//	            ^                                     |    |
//	         Preset                           latency |    | render times
//	      (call, broadcast, teleop)                   v    v
//	                                               Report <-- FreezeDetector
//
// Files: preset.go (numbers for a use), smoother.go (the encoder's rate),
// jitterbuffer.go (a model of playout), freeze.go (what counts as a freeze),
// series.go (quantiles), report.go (all of the receiver's figures).
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
// names and meaning of the figures follow W3C webrtc-stats.
//
// # Deviations
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
package qoe
