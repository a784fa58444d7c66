// SPDX-License-Identifier: MIT

//go:build browser

package browser

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

const (
	// behind is how far the emulation runs behind the clock. A datagram that is
	// read that late still enters the link when it was sent.
	behind = 20 * ms
	// ipv4UDP is the bytes of IPv4 and UDP header on the link.
	ipv4UDP = 28
	// rateBin is what received bytes are summed over.
	rateBin = 200 * ms
)

// relay is an emulated path between two sockets: a bottleneck on the way to the
// receiver, a delay on the way back. The kernel's time of a datagram is when it
// enters, and the link alone says when it arrives; how late this process runs
// shows in neither.
type relay struct {
	path        cell.PathConfig // to the receiver, from the first RTP packet on
	seed        uint64
	front, back *net.UDPConn
	// arrived is called with each RTP packet and its time at the far end.
	arrived func(at time.Time, packet []byte)
	stop    chan struct{}
	wake    chan struct{}
	wg      sync.WaitGroup

	mu      sync.Mutex
	source  netip.AddrPort // of the sender
	setup   *cell.Wire     // until there is RTP
	up      *cell.Wire
	down    *cell.Wire
	start   time.Time // of the first RTP packet at the bottleneck
	bins    []int     // bytes of RTP that arrived, by rateBin since start
	lags    []time.Duration
	sleep   time.Time
	failure error
}

// newRelay makes a relay to a receiver's socket. Its path needs a Delay of
// behind at least.
func newRelay(to *net.UDPAddr, path cell.PathConfig, seed uint64) (*relay, error) {
	path.Delay -= behind
	r := &relay{path: path, seed: seed, stop: make(chan struct{}), wake: make(chan struct{}, 1)}
	plain, now := cell.PathConfig{Delay: path.Delay}, time.Now().Round(0).Add(-behind)
	var err error
	if r.setup, err = cell.NewWire(cell.WireConfig{Start: now, Path: plain}); err != nil {
		return nil, err
	}
	if r.down, err = cell.NewWire(cell.WireConfig{Start: now, Path: plain}); err != nil {
		return nil, err
	}
	if r.front, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, err
	}
	if r.back, err = net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, to); err != nil {
		return nil, errors.Join(err, r.front.Close())
	}
	for _, c := range []*net.UDPConn{r.front, r.back} {
		if err := stampArrivals(c); err != nil {
			return nil, errors.Join(err, r.front.Close(), r.back.Close())
		}
	}

	return r, nil
}

// run begins to relay. Set arrived before.
func (r *relay) run() {
	r.wg.Go(func() { r.read(r.front, r.fromSender) })
	r.wg.Go(func() { r.read(r.back, r.fromReceiver) })
	r.wg.Go(r.move)
}

// port is where the sender sends to.
func (r *relay) port() int { return r.front.LocalAddr().(*net.UDPAddr).Port }

func (r *relay) close() error {
	close(r.stop)
	err := errors.Join(r.front.Close(), r.back.Close())
	r.wg.Wait()

	return errors.Join(err, r.failure)
}

// stampArrivals asks the kernel for the times of datagrams.
func stampArrivals(c *net.UDPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = errors.Join(
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<20),
		)
	})

	return errors.Join(err, failed)
}

// stamp is the kernel's time in a control message.
func stamp(oob []byte) (time.Time, error) {
	all, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Time{}, err
	}
	for _, m := range all {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16 {
			s, ns := binary.NativeEndian.Uint64(m.Data), binary.NativeEndian.Uint64(m.Data[8:])

			return time.Unix(int64(s), int64(ns)), nil
		}
	}

	return time.Time{}, errors.New("browser: the kernel gives datagrams no time")
}

func (r *relay) read(c *net.UDPConn, take func(at time.Time, b []byte, from netip.AddrPort)) {
	b, oob := make([]byte, 1<<16), make([]byte, 256)
	for {
		n, nn, _, from, err := c.ReadMsgUDPAddrPort(b, oob)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // what was refused by a port that is gone
		}
		at, err := stamp(oob[:nn])
		r.mu.Lock()
		if err != nil {
			r.failure = err
		} else {
			take(at, append([]byte(nil), b[:n]...), from)
		}
		r.nudge()
		r.mu.Unlock()
	}
}

// fromSender is called with the lock held.
func (r *relay) fromSender(at time.Time, b []byte, from netip.AddrPort) {
	// A browser tries from other interfaces as well; the receiver sees but one
	// peer, so only one of them is let in.
	if !r.source.IsValid() && from.Addr().Unmap().IsLoopback() {
		r.source = from
	}
	if from != r.source {
		return
	}
	p := cell.Packet{Size: len(b) + ipv4UDP, Payload: b}
	if r.up == nil && isRTP(b) {
		r.start = at
		var err error
		if r.up, err = cell.NewWire(cell.WireConfig{Start: at, Seed: r.seed, Path: r.path}); err != nil {
			r.failure = err
		}
	}
	if r.up == nil {
		r.setup.Enqueue(at, p)
	} else {
		r.up.Enqueue(at, p)
	}
}

// fromReceiver is called with the lock held.
func (r *relay) fromReceiver(at time.Time, b []byte, _ netip.AddrPort) {
	r.down.Enqueue(at, cell.Packet{Size: len(b) + ipv4UDP, Payload: b})
}

// isRTP tells RTP from the rest. RFC 7983 7, RFC 5761 4.
func isRTP(b []byte) bool {
	return len(b) >= 12 && b[0]>>6 == 2 && (b[1]&0x7f < 64 || b[1]&0x7f > 95)
}

// nudge wakes the mover if it would sleep too long. The lock is held.
func (r *relay) nudge() {
	next := r.next()
	if next.IsZero() || !r.sleep.IsZero() && !next.Before(r.sleep) {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// next is when something leaves a wire; zero is not before a nudge. The lock is
// held.
func (r *relay) next() time.Time {
	var next time.Time
	for _, w := range []*cell.Wire{r.setup, r.up, r.down} {
		if w == nil {
			continue
		}
		if t := w.NextTimeout(); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if !next.IsZero() {
		next = next.Add(behind)
	}

	return next
}

// move takes datagrams out of the wires.
func (r *relay) move() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var forward, back []cell.Delivery
	for {
		r.mu.Lock()
		now := time.Now().Round(0)
		forward, back = forward[:0], back[:0]
		forward = append(forward, r.setup.Advance(now.Add(-behind)).Delivered...)
		if r.up != nil {
			forward = append(forward, r.up.Advance(now.Add(-behind)).Delivered...)
		}
		back = append(back, r.down.Advance(now.Add(-behind)).Delivered...)
		source := r.source
		for i := range forward {
			r.count(now, &forward[i])
		}
		r.mu.Unlock()
		for _, d := range forward {
			if r.arrived != nil && isRTP(d.Payload) {
				r.arrived(d.At.Add(behind), d.Payload)
			}
			_, _ = r.back.Write(d.Payload) // as on a network
		}
		for _, d := range back {
			_, _ = r.front.WriteToUDPAddrPort(d.Payload, source)
		}
		r.mu.Lock()
		r.sleep = r.next()
		wait := timer.C
		if r.sleep.IsZero() {
			wait = nil
		} else {
			timer.Reset(max(time.Until(r.sleep), 0))
		}
		r.mu.Unlock()
		select {
		case <-r.stop:
			return
		case <-wait:
		case <-r.wake:
		}
	}
}

// count notes what arrived. The lock is held.
func (r *relay) count(now time.Time, d *cell.Delivery) {
	at := d.At.Add(behind)
	r.lags = append(r.lags, now.Sub(at))
	if r.start.IsZero() || !isRTP(d.Payload) {
		return
	}
	i := int(at.Sub(r.start) / rateBin)
	for len(r.bins) <= i {
		r.bins = append(r.bins, 0)
	}
	r.bins[i] += d.Size
}

// begun is when the first RTP packet came, zero before.
func (r *relay) begun() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.start
}

// result is what arrived, and how late this process moved it.
func (r *relay) result() (bins []int, drops int64, lags []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.up != nil {
		drops = r.up.Stats().PacketsDropped
	}

	return append(bins, r.bins...), drops, append(lags, r.lags...)
}

// A datagram takes the path's time, not this process's.
func TestRelayKeepsTime(t *testing.T) {
	far, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	r, err := newRelay(far.LocalAddr().(*net.UDPAddr), cell.PathConfig{Delay: 25 * ms, RateBps: 1_000_000, QueueBytes: 37_500}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var arrivals []time.Time
	r.arrived = func(at time.Time, _ []byte) {
		mu.Lock()
		defer mu.Unlock()
		arrivals = append(arrivals, at)
	}
	r.run()
	near, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: r.port()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = near.Close() }()
	packet := make([]byte, 1000-ipv4UDP)
	packet[0], packet[1] = 0x80, 96
	sent := time.Now()
	for range 20 {
		if _, err := near.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 2000)
	_ = far.SetReadDeadline(sent.Add(5 * time.Second))
	var back *net.UDPAddr
	for range 20 {
		if _, back, err = far.ReadFromUDP(b); err != nil {
			t.Fatal(err)
		}
	}
	// And back again.
	if _, err := far.WriteToUDP([]byte{1, 2, 3}, back); err != nil {
		t.Fatal(err)
	}
	_ = near.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := near.Read(b); err != nil || n != 3 {
		t.Fatalf("%d bytes back, %v", n, err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	// 8 ms each at 1 Mbit/s, and 25 ms.
	if got := arrivals[0].Sub(sent); got < 33*ms || got > 43*ms {
		t.Errorf("the first one took %v, want 33..43 ms", got)
	}
	if got := arrivals[19].Sub(arrivals[0]); got < 19*8*ms-ms || got > 19*8*ms+ms {
		t.Errorf("20 packets within %v, want 152 ms", got)
	}
	if bins, drops, _ := r.result(); drops != 0 || len(bins) != 1 || bins[0] != 20_000 {
		t.Errorf("bins %v, %d drops, want 20000 bytes and none", bins, drops)
	}
}
