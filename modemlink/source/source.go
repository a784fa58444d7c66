// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// aliveEvery is how often a source that has nothing to tell emits an empty
// batch; a link takes 1 s of silence for a dead modem.
const aliveEvery = 200 * time.Millisecond

// Source produces telemetry in real time.
type Source interface {
	// Run calls emit until ctx ends (then it returns the cause), the source is
	// exhausted (nil) or it fails. While the modem is alive emit is called at
	// least every 200 ms, with an empty batch if need be. emit may keep a
	// batch only until it returns.
	Run(ctx context.Context, emit func(gbr.Telemetry)) error
}

// ErrUnavailable is wrapped by the errors of Open for sources that exist
// elsewhere, but not in this build.
var ErrUnavailable = errors.New("not available in this build")

// Config is for Open. The zero value is usable.
type Config struct {
	// File is for "file:".
	File FileConfig
	// Logger is nil for none.
	Logger *slog.Logger
}

// Specs is the sources that Open knows, one a line, for the help of programs.
func Specs() string {
	return simHelp + `
file:PATH   replay a recording of -record or a file of samples (JSON lines)
diag        the modem of this phone          (not in this build)
serial:DEV  a modem on a serial port         (not in this build)
tcp:ADDR    a diagnostic stream over TCP     (not in this build)`
}

// Open returns the source that spec names; see [Specs]. What is wrong with a
// recording is found here and not when half of it is played.
func Open(spec string, cfg Config) (Source, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	kind, arg, hasArg := strings.Cut(spec, ":")
	switch kind {
	case "sim":
		if hasArg {
			return nil, fmt.Errorf("source: %q: sim takes nothing after it", spec)
		}

		return openSim(cfg)
	case "file":
		if arg == "" {
			return nil, errors.New("source: file: needs a path, as in file:samples.jsonl")
		}

		return File(arg, cfg.File)
	case "diag", "serial", "tcp":
		return nil, fmt.Errorf("source: %s is %w: there is no reader for it yet; use "+
			"file:PATH with a recording (-record writes them; see package source)%s", kind, ErrUnavailable, orSim)
	case "":
		return nil, errors.New("source: none given; want one of sim, file:PATH")
	default:
		return nil, fmt.Errorf("source: %q is unknown; want one of sim, file:PATH", spec)
	}
}
