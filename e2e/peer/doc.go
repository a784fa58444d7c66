// SPDX-License-Identifier: MIT

// Package peer is one real Pion video call between two sockets: ICE, DTLS-SRTP,
// TWCC, NACK and retransmission, with a synthetic encoder that obeys the
// estimator and a receiver that measures what a viewer would get. It runs over
// real sockets, and over made-up ones in virtual time (testing/synctest).
//
//	encoder ─► track ─► interceptors, estimator ─► sender's socket ─► ...
//	   ▲                        │ target
//	   └────────────────────────┘
//	... ─► receiver's socket ─► track ─► jitter buffer, freezes (qoe.Receiver)
//
// # Files
//
//	call.go      two peer connections and their negotiation
//	video.go     frames of a real encoder in place of
//	audio.go     packets of sound, and when they arrive
//	encoder.go   the synthetic source: 30 fps, frame sizes from the target
//	payload.go   what is inside a packet: frame number, index, capture time, key
//	receiver.go  arrivals to figures, and what the viewer asks for
//
// Call's methods may be called from any goroutine.
package peer
