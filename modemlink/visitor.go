// SPDX-License-Identifier: MIT

package modemlink

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

const (
	// pendingTimeout is for everything up to the right token: the turn, the
	// handshake, the first call.
	pendingTimeout = 5 * time.Second
	// answerTime is between the answer to a wrong token and the end of its
	// connection.
	answerTime = 100 * time.Millisecond
)

var errNoTurn = errors.New("modemlink: too many wait")

// visitorState is where a connection is at the gate; gate.mu guards it.
type visitorState uint8

const (
	statePending visitorState = iota + 1
	stateTrusted
	stateFailed // a wrong token; it ends soon
	stateEnded
)

// visitor is a connection at the gate.
type visitor struct {
	net.Conn
	gate *gate
	addr string
	once sync.Once
	done chan struct{}

	// Guarded by gate.mu.
	state visitorState
	since time.Time   // it came, or has its turn
	late  *time.Timer // ends it
}

func (v *visitor) Close() error {
	v.once.Do(func() {
		close(v.done)
		v.gate.leave(time.Now(), v)
	})

	return v.Conn.Close()
}

// wait until it is this connection's turn.
func (v *visitor) wait() error {
	wait, ok := v.gate.turn(time.Now(), v)
	switch {
	case !ok:
		return errNoTurn
	case wait == 0:
		return nil
	}
	turn := time.NewTimer(wait)
	defer turn.Stop()
	select {
	case <-turn.C:
		return nil
	case <-v.done:
		return net.ErrClosed
	}
}

// gateListener is a listener with a gate.
type gateListener struct {
	net.Listener
	gate *gate
}

func (l *gateListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		v := &visitor{Conn: c, gate: l.gate, addr: addrKey(c.RemoteAddr()), done: make(chan struct{})}
		victim, ok := l.gate.enter(time.Now(), v)
		if victim != nil {
			_ = victim.Close() // it had its time
		}
		if ok {
			return v, nil
		}
		_ = c.Close() // nothing was said yet
	}
}

// gateCreds makes connections wait for their turn before TLS, whose
// arithmetic is what costs.
type gateCreds struct {
	credentials.TransportCredentials
}

func (c gateCreds) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	v, ok := raw.(*visitor)
	if !ok {
		return nil, nil, errors.New("modemlink: not from the gate")
	}
	if err := v.wait(); err != nil {
		return nil, nil, err
	}
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, err
	}
	t, ok := info.(credentials.TLSInfo)
	if !ok {
		return nil, nil, errors.New("modemlink: not TLS")
	}

	return conn, visitorInfo{TLSInfo: t, visitor: v}, nil
}

func (c gateCreds) Clone() credentials.TransportCredentials {
	return gateCreds{c.TransportCredentials.Clone()}
}

// visitorInfo is what a call knows of its connection.
type visitorInfo struct {
	credentials.TLSInfo
	visitor *visitor
}

// admit checks the token of a call. It says the same to a missing, a malformed
// and a wrong token, and then ends the connection.
func (s *Server) admit(ctx context.Context) error {
	p, _ := peer.FromContext(ctx)
	if p == nil {
		return status.Error(codes.Internal, "no peer")
	}
	info, ok := p.AuthInfo.(visitorInfo)
	if !ok {
		return status.Error(codes.Internal, "no connection")
	}
	switch s.gate.show(time.Now(), info.visitor, func() bool { return s.cfg.Identity.knows(ctx) }) {
	case verdictRight:
		return nil
	case verdictFull:
		return status.Error(codes.ResourceExhausted, "too many connections")
	case verdictNotLookedAt:
		return status.Error(codes.Unavailable, "the connection ends")
	case verdictWrong:
	}

	return status.Error(codes.Unauthenticated, "unauthorized")
}
