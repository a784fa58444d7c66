// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/gbrcc/gbrcc/e2e/bench/pionrun"
	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// list prints classes, scenarios, algorithms and parameters.
func list(w, stderr io.Writer) error {
	all, _, err := catalogue()
	switch {
	case errors.Is(err, dataset.ErrMissing):
		fmt.Fprintf(stderr, "bench: only built-in traces: %v\n", err)
	case err != nil:
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "CLASS\tSCENARIOS\tWHAT")
	for _, c := range sim.Classes() {
		n := count(all, func(s sim.Scenario) bool { return s.Class == c.Name })
		fmt.Fprintf(tw, "%s\t%d\t%s\n", c.Name, n, c.Doc)
	}
	fmt.Fprintf(tw, "all\t%d\t\n", len(all)-count(all, func(s sim.Scenario) bool { return s.Number > 0 }))
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(tw, "\nSCENARIO\tCLASS\tWHAT")
	for _, s := range all {
		if s.Number > 0 {
			continue // there are hundreds
		}
		fmt.Fprintf(tw, "%s\t%s\t%s%s\n", s.Name, s.Class, s.Doc, lengthNote(s))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(tw, "\nHELD OUT\tSCENARIOS\tWHAT")
	for _, c := range sim.RandomClasses() {
		n := count(all, func(s sim.Scenario) bool { return s.Class == c.Name })
		fmt.Fprintf(tw, "%s\t%d of %d\t%s\n", c.Name, min(n, sim.RandomFew), n, c.Doc)
	}
	fmt.Fprintln(tw, "random\t\tall of these; others by name or pattern: random-cell-17, random-*-3?")
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(tw, "\nALGORITHM\t")
	for _, a := range algorithms() {
		fmt.Fprintf(tw, "%s\t%s\n", a, pionrun.Doc(a))
	}
	fmt.Fprintln(tw, "\nPARAMETER\t")
	for _, p := range params() {
		fmt.Fprintf(tw, "%s\t%s\n", p.key, p.doc)
	}

	return tw.Flush()
}

func count(all []sim.Scenario, which func(sim.Scenario) bool) int {
	n := 0
	for _, s := range all {
		if which(s) {
			n++
		}
	}

	return n
}

// lengthNote says how long a scenario is, where that is not 60 s.
func lengthNote(s sim.Scenario) string {
	switch {
	case s.MinDuration > 0 && s.MinDuration < s.Duration:
		return fmt.Sprintf(" (%v, at least %v)", s.Duration, s.MinDuration)
	case s.MinDuration > 0:
		return fmt.Sprintf(" (at least %v)", s.MinDuration)
	case s.Duration != time.Minute:
		return fmt.Sprintf(" (%v)", s.Duration)
	default:
		return ""
	}
}
