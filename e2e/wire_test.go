// SPDX-License-Identifier: MIT

package e2e

import (
	"net"
	"os"
	"sync"
	"time"
)

// wire is one end of a made-up network for virtual time: what is written at one
// end can be read at the other at once. Real sockets would stop virtual time.
type wire struct {
	addr   *net.UDPAddr
	in     chan datagram
	closed chan struct{}
	once   sync.Once
	peer   *wire
}

type datagram struct {
	b    []byte
	from net.Addr
}

// newWire returns the two ends.
func newWire() (a, b *wire) {
	end := func(ip string) *wire {
		return &wire{
			addr: &net.UDPAddr{IP: net.ParseIP(ip).To4(), Port: 5000},
			// Longer than anything the tests keep in flight: a full
			// channel would lose packets that no queue accounts for.
			in:     make(chan datagram, 1<<14),
			closed: make(chan struct{}),
		}
	}
	a, b = end("10.0.0.1"), end("10.0.0.2")
	a.peer, b.peer = b, a

	return a, b
}

func (w *wire) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case d := <-w.in:
		return copy(p, d.b), d.from, nil
	case <-w.closed:
		return 0, nil, net.ErrClosed
	}
}

func (w *wire) WriteTo(p []byte, to net.Addr) (int, error) {
	select {
	case <-w.closed:
		return 0, net.ErrClosed
	default:
	}
	if to.String() != w.peer.addr.String() {
		return len(p), nil // nobody there
	}
	select {
	case w.peer.in <- datagram{append([]byte(nil), p...), w.addr}:
	case <-w.peer.closed:
	}

	return len(p), nil
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })

	return nil
}

func (w *wire) LocalAddr() net.Addr              { return w.addr }
func (w *wire) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
