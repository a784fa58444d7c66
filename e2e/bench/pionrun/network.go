// SPDX-License-Identifier: MIT

package pionrun

import (
	"net"
	"os"
	"sync"
	"time"
)

// inbox is more datagrams than are ever under way at once.
const inbox = 1 << 14

// socket is one end of a made-up network: real ones would stop virtual time.
type socket struct {
	addr   *net.UDPAddr
	in     chan []byte
	closed chan struct{}
	once   sync.Once
	peer   *socket
	send   func(b []byte)
}

func newSocket(ip string) *socket {
	return &socket{
		addr: &net.UDPAddr{IP: net.ParseIP(ip).To4(), Port: 5000},
		in:   make(chan []byte, inbox), closed: make(chan struct{}),
	}
}

func (s *socket) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case b := <-s.in:
		return copy(p, b), s.peer.addr, nil
	case <-s.closed:
		return 0, nil, net.ErrClosed
	}
}

func (s *socket) WriteTo(p []byte, to net.Addr) (int, error) {
	select {
	case <-s.closed:
		return 0, net.ErrClosed
	default:
	}
	if to.String() == s.peer.addr.String() {
		s.send(append([]byte(nil), p...))
	}

	return len(p), nil
}

func (s *socket) deliver(b []byte) {
	select {
	case s.in <- b:
	case <-s.closed:
	}
}

func (s *socket) Close() error {
	s.once.Do(func() { close(s.closed) })

	return nil
}

func (s *socket) LocalAddr() net.Addr              { return s.addr }
func (s *socket) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (s *socket) SetReadDeadline(time.Time) error  { return nil }
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

// network is the scenario's between two sockets. Until begin it is a wire
// without delay: the peers connect before the run, as the run's clock, and its
// trace, begin with the media.
type network struct {
	near, far *socket
	meter     *meter

	wake    chan struct{}
	stopped chan struct{}
	done    chan struct{} // nil until begin
	err     error         // of the run, when done
}

func newNetwork(m *meter) *network {
	n := &network{
		near: newSocket("10.0.0.1"), far: newSocket("10.0.0.2"), meter: m,
		wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	n.near.peer, n.far.peer = n.far, n.near
	n.near.send = func(b []byte) { n.send(b, m.up, n.far) }
	n.far.send = func(b []byte) { n.send(b, m.down, n.near) }

	return n
}

func (n *network) send(b []byte, way func([]byte) bool, end *socket) {
	if !way(b) {
		end.deliver(b)

		return
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// begin starts to run what the meter has begun.
func (n *network) begin() {
	n.done = make(chan struct{})
	go n.loop()
}

// loop lets the run do what is due, and hands out what that brings.
func (n *network) loop() {
	defer close(n.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		far, near, next, err := n.meter.turn(time.Now())
		if err != nil {
			n.err = err

			return
		}
		for _, b := range far {
			n.far.deliver(b)
		}
		for _, b := range near {
			n.near.deliver(b)
		}
		timer.Reset(max(time.Until(next), time.Microsecond))
		select {
		case <-timer.C:
		case <-n.wake:
		case <-n.stopped:
			return
		}
	}
}

// end stops the loop, if begin has started it; the sockets stay.
func (n *network) end() error {
	close(n.stopped)
	if n.done == nil {
		return nil
	}
	<-n.done

	return n.err
}
