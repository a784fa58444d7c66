// SPDX-License-Identifier: MIT

package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

const durationHelp = "virtual length of a run, 15s to 1h, warm-up of 10 s included; without it 60s, and the scenario's own where its standard has one. " +
	"Scenarios that -list shows with a least length are not made shorter"

// lengths sets how long the runs are.
func (o options) lengths(scenarios []sim.Scenario, stderr io.Writer) {
	if o.duration == 0 {
		return
	}
	var longer []string
	for i := range scenarios {
		s := &scenarios[i]
		s.Duration = max(o.duration, s.MinDuration)
		if s.Duration > o.duration {
			longer = append(longer, fmt.Sprintf("%s (%v)", s.Name, s.Duration))
		}
	}
	if n := len(longer); n > 0 {
		rest := ""
		if n > 3 {
			rest = fmt.Sprintf(" and %d more", n-3)
		}
		fmt.Fprintf(stderr, "bench: longer than -duration %v, which would cut what they are for: %s%s\n",
			o.duration, strings.Join(longer[:min(n, 3)], ", "), rest)
	}
}

// length is how long runs are, in words.
func (o options) length() string {
	if o.duration == 0 {
		return "60 s, or what the scenario's standard has"
	}

	return seconds(o.duration)
}

// isSet tells whether a flag was given.
func isSet(fs *flag.FlagSet, name string) bool {
	var names []string
	fs.Visit(func(f *flag.Flag) { names = append(names, f.Name) })

	return slices.Contains(names, name)
}
