// SPDX-License-Identifier: MIT

// Package gateway sends what a browser publishes over a cellular uplink, under
// GBR-CC, to any WHIP endpoint. A browser's own congestion control cannot be
// replaced, so it is left with a path that has no bottleneck, loopback, and is
// told what to encode.
//
//	browser ── loopback, TWCC ──▶ sfu.Server ──▶ queue ──▶ Uplink ── pacer ── phone ──▶ WHIP
//	   ▲                             │                        │ estimator ◀── modem
//	   └── maxBitrate or REMB ───────┴──── target, key frames ┘
//
// A browser needs half a second to obey. Until then what it sends beyond the
// uplink's rate waits in the queue and not in the phone, where nothing could be
// dropped and the wait would look like a radio that is worse than it is. Frames
// that have waited too long are dropped as wholes, and the browser is asked for a
// key frame. Header extensions of the browser are left out, transport-wide numbers
// are the uplink's own, and NACKs from the far end are answered here.
//
//	uplink.go  the PeerConnection to the WHIP endpoint
//	whip.go    a WHIP client
//	steer.go   what any uplink needs: connecting again, telling the browser
//
// Rates are bit/s. An Uplink is safe for concurrent use.
package gateway
