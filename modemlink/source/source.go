// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
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
	// Unknown is a folder for log packets of versions that are not known, to
	// report them with; empty for none. It is made if missing. A few of each
	// version are kept, at most 64 files of 1 MiB in all, and none with messages
	// to or from the network (RRC).
	Unknown string
	// StatsEvery is how often the counters of a modem's port are logged; 0 for
	// at the end only.
	StatsEvery time.Duration
	// Logger is nil for none.
	Logger *slog.Logger
}

// diag is the part for the decoder.
func (c Config) diag(aliveWhileOpen bool) DiagConfig {
	return DiagConfig{AliveWhileOpen: aliveWhileOpen, Unknown: c.Unknown, StatsEvery: c.StatsEvery, Logger: c.Logger}
}

// Specs is the sources that Open knows, one a line, for the help of programs.
func Specs() string {
	return simHelp + `
diag        the Qualcomm modem of this phone, as root (Linux and Android)
serial:DEV[,BAUD]
            a modem's diagnostic port, as in serial:/dev/ttyUSB0
tcp:ADDR    a diagnostic port that a bridge serves raw, as in tcp:127.0.0.1:43555
file:PATH   replay a recording of -record, a file of samples (JSON lines) or a
            raw capture of a diagnostic port`
}

// Open returns the source that spec names; see [Specs]. What is wrong with a
// recording is found here and not when half of it is played; what is wrong with
// a port is found by Run.
func Open(spec string, cfg Config) (Source, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Unknown != "" {
		if _, err := newKeeper(cfg.Unknown, cfg.Logger); err != nil {
			return nil, err
		}
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

		return openFile(arg, cfg)
	case "diag":
		if hasArg {
			return nil, fmt.Errorf("source: %q: diag takes nothing after it", spec)
		}
		open, err := openPhone(cfg)
		if err != nil {
			return nil, err
		}

		return &modem{name: spec, open: open, cfg: cfg}, nil
	case "serial":
		dev, baud, err := parseSerial(arg)
		if err != nil {
			return nil, err
		}

		return &modem{name: "serial:" + dev, open: openSerial(dev, baud), cfg: cfg}, nil
	case "tcp":
		if _, _, err := net.SplitHostPort(arg); err != nil {
			return nil, fmt.Errorf("source: tcp: needs HOST:PORT, as in tcp:127.0.0.1:43555: %w", err)
		}

		return &modem{name: spec, open: openTCP(arg), cfg: cfg}, nil
	case "":
		return nil, errors.New("source: none given; want one of diag, serial:DEV, tcp:ADDR, file:PATH, sim")
	default:
		return nil, fmt.Errorf("source: %q is unknown; want one of diag, serial:DEV, tcp:ADDR, file:PATH, sim", spec)
	}
}
