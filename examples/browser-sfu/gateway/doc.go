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
// A browser needs most of a second to obey, so what matters is the pacer: it
// follows the radio at once, and drops what remains of a frame that it cannot
// keep, after which the browser is asked for a key frame. Header extensions of
// the browser are left out, transport-wide numbers are the uplink's own, and
// NACKs from the far end are answered here.
//
//	uplink.go  the PeerConnection to the WHIP endpoint
//	whip.go    a WHIP client
//	steer.go   what any uplink needs: connecting again, telling the browser
//
// Rates are bit/s. An Uplink is safe for concurrent use.
package gateway
