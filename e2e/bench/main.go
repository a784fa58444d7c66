// SPDX-License-Identifier: MIT

// Command bench runs congestion controllers through emulated cellular uplinks
// in virtual time and prints what a viewer would have got: a table, or one JSON
// object a line for each run. The same seed gives the same figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

const usage = `Usage: bench [flags]

Runs every algorithm of -cc through every scenario of -scenarios, -seeds times,
in virtual time, and prints the medians as a table (or, with -json, every run).
Every algorithm starts at 300 kbit/s, stays within 100 kbit/s and 10 Mbit/s, and
sends the same 30 fps source; the first 10 s are not counted.

Examples:
  bench -list
  bench -scenarios synth-lte,step -cc gbrcc,gcc,oracle -seeds 5
  bench -trace uplink.csv -duration 120s -json > runs.jsonl
  bench -cc gbrcc -set beta=50 -set target_ms=40

Flags:
`

// options are the parsed command line.
type options struct {
	list      bool
	json      bool
	scenarios string
	cc        []string
	seeds     int
	duration  time.Duration
	trace     string
	out       string
	params    sim.Params
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.list {
		return list(stdout)
	}
	scenarios, err := o.load()
	if err != nil {
		return err
	}
	results, err := runAll(ctx, o.jobs(scenarios), progressTo(stderr))
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := writeFiles(o.out, results); err != nil {
			return err
		}
	}
	if o.json {
		return writeJSON(stdout, results)
	}

	return writeTable(stdout, results)
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are printed once, by main
	cc := "gbrcc,seed,gcc,fixed,oracle"
	fs.BoolVar(&o.list, "list", false, "list scenarios, algorithms and parameters, then exit")
	fs.BoolVar(&o.json, "json", false, "print one JSON object a line for each run instead of the table")
	fs.StringVar(&o.scenarios, "scenarios", "all", "names or classes, comma separated, or all")
	fs.StringVar(&cc, "cc", cc, "algorithms, comma separated")
	fs.IntVar(&o.seeds, "seeds", 1, "runs with seeds 1 to N")
	fs.DurationVar(&o.duration, "duration", 60*time.Second, "virtual length of a run, warm-up of 10 s included")
	fs.StringVar(&o.trace, "trace", "", "run on the capacity in `FILE` (mahimahi, or CSV by its header) instead of -scenarios")
	fs.StringVar(&o.out, "out", "", "also write results.csv and table.md into `DIR`")
	fs.Func("set", "controller parameter `key=value`, repeatable (see -list)", func(s string) error {
		return setParam(&o.params, s)
	})
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stderr, usage)
			fs.SetOutput(stderr)
			fs.PrintDefaults()
		}

		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q (flags start with -, see -h)", fs.Arg(0))
	}
	for name := range strings.SplitSeq(cc, ",") {
		name = strings.TrimSpace(name)
		if !sim.KnownAlgorithm(name) {
			return o, fmt.Errorf("unknown algorithm %q in -cc, choose from %s", name, strings.Join(sim.Algorithms(), ", "))
		}
		if !slices.Contains(o.cc, name) {
			o.cc = append(o.cc, name)
		}
	}
	if o.seeds < 1 || o.seeds > 1000 {
		return o, fmt.Errorf("-seeds %d: want 1 to 1000", o.seeds)
	}
	if o.duration < 15*time.Second || o.duration > time.Hour {
		return o, fmt.Errorf("-duration %v: want 15s to 1h (10 s of it are warm-up)", o.duration)
	}

	return o, nil
}

// load gets the scenarios, with the run's duration in them.
func (o options) load() ([]sim.Scenario, error) {
	var scenarios []sim.Scenario
	if o.trace != "" {
		data, err := os.ReadFile(o.trace)
		if err != nil {
			return nil, fmt.Errorf("-trace: %w", err)
		}
		t, err := cell.ParseTrace(filepath.Base(o.trace), data)
		if err != nil {
			return nil, fmt.Errorf("-trace %s: %w", o.trace, err)
		}
		scenarios = []sim.Scenario{sim.FromTrace(t)}
	} else {
		var err error
		if scenarios, err = sim.Select(o.scenarios); err != nil {
			return nil, err
		}
	}
	for i := range scenarios {
		scenarios[i].Duration = o.duration
	}

	return scenarios, nil
}

// param is one key of -set.
type param struct {
	key, doc string
	set      func(p *sim.Params, v float64)
}

func params() []param {
	return []param{
		{"beta", "steepness of the gain per unit of ratio", func(p *sim.Params, v float64) { p.GBR.Beta = v }},
		{"target_ms", "queueing delay that the inner loop steers to", func(p *sim.Params, v float64) { p.GBR.TargetDelay = time.Duration(v * float64(time.Millisecond)) }},
		{"zone_low", "neutral zone, lower edge in multiples of the target ratio", func(p *sim.Params, v float64) { p.GBR.ZoneLow = v }},
		{"zone_high", "neutral zone, upper edge in multiples of the target ratio", func(p *sim.Params, v float64) { p.GBR.ZoneHigh = v }},
		{"gain_min", "lowest factor of one sample", func(p *sim.Params, v float64) { p.GBR.GainMin = v }},
		{"gain_max", "highest factor of one sample", func(p *sim.Params, v float64) { p.GBR.GainMax = v }},
		{"ratio_weight", "newest ratio's weight in the average", func(p *sim.Params, v float64) { p.GBR.RatioWeight = v }},
		{"headroom", "growth is capped at this multiple of the acknowledged rate", func(p *sim.Params, v float64) { p.GBR.AckedHeadroom = v }},
		{"pacing", "pacing rate in multiples of the rate while telemetry is fresh", func(p *sim.Params, v float64) { p.GBR.PacingFactor = v }},
		{"fixed_kbps", "rate of the algorithm fixed", func(p *sim.Params, v float64) { p.FixedBps = int(v * 1000) }},
		{"horizon_ms", "how far the algorithm oracle sees", func(p *sim.Params, v float64) { p.Horizon = time.Duration(v * float64(time.Millisecond)) }},
	}
}

func setParam(p *sim.Params, s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("want key=value")
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("%s: %q is not a number", key, value)
	}
	var keys []string
	for _, q := range params() {
		if q.key == key {
			q.set(p, v)

			return nil
		}
		keys = append(keys, q.key)
	}

	return fmt.Errorf("unknown parameter %q, choose from %s", key, strings.Join(keys, ", "))
}
