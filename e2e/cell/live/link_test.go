// SPDX-License-Identifier: MIT

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func within(t *testing.T, what string, got, want, tol float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.4g %s, want %.4g ± %.4g", what, got, unit, want, tol)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// socket is a net.PacketConn that notes what is written and when.
type socket struct {
	mu   sync.Mutex
	got  []wire
	fail error
}

type wire struct {
	data string
	addr net.Addr
	at   time.Time
}

type address string

func (a address) Network() string { return "fake" }
func (a address) String() string  { return string(a) }

func (s *socket) WriteTo(p []byte, addr net.Addr) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return 0, s.fail
	}
	s.got = append(s.got, wire{string(p), addr, time.Now()})
	return len(p), nil
}

func (s *socket) sent() []wire {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]wire(nil), s.got...)
}

func (s *socket) ReadFrom(p []byte) (int, net.Addr, error) {
	return copy(p, "through"), address("peer"), nil
}
func (s *socket) Close() error                     { return nil }
func (s *socket) LocalAddr() net.Addr              { return address("local") }
func (s *socket) SetDeadline(time.Time) error      { return nil }
func (s *socket) SetReadDeadline(time.Time) error  { return nil }
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

func shut(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func start(t *testing.T, cfg Config) *Link {
	t.Helper()
	if cfg.Cell.Capacity.Len() == 0 {
		cfg.Cell.Capacity = cell.Constant(8e6)
	}
	l, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestUplinkIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, Config{})
		defer shut(t, l)
		s := &socket{}
		up := l.Uplink(s)
		for i := range 20 {
			time.Sleep(501*time.Millisecond + 300*time.Microsecond)
			before := time.Now()
			p := fmt.Appendf(nil, "%-400d", i)
			if n, err := up.WriteTo(p, address("far")); n != 400 || err != nil {
				t.Fatal(n, err)
			}
			clear(p) // the link has a copy
			time.Sleep(100 * time.Millisecond)
			got := s.sent()
			if len(got) != i+1 || got[i].data != fmt.Sprintf("%-400d", i) || got[i].addr != address("far") {
				t.Fatalf("got %d: %+v", len(got), got)
			}
			// Next TTI, wait for SR 0..20, 9 ms, path 25.
			within(t, "delay", ms(got[i].at.Sub(before)), 45, 11, "ms")
		}
		buf := make([]byte, 100)
		n, from, err := up.ReadFrom(buf)
		if string(buf[:n]) != "through" || from != address("peer") || err != nil {
			t.Errorf("read %q from %v, %v", buf[:n], from, err)
		}
	})
}

func TestUplinkSaturated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, Config{Cell: cell.Config{BufferBytes: 100_000}})
		defer shut(t, l)
		s := &socket{}
		up := l.Uplink(s)
		for i := range 5000 { // 16.2 Mbit/s with headers into 8
			for k := range 2 {
				if _, err := up.WriteTo(fmt.Appendf(nil, "%-1000d", 2*i+k), address("far")); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Millisecond)
		}
		snap := l.Snapshot()
		within(t, "capacity", float64(snap.CapacityBps), 8e6, 1, "bit/s")
		within(t, "backlog", float64(snap.BacklogBytes), 99_000, 1500, "bytes")
		within(t, "queue delay", ms(snap.QueueDelay), 100, 3, "ms")
		got := s.sent()
		within(t, "goodput", float64(len(got))*1028*8/5, 7.85e6, 0.15e6, "bit/s")
		last := -1
		for _, w := range got {
			var n int
			if _, err := fmt.Sscan(w.data, &n); err != nil || n <= last {
				t.Fatalf("%d after %d, %v", n, last, err)
			}
			last = n
		}
		st := l.Stats()
		if st.PhoneDrops < 4000 || st.PhoneDrops > 5500 || st.MaxLag != 0 || st.WriteErrors != 0 {
			t.Errorf("%+v", st)
		}
		time.Sleep(time.Second)
		st = l.Stats()
		if st.BytesQueued+st.BytesInFlight != 0 || st.PacketsDelivered != int64(len(s.sent())) || st.PacketsDelivered+st.PhoneDrops != 10_000 {
			t.Errorf("after a second: %+v, %d sent", st, len(s.sent()))
		}
	})
}

func TestDownlink(t *testing.T) {
	for _, tc := range []struct{ cfg, want time.Duration }{{0, 25 * time.Millisecond}, {40 * time.Millisecond, 40 * time.Millisecond}, {-1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			l := start(t, Config{ReturnDelay: tc.cfg})
			defer shut(t, l)
			s := &socket{}
			down := l.Downlink(s)
			var sent []time.Time
			for i := range 100 {
				sent = append(sent, time.Now())
				if n, err := down.WriteTo(fmt.Append(nil, i), address("phone")); n == 0 || err != nil {
					t.Fatal(n, err)
				}
				time.Sleep(time.Duration(i) * 137 * time.Microsecond)
			}
			time.Sleep(time.Second)
			got := s.sent()
			if len(got) != 100 {
				t.Fatalf("%d datagrams", len(got))
			}
			for i, w := range got {
				if w.data != fmt.Sprint(i) || w.at.Sub(sent[i]) != tc.want {
					t.Errorf("datagram %q after %v", w.data, w.at.Sub(sent[i]))
				}
			}
			if st := l.Stats(); st.Returned != 100 || st.PacketsIn != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A loop that wakes up late catches up: what comes out is the same.
func TestCatchUp(t *testing.T) {
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	run := func(step int) (s *socket, next time.Time, lag time.Duration) {
		cfg := LoadConfig{Config: Config{DiagBuffer: 4 << 20, Cell: cell.Config{Start: begin, Seed: 4, Capacity: cell.Constant(8e6)}}}
		l, err := NewLoad(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer shut(t, l)
		tp, _ := l.Diag().(*tap)
		s = &socket{}
		for i := 0; i <= 3000; i += step {
			next = l.turn(begin.Add(time.Duration(i) * time.Millisecond))
		}
		s.got = append(s.got, wire{data: string(tp.data)})
		return s, next, l.Stats().MaxLag
	}
	a, nextA, lagA := run(1)
	b, nextB, lagB := run(300)
	if a.got[0].data != b.got[0].data || len(a.got[0].data) < 100_000 {
		t.Errorf("the modem logged %d and %d bytes", len(a.got[0].data), len(b.got[0].data))
	}
	if want := begin.Add(3001 * time.Millisecond); !nextA.After(begin.Add(3000*time.Millisecond)) || nextA.After(want) || !nextB.Equal(nextA) {
		t.Errorf("next at %v and %v", nextA, nextB)
	}
	within(t, "lag in steps of 1 ms", ms(lagA), 0, 1, "ms")
	within(t, "lag in steps of 300 ms", ms(lagB), 299.5, 1, "ms")
}

// Two links with one start and seed have one capacity.
func TestSameStartSameCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Cell: cell.Config{Start: time.Now().Add(-time.Second), Capacity: cell.SynthLTE(3, 20*time.Second)}}
		a := start(t, cfg)
		defer shut(t, a)
		time.Sleep(777 * time.Millisecond)
		b := start(t, cfg)
		defer shut(t, b)
		seen := map[int]bool{}
		for range 50 {
			time.Sleep(150 * time.Millisecond)
			sa, sb := a.Snapshot(), b.Snapshot()
			if sa.CapacityBps != sb.CapacityBps {
				t.Fatalf("%+v and %+v", sa, sb)
			}
			seen[sa.CapacityBps] = true
		}
		if len(seen) < 25 {
			t.Errorf("only %d capacities in 50 looks", len(seen))
		}
	})
}

// read decodes a diagnostic stream to its end.
func read(r io.Reader) (recs []diag.Record, at []time.Time, err error) {
	var dec diag.Decoder
	buf := make([]byte, 700)
	for {
		n, err := r.Read(buf)
		if err != nil {
			return recs, at, err
		}
		dec.Write(buf[:n])
		for {
			before := len(recs)
			if recs, err = dec.Next(recs); err != nil {
				break
			}
			for range len(recs) - before {
				at = append(at, time.Now())
			}
		}
	}
}

func TestLoadAndDiag(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  LoadConfig
		mbps float64 // on air
	}{
		{"saturated", LoadConfig{}, 8},
		{"half the time", LoadConfig{On: 500 * time.Millisecond, Off: 500 * time.Millisecond}, 4.16},
		{"rate", LoadConfig{RateBps: 3e6}, 3.06},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc.cfg.Cell.Capacity = cell.Constant(8e6)
				l, err := NewLoad(tc.cfg)
				if err != nil {
					t.Fatal(err)
				}
				d := l.Diag()
				var recs []diag.Record
				var at []time.Time
				var readErr error
				done := make(chan struct{})
				go func() {
					defer close(done)
					recs, at, readErr = read(d)
				}()
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New("over"))
				defer cancel()
				if err := l.Run(ctx); err == nil || err.Error() != "over" {
					t.Errorf("Run: %v", err)
				}
				<-done
				if !errors.Is(readErr, io.EOF) {
					t.Errorf("read: %v", readErr)
				}
				bytes, reports := 0, 0
				for i, r := range recs {
					if r.Code == diag.LogB139 && r.Retx == 0 {
						bytes += r.Bytes
					}
					if r.Kind == diag.KindBSR {
						reports++
					}
					// 3..4 ms after the modem's stamp, to its resolution.
					if age := at[i].Sub(r.Logged.Time()); age < 2999*time.Microsecond || age > 15*time.Millisecond {
						t.Fatalf("record %d is %v old", i, age)
					}
				}
				within(t, "granted", float64(bytes)*8/10/1e6, tc.mbps, 0.05*tc.mbps, "Mbit/s")
				if reports < 500 || recs[0].Kind != diag.KindConfig {
					t.Errorf("%d reports, first record %+v", reports, recs[0])
				}
				if st := l.Stats(); st.DiagDropped != 0 || st.DiagChunks < 900 || st.DiagBytes < 50_000 {
					t.Errorf("%+v", st)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestLoadErrors(t *testing.T) {
	ok := Config{Cell: cell.Config{Capacity: cell.Constant(1e6)}}
	for _, bad := range []LoadConfig{
		{Config: ok, RateBps: -1},
		{Config: ok, PacketBytes: -1},
		{Config: ok, On: -1},
		{},
		{Config: Config{Cell: ok.Cell, DiagBuffer: -1}},
	} {
		if _, err := NewLoad(bad); err == nil {
			t.Errorf("no error for %+v", bad)
		}
	}
	if _, err := New(Config{}); !errors.Is(err, cell.ErrConfig) {
		t.Errorf("error %v", err)
	}
}

// A reader that lags loses whole packets; the others lose nothing.
func TestDiagLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := NewLoad(LoadConfig{Config: Config{DiagBuffer: 3000, Cell: cell.Config{Capacity: cell.Constant(8e6)}}})
		if err != nil {
			t.Fatal(err)
		}
		slow, fast := l.Diag(), l.Diag()
		n := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			recs, _, _ := read(fast)
			n = len(recs)
		}()
		if err := l.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		<-done
		st := l.Stats()
		if st.DiagDropped < 350 || st.DiagDropped >= st.DiagChunks {
			t.Errorf("%+v", st)
		}
		if n < 4000 {
			t.Errorf("the fast reader has %d records", n)
		}
		// What is left for the slow one ends with a whole packet.
		rest, err := io.ReadAll(slow)
		if err != nil || len(rest) == 0 || len(rest) > 3000 || rest[len(rest)-1] != 0x7E {
			t.Errorf("%d bytes, %v", len(rest), err)
		}
		if _, err := l.Diag().Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("reader made after Close: %v", err)
		}
	})
}

func TestDiagClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, Config{})
		defer shut(t, l)
		time.Sleep(time.Second)
		d := l.Diag()
		if n, err := d.Read(nil); n != 0 || err != nil {
			t.Errorf("empty read: %d, %v", n, err)
		}
		got := make(chan error)
		for range 2 {
			go func() { _, err := d.Read(make([]byte, 1)); got <- err }()
		}
		synctest.Wait()
		for range 2 {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			if err := <-got; !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("read: %v", err)
			}
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, Config{})
		s := &socket{}
		up, down, d := l.Uplink(s), l.Downlink(s), l.Diag()
		if err := l.Start(); !errors.Is(err, ErrStarted) {
			t.Errorf("second Start: %v", err)
		}
		if err := l.Run(t.Context()); !errors.Is(err, ErrStarted) {
			t.Errorf("Run: %v", err)
		}
		time.Sleep(time.Second)
		for _, c := range []net.PacketConn{up, down} {
			if _, err := c.WriteTo([]byte("x"), address("far")); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, c := range []net.PacketConn{up, down} {
			if _, err := c.WriteTo([]byte("x"), address("far")); !errors.Is(err, net.ErrClosed) {
				t.Errorf("write after Close: %v", err)
			}
		}
		if _, err := io.ReadAll(d); err != nil {
			t.Error(err)
		}
		if err := l.Start(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Start after Close: %v", err)
		}
		time.Sleep(time.Second)
		if got := s.sent(); len(got) != 0 {
			t.Errorf("sent after Close: %+v", got)
		}
		// Without a Start, too.
		idle, err := New(Config{Cell: cell.Config{Capacity: cell.Constant(1e6)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := idle.Close(); err != nil {
			t.Error(err)
		}
		if err := idle.Run(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Run after Close: %v", err)
		}
	})
}

func TestRunEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New(Config{Cell: cell.Config{Capacity: cell.Constant(1e6)}})
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() { got <- l.Run(t.Context()) }()
		time.Sleep(time.Second)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestWriteErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, Config{})
		defer shut(t, l)
		s := &socket{fail: net.ErrClosed}
		for range 3 {
			if _, err := l.Uplink(s).WriteTo([]byte("x"), address("far")); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Second)
		if st := l.Stats(); st.WriteErrors != 3 || st.PacketsDelivered != 3 {
			t.Errorf("%+v", st)
		}
	})
}

// Everything at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, Config{Cell: cell.Config{BufferBytes: 20_000}})
		s := &socket{}
		up, down := l.Uplink(s), l.Downlink(s)
		var wg sync.WaitGroup
		each := func(n int, f func()) {
			wg.Go(func() {
				for range n {
					f()
					time.Sleep(700 * time.Microsecond)
				}
			})
		}
		p := make([]byte, 900)
		for range 3 {
			each(1000, func() { _, _ = up.WriteTo(p, address("far")) })
			each(1000, func() { _, _ = down.WriteTo(p, address("phone")) })
			each(100, func() {
				d := l.Diag()
				_, _ = d.Read(make([]byte, 50))
				_ = d.Close()
			})
		}
		each(500, func() { l.Snapshot(); l.Stats() })
		time.Sleep(200 * time.Millisecond)
		wg.Go(func() { time.Sleep(600 * time.Millisecond); _ = l.Close() })
		wg.Wait()
		if st := l.Stats(); st.PacketsDelivered < 500 || st.Returned < 2000 {
			t.Errorf("%+v", st)
		}
	})
}

// Real sockets and a real clock, with bounds for a busy machine.
func TestLoopback(t *testing.T) {
	listen := func() net.PacketConn {
		var lc net.ListenConfig
		c, err := lc.ListenPacket(t.Context(), "udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	phone, far := listen(), listen()
	defer shut(t, phone)
	defer shut(t, far)
	l := start(t, Config{})
	defer shut(t, l)
	up, down := l.Uplink(phone), l.Downlink(far)

	// The far side echoes each datagram over the return path.
	var wg sync.WaitGroup
	defer wg.Wait()
	defer shut(t, far)
	wg.Go(func() {
		buf := make([]byte, 2000)
		for {
			n, from, err := far.ReadFrom(buf)
			if err != nil {
				return
			}
			if _, err := down.WriteTo(buf[:n], from); err != nil {
				return
			}
		}
	})
	const n = 200
	sent := make([]time.Time, n)
	var mu sync.Mutex
	wg.Go(func() {
		for i := range n {
			mu.Lock()
			sent[i] = time.Now()
			mu.Unlock()
			_, _ = up.WriteTo(fmt.Appendf(nil, "%-600d", i), far.LocalAddr())
			time.Sleep(4 * time.Millisecond)
		}
	})
	if err := phone.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 2000)
	least, sum := 1e9, 0.0
	for i := range n {
		size, _, err := up.ReadFrom(buf)
		if err != nil {
			t.Fatalf("datagram %d: %v", i, err)
		}
		var id int
		if _, err := fmt.Sscan(string(buf[:size]), &id); err != nil || id != i {
			t.Fatalf("datagram %d, want %d (%v)", id, i, err)
		}
		mu.Lock()
		rtt := ms(time.Since(sent[i]))
		mu.Unlock()
		least, sum = min(least, rtt), sum+rtt
	}
	// 25 ms there, 25 ms back, and 9 ms or more through the cell.
	within(t, "least round trip", least, 75, 16, "ms")
	within(t, "mean round trip", sum/n, 110, 50, "ms")
}
