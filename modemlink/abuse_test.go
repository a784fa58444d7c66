// SPDX-License-Identifier: MIT

package modemlink_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/modemtest"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// town is a server that believes its peers to come from many addresses: the
// first byte of a connection is the last of its address.
type town struct {
	*modemlink.Server
	addr string
	url  string
}

type townListener struct{ net.Listener }

type townConn struct {
	net.Conn
	from net.Addr
}

func (c townConn) RemoteAddr() net.Addr { return c.from }

func (l townListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		var house [1]byte
		if _, err := io.ReadFull(c, house[:]); err != nil {
			_ = c.Close() // it never came

			continue
		}

		return townConn{Conn: c, from: &net.TCPAddr{IP: net.IPv4(10, 0, 0, house[0]), Port: 1}}, nil
	}
}

func newTown(t *testing.T, cfg modemlink.ServerConfig) *town {
	t.Helper()
	s, err := modemlink.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, townListener{ln}) }()
	t.Cleanup(func() {
		begin := time.Now()
		cancel(errDone)
		if err := <-served; !errors.Is(err, errDone) {
			t.Errorf("Serve returned %v", err)
		}
		if took := time.Since(begin); took > 20*time.Second { // a machine may be busy
			t.Errorf("the server took %v to stop", took)
		}
	})
	// The modem is alive.
	go func() {
		for ctx.Err() == nil {
			s.Alive()
			time.Sleep(50 * ms)
		}
	}()

	return &town{Server: s, addr: ln.Addr().String(), url: s.URL(ln.Addr()).String()}
}

// from dials from a house.
func (s *town) from(house byte) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
		if err != nil {
			return nil, err
		}
		if _, err := c.Write([]byte{house}); err != nil {
			return nil, errors.Join(err, c.Close())
		}

		return c, nil
	}
}

// grpcFrom is a client of the RPCs, without a token.
func (s *town) grpcFrom(t *testing.T, house byte) (pb.ModemLinkClient, io.Closer) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///agent", grpc.WithContextDialer(s.from(house)), grpc.WithNoProxy(),
		grpc.WithTransportCredentials(insecureTLS()))
	if err != nil {
		t.Fatal(err)
	}

	return pb.NewModemLinkClient(conn), conn
}

func withToken(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// connects tells how long a client of a house takes from nothing to connected.
func (s *town) connects(t *testing.T, house byte, limit time.Duration) time.Duration {
	t.Helper()
	begin := time.Now()
	r := start(t, s.url, modemlink.ClientConfig{Dialer: s.from(house), MinBackoff: 50 * ms, MaxBackoff: 200 * ms})
	within(t, limit, "connected", r.connected)
	took := time.Since(begin)
	r.cancel(errDone)
	if err := <-r.err; !errors.Is(err, errDone) {
		t.Errorf("Run returned %v", err)
	}

	return took
}

// background runs f in n goroutines until stop.
func background(t *testing.T, n int, f func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				f(ctx)
			}
		})
	}
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)

	return stop
}

// 16 guess the token as fast as they are let. A guess is answered with the
// truth or not at all; a client from elsewhere does not notice; one from the
// same address comes through.
func TestWrongTokenStorm(t *testing.T) {
	s := newTown(t, modemlink.ServerConfig{})
	wrong := strings.Repeat("A", 43)
	var refused, other atomic.Int64
	stop := background(t, 16, func(ctx context.Context) {
		link, conn := s.grpcFrom(t, 6)
		defer conn.Close() //nolint:errcheck // no more to do
		ctx, cancel := context.WithTimeout(withToken(ctx, wrong), 5*time.Second)
		defer cancel()
		// Eight guesses at once are still one try.
		var calls sync.WaitGroup
		var looked atomic.Int64
		for range 8 {
			calls.Go(func() {
				switch _, err := link.Ping(ctx, &pb.PingRequest{}); status.Code(err) { //nolint:exhaustive // what else is not an answer
				case codes.Unauthenticated:
					looked.Add(1)
				case codes.OK:
					t.Error("a wrong token was accepted")
				}
			})
		}
		calls.Wait()
		refused.Add(min(looked.Load(), 1))
		if looked.Load() > 1 {
			// A second connection, made when the first had ended, is another try.
			refused.Add(looked.Load() - 1)
		}
		if looked.Load() == 0 {
			other.Add(1)
			time.Sleep(20 * ms) // the test is not about the CPU
		}
	})
	begin := time.Now()
	time.Sleep(time.Second) // the free ones are used up
	from := refused.Load()
	elsewhere := s.connects(t, 7, 2*time.Second)
	same := s.connects(t, 6, 6*time.Second)
	time.Sleep(time.Second)
	rate := float64(refused.Load()-from) / (time.Since(begin) - time.Second).Seconds()
	stop()
	after := s.connects(t, 6, 3*time.Second)
	t.Logf("%d guesses answered, %.0f/s; %d rounds without an answer; connected from elsewhere in %v, same address %v, after the storm %v",
		refused.Load(), rate, other.Load(), elsewhere, same, after)
	if from > 45 {
		t.Errorf("%d guesses in the first second, want 10 free ones and 20", from)
	}
	if rate > 30 {
		t.Errorf("%.0f guesses a second, want 20", rate)
	}
	if refused.Load() < 10 {
		t.Errorf("%d guesses were answered: the test saw nothing", refused.Load())
	}
}

// Connections that send a handshake one byte at a time, and never all of it:
// more than there is room for, and then as many as there is.
func TestHalfOpenConnections(t *testing.T) {
	s := newTown(t, modemlink.ServerConfig{})
	hello := []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
	var open atomic.Int64
	slow := func(ctx context.Context) {
		c, err := s.from(6)(ctx, "")
		if err != nil {
			return
		}
		open.Add(1)
		defer open.Add(-1)
		defer c.Close() //nolint:errcheck // no more to do
		for _, b := range hello {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			// Ends when the server ends it.
			_ = c.SetReadDeadline(time.Now().Add(100 * ms))
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
				time.Sleep(20 * ms) // the test is not about the CPU

				return
			}
		}
	}
	stop := background(t, 100, slow)
	time.Sleep(500 * ms)
	held := open.Load()
	elsewhere := s.connects(t, 7, 2*time.Second)
	stop()
	background(t, 20, slow)
	time.Sleep(500 * ms)
	same := s.connects(t, 6, 6*time.Second)
	t.Logf("%d held open; connected from elsewhere in %v, from the same address in %v", held, elsewhere, same)
	if held < 40 {
		t.Errorf("%d half-open connections: the test saw nothing", held)
	}
}

// A server stops at once, whatever is half done.
func TestStopsWithHalfOpenConnections(t *testing.T) {
	var open []net.Conn
	t.Cleanup(func() {
		for _, c := range open {
			_ = c.Close()
		}
	})
	s := newTown(t, modemlink.ServerConfig{}) // its cleanup, before the one above, looks at the time
	for i := range 20 {
		c, err := s.from(byte(i))(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	time.Sleep(50 * ms)
}

// usage is what a process uses.
type usage struct {
	goroutines, fds int
	heap            uint64
}

func use() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{goroutines: runtime.NumGoroutine(), heap: m.HeapAlloc, fds: -1}
	if d, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.fds = len(d)
	}

	return u
}

// Ten thousand connections in a row: of strangers, with garbage, with TLS and
// no token, with a wrong token, and of paired clients. Nothing is left of them.
func TestTenThousandConnections(t *testing.T) {
	s := newTown(t, modemlink.ServerConfig{})
	p, err := modemlink.ParseURL(s.url)
	if err != nil {
		t.Fatal(err)
	}
	s.connects(t, 1, 2*time.Second)
	before := use()
	begin := time.Now()
	n, pings, handshakes := 0, 0, 0
	one := func(i int) {
		n++
		house := byte(2 + i%64)
		switch i % 100 {
		case 0: // a paired client
			link, conn := s.grpcFrom(t, 1)
			ctx, cancel := context.WithTimeout(withToken(t.Context(), p.Token), 5*time.Second)
			if _, err := link.Ping(ctx, &pb.PingRequest{}); err != nil {
				t.Fatalf("number %d: %v", n, err)
			}
			pings++
			cancel()
			_ = conn.Close()
		case 1: // TLS, and no token; it may not be let
			c, err := s.from(house)(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			_ = c.SetDeadline(time.Now().Add(20 * ms))
			tc := tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
			if tc.Handshake() == nil {
				handshakes++
			}
			_ = c.Close()
		default:
			c, err := s.from(house)(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
			}
			_ = c.Close()
		}
	}
	for i := range 10_000 {
		one(i)
	}
	took := time.Since(begin)
	var after usage
	within(t, 5*time.Second, "nothing left", func() bool {
		after = use()

		return after.goroutines <= before.goroutines+2 && after.fds <= before.fds
	})
	t.Logf("%d connections (%d paired, %d handshakes of strangers) in %v; before %+v, after %+v", n, pings, handshakes, took, before, after)
	if grown := int64(after.heap) - int64(before.heap); grown > 4<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	// And it still works.
	s.connects(t, 1, 2*time.Second)
}

// A paired client that opens as many streams as it can, and does not read.
func TestManyStreams(t *testing.T) {
	s := newTown(t, modemlink.ServerConfig{MaxClients: 4})
	p, err := modemlink.ParseURL(s.url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(withToken(t.Context(), p.Token))
	defer cancel()
	before := use()
	var full, open int
	for range 10 {
		link, conn := s.grpcFrom(t, 6)
		t.Cleanup(func() { _ = conn.Close() })
		for range 6 {
			in, err := link.Stream(ctx, &pb.StreamRequest{})
			if err != nil {
				t.Fatal(err)
			}
			switch _, err := in.Recv(); status.Code(err) {
			case codes.OK:
				open++
			case codes.ResourceExhausted:
				full++
			default:
				t.Fatal(err)
			}
		}
	}
	if open != 4 || full != 56 || s.Clients() != 4 {
		t.Errorf("%d streams open, %d refused, %d clients; want 4, 56, 4", open, full, s.Clients())
	}
	// Nobody reads what is published now.
	grants := make([]gbr.Grant, 1000)
	for range 2000 {
		for i := range grants {
			grants[i] = gbr.Grant{At: time.Now(), Bytes: 1000}
		}
		s.Publish(gbr.Telemetry{Grants: grants})
	}
	// Of two million grants some 33 thousand wait, the same for all clients.
	after := use()
	t.Logf("heap %d kB before, %d kB after", before.heap>>10, after.heap>>10)
	if after.heap > before.heap+12<<20 {
		t.Errorf("the heap grew by %d bytes", after.heap-before.heap)
	}
	cancel()
	within(t, 5*time.Second, "all left", func() bool { return s.Clients() == 0 })
	s.connects(t, 7, 2*time.Second)
}

// The interface has no call that changes anything, and nothing else is served.
func TestReadOnly(t *testing.T) {
	var names []string
	for _, m := range pb.ModemLink_ServiceDesc.Methods {
		names = append(names, m.MethodName)
	}
	for _, m := range pb.ModemLink_ServiceDesc.Streams {
		names = append(names, m.StreamName)
		if m.ClientStreams {
			t.Errorf("%s takes a stream from the client", m.StreamName)
		}
	}
	if got := strings.Join(names, " "); got != "Ping Stream" {
		t.Errorf("the service has %s", got)
	}
	s := newTown(t, modemlink.ServerConfig{})
	p, err := modemlink.ParseURL(s.url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("passthrough:///agent", grpc.WithContextDialer(s.from(1)), grpc.WithNoProxy(),
		grpc.WithTransportCredentials(insecureTLS()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // no more to do
	ctx := withToken(t.Context(), p.Token)
	for _, method := range []string{
		"/gbrcc.modemlink.v1.ModemLink/Set", "/gbrcc.modemlink.v2.ModemLink/Ping",
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/grpc.health.v1.Health/Check",
	} {
		if err := conn.Invoke(ctx, method, &pb.PingRequest{}, &pb.PingResponse{}); status.Code(err) != codes.Unimplemented {
			t.Errorf("%s: %v", method, err)
		}
	}
	// A request that is too large is refused.
	big := &pb.PingRequest{}
	big.ProtoReflect().SetUnknown(append([]byte{0x7a, 0x80, 0x80, 0x01}, make([]byte, 16<<10)...)) // field 15, 16384 bytes
	if _, err := pb.NewModemLinkClient(conn).Ping(ctx, big); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a large request: %v", err)
	}
	if _, err := pb.NewModemLinkClient(conn).Ping(ctx, &pb.PingRequest{}); err != nil {
		t.Errorf("a small request: %v", err)
	}
}

// proxy carries TCP and may damage what the agent says.
type proxy struct {
	ln     net.Listener
	damage atomic.Bool // the next chunk from the agent
	conns  atomic.Int64
}

func newProxy(t *testing.T, dial func(context.Context, string) (net.Conn, error)) *proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{ln: ln}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			up, err := dial(context.Background(), "")
			if err != nil {
				_ = c.Close()

				continue
			}
			p.conns.Add(1)
			wg.Go(func() { p.carry(up, c, nil) })
			wg.Go(func() { p.carry(c, up, &p.damage) })
		}
	})
	t.Cleanup(func() { _ = ln.Close(); wg.Wait() })

	return p
}

func (p *proxy) carry(to, from net.Conn, damage *atomic.Bool) {
	defer to.Close()   //nolint:errcheck // no more to do
	defer from.Close() //nolint:errcheck // no more to do
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if damage != nil && damage.Swap(false) {
			buf[n/2] ^= 1
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// One bit that changed on the way ends the connection, is never telemetry, and
// the client comes back.
func TestFlippedBit(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	feed(t, s)
	p := newProxy(t, s.Dial)
	r := start(t, s.URL, modemlink.ClientConfig{
		MinBackoff: 10 * ms, MaxBackoff: 50 * ms,
		Dialer: func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", p.ln.Addr().String())
		},
	})
	within(t, 5*time.Second, "connected", r.connected)
	for i := range 5 {
		p.damage.Store(true)
		within(t, 3*time.Second, "the connection ends", func() bool { return r.saw(modemlink.Disconnected) == i+1 })
		within(t, 3*time.Second, "connected again", func() bool { return r.saw(modemlink.Connected) == i+2 })
		n, _, _ := r.count()
		within(t, 3*time.Second, "telemetry", func() bool { m, _, _ := r.count(); return m > n+3 })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, smp := range r.samples {
		if smp.Granted != 900 || smp.Reported != 1800 {
			t.Fatalf("sample %d is %+v", i, smp)
		}
	}
	if st := r.Status(); st.Ignored != 0 {
		t.Errorf("%d ignored", st.Ignored)
	}
}

// insecureTLS takes any certificate.
func insecureTLS() credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})
}
