// SPDX-License-Identifier: MIT

package pionrun

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// ErrStart is wrapped by the error of a pool that cannot start a worker: no run
// is possible.
var ErrStart = errors.New("pion's rows run in a process of their own, which does not start")

const (
	// maxWorkers bounds the memory and keeps a core for the other rows.
	maxWorkers = 2
	// patience is how long a run may take in real time, besides its virtual
	// length: ten times what it takes on a slow machine.
	patience = 2 * time.Minute
)

// Pool has runs in workers, which are this same program started again: a run
// that goes wrong takes its worker along, and nothing else. It is safe for
// concurrent use.
type Pool struct {
	command func() (*exec.Cmd, error)
	// patience is how long a run may take besides its virtual length.
	patience time.Duration
	// started, when not nil, gets every worker that speaks; for tests.
	started func(*os.Process)
	// idle has a place for every worker; nil is one that must be started.
	idle chan *worker
}

// NewPool makes a pool. Workers are started when they are needed.
func NewPool() *Pool {
	p := &Pool{command: self, patience: patience, idle: make(chan *worker, min(maxWorkers, runtime.GOMAXPROCS(0)))}
	for range cap(p.idle) {
		p.idle <- nil
	}

	return p
}

// self is this program as a worker.
func self() (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	// On one thread the goroutines of a run take turns in nearly the same
	// order every time, and two workers do not get into each other's way.
	cmd.Env = append(os.Environ(), workerEnv+"=1", "GOMAXPROCS=1")

	return cmd, nil
}

// Run has one run. When ctx ends it stops at once and returns its cause.
func (p *Pool) Run(ctx context.Context, j Job) (Reply, error) {
	if err := j.Check(); err != nil {
		return Reply{}, err
	}
	line, err := j.encode()
	if err != nil {
		return Reply{}, err
	}
	var w *worker
	select {
	case w = <-p.idle:
	case <-ctx.Done():
		return Reply{}, context.Cause(ctx)
	}
	defer func() { p.idle <- w }()
	if w == nil {
		if w, err = p.start(); err != nil {
			return Reply{}, fmt.Errorf("%w: %w", ErrStart, err)
		}
	}
	wait := p.patience + j.Scenario.Duration
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	reply, err := w.run(limit, line)
	if w.dead {
		w = nil
	}
	switch {
	case ctx.Err() != nil:
		return Reply{}, context.Cause(ctx)
	case limit.Err() != nil:
		return Reply{}, fmt.Errorf("pionrun: not done after %v", wait)
	default:
		return reply, err
	}
}

// Close ends the workers. No run may be under way.
func (p *Pool) Close() {
	for range cap(p.idle) {
		if w := <-p.idle; w != nil {
			_ = w.in.Close()
			w.wait()
		}
		p.idle <- nil
	}
}

func (p *Pool) start() (*worker, error) {
	cmd, err := p.command()
	if err != nil {
		return nil, err
	}
	w := &worker{cmd: cmd}
	cmd.Stderr = &w.said
	if w.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	first := make([]byte, len(greeting))
	if _, err := io.ReadFull(w.out, first); err != nil || string(first) != greeting {
		w.kill()

		return nil, fmt.Errorf("%s does not speak as a worker does (%s)", cmd.Path, w.last())
	}
	if p.started != nil {
		p.started(cmd.Process)
	}

	return w, nil
}

// worker is a process that has one run after the other.
type worker struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said said
	dead bool
	end  error
}

// run has a run, or the worker dead.
func (w *worker) run(ctx context.Context, line []byte) (Reply, error) {
	stop := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() })
	_, err := w.in.Write(line)
	var answer []byte
	if err == nil {
		answer, err = w.out.ReadBytes('\n')
	}
	if !stop() || err != nil {
		w.kill()

		return Reply{}, fmt.Errorf("pionrun: the run's process ended: %s", w.last())
	}
	var r wireReply
	if err := json.Unmarshal(answer, &r); err != nil {
		w.kill()

		return Reply{}, fmt.Errorf("pionrun: the run's process answered nonsense: %w", err)
	}
	if r.Error != "" {
		return Reply{}, errors.New(r.Error)
	}

	return r.Reply, nil
}

func (w *worker) kill() {
	_ = w.cmd.Process.Kill()
	w.wait()
}

func (w *worker) wait() {
	if w.dead {
		return
	}
	w.dead = true
	w.end = w.cmd.Wait()
}

// last is one line about the end of a dead worker.
func (w *worker) last() string {
	if reason := w.said.reason(); reason != "" {
		return reason
	}
	if w.end != nil {
		return w.end.Error()
	}

	return "exit status 0"
}

// said is the beginning of what a process writes to standard error.
type said struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// saidLimit is enough for the head of a stack trace.
const saidLimit = 64 << 10

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := saidLimit - s.buf.Len(); room > 0 {
		s.buf.Write(b[:min(room, len(b))])
	}

	return len(b), nil
}

// reason is the line that the runtime dies with.
func (s *said) reason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range strings.Lines(s.buf.String()) {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") {
			return strings.TrimSpace(l)
		}
	}

	return ""
}
