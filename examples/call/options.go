// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sound"
	"github.com/gbrcc/gbrcc/examples/command"
	"github.com/gbrcc/gbrcc/modemlink"
)

const usage = `Usage: call [flags]

A video call over an emulated LTE uplink, in real time, with several bandwidth
estimators side by side: each has its own phone in its own copy of the cell, on
the same capacity at the same moment. Nothing is needed but this program.

  gbrcc  GBR-CC: steers by the modem's grants and buffer reports, streamed from
         the phone, over an end-to-end loop
  seed   GBR-CC's bare law, without smoothing and frame bursts
  gcc    this module's GCC alone, without telemetry
  pion   Pion's GCC with its NoOp pacer (its leaky pacer drops retransmissions
         and can freeze the delay estimator, which would not be a fair rival)

What gbrcc and seed go by is shown behind them: dual (modem and end to end),
hold (the modem is silent for a moment), outer-only (end to end alone).

Examples:
  call
  call -trace uplink.csv -duration 60s -json result.json
  call -agent-outage 10s,5s          # kill the phone's agent at 10 s for 5 s
  call -cc gbrcc -modem gbr://...    # telemetry from another agent
  call -video                        # real encoders, and the page plays what arrives
                                     # (go run -tags codec, needs libvpx)
  call -video -picture camera        # you, with your microphone

Flags:
`

// Start, lowest and highest rate, the same for all estimators, in bit/s.
const (
	startBps = 300_000
	minBps   = 100_000
	maxBps   = 10_000_000
)

type options struct {
	duration  time.Duration
	cc        []string
	trace     cell.Trace
	traceName string
	modem     string // "sim" or a pairing URL
	http      string
	json      string
	seed      uint64
	outageAt  time.Duration
	outageFor time.Duration
	film      *film // nil: frames of made-up sizes
}

func names() []string { return []string{"gbrcc", "seed", "gcc", "pion"} }

// parse reads flags and files; everything that can be wrong with them is found
// here, before anything starts.
func parse(args []string, stderr io.Writer) (options, error) {
	o := options{traceName: "built-in synthetic LTE cell"}
	flags := flag.NewFlagSet("call", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are printed once, by main
	cc, trace := "gbrcc,pion", ""
	show, picture, hear := false, "pattern:640x360", ""
	flags.DurationVar(&o.duration, "duration", 30*time.Second, "length of the call")
	flags.StringVar(&cc, "cc", cc, "estimators, comma separated: "+strings.Join(names(), ", "))
	flags.StringVar(&trace, "trace", "", "uplink capacity from `FILE`: mahimahi, or CSV with the header ms,bytes or t_ms,ul_kbps or t_s,ul_mbps or t_ms,nr_tbs,lte_tbs (FILE#nr, FILE#lte: one leg); steps above 1 Gbit/s are left out (default: a built-in synthetic LTE cell)")
	flags.StringVar(&o.modem, "modem", "sim", "telemetry for gbrcc and seed: sim (the emulated phone's) or a pairing `URL` printed by the agent's -pair; the media stays on the emulated cell")
	flags.StringVar(&o.http, "http", "127.0.0.1:0", "`ADDR` of the live page (port 0: any free one; off: no page)")
	flags.StringVar(&o.json, "json", "", "write the result to `FILE`")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the cell and of the encoder's noise")
	flags.BoolVar(&show, "video", false, "encode real video, and play on the page what arrives")
	flags.StringVar(&picture, "picture", picture, "what is shown with -video: pattern:WIDTHxHEIGHT, camera, or a `FILE` in y4m (ffmpeg -i x.mp4 -pix_fmt yuv420p x.y4m); every estimator has an encoder and the page a decoder for each: 1280x720 wants four cores")
	flags.StringVar(&hear, "sound", "", fmt.Sprintf("what is `HEARD` with -video: tone (a beep with each second of the picture), microphone, or none; sound takes %d kbit/s of the uplink and goes first (default microphone with -picture camera, else tone)", sound.LinkBps/1000))
	flags.Func("agent-outage", "kill the phone's agent during the call and start it again: `AT,FOR`, such as 10s,5s", func(s string) (err error) {
		o.outageAt, o.outageFor, err = parseOutage(s)

		return err
	})
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stderr, usage)
			flags.SetOutput(stderr)
			flags.PrintDefaults()
		}

		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q (flags start with -, see -h)", flags.Arg(0))
	}
	if o.duration < time.Second || o.duration > 24*time.Hour {
		return o, fmt.Errorf("-duration %v: want 1s to 24h", o.duration)
	}
	for name := range strings.SplitSeq(cc, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(names(), name) {
			return o, fmt.Errorf("-cc: unknown estimator %q, choose from %s", name, strings.Join(names(), ", "))
		}
		if slices.Contains(o.cc, name) {
			return o, fmt.Errorf("-cc: %q twice", name)
		}
		o.cc = append(o.cc, name)
	}
	if err := o.checkModem(); err != nil {
		return o, err
	}
	if o.http != "off" {
		if _, _, err := net.SplitHostPort(o.http); err != nil {
			return o, fmt.Errorf("-http: want HOST:PORT or off: %w", err)
		}
	}

	o.trace = cell.SynthLTE(o.seed, o.duration)
	if trace != "" {
		var note string
		var err error
		if o.trace, note, err = command.ReadTrace(trace); err != nil {
			return o, fmt.Errorf("-trace %s: %w", trace, err)
		}
		if note != "" {
			fmt.Fprintf(stderr, "call: -trace %s: %s\n", trace, note)
		}
		o.traceName = trace
	}
	if err := command.CheckOutput(o.json); err != nil {
		return o, fmt.Errorf("-json: %w", err)
	}
	if show {
		var err error
		if o.film, err = newFilm(picture); err != nil {
			return o, err
		}
		if err = o.film.listen(hear, picture); err != nil {
			return o, err
		}
	} else if picture != "pattern:640x360" {
		return o, errors.New("-picture: only with -video")
	} else if hear != "" {
		return o, errors.New("-sound: only with -video")
	}

	return o, nil
}

// parseOutage reads AT,FOR.
func parseOutage(s string) (at, length time.Duration, err error) {
	a, l, _ := strings.Cut(s, ",")
	at, err1 := time.ParseDuration(a)
	length, err2 := time.ParseDuration(l)
	if err1 != nil || err2 != nil || at <= 0 || length <= 0 {
		return 0, 0, errors.New("want AT,FOR such as 10s,5s")
	}

	return at, length, nil
}

// checkModem checks what has to do with telemetry.
func (o *options) checkModem() error {
	sim, outage := o.modem == "sim", o.outageAt > 0
	if !sim {
		if _, err := modemlink.ParseURL(o.modem); err != nil {
			return fmt.Errorf("-modem: want sim or a pairing URL: %w", err)
		}
	}
	listens := slices.ContainsFunc(o.cc, wantsTelemetry)
	switch {
	case !sim && !listens:
		return fmt.Errorf("-modem: none of -cc %s takes telemetry", strings.Join(o.cc, ","))
	case outage && !listens:
		return fmt.Errorf("-agent-outage: none of -cc %s takes telemetry", strings.Join(o.cc, ","))
	case outage && !sim:
		return errors.New("-agent-outage: only the emulated phone's agent can be killed; leave out -modem")
	case outage && o.outageAt >= o.duration:
		return fmt.Errorf("-agent-outage: %v is not before the end of the call, -duration %v", o.outageAt, o.duration)
	}

	return nil
}

// cell is each leg's copy of the cell.
func (o *options) cell(start time.Time) cell.Config {
	return cell.Config{Start: start, Seed: o.seed, Capacity: o.trace}
}
