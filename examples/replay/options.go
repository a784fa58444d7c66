// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gbrcc/gbrcc/examples/command"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
)

const usage = `Usage: replay [flags] FILE...

Turns captures of a modem's diagnostic port (HDLC, QMDL, QMDL2, DLF, mi2log) and
recordings (JSON lines of the agent's -record, or event logs of an estimator)
into samples of GBR, the ratio granted / reported. Files may be gzipped. Without
flags it says in a few lines what is in each file.

Examples:
  replay capture.qmdl
  replay -json capture.qmdl | jq .ratio
  replay -stats *.hdlc
  replay -plot capture.svg capture.qmdl
  replay -decisions events.jsonl

Flags:
`

// mode is what goes to standard output.
type mode string

const (
	modeSummary mode = "summary"
	modeJSON    mode = "json"
	modeRecords mode = "records"
	modeStats   mode = "stats"
	// modeDecisions runs an event log again.
	modeDecisions mode = "decisions"
)

type options struct {
	mode  mode
	plot  string
	files []string
	// Of -decisions: min, start and max in bit/s.
	bounds    [3]int
	algorithm gbr.Algorithm
	preset    string
	steered   bool // bounds or algorithm were asked for
	tolerance float64
}

// parse finds everything that is wrong with the flags.
func parse(args []string, stderr io.Writer) (options, error) {
	o := options{mode: modeSummary, bounds: [...]int{interceptor.DefaultMinBps, interceptor.DefaultStartBps, interceptor.DefaultMaxBps}}
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	wanted := map[mode]*bool{
		modeJSON:    flags.Bool("json", false, "print each sample as a JSON object on a line"),
		modeRecords: flags.Bool("records", false, "print the decoded modem records of a capture as JSON, one a line"),
		modeStats:   flags.Bool("stats", false, "count by log code and version, with what was skipped and why"),
	}
	wanted[modeDecisions] = flags.Bool("decisions", false, "run an event log through this version's estimator and print where it decides differently")
	flags.Func("bounds", "with -decisions: lowest, first and highest rate of the run, `MIN,START,MAX` in bit/s (default the library's)",
		func(s string) (err error) {
			o.bounds, err = parseBounds(s)

			return err
		})
	flags.Func("cc", "with -decisions: the `ALGORITHM` of the run, gbrcc or seed (default gbrcc)", func(s string) (err error) {
		o.algorithm, err = gbr.AlgorithmByName(s)

		return err
	})
	flags.Float64Var(&o.tolerance, "tolerance", 0.05, "with -decisions: how far rates may differ, as a `SHARE`")
	flags.StringVar(&o.plot, "plot", "", "draw backlog, grants and ratio over time to `FILE.svg`; with one input")
	if err := command.Parse(flags, usage, args, stderr); err != nil {
		return o, err
	}
	for _, m := range slices.Sorted(maps.Keys(wanted)) {
		switch {
		case !*wanted[m]:
		case o.mode != modeSummary:
			return o, fmt.Errorf("-%s and -%s: choose one", o.mode, m)
		default:
			o.mode = m
		}
	}
	o.files = flags.Args()
	only := ""
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "bounds" || f.Name == "cc" || f.Name == "tolerance" {
			only = f.Name
			o.steered = o.steered || f.Name != "tolerance"
		}
	})
	switch {
	case only != "" && o.mode != modeDecisions:
		return o, fmt.Errorf("-%s is for -decisions", only)
	case !(o.tolerance >= 0 && o.tolerance <= 1):
		return o, fmt.Errorf("-tolerance %g: want 0 to 1", o.tolerance)
	case len(o.files) == 0:
		return o, errors.New("which FILE? (-h tells more)")
	case o.plot != "" && len(o.files) > 1:
		return o, errors.New("-plot draws one FILE")
	case o.plot != "" && !strings.EqualFold(filepath.Ext(o.plot), ".svg"):
		return o, fmt.Errorf("-plot %s: want a name that ends in .svg", o.plot)
	}
	for _, f := range o.files {
		if strings.HasPrefix(f, "-") {
			return o, fmt.Errorf("%s: flags go before the first FILE", f)
		}
	}

	return o, nil
}

func parseBounds(s string) (bounds [3]int, err error) {
	parts := strings.Split(s, ",")
	if len(parts) != len(bounds) {
		return bounds, errors.New("want MIN,START,MAX")
	}
	for i, part := range parts {
		if bounds[i], err = strconv.Atoi(part); err != nil {
			return bounds, fmt.Errorf("%q is not a number", part)
		}
	}
	if bounds[0] < 1 || bounds[1] < bounds[0] || bounds[2] < bounds[1] || bounds[2] > 1e9 {
		return bounds, errors.New("want ascending rates from 1 to 1000000000")
	}

	return bounds, nil
}
