// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/examples/command"
)

// result is the JSON file.
type result struct {
	DurationS float64 `json:"duration_s"`
	sfu.Stats
}

// Main is the program, with a module or nil. It does not return after an error.
func Main(module *Module) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := Run(ctx, module, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errShown):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "browser-sfu:", err)
		os.Exit(1)
	}
}

// Run is the program without its process: it returns [flag.ErrHelp] after -h.
func Run(ctx context.Context, module *Module, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.sfu == livekit && module == nil {
		return runModule(ctx, livekit, args, stdout, stderr)
	}
	if o.note != "" {
		fmt.Fprintln(stderr, "browser-sfu:", o.note)
	}
	log := slog.New(slog.DiscardHandler)
	if o.verbose {
		log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	w, err := newWay(ctx, o, module, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	fmt.Fprintf(stdout, "publish %spublish#%s\nview %s\n", w.near.base, url.PathEscape(w.token), w.view)

	start := time.Now()
	var end <-chan time.Time
	if o.duration > 0 {
		timer := time.NewTimer(o.duration)
		defer timer.Stop()
		end = timer.C
	}
	select {
	case <-ctx.Done(): // without a -duration it is how it ends
		if o.duration > 0 {
			err = fmt.Errorf("stopped: %w", context.Cause(ctx))
		}
	case <-end:
	case err = <-w.near.serving:
	case err = <-w.far.serving:
	}
	if err == nil && o.json != "" {
		err = command.WriteJSON(o.json, result{time.Since(start).Round(time.Millisecond).Seconds(), w.far.server.Stats()})
		if err != nil {
			err = fmt.Errorf("-json: %w", err)
		}
	}

	return err
}

// closed leaves out that something was closed before.
func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}

	return err
}
