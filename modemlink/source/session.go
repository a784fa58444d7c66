// SPDX-License-Identifier: MIT

package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Patience with a modem. Working ones answer within 50 ms.
const (
	replyTimeout = 300 * time.Millisecond
	// maskTimeout is for the commands that matter.
	maskTimeout = time.Second
	maskTries   = 2
	// quietPing is how often a quiet modem is asked for a sign of life;
	// quietLimit of silence ends the session.
	quietPing  = 100 * time.Millisecond
	quietLimit = 3 * time.Second
	// closeTimeout bounds how long the end waits for a port that hangs.
	closeTimeout = time.Second
	// maxUnread bounds what is kept of a stream that has no frames in it.
	maxUnread = 256 << 10
)

// Commands and answers of the protocol that the session itself looks at.
const (
	equipment = 0xB // of LTE and NR logs

	cmdSubsystem  = 0x4B
	cmdLogConfig  = 0x73
	cmdMultiRadio = 0x98

	errFirst, errLast = 0x13, 0x18 // bad command, parameters, length, device, mode
)

var (
	errNoReply    = errors.New("no answer")
	errBadCommand = errors.New("the modem knows no such command")
)

// session is a port whose modem logs what we need. Its bytes come out of chunks;
// those that came with the last answer, before, out of rest.
type session struct {
	p    port
	name string
	log  *slog.Logger

	chunks  chan chunk
	stop    chan struct{}
	out     chan []byte
	written chan struct{} // closed when the writer is done
	fail    error         // of the writer, once written is closed

	rest     []byte
	deframer diag.Deframer
	// ping is a command that this modem answers.
	ping []byte
	// masked is whether the modem may be logging for us.
	masked bool
}

// newSession takes the port over, and closes it on failure.
func newSession(ctx context.Context, name string, p port, log *slog.Logger) (*session, error) {
	s := &session{
		p: p, name: name, log: log,
		chunks: make(chan chunk), stop: make(chan struct{}),
		out: make(chan []byte, 64), written: make(chan struct{}),
	}
	go func() {
		defer close(s.chunks)
		read(p, s.chunks, s.stop)
	}()
	go func() {
		defer close(s.written)
		for cmd := range s.out {
			if s.fail = p.Send(cmd); s.fail != nil {
				return
			}
		}
	}()
	if err := s.start(ctx); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}

		return nil, errors.Join(err, s.close())
	}

	return s, nil
}

// start makes the modem log. The order is that of tools that are known to work.
func (s *session) start(ctx context.Context) error {
	// Whoever was here before may have been killed: even what fails turns off.
	s.masked = true
	heard, missing := false, 0
	for _, cmd := range diag.StartUp() {
		switch _, err := s.ask(ctx, cmd, replyTimeout); {
		case err == nil:
			heard = true
			if s.ping == nil {
				s.ping = cmd
			}
		case errors.Is(err, errBadCommand): // modems differ in these
			heard = true
		case errors.Is(err, errNoReply):
			// Some answer only some, so that three in a row tell nobody is there.
			if missing++; !heard && missing == 3 {
				return s.error(ErrSilent, "is this its diagnostic port, and the modem on?")
			}
		default:
			return err
		}
	}
	ranges, err := s.askMask(ctx, diag.AppendLogMaskRanges(nil))
	if err != nil {
		return err
	}
	if s.ping == nil {
		s.ping = diag.AppendLogMaskRanges(nil)
	}
	codes := diag.GBRCodes()
	last := ranges.Last[equipment]
	mask, beyond, err := diag.BuildLogMask(last, codes...)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if last == 0 || len(beyond) == len(codes) {
		return s.error(ErrRefused, "it has no LTE or NR logs")
	}
	set, err := diag.AppendLogMaskSet(nil, mask)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if _, err := s.askMask(ctx, set); err != nil {
		return err
	}
	s.log.Info("source: the modem logs", "source", s.name, "codes", len(codes)-len(beyond), "not_there", beyond)

	return nil
}

// askMask asks twice, for what has to work.
func (s *session) askMask(ctx context.Context, cmd []byte) (r diag.LogMaskReply, err error) {
	var frame []byte
	for range maskTries {
		if frame, err = s.ask(ctx, cmd, maskTimeout); !errors.Is(err, errNoReply) {
			break
		}
	}
	switch {
	case errors.Is(err, errNoReply), errors.Is(err, errBadCommand):
		return r, s.error(ErrRefused, err.Error())
	case err != nil:
		return r, err
	}
	if r, err = diag.ParseLogMaskReply(frame); err != nil {
		return r, s.error(ErrRefused, err.Error())
	}
	if r.Status != 0 {
		return r, s.error(ErrRefused, fmt.Sprintf("operation %d, status %d", r.Op, r.Status))
	}

	return r, nil
}

func (s *session) error(kind error, why string) error {
	return fmt.Errorf("source: %s: %w: %s", s.name, kind, why)
}

// word reads 32 bits, 0 beyond the end.
func word(b []byte, at int) uint32 {
	if at+4 > len(b) {
		return 0
	}

	return binary.LittleEndian.Uint32(b[at:])
}

// ask sends a command and waits for its answer, which is valid until the next
// ask. Everything else that comes is stale and dropped.
func (s *session) ask(ctx context.Context, cmd []byte, wait time.Duration) ([]byte, error) {
	s.send(cmd)
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for {
		for {
			frame, ok := s.frame()
			if !ok {
				break
			}
			switch {
			case answers(frame, cmd):
				return frame, nil
			case rejects(frame, cmd):
				return nil, errBadCommand
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timeout.C:
			return nil, errNoReply
		case <-s.written:
			return nil, gone(s.name, s.fail)
		case c, ok := <-s.chunks:
			if !ok || c.err != nil {
				return nil, gone(s.name, c.err)
			}
			s.keep(c.data)
		}
	}
}

// gone is the error of a port that ended, with err or without.
func gone(name string, err error) error {
	err = cmp.Or(err, io.EOF)

	return fmt.Errorf("source: %s: %w: unplugged, or taken by another program (%w)", name, ErrGone, err)
}

func (s *session) keep(data []byte) {
	s.rest = append(s.rest, data...)
	if over := len(s.rest) - maxUnread; over > 0 {
		s.rest = append(s.rest[:0], s.rest[over:]...)
	}
}

// frame returns the next good frame of rest, without its radio wrapper. It takes
// no byte more than that, so that nothing of the logs is lost after the mask.
func (s *session) frame() ([]byte, bool) {
	for {
		i := bytes.IndexByte(s.rest, 0x7E)
		if i < 0 {
			return nil, false
		}
		s.deframer.Write(s.rest[:i+1])
		s.rest = append(s.rest[:0], s.rest[i+1:]...)
		f, err := s.deframer.Next()
		if err != nil {
			continue
		}
		if f[0] == cmdMultiRadio && len(f) > 8 {
			f = f[8:]
		}

		return f, true
	}
}

// answers tells whether a frame is the answer to cmd.
func answers(frame, cmd []byte) bool {
	if frame[0] != cmd[0] {
		return false
	}
	switch cmd[0] {
	case cmdSubsystem: // subsystem and its command
		return len(frame) >= 4 && bytes.Equal(frame[1:4], cmd[1:4])
	case cmdLogConfig: // operation, and a status behind it
		return len(frame) >= 12 && word(frame, 4) == word(cmd, 4)
	default:
		return true
	}
}

// rejects tells whether a frame says that cmd was not understood. It brings the
// command back, or the first bytes of it.
func rejects(frame, cmd []byte) bool {
	if frame[0] < errFirst || frame[0] > errLast {
		return false
	}
	echo := frame[1:]
	n := min(len(echo), len(cmd))

	return n > 0 && bytes.Equal(echo[:n], cmd[:n])
}

// send hands a command to the writer. When a port hangs and the queue is full it
// is dropped: the silence that follows ends the session.
func (s *session) send(cmd []byte) {
	select {
	case s.out <- cmd:
	default:
	}
}

// watch is called every quietPing with how long the modem has been quiet.
func (s *session) watch(quiet time.Duration) error {
	select {
	case <-s.written:
		return gone(s.name, s.fail)
	default:
	}
	if quiet >= quietLimit {
		return s.error(ErrSilent, fmt.Sprintf("not a byte for %v, although it was asked", quietLimit))
	}
	if quiet >= quietPing/2 { // its last answer is from just after the last ping
		s.send(s.ping)
	}

	return nil
}

// close turns the logs off and closes the port, which restores its mode. It
// comes back soon even if the port hangs.
func (s *session) close() error {
	if s.masked {
		s.send(diag.AppendLogMaskDisable(nil))
	}
	close(s.out)
	// The reader has to go on until the port closed: a modem whose output
	// nobody takes may not read either.
	timeout := time.NewTimer(closeTimeout)
	defer timeout.Stop()
	s.drain(s.written, timeout.C)
	closed := make(chan struct{})
	var err error
	go func() {
		defer close(closed)
		err = s.p.Close()
	}()
	timeout.Reset(closeTimeout)
	s.drain(closed, timeout.C)
	close(s.stop)
	select {
	case <-closed:
	default:
		return s.error(ErrSilent, "the port cannot be closed")
	}
	timeout.Reset(closeTimeout)
	s.drain(nil, timeout.C)

	return err
}

// drain drops chunks until there are no more, done, or the timeout.
func (s *session) drain(done <-chan struct{}, timeout <-chan time.Time) {
	for s.chunks != nil || done != nil {
		select {
		case _, ok := <-s.chunks:
			if !ok {
				s.chunks = nil
			}
		case <-done:
			return
		case <-timeout:
			return
		}
	}
}
