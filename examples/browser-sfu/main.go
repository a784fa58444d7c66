// SPDX-License-Identifier: MIT

// Command browser-sfu brings a picture from one browser to others: a page that
// publishes a camera or a test pattern by WHIP, a gateway that sends it on over a
// cellular uplink under GBR-CC (package gateway), a small SFU (package sfu), and a
// page that plays it by WHEP beside live charts of what the browser says of it. OBS, GStreamer and other WHIP and WHEP clients can
// take the place of either page.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "browser-sfu:", err)
		os.Exit(1)
	}
}
