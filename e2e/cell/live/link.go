// SPDX-License-Identifier: MIT

package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// ErrStarted is returned by Start and Run of a Link that ran before.
var ErrStarted = errors.New("live: link was started before")

// Config describes a Link.
type Config struct {
	// Cell is the radio. A zero Start means the time of New; Telemetry.Encoded
	// is always set.
	Cell cell.Config
	// ReturnDelay is what Downlink adds; 25 ms. Negative: none.
	ReturnDelay time.Duration
	// DiagBuffer bounds the bytes that each reader of Diag has waiting; 256 KiB.
	DiagBuffer int
	// Logger gets the errors of sockets, at level debug; nil is silent.
	Logger *slog.Logger
}

// ipv4UDP is the bytes of IPv4 and UDP header on the link.
const ipv4UDP = 28

// Link is a cell in real time. Make one with New or NewLoad.
type Link struct {
	cfg    Config
	cancel context.CancelFunc
	ctx    context.Context // ended by Close
	done   chan struct{}   // closed when the loop has ended
	wake   chan struct{}

	mu       sync.Mutex
	started  bool
	closed   bool
	cell     *cell.Cell
	load     *load
	sleep    time.Time // the loop sleeps until then; zero: until woken
	slots    []datagram
	free     []int64
	returns  []datagram // of the downlink, in order of time
	buffers  sync.Pool
	due      []datagram // the loop's alone
	taps     []*tap
	counters counters
}

// datagram is on its way; due is for the downlink.
type datagram struct {
	conn net.PacketConn
	addr net.Addr
	buf  *[]byte
	due  time.Time
}

type counters struct {
	diagChunks, diagBytes, diagDropped int64
	returned, writeErrors              int64
	maxLag                             time.Duration
}

// Stats counts since the start.
type Stats struct {
	cell.Stats
	// DiagChunks, with DiagBytes in all, left the diagnostic port;
	// DiagDropped were not delivered to a reader that lagged.
	DiagChunks, DiagBytes, DiagDropped int64
	// Returned datagrams went through Downlink.
	Returned int64
	// WriteErrors are datagrams that a socket did not take.
	WriteErrors int64
	// MaxLag is the latest that the loop ever was.
	MaxLag time.Duration
}

// Snapshot is the link now.
type Snapshot struct {
	At time.Time
	// CapacityBps is the mean over the last 200 ms, in bit/s.
	CapacityBps int
	// BacklogBytes wait in the phone, the first of them for QueueDelay.
	BacklogBytes int
	QueueDelay   time.Duration
}

// snapshotWindow is the window of Snapshot.CapacityBps.
const snapshotWindow = 200 * time.Millisecond

// New makes a link. It does nothing before Start or Run.
func New(cfg Config) (*Link, error) {
	if cfg.Cell.Start.IsZero() {
		cfg.Cell.Start = time.Now()
	}
	if cfg.ReturnDelay == 0 {
		cfg.ReturnDelay = 25 * time.Millisecond
	}
	cfg.ReturnDelay = max(cfg.ReturnDelay, 0)
	if cfg.DiagBuffer == 0 {
		cfg.DiagBuffer = 256 << 10
	}
	if cfg.DiagBuffer < 0 {
		return nil, fmt.Errorf("live: diagnostic buffer of %d bytes", cfg.DiagBuffer)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Cell.Telemetry.Encoded = true
	c, err := cell.New(cfg.Cell)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	l := &Link{cfg: cfg, cell: c, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.buffers.New = func() any { b := make([]byte, 0, 1500); return &b }
	return l, nil
}

// Start runs the link in a goroutine until Close. It returns ErrStarted when
// the link ran before, net.ErrClosed after Close.
func (l *Link) Start() error {
	if err := l.begin(); err != nil {
		return err
	}
	go l.loop(l.ctx)
	return nil
}

// Run runs the link until Close, then returns nil, or until ctx is done, then
// closes the link and returns context.Cause(ctx). Errors as of Start.
func (l *Link) Run(ctx context.Context) error {
	if err := l.begin(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, l.cancel)
	defer stop()
	l.loop(l.ctx)
	if ctx.Err() == nil {
		return nil
	}
	l.shut()
	return context.Cause(ctx)
}

func (l *Link) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return net.ErrClosed
	case l.started:
		return ErrStarted
	}
	l.started = true
	return nil
}

// Close ends the loop and waits for it; datagrams under way are lost, readers
// of Diag get what they have waiting and then io.EOF. The sockets stay open.
// Closing twice is fine. Do not call it from inside a socket's WriteTo.
func (l *Link) Close() error {
	l.cancel()
	if l.shut() {
		<-l.done
	}
	return nil
}

// shut marks the link closed and says whether a loop was started.
func (l *Link) shut() (started bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		for _, t := range l.taps {
			t.end()
		}
		l.taps = nil
	}
	return l.started
}

func (l *Link) loop(ctx context.Context) {
	defer close(l.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait := timer.C
		switch next := l.turn(time.Now()); {
		case next.IsZero():
			wait = nil // nothing to do until woken
		default:
			timer.Reset(max(time.Until(next), 0))
		}
		select {
		case <-ctx.Done():
			return
		case <-wait:
		case <-l.wake:
		}
	}
}

// turn does all that is due by now and returns when there is more to do; zero
// for not before a wake.
func (l *Link) turn(now time.Time) (next time.Time) {
	l.mu.Lock()
	if !l.sleep.IsZero() {
		l.counters.maxLag = max(l.counters.maxLag, now.Sub(l.sleep))
	}
	if l.load != nil {
		l.load.run(now, l.cell)
	}
	out := l.cell.Advance(now)
	for _, d := range out.Delivered {
		l.collect(d.ID, true)
	}
	for _, p := range out.Dropped {
		l.collect(p.ID, false)
	}
	for _, chunk := range out.Diag {
		l.publish(chunk.Bytes)
	}
	n := 0
	for n < len(l.returns) && !l.returns[n].due.After(now) {
		l.due = append(l.due, l.returns[n])
		n++
	}
	rest := copy(l.returns, l.returns[n:])
	clear(l.returns[rest:])
	l.returns = l.returns[:rest]
	next = l.nextTimeout()
	l.sleep = next
	l.mu.Unlock()

	for i, d := range l.due {
		if _, err := d.conn.WriteTo(*d.buf, d.addr); err != nil {
			l.mu.Lock()
			l.counters.writeErrors++
			l.mu.Unlock()
			l.cfg.Logger.Debug("datagram not sent", "addr", d.addr, "err", err)
		}
		l.buffers.Put(d.buf)
		l.due[i] = datagram{}
	}
	l.due = l.due[:0]
	return next
}

// nextTimeout is called with the lock held.
func (l *Link) nextTimeout() time.Time {
	next := l.cell.NextTimeout()
	sooner := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	if len(l.returns) > 0 {
		sooner(l.returns[0].due)
	}
	if l.load != nil {
		sooner(l.load.next)
	}
	return next
}

// noSlot marks packets without a datagram: those of a load.
const noSlot = -1

// collect frees a slot and sends its datagram on, or not.
func (l *Link) collect(slot int64, deliver bool) {
	if slot == noSlot {
		return
	}
	d := l.slots[slot]
	l.slots[slot] = datagram{}
	l.free = append(l.free, slot)
	if deliver {
		l.due = append(l.due, d)
	} else {
		l.buffers.Put(d.buf)
	}
}

// copyOf takes a datagram out of the caller's hands.
func (l *Link) copyOf(conn net.PacketConn, p []byte, addr net.Addr) datagram {
	buf, _ := l.buffers.Get().(*[]byte)
	*buf = append((*buf)[:0], p...)
	return datagram{conn: conn, addr: addr, buf: buf}
}

// up puts a datagram into the phone. A full buffer loses it, as on a phone.
func (l *Link) up(conn net.PacketConn, p []byte, addr net.Addr) (int, error) {
	d := l.copyOf(conn, p, addr)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, net.ErrClosed
	}
	slot := int64(len(l.slots))
	if n := len(l.free); n > 0 {
		slot, l.free = l.free[n-1], l.free[:n-1]
		l.slots[slot] = d
	} else {
		l.slots = append(l.slots, d)
	}
	// If it does not fit it comes back in the next Output.Dropped.
	l.cell.Enqueue(time.Now(), cell.Packet{ID: slot, Size: len(p) + ipv4UDP})
	l.nudge()
	return len(p), nil
}

// down sends a datagram back later.
func (l *Link) down(conn net.PacketConn, p []byte, addr net.Addr) (int, error) {
	d := l.copyOf(conn, p, addr)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, net.ErrClosed
	}
	d.due = time.Now().Add(l.cfg.ReturnDelay)
	l.returns = append(l.returns, d)
	l.counters.returned++
	l.nudge()
	return len(p), nil
}

// nudge wakes the loop if it would sleep too long.
func (l *Link) nudge() {
	next := l.nextTimeout()
	if next.IsZero() || !l.sleep.IsZero() && !next.Before(l.sleep) {
		return
	}
	l.sleep = next
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Snapshot returns the state of the link now.
func (l *Link) Snapshot() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return Snapshot{
		At:           now,
		CapacityBps:  l.cell.CapacityBps(now, snapshotWindow),
		BacklogBytes: l.cell.Backlog(),
		QueueDelay:   l.cell.QueueDelay(now),
	}
}

// Stats returns the counters.
func (l *Link) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{
		Stats:       l.cell.Stats(),
		DiagChunks:  l.counters.diagChunks,
		DiagBytes:   l.counters.diagBytes,
		DiagDropped: l.counters.diagDropped,
		Returned:    l.counters.returned,
		WriteErrors: l.counters.writeErrors,
		MaxLag:      l.counters.maxLag,
	}
}
