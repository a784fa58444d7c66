// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const usage = `Usage: browser-sfu [flags]

A browser publishes its camera, or a test pattern, to a small SFU in this
program; other browsers watch it, with charts of what they say of it. Prints the
two pages:

  publish URL   for one; its fragment is the token, which whoever has may publish
  view URL      for as many as -viewers

Other clients: WHIP at /whip with the token as bearer token, WHEP at /whep.

Pages and media are bound to loopback unless -listen says otherwise. Browsers
give a camera only to pages of this machine or of HTTPS: put a proxy with a
certificate before a public address. Media takes the UDP port of the same number.

Examples:
  browser-sfu
  browser-sfu -listen 127.0.0.1:8080 -duration 1m -json result.json
  browser-sfu -token-file secret -origin https://example.org

Flags:
`

type options struct {
	listen   string
	duration time.Duration
	json     string
	origins  []string
	viewers  int
	token    string // empty: a new one
	verbose  bool
}

// parse reads flags and files; what can be wrong with them is found here.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var tokenFile string
	flags := flag.NewFlagSet("browser-sfu", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are printed once, by main
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "`ADDR` of pages, WHIP and WHEP (port 0: any free one)")
	flags.DurationVar(&o.duration, "duration", 0, "end after this time (0: when interrupted)")
	flags.StringVar(&o.json, "json", "", "write what was forwarded to `FILE` at the end")
	flags.IntVar(&o.viewers, "viewers", 64, "most viewers at the same time")
	flags.StringVar(&tokenFile, "token-file", "", "publisher's token from `FILE` (default: a new one each time)")
	flags.Func("origin", "`URL` of another site whose pages may publish and view, such as https://example.org; may be repeated", func(s string) error {
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			return errors.New("want SCHEME://HOST")
		}
		o.origins = append(o.origins, s)

		return nil
	})
	flags.BoolVar(&o.verbose, "v", false, "log sessions to stderr")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stderr, usage)
			flags.SetOutput(stderr)
			flags.PrintDefaults()
		}

		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q (flags start with -, see -h)", flags.Arg(0))
	case o.duration < 0:
		return o, fmt.Errorf("-duration %v: want 0 or more", o.duration)
	case o.viewers < 1:
		return o, fmt.Errorf("-viewers %d: want 1 or more", o.viewers)
	}
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return o, fmt.Errorf("-listen: want HOST:PORT: %w", err)
	}
	if tokenFile != "" {
		b, err := os.ReadFile(tokenFile)
		if err != nil {
			return o, fmt.Errorf("-token-file: %w", plain(err))
		}
		if o.token = strings.TrimSpace(string(b)); o.token == "" || strings.ContainsAny(o.token, " \t\r\n") {
			return o, errors.New("-token-file: want one word")
		}
	}
	if err := o.checkJSON(); err != nil {
		return o, fmt.Errorf("-json: %w", err)
	}

	return o, nil
}

// checkJSON makes sure that the result can be written.
func (o *options) checkJSON() error {
	if o.json == "" {
		return nil
	}
	// Not a folder; and the rename must not replace a link such as /dev/stdout.
	if st, err := os.Lstat(o.json); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file", o.json)
	}
	probe, err := tempBeside(o.json)
	if err != nil {
		return err
	}

	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// tempBeside makes a file in the folder of path, to become path by a rename.
func tempBeside(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".browser-sfu-*.json")
	if err != nil {
		return nil, fmt.Errorf("cannot make a file in %s: %w", dir, plain(err))
	}

	return f, nil
}

// plain leaves out of a file's error what its user did not type.
func plain(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}

	return err
}
