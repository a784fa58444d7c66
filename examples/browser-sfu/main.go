// SPDX-License-Identifier: MIT

// Command browser-sfu brings a picture from one browser to others: a page that
// publishes a camera or a test pattern by WHIP, a gateway that sends it on over a
// cellular uplink under GBR-CC (package gateway), a small SFU (package sfu) or a
// LiveKit server (module livekit), and a page that plays it beside live charts of
// what the browser says of it. OBS, GStreamer and other WHIP and WHEP clients can
// take the place of either page.
package main

import "github.com/gbrcc/gbrcc/examples/browser-sfu/app"

func main() { app.Main(nil) }
