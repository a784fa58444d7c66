// SPDX-License-Identifier: MIT

// Package sound sends real sound: a tone, or what a microphone of this machine
// hears, as Opus.
//
//	Tone ───────────────────┐
//	Microphone ─► Splitter ─┴─► Run ─► Encoder ─► Packet ─► RTP
//
// Sound is never told to wait, to leave something out or to change its rate: it has
// a rate of its own, LinkBps, which is to be taken off the target before the
// pictures get the rest.
//
// Files: run.go (the loop), tone.go, split.go (one device, several listeners; what
// its samples' times are). They are plain Go. opus.go is libopus by way of
// pion/mediadevices, which brings it along, and microphone.go is miniaudio by way of
// malgo, which needs no library at build time; they need cgo and are behind the
// build tag codec.
//
// mediadevices has a driver for microphones too, above the same malgo. It is not
// used: it looks for devices, and panics without, in every program that imports it,
// and reads samples after the device may have written over them.
//
// Splitter and Microphone are safe for concurrent use, all else is not.
package sound
