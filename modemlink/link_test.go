// SPDX-License-Identifier: MIT

package modemlink_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/modemtest"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

var errDone = errors.New("test is done")

// running is a client in its own goroutine and what it received.
type running struct {
	*modemlink.Client
	cancel context.CancelCauseFunc
	err    chan error

	mu      sync.Mutex
	samples []gbr.Sample
	lags    []time.Duration // arrival - At
	errs    []time.Duration // how well the clocks were compared then
	empty   int
	configs []gbr.RadioConfig
	events  []modemlink.Event
}

func start(t *testing.T, url string, cfg modemlink.ClientConfig) *running {
	t.Helper()
	r := &running{err: make(chan error, 1)}
	cfg.OnEvent = func(e modemlink.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	c, err := modemlink.NewClient(url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Client = c
	ctx, cancel := context.WithCancelCause(t.Context())
	r.cancel = cancel
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.err <- c.Run(ctx, r.sink)
	}()
	t.Cleanup(func() { cancel(errDone); <-done })

	return r
}

func (r *running) sink(t gbr.Telemetry) {
	now := time.Now()
	offsetError := r.Status().OffsetError
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range t.Samples {
		r.errs = append(r.errs, offsetError)
		r.samples = append(r.samples, s)
		r.lags = append(r.lags, now.Sub(s.At))
	}
	if len(t.Samples)+len(t.Grants)+len(t.Reports) == 0 {
		r.empty++
	}
	if t.Config != nil {
		r.configs = append(r.configs, *t.Config)
	}
}

func (r *running) count() (samples, empty, configs int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	return len(r.samples), r.empty, len(r.configs)
}

func (r *running) saw(kind modemlink.EventKind) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}

	return n
}

func (r *running) connected() bool { return r.Status().Connected }

// within waits for cond and returns how long it took. The limit is in polls of
// 2 ms, so that a machine that stands still does not fail a test.
func within(t *testing.T, limit time.Duration, what string, cond func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	for polls := limit / (2 * ms); !cond(); polls-- {
		if polls <= 0 {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(2 * ms)
	}

	return time.Since(begin)
}

// feed publishes a window every 5 ms until the test ends or stop is called.
func feed(t *testing.T, s *modemtest.Server) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			s.Publish(modemtest.Window(time.Now(), 900, 1800))
			time.Sleep(5 * ms)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)

	return stop
}

func TestStreamInOrderWithTimes(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]modemtest.Option{"loopback": nil, "memory": {modemtest.InMemory()}} {
		t.Run(name, func(t *testing.T) {
			s := modemtest.NewServer(t, opts...)
			r := start(t, s.URL, modemlink.ClientConfig{Dialer: s.Dial})
			within(t, 5*time.Second, "connected", r.connected)
			const n = 100
			var at []time.Time
			for i := range n {
				now := time.Now()
				at = append(at, now)
				s.Publish(modemtest.Window(now, i, 5000))
				time.Sleep(ms)
			}
			within(t, 5*time.Second, "all samples", func() bool { n1, _, _ := r.count(); return n1 == n })
			st := r.Status()
			for i, smp := range r.samples {
				if smp.Granted != i || smp.Reported != 5000 || smp.Window != 5*ms {
					t.Fatalf("sample %d is %+v", i, smp)
				}
				if d := smp.At.Sub(at[i]).Abs(); d > r.errs[i]+ms {
					t.Errorf("sample %d: time wrong by %v, clocks within %v", i, d, r.errs[i])
				}
				if r.lags[i] < 0 {
					t.Errorf("sample %d is from the future by %v", i, -r.lags[i])
				}
			}
			if st.Gaps != 0 || st.Ignored != 0 || st.Connects != 1 || st.AgeP95 <= 0 || st.AgeP50 > st.AgeP95 {
				t.Errorf("status %+v", st)
			}
			t.Logf("rtt %v, offset within %v, age p50 %v p95 %v", st.RTT, st.OffsetError, st.AgeP50, st.AgeP95)
			r.cancel(errDone)
			if err := <-r.err; !errors.Is(err, errDone) {
				t.Errorf("Run returned %v, want the cause", err)
			}
		})
	}
}

// swap changes one query value of a pairing URL.
func swap(t *testing.T, url string, change func(*modemlink.PairingURL)) string {
	t.Helper()
	p, err := modemlink.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	change(&p)

	return p.String()
}

func TestWrongPairingIsPermanent(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	stop := feed(t, s)
	defer stop()
	for _, tc := range []struct {
		name   string
		change func(*modemlink.PairingURL)
		want   error
	}{
		{"token", func(p *modemlink.PairingURL) { p.Token = strings.Repeat("A", 43) }, modemlink.ErrUnauthorized},
		{"fingerprint", func(p *modemlink.PairingURL) { p.Fingerprint[31] ^= 1 }, modemlink.ErrFingerprint},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := start(t, swap(t, s.URL, tc.change), modemlink.ClientConfig{})
			select {
			case err := <-r.err:
				if !errors.Is(err, tc.want) {
					t.Errorf("Run returned %v, want %v", err, tc.want)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("Run goes on")
			}
			if n, empty, configs := r.count(); n+empty+configs != 0 {
				t.Errorf("received %d samples, %d empty, %d configs", n, empty, configs)
			}
		})
	}
}

func rawClient(t *testing.T, s *modemtest.Server, creds credentials.TransportCredentials) pb.ModemLinkClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///agent", grpc.WithTransportCredentials(creds),
		grpc.WithContextDialer(s.Dial), grpc.WithNoProxy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })

	return pb.NewModemLinkClient(conn)
}

func TestRefusedWithoutToken(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	feed(t, s)
	p, err := modemlink.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	// A connection has one try.
	dial := func() pb.ModemLinkClient {
		return rawClient(t, s, credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}))
	}
	for name, md := range map[string]metadata.MD{
		"none":         nil,
		"empty":        metadata.Pairs("authorization", ""),
		"wrong":        metadata.Pairs("authorization", "Bearer "+strings.Repeat("A", 43)),
		"prefix":       metadata.Pairs("authorization", "Bearer "+p.Token[:42]),
		"other scheme": metadata.Pairs("authorization", "Basic "+p.Token),
		"two":          metadata.Pairs("authorization", "Bearer x", "authorization", "Bearer "+p.Token),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(t.Context(), md), 5*time.Second)
			defer cancel()
			pong, err := dial().Ping(ctx, &pb.PingRequest{})
			if status.Code(err) != codes.Unauthenticated || pong != nil {
				t.Errorf("Ping: %v, %v", pong, err)
			}
			in, err := dial().Stream(ctx, &pb.StreamRequest{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := in.Recv()
			if status.Code(err) != codes.Unauthenticated || b != nil {
				t.Errorf("Stream: %v, %v", b, err)
			}
			if status.Convert(err).Message() != "unauthorized" {
				t.Errorf("says %q", status.Convert(err).Message())
			}
		})
	}
	// The other way round, the right token works: the test can fail.
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+p.Token)
	if _, err := dial().Ping(ctx, &pb.PingRequest{}); err != nil {
		t.Errorf("with the token: %v", err)
	}
}

func TestPlainTextAndOldTLSRefused(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	p, err := modemlink.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, creds := range map[string]credentials.TransportCredentials{
		"plain text": insecure.NewCredentials(),
		"TLS 1.2":    credentials.NewTLS(&tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}),
	} {
		ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+p.Token), 3*time.Second)
		_, err := rawClient(t, s, creds).Ping(ctx, &pb.PingRequest{})
		cancel()
		if c := status.Code(err); c != codes.Unavailable && c != codes.DeadlineExceeded {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReconnects(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	feed(t, s)
	r := start(t, s.URL, modemlink.ClientConfig{MinBackoff: 20 * ms, MaxBackoff: 100 * ms})
	have := func(n int) func() bool { return func() bool { got, _, _ := r.count(); return got >= n } }
	within(t, 5*time.Second, "samples", have(5))

	s.Kill()
	within(t, time.Second, "disconnected", func() bool { return !r.connected() })
	if err := r.Status().Err; err == nil {
		t.Error("no reason for the end")
	}
	time.Sleep(300 * ms) // a few attempts in vain
	before, _, _ := r.count()
	s.Restart()
	took := within(t, 3*time.Second, "samples after the restart", have(before+5))
	t.Logf("back after %v", took)
	st := r.Status()
	// A new session starts its own numbers: nothing was lost that counts.
	if st.Connects != 2 || st.Gaps != 0 || st.Ignored != 0 {
		t.Errorf("status %+v", st)
	}
	if r.saw(modemlink.Connected) != 2 || r.saw(modemlink.Disconnected) != 1 {
		t.Errorf("events %+v", r.events)
	}
	for i := 1; i < len(r.samples); i++ {
		if r.samples[i].At.Before(r.samples[i-1].At.Add(-5 * ms)) {
			t.Errorf("time runs back at %d: %v", i, r.samples[i].At.Sub(r.samples[i-1].At))
		}
	}
}

// A pulled cable: no error from the socket, only silence.
func TestDeadLinkIsNoticed(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	feed(t, s)
	r := start(t, s.URL, modemlink.ClientConfig{MinBackoff: 20 * ms, MaxBackoff: 100 * ms})
	within(t, 30*time.Second, "connected", r.connected)
	s.Pause()
	took := within(t, 30*time.Second, "disconnected", func() bool { return !r.connected() })
	if took < time.Second || took > 8*time.Second {
		t.Errorf("noticed after %v, want 1.5 s, and not before 1 or, on a busy machine, after 8", took)
	}
	s.Resume()
	within(t, 5*time.Second, "connected again", r.connected)
	// The same session: what passed meanwhile is a gap.
	within(t, time.Second, "gap", func() bool { return r.Status().LostBatches > 50 })
}

func TestSlowClientSeesGap(t *testing.T) {
	s := modemtest.NewServer(t, modemtest.WithConfig(modemlink.ServerConfig{QueueBatches: 16}))
	release := make(chan struct{})
	var once sync.Once
	var configs, samples int
	c, err := modemlink.NewClient(s.URL, modemlink.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	last := -1
	go func() {
		done <- c.Run(ctx, func(tel gbr.Telemetry) {
			if tel.Config != nil {
				configs++
			}
			for _, smp := range tel.Samples {
				samples++
				if smp.Granted <= last {
					t.Errorf("sample %d after %d", smp.Granted, last)
				}
				last = smp.Granted
				once.Do(func() { <-release })
				if smp.Granted == 1<<20 {
					cancel(errDone)
				}
			}
		})
	}()
	within(t, 5*time.Second, "client", func() bool { return s.Clients() == 1 })
	// More than sockets and windows hold, without waiting: Publish never blocks.
	grants := make([]gbr.Grant, 500)
	const n = 3000
	var slowest time.Duration
	for i := range n {
		now := time.Now()
		for j := range grants {
			grants[j] = gbr.Grant{At: now, Bytes: 100}
		}
		tel := modemtest.Window(now, i, 1<<20)
		tel.Grants = grants
		if i == n/2 {
			tel.Config = &gbr.RadioConfig{RAT: gbr.RATLTE, PCI: 7}
		}
		begin := time.Now()
		s.Publish(tel)
		slowest = max(slowest, time.Since(begin))
	}
	if slowest > 500*ms {
		t.Errorf("Publish took %v", slowest)
	}
	close(release)
	s.Publish(modemtest.Window(time.Now(), 1<<20, 1<<20))
	if err := <-done; !errors.Is(err, errDone) {
		t.Fatal(err)
	}
	st := c.Status()
	if st.Gaps == 0 || st.LostBatches+uint64(samples) != n+1 {
		t.Errorf("%d gaps, %d lost, %d received of %d", st.Gaps, st.LostBatches, samples, n+1)
	}
	if configs != 1 {
		t.Errorf("%d configurations, want the one, though its batch was lost", configs)
	}
	if st.Connects != 1 {
		t.Errorf("a slow sink broke the link: %+v", st)
	}
}

func TestHeartbeatAndStalledSource(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	s.Publish(gbr.Telemetry{Config: &gbr.RadioConfig{RAT: gbr.RATNR, Period: 5 * ms, PCI: 42}})
	r := start(t, s.URL, modemlink.ClientConfig{})
	within(t, 5*time.Second, "connected", r.connected)
	within(t, time.Second, "config", func() bool { _, _, n := r.count(); return n == 1 })
	if c := r.configs[0]; c.PCI != 42 || c.RAT != gbr.RATNR || c.Period != 5*ms {
		t.Errorf("config %+v", c)
	}
	// Idle and alive: 10 or more a second.
	_, before, _ := r.count()
	for range 10 {
		time.Sleep(50 * ms)
		s.Alive()
	}
	if _, after, _ := r.count(); after-before < 5 || after-before > 10 {
		t.Errorf("%d empty batches in 500 ms, want 5 to 10", after-before)
	}
	// The modem is dead, the agent is not: told, and no more empty batches.
	within(t, 3*time.Second, "stalled", func() bool { return r.saw(modemlink.SourceStalled) == 1 })
	_, before, _ = r.count()
	time.Sleep(2 * time.Second)
	if _, after, _ := r.count(); after != before {
		t.Errorf("%d signs of life of a dead modem", after-before)
	}
	if st := r.Status(); !st.Connected || st.Connects != 1 {
		t.Errorf("the link was dropped: %+v", st)
	}
	s.Alive()
	within(t, 300*ms, "resumed", func() bool { return r.saw(modemlink.SourceResumed) == 1 })
}

// A clock that is far off and 50 ppm fast.
func TestSkewedAgentClock(t *testing.T) {
	t.Parallel()
	const ahead = 1000 * time.Hour
	begin := time.Now()
	agentNow := func() time.Time {
		d := time.Since(begin)

		return begin.Add(ahead + d + d*50/1_000_000)
	}
	s := modemtest.NewServer(t, modemtest.WithConfig(modemlink.ServerConfig{Now: agentNow}))
	r := start(t, s.URL, modemlink.ClientConfig{})
	within(t, 5*time.Second, "connected", r.connected)
	var truth []time.Time
	for i := range 60 {
		at := agentNow()
		s.Publish(modemtest.Window(at, i, 100))
		// The inverse of agentNow.
		truth = append(truth, begin.Add(time.Duration(float64(at.Sub(begin)-ahead)/(1+50e-6))))
		time.Sleep(5 * ms)
	}
	within(t, 5*time.Second, "samples", func() bool { n, _, _ := r.count(); return n == 60 })
	st := r.Status()
	for i, smp := range r.samples {
		if d := smp.At.Sub(truth[i]).Abs(); d > r.errs[i]+ms || r.lags[i] < 0 {
			t.Errorf("sample %d: wrong by %v (clocks within %v), lag %v", i, d, r.errs[i], r.lags[i])
		}
	}
	if st.OffsetError < 0 || st.OffsetError > 20*ms {
		t.Errorf("clocks within %v, want 0..20 ms on the loopback", st.OffsetError)
	}
}

func TestTooManyClients(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t, modemtest.WithConfig(modemlink.ServerConfig{MaxClients: 2}))
	feed(t, s)
	cfg := modemlink.ClientConfig{MinBackoff: 20 * ms, MaxBackoff: 50 * ms}
	a, b := start(t, s.URL, cfg), start(t, s.URL, cfg)
	within(t, 5*time.Second, "two clients", func() bool { return a.connected() && b.connected() })
	c := start(t, s.URL, cfg)
	within(t, 5*time.Second, "refusal", func() bool { return status.Code(c.Status().Err) == codes.ResourceExhausted })
	a.cancel(errDone)
	within(t, 5*time.Second, "a place for the third", c.connected)
}

func TestGarbageAtThePort(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	feed(t, s)
	r := start(t, s.URL, modemlink.ClientConfig{})
	within(t, 5*time.Second, "connected", r.connected)
	for _, garbage := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		strings.Repeat("\x00", 4096), "\x16\x03\x01\xff\xff" + strings.Repeat("\xff", 70000), "",
	} {
		c, err := s.Dial(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, garbage)
		if tc, ok := c.(*net.TCPConn); ok {
			_ = tc.CloseWrite()
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		if reply, _ := io.ReadAll(io.LimitReader(c, 1<<16)); len(reply) > 512 {
			t.Errorf("%.20q was answered with %d bytes", garbage, len(reply))
		}
		_ = c.Close()
	}
	before, _, _ := r.count()
	within(t, time.Second, "telemetry goes on", func() bool { n, _, _ := r.count(); return n > before+5 })
	if st := r.Status(); st.Connects != 1 {
		t.Errorf("status %+v", st)
	}
}

func TestDialsTheAddressOfTheURL(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	got := make(chan string, 1)
	url := swap(t, s.URL, func(p *modemlink.PairingURL) { p.Host, p.Port = "fe80::1%usb0", 9 })
	r := start(t, url, modemlink.ClientConfig{Dialer: func(ctx context.Context, addr string) (net.Conn, error) {
		select {
		case got <- addr:
		default:
		}

		return s.Dial(ctx, addr)
	}})
	within(t, 5*time.Second, "connected", r.connected)
	if addr := <-got; addr != "[fe80::1%usb0]:9" {
		t.Errorf("dialled %s", addr)
	}
}

func TestServeOnceAndStopsInOrder(t *testing.T) {
	t.Parallel()
	s, err := modemlink.NewServer(modemlink.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	r := start(t, s.URL(ln.Addr()).String(), modemlink.ClientConfig{})
	within(t, 5*time.Second, "connected", r.connected)
	cancel(errDone)
	select {
	case err := <-served:
		if !errors.Is(err, errDone) {
			t.Errorf("Serve returned %v, want the cause", err)
		}
	case <-time.After(2 * time.Second):
		t.Fatal("Serve goes on")
	}
	s.Publish(modemtest.Window(time.Now(), 1, 2)) // into the void
	ln2, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), ln2); err == nil || !strings.Contains(err.Error(), "before") {
		t.Errorf("served twice: %v", err)
	}
	if _, err := modemlink.NewServer(modemlink.ServerConfig{MaxClients: -1}); err == nil {
		t.Error("negative MaxClients accepted")
	}
}

func TestClientRefusesBadConfig(t *testing.T) {
	t.Parallel()
	if _, err := modemlink.NewClient("http://x", modemlink.ClientConfig{}); !errors.Is(err, modemlink.ErrURL) {
		t.Errorf("got %v", err)
	}
	s := modemtest.NewServer(t)
	if _, err := modemlink.NewClient(s.URL, modemlink.ClientConfig{MinBackoff: -1}); err == nil {
		t.Error("negative back-off accepted")
	}
	r := start(t, s.URL, modemlink.ClientConfig{})
	within(t, 5*time.Second, "connected", r.connected)
	if err := r.Run(t.Context(), func(gbr.Telemetry) {}); err == nil {
		t.Error("it runs twice")
	}
}
