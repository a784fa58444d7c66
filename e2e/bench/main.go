// SPDX-License-Identifier: MIT

// Command bench runs congestion controllers through emulated cellular uplinks
// in virtual time and prints what a viewer would have got: a table, or one JSON
// object a line for each run. The same seed gives the same figures, but for the
// rows of the real Pion stack (pion, pion-leaky, gbrcc-pion, gbrcc-on-pion), which
// see.
//
//	flags ──► plan of runs ──► all cores ──► store ──► table, JSON
//	               ▲                           │  ▲
//	               └── what is there already ──┘  └─ results.csv, row by row
//	                                           └───► table.md, report.html, sweep-KEY.svg
//
//	main.go      flags
//	params.go    -set, -sweep
//	traces.go    recorded capacities
//	length.go    how long runs are
//	plan.go      which runs there are
//	jobs.go      having them
//	stack.go     the rows of the real Pion stack, in package pionrun
//	store.go     keeping them, and going on after an interruption
//	progress.go  the line on the terminal
//	output.go    table, JSON; list.go -list
//	classes.go   -classes: medians over classes
//	check.go     -check: thresholds, and how far from them
//	bound.go     -bound: what nobody could reach who does not know the future, and
//	             what contradicts itself
//	published.go and what was published beside it
//	sweeps.go    what is swept, as curves and heat maps of the report
//	sweepplot.go and as pictures
//	report.go    report.html; its looks are in assets/
//	version.go   which code this is
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/bench/pionrun"
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
  bench -scenarios const,trace -cc gbrcc,gbrcc-pion,gcc,pion,pion-leaky -seeds 5
  bench -check -scenarios all -seeds 5 -out DIR
  bench -check -scenarios random -seeds 5
  bench -check -bound -scenarios trace,cell -seeds 3 -out DIR
  bench -scenarios trace -sweep beta=10,25,50 -sweep target_ms=10,20,40 -cc seed -out DIR
  bench -scenarios trace,cell -sweep telemetry_ms=2,50,100,200 -cc gbrcc,seed -classes
  bench -cc gbrcc -sweep without=each -classes

The rows pion, pion-leaky, gbrcc-pion and gbrcc-on-pion run in the real Pion stack
in virtual time, on the same cells: Pion's GCC with its NoOp and with its leaky
bucket pacer, gbrcc again, as a check of the simulation, and gbrcc over Pion's GCC
in place of ours. They take about a second a minute,
in up to two processes of their own, run on the classes const, step, trace,
backhaul and rmcat, and differ a little each time, even with the same seed: look
at the spread. What they are set up with: go doc ./e2e/bench/pionrun.

The scenarios random-KIND-N are held out: each is drawn by its number, and is not
in all. What they are for is to tell whether a change is better on what it was not
made for: change, measure on the catalogue, and only then look at them, at numbers
that were not looked at before (random-*-3? are 30 to 39 of each kind).

With -check the reference is a policy that knows all of the past at once, and obeys
the same interface; -bound takes the best of ten that differ in the share of the
capacity that they use, the queue that they want, how they predict and whether they
leave frames out (the parameters past_*, of causal and causal-rate). What none of them
reaches while it keeps what goes with it, such as 0.90 of the clairvoyant's goodput,
is out of their reach, which is no proof for every policy there could be.

With -out every run is kept as soon as it is done: after an interruption the same
command goes on from there, and more seeds or algorithms add to what is there.
DIR/report.html shows all of it, without a network.

Flags:
`

// options are the parsed command line.
type options struct {
	list      bool
	check     bool
	bound     bool
	classes   bool
	json      bool
	scenarios string
	cc        []string
	seeds     int
	duration  time.Duration
	trace     string
	traceFrom time.Duration
	out       string
	settings  []setting
	sweeps    []sweep
	// chosen tells that -cc was given, not taken from checkCC.
	chosen bool
	// command is what the report says to run.
	command string
}

func main() {
	if pionrun.IsWorker() {
		pionrun.Main()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // the second interrupt does not wait
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
		return list(stdout, stderr)
	}
	scenarios, v, err := o.load(stderr)
	if err != nil {
		return err
	}
	if err := o.checkParams(scenarios); err != nil {
		return err
	}
	if err := o.checkStack(scenarios, stderr); err != nil {
		return err
	}
	st, err := openStore(o.out, v)
	if err != nil {
		return err
	}
	defer st.close()
	jobs := o.plan(scenarios)
	e := newEngine(st, newProgress(stderr))
	defer e.stack.Close()
	if o.out != "" {
		e.looks = map[key][]sim.Point{}
	}
	if err := e.run(ctx, jobs); err != nil {
		return err
	}
	had, failed := e.sort(jobs)
	records := st.results.ordered(keysOf(had))[:len(had)]
	if o.out != "" && len(had) > 0 {
		if err := e.writeFiles(ctx, o, had, records, failed); err != nil {
			return err
		}
	}
	write := writeTable
	if o.json {
		write = writeJSON
	} else if o.check {
		write = writeCheck
	} else if o.classes {
		write = writeClasses
	}

	return errors.Join(write(stdout, records, failed), failedError(failed, len(jobs)))
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{command: command(args)}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are printed once, by main
	cc := "gbrcc,seed,gcc,gcc-burst,fixed,causal,oracle"
	fs.BoolVar(&o.list, "list", false, "list scenarios, algorithms and parameters, then exit")
	fs.BoolVar(&o.check, "check", false, "compare with the thresholds that GBR-CC is measured by; -cc is then "+checkCC+" where it is not given")
	fs.BoolVar(&o.bound, "bound", false, "with -check: compare with the best of a family of policies that know the past exactly, not with one of them; it takes about three times as long")
	fs.BoolVar(&o.classes, "classes", false, "print medians over each class in place of each scenario, in Markdown")
	fs.BoolVar(&o.json, "json", false, "print one JSON object a line for each run instead of the table")
	fs.StringVar(&o.scenarios, "scenarios", "all", "names, classes (see -list), patterns such as step-* or all, comma separated")
	fs.StringVar(&cc, "cc", cc, "algorithms, comma separated")
	fs.IntVar(&o.seeds, "seeds", 1, "runs with seeds 1 to N")
	fs.DurationVar(&o.duration, "duration", 0, durationHelp)
	fs.StringVar(&o.trace, "trace", "", traceHelp)
	fs.DurationVar(&o.traceFrom, "trace-from", 0, "where -trace begins; it goes on with its beginning when it is over")
	fs.StringVar(&o.out, "out", "", "keep every run in `DIR`/results.csv, go on from what is there, and write table.md, report.html and a picture of each sweep")
	fs.Func("set", "controller parameter `key=value`, repeatable (see -list)", func(s string) error {
		v, err := parseSetting(s)
		o.settings = append(o.settings, v)

		return err
	})
	fs.Func("sweep", "run with each value of a parameter, `key=v1,v2,...`; repeatable, for a grid", func(s string) error {
		v, err := parseSweep(s)
		o.sweeps = append(o.sweeps, v)

		return err
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
	if o.chosen = isSet(fs, "cc"); o.check && !o.chosen {
		cc = checkCC
	}
	for name := range strings.SplitSeq(cc, ",") {
		name = strings.TrimSpace(name)
		if !sim.KnownAlgorithm(name) && !pionrun.Known(name) {
			return o, fmt.Errorf("unknown algorithm %q in -cc, choose from %s", name, strings.Join(algorithms(), ", "))
		}
		if !slices.Contains(o.cc, name) {
			o.cc = append(o.cc, name)
		}
	}
	if o.bound && !o.check {
		return o, errors.New("-bound goes with -check, whose reference it makes the best of several policies (see -h)")
	}
	if o.traceFrom < 0 || o.traceFrom > 0 && o.trace == "" {
		return o, fmt.Errorf("-trace-from %v: want a time within the file of -trace", o.traceFrom)
	}
	if o.seeds < 1 || o.seeds > 1000 {
		return o, fmt.Errorf("-seeds %d: want 1 to 1000", o.seeds)
	}
	if set := isSet(fs, "duration"); set && (o.duration < 15*time.Second || o.duration > time.Hour) {
		return o, fmt.Errorf("-duration %v: want 15s to 1h (10 s of it are warm-up)", o.duration)
	}

	return o, nil
}

// load gets the scenarios, with the run's duration in them, and what their runs
// will be made by.
func (o options) load(stderr io.Writer) ([]sim.Scenario, version, error) {
	v := version{Format: format, Code: codeVersion()}
	var scenarios []sim.Scenario
	if o.trace != "" {
		s, sum, err := o.fromFile()
		if err != nil {
			return nil, v, err
		}
		scenarios, v.Traces = []sim.Scenario{s}, map[string]string{s.Name: sum}
	} else {
		var err error
		if scenarios, v.Traces, err = o.choose(stderr); err != nil {
			return nil, v, err
		}
	}
	o.lengths(scenarios, stderr)

	return scenarios, v, nil
}

// command is how to have the same again: all flags but those that say where to.
func command(args []string) string {
	words := []string{"go run ./e2e/bench"}
	for i := 0; i < len(args); i++ {
		name, _, assigned := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch {
		case name == "json":
		case name == "out" && assigned:
		case name == "out":
			i++
		case strings.ContainsAny(args[i], " \t\n'\"\\$`*?;&|<>()"):
			words = append(words, "'"+strings.ReplaceAll(args[i], "'", `'\''`)+"'")
		default:
			words = append(words, args[i])
		}
	}

	return strings.Join(words, " ")
}
