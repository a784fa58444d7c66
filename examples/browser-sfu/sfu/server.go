// SPDX-License-Identifier: MIT

package sfu

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
)

// Errors that callers can tell apart.
var (
	ErrConfig = errors.New("sfu: bad configuration")
	ErrClosed = errors.New("sfu: closed")
)

// What a request or a session may cost.
const (
	maxOffer   = 64 << 10
	maxTrickle = 16 << 10
	// maxCandidates bounds the candidates of a session, of offer and PATCH.
	maxCandidates = 64

	defaultViewers = 64

	connectTimeout = 15 * time.Second
	// readyTimeout is how long a viewer waits for a publisher that has only
	// just connected, and settleTime for the second track after the first.
	readyTimeout = 5 * time.Second
	settleTime   = 500 * time.Millisecond
)

// Config describes a Server.
type Config struct {
	// Media is the socket of all media, UDP, bound to one address. It is the
	// caller's to close, after Close.
	Media net.PacketConn
	// Token is what publishers must bring; it may not be empty.
	Token string
	// Origins are the web origins other than the server's own, such as
	// https://example.org, whose pages may use it. "*" is any.
	Origins []string
	// MaxViewers is 64 when zero.
	MaxViewers int
	// StartKbps, when not zero, is the rate that a Chromium begins with, and
	// StartToldKbps that of one whose page opens a channel for the rate: it holds
	// its encoder back to what it is told, and from there goes up without waiting
	// for an estimate of its own.
	StartKbps, StartToldKbps int
	// OnPublish is called in a goroutine of its own for every publisher that
	// sends; Close waits for it to return, as it must once Done is closed.
	OnPublish func(*Publication)
	// Logger gets what sessions do; nil is silent. No token is ever logged.
	Logger *slog.Logger
}

// Server is a forwarder. Make one with New, serve its Handler, Close it.
type Server struct {
	cfg      Config
	loopback bool
	log      *slog.Logger
	mux      ice.UDPMux
	inbound  *webrtc.API // from publishers
	outbound *webrtc.API // to viewers

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	viewers  int // sessions of them, those in the making too
	current  *publication
	past     Stats // of sessions that have ended
	wg       sync.WaitGroup
}

// New returns a server that is ready to be asked.
func New(cfg Config) (*Server, error) {
	if cfg.Media == nil || cfg.Token == "" || cfg.MaxViewers < 0 {
		return nil, fmt.Errorf("%w: a socket and a token are needed", ErrConfig)
	}
	if cfg.MaxViewers == 0 {
		cfg.MaxViewers = defaultViewers
	}
	s := &Server{cfg: cfg, log: cfg.Logger, sessions: map[string]*session{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if a, ok := cfg.Media.LocalAddr().(*net.UDPAddr); ok {
		// The gateway of this machine comes by loopback to a public server too.
		s.loopback = a.IP.IsLoopback() || a.IP.IsUnspecified()
	}
	s.mux = webrtc.NewICEUDPMux(nil, cfg.Media)
	var err error
	if s.inbound, err = s.newAPI(true); err == nil {
		s.outbound, err = s.newAPI(false)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sfu: %w", err), s.mux.Close())
	}

	return s, nil
}

// Close ends all sessions and waits for them. Requests that come later are
// answered with 503.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, x := range s.sessions {
		x.end()
	}
	s.mu.Unlock()
	s.wg.Wait()

	return s.mux.Close()
}

// newID is the last part of a session's URL, which nobody can guess.
func newID() string { return rand.Text() }
