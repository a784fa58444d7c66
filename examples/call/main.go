// SPDX-License-Identifier: MIT

// Command call is a video call over an emulated cellular uplink, in real time:
// real Pion peers on loopback sockets, an emulated LTE cell between them, and
// the cell's modem telemetry streamed to the sender over a real modemlink
// connection. Several bandwidth estimators run side by side on the same capacity
// at the same time; a page shows them live and a table sums them up.
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
		fmt.Fprintln(os.Stderr, "call:", err)
		os.Exit(1)
	}
}
