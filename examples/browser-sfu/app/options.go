// SPDX-License-Identifier: MIT

package app

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/examples/command"
	"github.com/gbrcc/gbrcc/modemlink"
)

// embedded is the SFU of this program.
const embedded = "embedded"

const usage = `Usage: browser-sfu [flags]

A browser publishes its camera, or a test pattern; other browsers watch it, with
charts of what they say of it. Between them are a gateway, which sends over an
emulated LTE uplink under GBR-CC and tells the first browser what to encode, and
a small SFU; both are in this program. Prints the two pages:

  publish URL   for one; its fragment is the token, which whoever has may publish
  view URL      for as many as -viewers

Other clients: WHIP at /whip of the first with the token as bearer token, WHEP at
/whep of the second. The gateway itself speaks WHIP to the SFU, or to -sfu URL.

Where one box is not enough, -sfu livekit publishes in a -room of the LiveKit
server, or cluster, at LIVEKIT_URL (default ws://127.0.0.1:7880), with the key
LIVEKIT_API_KEY and LIVEKIT_API_SECRET (default: those of livekit-server --dev).

Pages and media are bound to loopback unless -listen says otherwise. Browsers
give a camera only to pages of this machine or of HTTPS: put a proxy with a
certificate before a public address. Media takes the UDP port of the same number.

Examples:
  browser-sfu
  browser-sfu -trace uplink.csv
  browser-sfu -modem off             # no gateway: the browser's own control
  browser-sfu -sfu https://sfu.example/whip -modem gbr://...
  LIVEKIT_URL=wss://... LIVEKIT_API_KEY=... LIVEKIT_API_SECRET=... browser-sfu -sfu livekit
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
	sfu      string // embedded, livekit, or a WHIP address
	room     string
	sfuToken string
	modem    string // off, sim or a pairing URL
	trace    cell.Trace
	note     string // about the trace
	token    string // empty: a new one
	verbose  bool
}

// parse reads flags and files; what can be wrong with them is found here.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var tokenFile, sfuTokenFile, trace string
	flags := flag.NewFlagSet("browser-sfu", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are printed once, by main
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "`ADDR` of the pages and endpoints that viewers come to (port 0: any free one); before a gateway the publisher is always on this machine")
	flags.StringVar(&o.sfu, "sfu", embedded, "where the gateway sends to: embedded, livekit, or a WHIP `URL`; with a URL the view is its neighbour /whep, in our page")
	flags.StringVar(&o.room, "room", "gbrcc", "room of the LiveKit server: `NAME`")
	flags.StringVar(&sfuTokenFile, "sfu-token-file", "", "bearer token for the -sfu URL from `FILE`")
	flags.StringVar(&o.modem, "modem", "sim", "the gateway's uplink: sim (an emulated phone in an emulated cell), a pairing `URL` printed by the agent's -pair (the real network, with telemetry of that phone), or off (no gateway)")
	flags.StringVar(&trace, "trace", "", "capacity of the emulated uplink from `FILE`: mahimahi or CSV, as of examples/call (default: a built-in synthetic LTE cell)")
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
	var err error
	if o.token, err = readToken(tokenFile); err != nil {
		return o, fmt.Errorf("-token-file: %w", err)
	}
	if o.sfuToken, err = readToken(sfuTokenFile); err != nil {
		return o, fmt.Errorf("-sfu-token-file: %w", err)
	}
	if err := o.checkUplink(trace, sfuTokenFile != ""); err != nil {
		return o, err
	}
	if err := command.CheckOutput(o.json); err != nil {
		return o, fmt.Errorf("-json: %w", err)
	}

	return o, nil
}

// readToken reads a word from a file, if there is one.
func readToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", command.Plain(err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", errors.New("want one word")
	}

	return token, nil
}

// checkUplink checks what has to do with the gateway, and loads the capacity.
func (o *options) checkUplink(trace string, withToken bool) error {
	if o.sfu == livekit && withToken {
		return errors.New("-sfu-token-file: for LiveKit set LIVEKIT_API_KEY and LIVEKIT_API_SECRET")
	}
	if o.sfu == livekit && o.room == "" {
		return errors.New("-room: want a name")
	}
	if o.sfu != embedded && o.sfu != livekit {
		u, err := url.Parse(o.sfu)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("-sfu %q: want embedded, livekit or a WHIP URL", o.sfu)
		}
	}
	if o.sfu != embedded && o.modem == "off" {
		return errors.New("-sfu: only the gateway sends to another SFU; leave out -modem off")
	}
	if o.sfu == embedded && withToken {
		return errors.New("-sfu-token-file: the embedded SFU needs none")
	}
	if o.modem != "sim" {
		if trace != "" {
			return errors.New("-trace: only the emulated uplink has one; leave out -modem")
		}
		if o.modem == "off" {
			return nil
		}
		if _, err := modemlink.ParseURL(o.modem); err != nil {
			return fmt.Errorf("-modem: want sim, off or a pairing URL: %w", err)
		}

		return nil
	}
	if trace == "" {
		o.trace = cell.SynthLTE(1, 5*time.Minute)

		return nil
	}
	var err error
	if o.trace, o.note, err = command.ReadTrace(trace); err != nil {
		return fmt.Errorf("-trace %s: %w", trace, err)
	}
	if o.note != "" {
		o.note = "-trace " + trace + ": " + o.note
	}

	return nil
}
