// SPDX-License-Identifier: MIT

package modemlink

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/gbrcc/gbrcc/gbr"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// Rhythm of the link, in both directions part of the interface; see
// modemlink.proto.
const (
	heartbeatEvery = 80 * time.Millisecond // promised: 100 ms
	stalledEvery   = 400 * time.Millisecond
	sourceTimeout  = time.Second
	linkTimeout    = 1500 * time.Millisecond
)

// Limits against strangers and leaks.
const (
	idleTimeout     = 15 * time.Second // a connection without a stream
	stopTimeout     = 500 * time.Millisecond
	maxRequestBytes = 4 << 10
	maxHeaderBytes  = 8 << 10
	// spareConns are connections with the right token beyond MaxClients, for
	// those that are not yet or no longer clients.
	spareConns = 16
)

// ServerConfig configures a [Server]. The zero value is usable.
type ServerConfig struct {
	// Identity is what clients are paired with; nil makes a new one.
	Identity *Identity
	// MaxClients is how many may stream at once, default 8.
	MaxClients int
	// QueueBatches is how many batches wait for a client that reads slowly
	// before the oldest is lost, default 256. At one batch in 5 ms that is
	// 1.3 s, older than any controller wants.
	QueueBatches int
	// Logger is nil for none.
	Logger *slog.Logger
	// Now is the agent's clock, default [time.Now]. It must be monotonic.
	Now func() time.Time
}

// Server is the agent's end of the link: it sends what is published to every
// client. Its methods are safe for concurrent use.
type Server struct {
	pb.UnimplementedModemLinkServer
	cfg     ServerConfig
	enc     encoder
	session uint64
	grpc    *grpc.Server
	gate    *gate
	// stopping is closed when Serve ends.
	stopping chan struct{}

	mu      sync.Mutex
	serving bool
	stopped bool
	seq     uint64
	config  *pb.RadioConfig
	alive   time.Time
	clients map[*queue]struct{}
}

// NewServer makes a server with a session of its own. It fails only when the
// system has no randomness or a field is out of range.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.MaxClients < 0 || cfg.QueueBatches < 0 {
		return nil, fmt.Errorf("modemlink: server: MaxClients %d or QueueBatches %d is negative", cfg.MaxClients, cfg.QueueBatches)
	}
	if cfg.MaxClients == 0 {
		cfg.MaxClients = 8
	}
	if cfg.QueueBatches == 0 {
		cfg.QueueBatches = 256
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Identity == nil {
		id, err := NewIdentity()
		if err != nil {
			return nil, err
		}
		cfg.Identity = id
	}
	var session [8]byte
	if _, err := rand.Read(session[:]); err != nil {
		return nil, fmt.Errorf("modemlink: server: %w", err)
	}
	s := &Server{
		cfg:      cfg,
		enc:      encoder{epoch: cfg.Now()},
		session:  binary.LittleEndian.Uint64(session[:]),
		stopping: make(chan struct{}),
		clients:  make(map[*queue]struct{}),
	}
	s.gate = newGate(cfg.MaxClients+spareConns, func(addr string) {
		cfg.Logger.Warn("modemlink: too many failed connections, slowing down", "addr", addr)
	})
	s.grpc = grpc.NewServer(
		grpc.Creds(gateCreds{credentials.NewTLS(&tls.Config{
			Certificates:           []tls.Certificate{cfg.Identity.cert},
			MinVersion:             tls.VersionTLS13,
			SessionTicketsDisabled: true,
		})}),
		grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
		grpc.WaitForHandlers(true),
		grpc.ConnectionTimeout(pendingTimeout),
		grpc.MaxRecvMsgSize(maxRequestBytes),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxConcurrentStreams(8),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: idleTimeout, Time: 2 * time.Second, Timeout: 2 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second}),
	)
	pb.RegisterModemLinkServer(s.grpc, s)

	return s, nil
}

// Publish sends t to every client. It copies what it needs and never blocks: a
// client that is behind loses its oldest batches and sees a gap. An empty t is
// the same as [Server.Alive].
func (s *Server) Publish(t gbr.Telemetry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.touch()
	if t.Config != nil {
		s.config = encodeConfig(*t.Config)
		for q := range s.clients {
			q.config = s.config
			q.wake()
		}
	}
	split(t, func(t gbr.Telemetry) {
		b := s.enc.encode(t)
		if b == nil {
			return
		}
		s.seq++
		b.Seq = s.seq
		for q := range s.clients {
			if q.push(b) {
				s.cfg.Logger.Warn("modemlink: a client reads too slowly and loses the oldest batches")
			}
		}
	})
}

// Alive says that the modem is there although it has nothing to tell. Call it,
// or Publish, at least once a second; otherwise clients are told that the
// source stalled.
func (s *Server) Alive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touch()
}

// touch wakes the streams when the source comes back to life.
func (s *Server) touch() {
	if now := time.Now(); now.Sub(s.alive) > sourceTimeout {
		s.alive = now
		for q := range s.clients {
			q.wake()
		}
	} else {
		s.alive = now
	}
}

// Clients returns how many are streaming.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return len(s.clients)
}

// Serve accepts clients on ln, and closes it, until ctx ends; then it returns
// the cause of that. No goroutine of its own is left. A server serves once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	s.mu.Lock()
	if s.serving {
		s.mu.Unlock()

		return errors.Join(errors.New("modemlink: server: it served before"), ln.Close())
	}
	s.serving = true
	s.mu.Unlock()

	failed := make(chan error, 1)
	go func() { failed <- s.grpc.Serve(&gateListener{Listener: ln, gate: s.gate}) }()

	var err error
	select {
	case <-ctx.Done():
		s.stop()
		<-failed //nolint:errcheck // it follows from the stop
		err = context.Cause(ctx)
	case err = <-failed:
		s.stop()
		err = fmt.Errorf("modemlink: server: %w", err)
	}

	return err
}

// stop ends streams first, so that clients see a clean end, and then cuts.
func (s *Server) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	close(s.stopping)

	// Half a handshake would be waited for.
	for _, v := range s.gate.close() {
		_ = v.Close()
	}
	cut := time.AfterFunc(stopTimeout, s.grpc.Stop)
	s.grpc.GracefulStop()
	cut.Stop()
}

// URL returns the pairing URL for a server that listens on addr. For a wildcard
// address it names the host's most likely address towards a sender: see
// [net.Interfaces] for the others.
func (s *Server) URL(addr net.Addr) PairingURL {
	p := PairingURL{Host: "127.0.0.1", Fingerprint: s.cfg.Identity.fp, Token: s.cfg.Identity.token}
	if a, ok := addr.(*net.TCPAddr); ok {
		p.Port = uint16(a.Port)
		switch {
		case a.IP == nil || a.IP.IsUnspecified():
			p.Host = usableHost()
		case a.Zone != "":
			p.Host = a.IP.String() + "%" + a.Zone
		default:
			p.Host = a.IP.String()
		}
	}

	return p
}

func (s *Server) now() int64 { return s.enc.ns(s.cfg.Now()) }

// Ping is the RPC.
func (s *Server) Ping(_ context.Context, in *pb.PingRequest) (*pb.PingResponse, error) {
	now := s.now()
	if err := s.checkClient(in.GetVersion()); err != nil {
		return nil, err
	}

	return &pb.PingResponse{ReceivedAtNs: now, SentAtNs: s.now(), Session: s.session, Version: ownVersion()}, nil
}

// Stream is the RPC.
func (s *Server) Stream(in *pb.StreamRequest, out grpc.ServerStreamingServer[pb.Batch]) error {
	if err := s.checkClient(in.GetVersion()); err != nil {
		return err
	}
	q, err := s.join()
	if err != nil {
		return err
	}
	defer s.leave(q)

	beat := time.NewTimer(0) // the first message is sent at once
	defer beat.Stop()
	var lastSent time.Time
	for {
		m, wait := s.next(q, lastSent)
		if m != nil {
			m.SentAtNs = s.now()
			if err := out.Send(m); err != nil {
				return err
			}
			lastSent = time.Now()

			continue
		}
		beat.Reset(wait)
		select {
		case <-q.ready:
		case <-beat.C:
		case <-s.stopping:
			return status.Error(codes.Unavailable, "the agent stops")
		case <-out.Context().Done():
			return out.Context().Err()
		}
	}
}

func (s *Server) join() (*queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= s.cfg.MaxClients {
		s.cfg.Logger.Warn("modemlink: client refused, too many", "max", s.cfg.MaxClients)

		return nil, status.Error(codes.ResourceExhausted, "too many clients")
	}
	q := newQueue(s.cfg.QueueBatches)
	q.config = s.config
	s.clients[q] = struct{}{}
	s.cfg.Logger.Info("modemlink: client joined", "clients", len(s.clients))

	return q, nil
}

func (s *Server) leave(q *queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, q)
	s.cfg.Logger.Info("modemlink: client left", "clients", len(s.clients), "lost_batches", q.dropped)
}

// next returns the message that is due, or nil and how long none will be.
func (s *Server) next(q *queue, lastSent time.Time) (m *pb.Batch, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m = &pb.Batch{Session: s.session}
	if b := q.pop(); b != nil {
		// b is shared by all clients; its lists are not written any more.
		m.Seq, m.Samples, m.Grants, m.Reports = b.GetSeq(), b.GetSamples(), b.GetGrants(), b.GetReports()
		m.Config, q.config = q.config, nil

		return m, 0
	}
	m.Seq = s.seq
	every := heartbeatEvery
	if time.Since(s.alive) > sourceTimeout {
		m.SourceStalled = true
		every = stalledEvery
	} else if q.config != nil {
		m.Config, q.config = q.config, nil

		return m, 0
	}
	if wait = every - time.Since(lastSent); wait > 0 {
		return nil, wait
	}

	return m, 0
}
