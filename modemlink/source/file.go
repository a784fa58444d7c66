// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// maxDisorder is by how much a recording may go back in time: rounding, and
// events of one batch that were written by kind.
const maxDisorder = time.Second

// FileConfig configures [File].
type FileConfig struct {
	// Speed plays that many times faster, default 1. Times, windows and timers
	// all shrink with it.
	Speed float64
	// Loop starts again at the end.
	Loop bool
}

type file struct {
	path string
	cfg  FileConfig
}

// File replays a recording in real time: JSON lines as of [Writer], or samples
// alone. It reads it through first, so that errors, which have the line's number,
// come at once. A pause in the recording counts as an idle modem.
func File(path string, cfg FileConfig) (Source, error) {
	if cfg.Speed == 0 {
		cfg.Speed = 1
	}
	if !(cfg.Speed >= 1e-3 && cfg.Speed <= 1e3) {
		return nil, fmt.Errorf("source: speed %g is not within 0.001..1000", cfg.Speed)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	r := newReader(f, path)
	items := 0
	for {
		_, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		items++
	}
	if items == 0 {
		return nil, fmt.Errorf("source: %s: no sample in it", path)
	}

	return &file{path: path, cfg: cfg}, nil
}

// Run plays the recording.
func (f *file) Run(ctx context.Context, emit func(gbr.Telemetry)) error {
	p := player{start: time.Now(), speed: f.cfg.Speed, emit: emit, timer: time.NewTimer(0)}
	defer p.timer.Stop()
	for {
		if err := f.once(ctx, &p); err != nil || !f.cfg.Loop {
			return err
		}
		p.rewind()
	}
}

func (f *file) once(ctx context.Context, p *player) error {
	in, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer in.Close() //nolint:errcheck // only read from
	r := newReader(in, f.path)
	for {
		it, err := r.next()
		if errors.Is(err, io.EOF) {
			return p.flush(ctx)
		}
		if err != nil {
			return err // it changed under us
		}
		if err := p.add(ctx, it); err != nil {
			return err
		}
	}
}

// player gathers items that came out together and emits them on time.
type player struct {
	start time.Time
	speed float64
	emit  func(gbr.Telemetry)
	timer *time.Timer

	begun       bool
	first, out  time.Duration // of the items in batch; first is that of the recording
	lastWindow  time.Duration
	batch       gbr.Telemetry
	pending     bool
	config      gbr.RadioConfig
	knowsConfig bool // from a config line
}

func (p *player) add(ctx context.Context, it Item) error {
	if !p.begun {
		p.begun, p.first, p.out = true, it.Out, it.Out
	}
	if it.Out > p.out {
		if err := p.flush(ctx); err != nil {
			return err
		}
		p.out = it.Out
	}
	p.pending = true
	at := p.real(min(it.At, p.out))
	switch it.Kind {
	case KindSample:
		s := it.Sample
		s.At, s.Window = at, p.shrink(s.Window)
		p.lastWindow = it.Sample.Window
		p.batch.Samples = append(p.batch.Samples, s)
		if !p.knowsConfig {
			p.configure(it.Config)
		}
	case KindGrant:
		g := it.Grant
		g.At = at
		p.batch.Grants = append(p.batch.Grants, g)
	case KindReport:
		r := it.Report
		r.At = at
		p.batch.Reports = append(p.batch.Reports, r)
	case KindConfig:
		p.knowsConfig = true
		p.configure(it.Config)
	}

	return nil
}

func (p *player) configure(c gbr.RadioConfig) {
	c.Period, c.Lag = p.shrink(c.Period), p.shrink(c.Lag)
	known := p.config != (gbr.RadioConfig{})
	if c == p.config || !known && c == (gbr.RadioConfig{PCI: -1}) {
		return
	}
	p.config = c
	p.batch.Config = &c
}

// flush waits for the moment of the batch and emits it.
func (p *player) flush(ctx context.Context) error {
	if !p.pending {
		return nil
	}
	due := p.real(p.out)
	for {
		left := time.Until(due)
		if left <= 0 {
			break
		}
		p.timer.Reset(min(left, aliveEvery))
		select {
		case <-p.timer.C:
			if left > aliveEvery {
				p.emit(gbr.Telemetry{})
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.emit(p.batch)
	p.pending = false
	p.batch.Samples, p.batch.Grants, p.batch.Reports = p.batch.Samples[:0], p.batch.Grants[:0], p.batch.Reports[:0]
	p.batch.Config = nil

	return nil
}

// rewind makes the next item of the recording follow the last one.
func (p *player) rewind() {
	gap := max(p.lastWindow, time.Millisecond)
	p.start = p.real(p.out + gap)
	p.begun = false
}

func (p *player) real(t time.Duration) time.Time { return p.start.Add(p.shrink(t - p.first)) }

func (p *player) shrink(d time.Duration) time.Duration {
	return time.Duration(float64(d) / p.speed)
}

// reader reads items and knows where it is.
type reader struct {
	lines *LineReader
	name  string
	out   time.Duration
	any   bool
}

func newReader(r io.Reader, name string) *reader {
	return &reader{lines: NewLineReader(r, MaxLine), name: name}
}

// next returns the next item, or io.EOF. Unknown kinds are skipped.
func (r *reader) next() (Item, error) {
	for {
		data, err := r.lines.Next()
		if errors.Is(err, io.EOF) {
			return Item{}, io.EOF
		}
		var it Item
		known := false
		if err == nil {
			it, known, err = ParseLine(data)
		}
		if known && r.any && it.Out < r.out-maxDisorder {
			err = fmt.Errorf("time goes back by %v", r.out-it.Out)
		}
		if err != nil {
			return Item{}, fmt.Errorf("source: %s:%d: %w", r.name, r.lines.Line(), err)
		}
		if !known {
			continue
		}
		if !r.any || it.Out > r.out {
			r.out, r.any = it.Out, true
		}

		return it, nil
	}
}
