// SPDX-License-Identifier: MIT

//go:build !android

package source

import (
	"context"
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/cell/live"
	"github.com/gbrcc/gbrcc/gbr"
)

const simHelp = `sim         an emulated LTE modem with traffic of its own; its uplink steps
            between 12 and 3 Mbit/s every 5 s`

// sim is an emulated cell with a saturated uplink, seen through the byte stream
// of its modem: the path of a real one.
type sim struct {
	cfg  Config
	seed uint64
}

func openSim(cfg Config) (Source, error) {
	s := &sim{cfg: cfg, seed: 1}
	_, err := s.link()

	return s, err
}

func (s *sim) link() (*live.Link, error) {
	const rest = 5 * time.Second
	l, err := live.NewLoad(live.LoadConfig{Config: live.Config{Cell: cell.Config{
		Seed:     s.seed,
		Capacity: cell.Steps(cell.Step{For: rest, Bps: 12_000_000}, cell.Step{For: rest, Bps: 3_000_000}),
	}}})
	if err != nil {
		return nil, fmt.Errorf("source: sim: %w", err)
	}

	return l, nil
}

// Run emulates until ctx ends.
func (s *sim) Run(ctx context.Context, emit func(gbr.Telemetry)) error {
	link, err := s.link()
	if err != nil {
		return err
	}
	d, err := NewDiag(link.Diag(), s.cfg.diag(true))
	if err != nil {
		return err
	}
	if err := link.Start(); err != nil {
		return fmt.Errorf("source: sim: %w", err)
	}
	err = d.Run(ctx, emit)
	if closeErr := link.Close(); err == nil {
		err = closeErr
	}

	return err
}
