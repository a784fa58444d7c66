// SPDX-License-Identifier: MIT

// Package video sends real pictures: sources of pictures, and a pilot that has
// an encoder follow a congestion controller.
//
//	Source ─► stamp ─► scale ─► Encoder ─► Frame ─► RTP
//	             ▲        ▲        ▲ rate, frame budget, key frames
//	             │     ladder      │
//	             └──── Pilot ──────┘◄── target, budget, advice: looked up before
//	                                    each frame, never called from there
//
// An encoder takes milliseconds a picture and holds locks meanwhile: what the
// pacer or the estimator say is therefore only noted, and the pilot's own
// goroutine acts on it with the next frame.
//
// Files: pattern.go (a picture that moves), y4m.go (pictures from a file),
// stamp.go (a number in the picture that can be read back), scale.go, ladder.go
// (which size and frame rate a target is enough for), pilot.go (the loop),
// ssim.go (how similar two pictures are). All of it is plain Go. Real encoders come
// from pion/mediadevices by way of e2e/video/devices, and from e2e/video/vp8; they
// need cgo and are behind the build tag codec.
//
// Rates are bit/s on the link, headers included; times since the start of the
// pilot. Pilot is safe for concurrent use, all else is not.
package video
