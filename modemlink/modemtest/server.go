// SPDX-License-Identifier: MIT

package modemtest

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc/test/bufconn"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
)

// pipeBytes is what an in-memory connection holds, as much as a small socket
// buffer.
const pipeBytes = 64 << 10

// Option configures a [Server].
type Option func(*options)

type options struct {
	memory bool
	cfg    modemlink.ServerConfig
}

// InMemory uses connections in memory in place of sockets on the loopback.
// Clients must then dial with [Server.Dial].
func InMemory() Option { return func(o *options) { o.memory = true } }

// WithConfig sets what the modemlink server is made with.
func WithConfig(cfg modemlink.ServerConfig) Option { return func(o *options) { o.cfg = cfg } }

// Server is an agent under the control of a test. It is stopped when the test
// ends.
type Server struct {
	// URL is the pairing URL, the same after a restart.
	URL string

	tb   testing.TB
	opts options
	gate gate

	mu     sync.Mutex
	ln     *listener // nil while dead
	pipe   *bufconn.Listener
	addr   string // of the loopback, to come back to
	link   *modemlink.Server
	cancel context.CancelFunc
	served chan error
}

// NewServer starts an agent. Failures are fatal to the test.
func NewServer(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	s := &Server{tb: tb, addr: "127.0.0.1:0"}
	for _, o := range opts {
		o(&s.opts)
	}
	if s.opts.cfg.Identity == nil {
		id, err := modemlink.NewIdentity()
		if err != nil {
			tb.Fatal(err)
		}
		s.opts.cfg.Identity = id
	}
	s.Restart()
	tb.Cleanup(s.Close)

	return s
}

// Restart starts the agent again at its address and with its identity, as a new
// session. It does nothing while the agent runs. Failures are fatal to the test,
// so call it from the goroutine of the test.
func (s *Server) Restart() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ln != nil {
		return
	}
	link, err := modemlink.NewServer(s.opts.cfg)
	if err != nil {
		s.tb.Fatal(err)
	}
	var raw net.Listener
	var addr net.Addr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7667}
	if s.opts.memory {
		s.pipe = bufconn.Listen(pipeBytes)
		raw = s.pipe
	} else {
		if raw, err = net.Listen("tcp", s.addr); err != nil {
			s.tb.Fatal(err)
		}
		addr = raw.Addr()
		s.addr = addr.String()
	}
	s.gate.open()
	if s.URL == "" {
		s.URL = link.URL(addr).String()
	}
	s.ln = newListener(raw, &s.gate)
	s.link = link
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	served := make(chan error, 1)
	s.served = served
	go func(ln net.Listener) { served <- link.Serve(ctx, ln) }(s.ln)
}

// Publish sends t to every client, or nowhere while the agent is dead.
func (s *Server) Publish(t gbr.Telemetry) {
	if link := s.current(); link != nil {
		link.Publish(t)
	}
}

// Alive is a sign of life of the modem without telemetry.
func (s *Server) Alive() { s.Publish(gbr.Telemetry{}) }

// Clients returns how many stream at the moment.
func (s *Server) Clients() int {
	if link := s.current(); link != nil {
		return link.Clients()
	}

	return 0
}

func (s *Server) current() *modemlink.Server {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.link
}

// Dial connects to the agent wherever it is; addr is ignored. It is a
// modemlink.ClientConfig.Dialer.
func (s *Server) Dial(ctx context.Context, _ string) (net.Conn, error) {
	s.mu.Lock()
	ln, pipe, addr := s.ln, s.pipe, s.addr
	s.mu.Unlock()
	if ln == nil {
		return nil, errors.New("modemtest: the agent is dead")
	}
	if pipe != nil {
		return pipe.DialContext(ctx)
	}

	return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
}

// Pause stalls every connection, old and new, without closing any: a pulled
// cable, or a phone out of reach.
func (s *Server) Pause() { s.gate.close() }

// Resume ends Pause; what was held back arrives.
func (s *Server) Resume() { s.gate.open() }

// Kill ends the agent abruptly: connections are reset, new ones refused.
func (s *Server) Kill() { s.end(true) }

// Close ends the agent in order, as a signal does.
func (s *Server) Close() { s.end(false) }

func (s *Server) end(abrupt bool) {
	s.mu.Lock()
	ln, cancel, served := s.ln, s.cancel, s.served
	s.ln, s.link = nil, nil
	s.mu.Unlock()
	if ln == nil {
		return
	}
	if abrupt {
		ln.kill()
	}
	s.gate.open()
	cancel()
	<-served //nolint:errcheck // why it ended is known
}
