// SPDX-License-Identifier: MIT

package command

import (
	"errors"
	"flag"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ args, want, err string }{
		{"-n 5 -for 2s -s x -u 3 -f 0.5", "", ""},
		{"-for 5", "", `invalid value "5" for flag -for: want a time with its unit, such as 30s or 5m`},
		{"-for soon", "", "want a time with its unit"},
		{"-n x", "", `invalid value "x" for flag -n: want a number`},
		{"-u -1", "", `invalid value "-1" for flag -u: want a number`},
		{"-f x", "", `for flag -f: want a number`},
		{"-n", "", "flag needs an argument: -n (see -h)"},
		{"-colour", "", "-colour (see -h)"},
		{"-own x", "", "bad x (see -h)"},
		{"here", "", `unexpected argument "here"`},
		{"-h", "Usage\n  -f float", "help"},
	} {
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		flags.Int("n", 0, "")
		flags.Duration("for", time.Second, "")
		flags.String("s", "", "")
		flags.Uint64("u", 0, "")
		flags.Float64("f", 0, "")
		flags.Func("own", "", func(s string) error { return errors.New("bad " + s) })
		var stderr strings.Builder
		err := Parse(flags, "Usage\n", strings.Fields(tt.args), &stderr)
		if err == nil {
			err = NoArguments(flags)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %s", tt.args, err, tt.err)
		}
		if errors.Is(err, flag.ErrHelp) != (tt.args == "-h") || !strings.HasPrefix(stderr.String(), tt.want) || tt.want == "" && stderr.Len() > 0 {
			t.Errorf("%s: %v, printed %q", tt.args, err, &stderr)
		}
	}
}
