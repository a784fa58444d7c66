// SPDX-License-Identifier: MIT

package pionrun

import (
	"net"
	"os"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// ipv4UDP is the bytes of IPv4 and UDP header on the link.
const ipv4UDP = 28

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

// network is the scenario's cell between two sockets. Until begin it is a wire
// without delay: the peers connect before the run, as the run's clock, and its
// trace, begin with the media.
type network struct {
	near, far   *socket
	meter       *meter
	returnDelay time.Duration
	telemetry   *telemetry // nil when nobody listens

	mu      sync.Mutex
	cell    *cell.Cell // nil until begin
	wait    time.Time  // what the loop sleeps until; zero: a wake
	flying  map[int64]datagram
	next    int64
	returns []returning
	closed  bool
	wake    chan struct{}
	done    chan struct{}
}

// datagram is in the cell.
type datagram struct {
	b     []byte
	id    int64  // in the run, if it is media
	media *piece // nil if it is not
}

// returning is on its way back.
type returning struct {
	at time.Time
	b  []byte
}

func newNetwork(m *meter, returnDelay time.Duration) *network {
	n := &network{
		near: newSocket("10.0.0.1"), far: newSocket("10.0.0.2"), meter: m, returnDelay: returnDelay,
		flying: map[int64]datagram{}, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	n.near.peer, n.far.peer = n.far, n.near
	n.near.send, n.far.send = n.up, n.down

	return n
}

// begin puts the cell in. It may be called once.
func (n *network) begin(c *cell.Cell, t *telemetry) {
	n.mu.Lock()
	n.cell, n.telemetry = c, t
	n.mu.Unlock()
	go n.loop()
}

func (n *network) up(b []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cell == nil {
		n.far.deliver(b)

		return
	}
	now := time.Now()
	size, id, media := n.meter.enter(now, b)
	n.flying[n.next] = datagram{b, id, media}
	n.cell.Enqueue(now, cell.Packet{ID: n.next, Size: size})
	n.next++
	n.nudge()
}

func (n *network) down(b []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cell == nil {
		n.near.deliver(b)

		return
	}
	n.returns = append(n.returns, returning{time.Now().Add(n.returnDelay), b})
	n.nudge()
}

// backlog is the bytes in the phone.
func (n *network) backlog() int {
	n.mu.Lock()
	defer n.mu.Unlock()

	return n.cell.Backlog()
}

// loop works when the cell, the way back or the telemetry has something to do.
func (n *network) loop() {
	defer close(n.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next, open := n.turn(time.Now())
		if !open {
			return
		}
		wait := timer.C
		if next.IsZero() {
			wait = nil
		} else {
			timer.Reset(max(time.Until(next), time.Microsecond))
		}
		select {
		case <-wait:
		case <-n.wake:
		}
	}
}

// turn does all that is due and says when there is more.
func (n *network) turn(now time.Time) (next time.Time, open bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return next, false
	}
	out := n.cell.Advance(now)
	for _, d := range out.Delivered {
		g := n.take(d.ID)
		if g.media != nil {
			d.ID = g.id
			n.meter.delivered(d, g.media)
		}
		n.far.deliver(g.b)
	}
	for _, p := range out.Dropped {
		if n.take(p.ID).media != nil {
			n.meter.lost()
		}
	}
	n.telemetry.read(out)
	for len(n.returns) > 0 && !n.returns[0].at.After(now) {
		n.near.deliver(n.returns[0].b)
		n.returns = n.returns[1:]
	}
	n.wait = n.due()

	return n.wait, true
}

func (n *network) take(id int64) datagram {
	g := n.flying[id]
	delete(n.flying, id)

	return g
}

func (n *network) due() time.Time {
	next := n.cell.NextTimeout()
	if len(n.returns) > 0 && (next.IsZero() || n.returns[0].at.Before(next)) {
		next = n.returns[0].at
	}

	return next
}

// nudge wakes the loop if it would sleep too long.
func (n *network) nudge() {
	next := n.due()
	if next.IsZero() || !n.wait.IsZero() && !next.Before(n.wait) {
		return
	}
	n.wait = next
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// end stops the loop, if begin has started it; the sockets stay.
func (n *network) end() {
	n.mu.Lock()
	n.closed = true
	began := n.cell != nil
	n.mu.Unlock()
	if !began {
		return
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
	<-n.done
}
