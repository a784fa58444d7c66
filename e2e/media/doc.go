// SPDX-License-Identifier: MIT

// Package media is what a sender has to send: models of an encoder behind a
// camera, a screen or a simulcast sender, and of speech beside it. They make
// sizes and instants, no pictures.
//
//	OnTarget ──► [ Lag ] ──► [ reaction ] ──► bytes a frame ──► x noise
//	                                             ▲                │
//	             content: cap, scenes, pages ────┘                ▼
//	OnKeyFrameRequest ─────────────────────────────────► x key, then pay back
//	                                                              │
//	budget, when there is one ─────────────────────────► obeyed   ▼
//	                                                           Capture ──► Frame
//
// What the kinds look like, bytes a frame over time:
//
//	Camera       ▄▅▄▅▄▄▅▄▅▄▄▅     AppLimited   ▄▄▄▄▂▂▂▂▂▃▃▃
//	ScreenShare  ▁▁▁▁█▅▅▅▁▁▁▁     Mute         ▄▅▄▅    █▂▃▄
//	Simulcast    ▂▂▂▂█▃▄▅▅▅▅▅     (a layer is added at the high frame)
//
// # Files
//
//	config.go    Config, Kind, Model, what is refused
//	source.go    Source: from a target to a frame
//	target.go    the rate as the encoder sees it: late, and in steps
//	noise.go     frame sizes and intervals around their means
//	debt.go      large frames and how the following ones pay for them
//	scene.go     content that needs no more than it needs
//	screen.go    pages and what moves on them
//	simulcast.go layers and which of them the target allows
//	audio.go     Audio
//
// # Units
//
// A target is bit/s on the link: every packet's headers count, as they do for
// whoever estimates the link. A Frame's Size and a Budget are bytes of media
// payload, which is what an encoder makes. Times are the caller's.
//
// Everything is drawn from the seed: the same calls give the same frames. Each
// random quantity has a stream of its own and is drawn for every frame, so that
// one controller's choices do not shift another's noise. Nothing allocates per
// frame. A Source or Audio is not safe for concurrent use; separate ones are
// independent.
//
// # Deviations from RFC 8593
//
// The [RFC8593] model takes its section 5: reaction latency, transient, steady
// state with Laplacian sizes and intervals. Departures: the standard's model is
// told its parameters in bytes at 1 Mbit/s and we scale them with the rate; a
// change counts as abrupt from a fifth up or down, where the standard leaves
// that open; headers are inside the target; the noise is cut off symmetrically
// so that it keeps its mean. Its trace-driven and hybrid models are not here.
//
// The [Lognormal] model is the default because it follows its target within a
// frame: what one measures with it is the controller and not the encoder.
package media
