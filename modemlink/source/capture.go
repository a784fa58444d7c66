// SPDX-License-Identifier: MIT

package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// maxGap is a pause or a step back in a capture that is not played: the modem's
// clock was set, or a file was put together from several.
const maxGap = 10 * time.Second

// openFile opens a recording or a capture: the content decides.
func openFile(path string, cfg Config) (Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	head, err := io.ReadAll(io.LimitReader(f, diag.SniffLen))
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	format, ok := diag.Sniff(head)
	if !ok || bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return File(path, cfg.File)
	}
	if cfg.File.Speed != 0 && cfg.File.Speed != 1 {
		return nil, fmt.Errorf("source: %s is a capture of a modem's port (%v), which plays at speed 1 only: "+
			"its frame numbers count milliseconds", path, format)
	}

	return &capture{path: path, format: format, cfg: cfg}, nil
}

// capture replays the bytes of a diagnostic port in the rhythm of the time
// stamps of its log packets.
type capture struct {
	path   string
	format diag.Format
	cfg    Config
}

// Run is Source's.
func (c *capture) Run(ctx context.Context, emit func(gbr.Telemetry)) error {
	for {
		f, err := os.Open(c.path)
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
		d, err := NewDiag(newPaced(f, c.format), c.cfg.diag(true))
		if err != nil {
			return errors.Join(err, f.Close())
		}
		if err := d.Run(ctx, emit); err != nil || !c.cfg.File.Loop {
			return err
		}
	}
}

// paced is a reader of a capture that gives each log packet when it is due, in an
// HDLC frame. Close ends a Read under way.
type paced struct {
	in    io.ReadCloser
	split diag.Splitter
	buf   [readBytes]byte
	// out is what is due and not read yet, in due.
	out, due []byte
	end      error

	// start is when base, a time stamp, is played; newest the latest one.
	start        time.Time
	base, newest time.Time
	closed       chan struct{}
}

func newPaced(in io.ReadCloser, format diag.Format) *paced {
	return &paced{in: in, split: diag.Splitter{Format: format}, closed: make(chan struct{})}
}

// Read gives bytes of one packet.
func (p *paced) Read(b []byte) (int, error) {
	for len(p.out) == 0 {
		packet, err := p.split.Next()
		if errors.Is(err, diag.ErrMore) {
			if err := p.more(); err != nil {
				return 0, err
			}
		}
		if err != nil {
			continue
		}
		if err := p.wait(packet.Logged.Time()); err != nil {
			return 0, err
		}
		p.due = reframe(p.due[:0], packet)
		p.out = p.due
	}
	n := copy(b, p.out)
	p.out = p.out[n:]

	return n, nil
}

func (p *paced) more() error {
	if p.end != nil {
		return p.end
	}
	n, err := p.in.Read(p.buf[:])
	p.split.Write(p.buf[:n])
	p.end = err

	return nil
}

// wait waits for the moment of a packet.
func (p *paced) wait(at time.Time) error {
	if at.IsZero() {
		return nil // it goes with its neighbours
	}
	if gap := at.Sub(p.newest); p.start.IsZero() || gap > maxGap || gap < -maxGap {
		p.start, p.base, p.newest = time.Now(), at, at

		return nil
	}
	if !at.After(p.newest) {
		return nil
	}
	p.newest = at
	left := time.Until(p.start.Add(at.Sub(p.base)))
	if left <= 0 {
		return nil
	}
	select {
	case <-time.After(left):
		return nil
	case <-p.closed:
		return os.ErrClosed
	}
}

// Close closes the file.
func (p *paced) Close() error {
	close(p.closed)

	return p.in.Close()
}
