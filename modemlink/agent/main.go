// SPDX-License-Identifier: MIT

// Command agent runs beside a modem, on the phone or on the computer that has
// the modem, and streams what the modem reports to a paired sender.
//
//	agent -source sim -pair
//
// prints the pairing URL to give to the sender and serves until it is
// interrupted. agent -h explains the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

const help = `agent streams a modem's uplink telemetry (BSRs and grants) to a paired sender.

Usage:  agent -source SOURCE -pair [flags]

Sources:
%s

Flags:
  -source SOURCE   where telemetry comes from, see above
  -listen ADDR     host:port to serve on (default 127.0.0.1:7667)
                   The default is reachable from this machine alone, and over USB:
                       adb forward tcp:7667 tcp:7667
                   For a tethered or local network: -listen :7667
  -pair            print the pairing URL on stdout. It holds the secret token: whoever
                   has it can read the telemetry
  -identity FILE   keep certificate and token in FILE (made if missing, mode 0600), so
                   that one pairing survives restarts; without it each start is new
  -record FILE     also write the telemetry to FILE (overwritten) as JSON lines, for
                   -source file:FILE
  -speed X         play a recording: X times faster (default 1)
  -loop            play a file: over and over
  -unknown DIR     keep some log packets of versions that are not known in DIR, for a bug
                   report: at most 64 files, 1 MiB, no messages of the network
  -v               log clients that come and go, and every 10 s what came out of the modem,
                   on stderr

Examples:
  agent -source sim -pair                        an emulated modem, to try things out
  agent -source file:drive.jsonl -loop -pair     a recorded drive, again and again
  agent -source sim -identity agent.pem          serve who was paired before
  agent -source diag -identity agent.pem -pair   on a rooted phone with a Qualcomm modem
  agent -source serial:/dev/ttyUSB0 -pair        beside a USB or PCIe modem

A modem that is not there at the start is an error. One that is lost later is tried
again every 0.5 to 10 s; meanwhile senders are told that the modem stalled.

The sender takes the URL as it is; quote it in a shell, because it has a & in it.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// statsEvery is how often -v tells what came out of the modem.
const statsEvery = 10 * time.Second

type options struct {
	source, listen, identity, record string
	unknown                          string
	pair, verbose                    bool
	file                             source.FileConfig
}

// run is the program; it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		say(stdout, help, source.Specs())

		return 0
	case err != nil:
		say(stderr, "agent: %v (agent -h explains)\n", err)

		return 2
	}
	if err := serve(ctx, o, stdout, stderr); err != nil {
		say(stderr, "agent: %v\n", err)

		return 1
	}

	return 0
}

// say writes for people; if nobody listens, nothing is lost.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("agent", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are one line, from run
	fs.StringVar(&o.source, "source", "", "")
	fs.StringVar(&o.listen, "listen", "127.0.0.1:7667", "")
	fs.BoolVar(&o.pair, "pair", false, "")
	fs.StringVar(&o.identity, "identity", "", "")
	fs.StringVar(&o.record, "record", "", "")
	fs.Float64Var(&o.file.Speed, "speed", 1, "")
	fs.BoolVar(&o.file.Loop, "loop", false, "")
	fs.StringVar(&o.unknown, "unknown", "", "")
	fs.BoolVar(&o.verbose, "v", false, "")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case o.source == "":
		return o, errors.New("-source is missing")
	case !o.pair && o.identity == "":
		return o, errors.New("nobody could connect: give -pair to print the pairing URL, or -identity FILE of an earlier pairing")
	}

	return o, nil
}

func serve(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	level, stats := slog.LevelWarn, time.Duration(0)
	if o.verbose {
		level, stats = slog.LevelInfo, statsEvery
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))

	// Everything that can be wrong is looked at before anything is written.
	src, err := source.Open(o.source, source.Config{File: o.file, Unknown: o.unknown, StatsEvery: stats, Logger: log})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	defer ln.Close() //nolint:errcheck // Serve closed it, or an earlier error is reported
	identity, err := loadIdentity(o.identity)
	if err != nil {
		return err
	}
	server, err := modemlink.NewServer(modemlink.ServerConfig{Identity: identity, Logger: log})
	if err != nil {
		return err
	}
	if p, ok := src.(source.Preparer); ok {
		if err := p.Prepare(ctx); ctx.Err() != nil {
			return nil // a signal, before there was anything to do
		} else if err != nil {
			return err
		}
		defer p.Close() //nolint:errcheck // Run closed it, or an earlier error is reported
	}
	record, closeRecord, err := openRecord(o.record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRecord()) }()

	if o.pair {
		if _, err := fmt.Fprintln(stdout, server.URL(ln.Addr())); err != nil {
			return err
		}
	}
	say(stderr, "agent: serving %s on %v\n", o.source, ln.Addr())

	return stream(ctx, src, server, ln, record)
}

// errEnded is why the server stops when the source has no more.
var errEnded = errors.New("the source ended")

// stream runs source and server until either ends.
func stream(parent context.Context, src source.Source, server *modemlink.Server, ln net.Listener, record *source.Writer) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	served := make(chan error, 1)
	go func() {
		err := server.Serve(ctx, ln)
		cancel(err)
		served <- err
	}()
	srcErr := src.Run(ctx, func(t gbr.Telemetry) {
		server.Publish(t)
		if record == nil {
			return
		}
		if err := record.Write(time.Now(), t); err != nil {
			cancel(err)
		}
	})
	if srcErr == nil {
		srcErr = errEnded
	}
	// The first cause wins: a signal, an error of the record or of the server,
	// or how the source ended.
	cancel(srcErr)
	<-served //nolint:errcheck // its error is the cause, or follows from it
	if cause := context.Cause(ctx); parent.Err() == nil && !errors.Is(cause, errEnded) {
		return cause
	}

	return nil
}

func loadIdentity(path string) (*modemlink.Identity, error) {
	if path == "" {
		return modemlink.NewIdentity()
	}

	return modemlink.LoadIdentity(path)
}

func openRecord(path string) (*source.Writer, func() error, error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}

	return source.NewWriter(f), f.Close, nil
}
