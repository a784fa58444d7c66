// SPDX-License-Identifier: MIT

// Package sfu forwards one live stream: WHIP in, WHEP out. It neither decodes
// nor mixes; one publisher at a time, many viewers.
//
//	publisher ── RTP ──▶ read loop ──┬─▶ queue ─▶ writer ── RTP ──▶ viewer
//	    ▲                per track   ├─▶ queue ─▶ writer ─────────▶ viewer
//	    │                            └─▶ (full: drops to the next key frame)
//	    ├── TWCC, NACK, reports             │
//	    └── PLI, at most 2 a second ◀───────┴── PLI, FIR; NACK is answered here
//
// The read loop never waits for a viewer: each has a queue of its own, and what
// does not fit is dropped for that viewer alone, which goes on with a key frame
// as if nothing had been left out. Viewers get no congestion control: the stream
// is what the publisher's uplink carried, and viewers are taken to have more.
//
// WHIP is RFC 9725, WHEP the draft of the same shape. Trickle ICE is taken; an ICE
// restart is not (422). A second publisher replaces the first, so that a page can
// be reloaded, and the viewers of the first end; players connect again by
// themselves. VP8, H.264 and Opus, without RTX: Pion's NACK generator does not see
// that a retransmission of that kind has arrived and asks again.
//
//	server.go     Server, Config, limits     session.go  a PeerConnection and its end
//	http.go       endpoints, errors          origin.go   who may ask: Host, Origin, token
//	offer.go      what an offer must have    trickle.go  PATCH bodies
//	media.go      codecs, interceptors       publish.go  publication, key frame requests
//	feed.go       a viewer's queue           keyframe.go where decoding can begin
//	view.go       a viewer's session         stats.go    counters
//	pace.go       a queue that holds back to a rate
//	publication.go a publisher for the program beside the server
//
// Sizes are bytes, rates bit/s. A Server is safe for concurrent use.
package sfu
