// SPDX-License-Identifier: MIT

package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// Parse parses flags: -h prints usage and what they mean, and is [flag.ErrHelp]; other
// errors say what to do, and are for the caller to print.
func Parse(flags *flag.FlagSet, usage string, args []string, stderr io.Writer) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usage)
		flags.SetOutput(stderr)
		flags.PrintDefaults()

		return err
	}
	if err == nil {
		return nil
	}
	text, parse := strings.CutSuffix(err.Error(), ": parse error")
	switch {
	case !parse:
		return fmt.Errorf("%w (see -h)", err)
	case takesTime(flags, text):
		return fmt.Errorf("%s: want a time with its unit, such as 30s or 5m", text)
	default:
		return fmt.Errorf("%s: want a number", text)
	}
}

// takesTime tells whether the flag that an error names does.
func takesTime(flags *flag.FlagSet, text string) bool {
	m := regexp.MustCompile(`flag -(\S+)$`).FindStringSubmatch(text)
	if m == nil {
		return false
	}
	f := flags.Lookup(m[1])
	if f == nil {
		return false
	}
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return false
	}
	_, ok = g.Get().(time.Duration)

	return ok
}

// NoArguments is an error when something is left that is no flag.
func NoArguments(flags *flag.FlagSet) error {
	if flags.NArg() == 0 {
		return nil
	}

	return fmt.Errorf("unexpected argument %q (flags start with -, see -h)", flags.Arg(0))
}
