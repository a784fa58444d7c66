// SPDX-License-Identifier: MIT

package modemtest

import (
	"errors"
	"net"
	"sync"
)

// listener remembers its connections, so that they can stall and break.
type listener struct {
	net.Listener
	gate *gate

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
}

func newListener(l net.Listener, g *gate) *listener {
	return &listener{Listener: l, gate: g, conns: make(map[*conn]struct{})}
}

func (l *listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, l: l, done: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.Join(net.ErrClosed, raw.Close())
	}
	l.conns[c] = struct{}{}

	return c, nil
}

// kill breaks everything without a word to the peers.
func (l *listener) kill() {
	l.mu.Lock()
	l.closed = true
	conns := l.conns
	l.conns = make(map[*conn]struct{})
	l.mu.Unlock()
	// Before the server notices and ends them in order.
	for c := range conns {
		if t, ok := c.Conn.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // a reset, not an orderly end
		}
		_ = c.Close()
	}
	_ = l.Close()
}

// conn waits at the gate with every byte, in both directions.
type conn struct {
	net.Conn
	l    *listener
	once sync.Once
	done chan struct{}
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.l.gate.pass(c.done)

	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.l.gate.pass(c.done)

	return c.Conn.Write(p)
}

func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.done)
		c.l.mu.Lock()
		delete(c.l.conns, c)
		c.l.mu.Unlock()
	})

	return c.Conn.Close()
}

// gate is open or shut. Its zero value is open.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil when open
}

// pass waits until the gate is open or done is closed.
func (g *gate) pass(done <-chan struct{}) {
	for {
		g.mu.Lock()
		shut := g.shut
		g.mu.Unlock()
		if shut == nil {
			return
		}
		select {
		case <-shut:
		case <-done:
			return
		}
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}
