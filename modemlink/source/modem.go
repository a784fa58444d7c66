// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"log/slog"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// How a port that was lost is tried again.
const (
	retryFirst = 500 * time.Millisecond
	retryMax   = 10 * time.Second
)

// Preparer is a source that can tell before it runs whether there is a modem
// that logs. Close is for one that was prepared and then not run.
type Preparer interface {
	// Prepare opens what Run will use. Call it once, or not at all: then Run
	// does.
	Prepare(ctx context.Context) error
	Close() error
}

// modem is the source of a modem. A port that cannot be opened at first is an
// error; one that worked and was lost is tried again until ctx ends, and
// meanwhile nothing is emitted, so that senders see a stalled modem.
type modem struct {
	name string
	open opener
	cfg  Config
	// ready is what Prepare made.
	ready *session
}

// Prepare is Preparer's.
func (m *modem) Prepare(ctx context.Context) (err error) {
	m.ready, err = m.session(ctx)

	return err
}

// Close is Preparer's.
func (m *modem) Close() error {
	s := m.ready
	if m.ready = nil; s == nil {
		return nil
	}

	return s.close()
}

func (m *modem) session(ctx context.Context) (*session, error) {
	p, err := m.open(ctx)
	if err != nil {
		return nil, err
	}

	return newSession(ctx, m.name, p, m.cfg.Logger)
}

// Run is Source's.
func (m *modem) Run(ctx context.Context, emit func(gbr.Telemetry)) error {
	if m.ready == nil {
		if err := m.Prepare(ctx); err != nil {
			return err
		}
	}
	s, wait := m.ready, retryFirst
	m.ready = nil
	for {
		began := time.Now()
		var err error
		if s == nil {
			s, err = m.session(ctx)
		}
		if err == nil {
			err = m.play(ctx, s, emit)
		}
		if s = nil; ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Since(began) > retryMax {
			wait = retryFirst
		}
		m.cfg.Logger.Warn("source: lost the modem", "source", m.name, "err", err, slog.Duration("again_in", wait))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		wait = min(2*wait, retryMax)
	}
}

// play runs one session to its end.
func (m *modem) play(ctx context.Context, s *session, emit func(gbr.Telemetry)) error {
	defer func() {
		if err := s.close(); err != nil {
			m.cfg.Logger.Warn("source: the port was not restored", "source", m.name, "err", err)
		}
	}()
	// Every session has a decoder of its own: a modem that comes back may have
	// another clock.
	d, err := NewDiag(nil, m.cfg.diag(false))
	if err != nil {
		return err
	}
	defer d.report()
	if err = d.loop(ctx, s.rest, s.chunks, s.watch, emit); err == nil {
		err = gone(m.name, nil)
	}

	return err
}
