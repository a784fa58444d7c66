// SPDX-License-Identifier: MIT

// Package vp8 is libvpx's VP8 for live video: an encoder behind the interface of
// pion/mediadevices that is told of every frame's time and budget, and a decoder
// to look at what came out. All that touches libvpx has the build tag codec and
// needs cgo and libvpx's headers (on Debian: apt-get install libvpx-dev).
//
//	rate.go     which quantizer a frame gets: pure, without libvpx
//	encoder.go  Builder and its encoder
//	decoder.go  Decoder
//
// # Why this one
//
// 720p30 of package video's pattern, 300 to 2000 to 500 kbit/s, medians of 5 runs
// (TestEncoders; up and down are the times from which on the rate over every
// second is within 10 % of the target; CPU with scaling, on one core of a machine
// of 2026):
//
//	encoder                         up, s  down, s  error over  left  largest frame  CPU, ms
//	                                                1/3 s, %    out   / mean         a frame
//	libvpx, quantizer set here       0.57     0.80         2.6   0 %            1.4      6.0
//	openh264 of mediadevices         0.53     5.60        13.2   3 %            4.3      5.0
//
// openh264, which knows its frame rate but no times of capture, gives the target
// only in the mean of a second or so, by leaving out frames, and cannot change the
// size of its pictures. libvpx's own control of a constant rate (bucket of 300 ms,
// frames left out below 30 %) takes 0.4 s up and 0.7 s down, and pays no attention
// to what a single frame may have: told budgets of 0.3 to 1.0 of the rate at random,
// the sizes it made had a correlation of -0.14 with them; set here it is 0.9, and
// 90 % of the frames have 0.79 to 1.16 of their budgets (TestBudget). Without
// leaving out frames it makes up for what a low target was exceeded by for 10 s and
// more after the target is back. mediadevices' own codec/vpx gives libvpx
// timestamps in one unit and a clock in another, so that VP8 takes a core.
//
// # Even frames
//
// A viewer's jitter buffer holds every frame for as long as the largest one takes
// longer than the mean one, and forgets the largest only in minutes. So frames are
// kept even before they are kept fine: a frame that was cheap is believed little, a
// key frame has 1.5 times the bytes of the others and what follows it refines it
// step by step. On three recorded uplinks, in virtual time, the largest frames were
// 13 to 17 kB larger than the mean one with this, 25 to 29 kB without, for the same
// rate and SSIM, and were shown 20 to 35 ms sooner.
//
// An encoder and a decoder may be used by one goroutine at a time; the encoder
// has a lock, as mediadevices wants it, for Close.
package vp8
