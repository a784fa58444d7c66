// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// writePublished puts a row beside what was published of GBR-CC against GCC (Wu et
// al., "Synchronizing with the Scheduler", 2026), in the same three terms: medians
// over the scenarios of a class of the ratio of the two, and the time frozen in
// all of them together. Theirs are from recorded and real cells.
func (c *checker) writePublished(w io.Writer, ccs []string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "against\tcc\tclass\tthroughput\tplayout p50\tplayout p95\tfrozen time\n")
	fmt.Fprint(tw, "GCC\tas published\t\t+50 %\t-32 to -53 %\t\t-60 %\n")
	rows := 0
	for _, g := range append(gccs(), "gcc-burst") {
		for _, cc := range ccs {
			for _, class := range c.held("trace", "cell") {
				change := func(m metric) string {
					s := c.over(inClass(class), c.pair(cc, g, m, ratio))
					if len(s.values) == 0 {
						return ""
					}

					return percent(median(slices.Sorted(slices.Values(s.values))))
				}
				goodputs := change(goodput)
				if goodputs == "" {
					continue
				}
				rows++
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", g, cc, class, goodputs, change(playoutP50), change(playoutP95), c.frozenChange(cc, g, class))
			}
		}
	}
	if rows == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}

	return tw.Flush()
}

// frozenChange is the time frozen in all scenarios of a class, against that of
// another, less what the clairvoyant has, whom outages freeze too.
func (c *checker) frozenChange(cc, other, class string) string {
	mine, theirs := 0.0, 0.0
	for _, s := range c.scenarios {
		a, ok1 := c.value(s.Scenario, cc, frozen)
		b, ok2 := c.value(s.Scenario, other, frozen)
		bound, ok3 := c.value(s.Scenario, "oracle", frozen)
		if s.Class == class && ok1 && ok2 && ok3 {
			mine, theirs = mine+a-bound, theirs+b-bound
		}
	}
	if theirs <= 0 {
		return "-"
	}

	return percent(max(0, mine)/theirs) + fmt.Sprintf(" (of %s points)", short(theirs))
}

// percent is a ratio as a change.
func percent(v float64) string {
	return strings.Replace(fmt.Sprintf("%+.0f %%", 100*(v-1)), "+0 %", "0 %", 1)
}
