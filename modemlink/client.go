// SPDX-License-Identifier: MIT

package modemlink

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/gbrcc/gbrcc/gbr"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// Errors that no retry can mend: the pairing is not, or no longer, valid.
var (
	// ErrUnauthorized: the agent does not know the token.
	ErrUnauthorized = errors.New("modemlink: the agent refused the token: pair again")
	// ErrFingerprint: the agent has another certificate than the one paired
	// with. It was reset, or something else answers in its place.
	ErrFingerprint = errors.New("modemlink: the agent's certificate is not the one paired with: pair again")
)

// errSilent ends a connection on which nothing came.
var errSilent = errors.New("modemlink: nothing came for too long")

const (
	connectTimeout = 3 * time.Second
	pingEvery      = 500 * time.Millisecond
	pingsAtStart   = 5
	pingAtStart    = 40 * time.Millisecond
	// maxMessageBytes is twice the largest batch of the agent here.
	maxMessageBytes = 256 << 10
	// windowBytes bounds what is under way to a client that stalls; the
	// smallest that gRPC allows.
	windowBytes = 64 << 10
)

// ClientConfig configures a [Client]. The zero value is usable.
type ClientConfig struct {
	// Logger is nil for none.
	Logger *slog.Logger
	// Dialer opens the connection under TLS, default TCP.
	Dialer func(ctx context.Context, addr string) (net.Conn, error)
	// MinBackoff and MaxBackoff bound the wait before a new attempt; it
	// doubles with each failure and is jittered by half. Defaults 100 ms, 3 s.
	MinBackoff, MaxBackoff time.Duration
	// OnEvent is told what happens to the link, in order, from the goroutine
	// of Run and without a lock held. It must not block. Nil for none.
	OnEvent func(Event)
}

// Client is the sender's end of the link. Run it once; Status is safe for
// concurrent use.
type Client struct {
	url PairingURL
	cfg ClientConfig

	running atomic.Bool
	// Of the goroutine of Run.
	dec     decoder
	meter   meter
	session uint64
	seq     uint64
	known   bool // session and seq are
	stalled bool

	mu sync.Mutex
	// Under mu; dec.clock too, which the ping goroutine feeds.
	status Status
	ages   ages
}

// NewClient makes a client for a pairing URL; see [ParseURL].
func NewClient(url string, cfg ClientConfig) (*Client, error) {
	p, err := ParseURL(url)
	if err != nil {
		return nil, err
	}
	if cfg.MinBackoff < 0 || cfg.MaxBackoff < 0 {
		return nil, fmt.Errorf("modemlink: client: negative back-off %v..%v", cfg.MinBackoff, cfg.MaxBackoff)
	}
	if cfg.MinBackoff == 0 {
		cfg.MinBackoff = 100 * time.Millisecond
	}
	if cfg.MaxBackoff == 0 {
		cfg.MaxBackoff = 3 * time.Second
	}
	cfg.MaxBackoff = max(cfg.MaxBackoff, cfg.MinBackoff)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Dialer == nil {
		cfg.Dialer = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}
	}

	return &Client{url: p, cfg: cfg, dec: decoder{base: time.Now()}}, nil
}

// Run connects, and connects again whenever the link breaks or is silent for
// 1.5 s, and hands every batch to sink, in order and from this goroutine. An
// empty batch means that the modem is there and idle; when the modem or the
// link is dead sink is not called at all.
//
// The slices and the Config of a batch are reused: sink may keep them only until
// it returns. Times are on the local monotonic clock and never in the future.
//
// Run returns the cause of ctx when that ends, or [ErrUnauthorized],
// [ErrFingerprint] or [ErrVersion] at once. No goroutine is left.
func (c *Client) Run(ctx context.Context, sink func(gbr.Telemetry)) error {
	if c.running.Swap(true) {
		return errors.New("modemlink: client: it runs already")
	}
	defer c.running.Store(false)

	wait := c.cfg.MinBackoff
	for {
		heard, err := c.connection(ctx, sink)
		c.disconnected(ctx, err)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, ErrUnauthorized), errors.Is(err, ErrFingerprint), errors.Is(err, ErrVersion):
			return err
		case heard:
			wait = c.cfg.MinBackoff
		}
		if rest(ctx, wait/2+rand.N(wait/2+1)); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait = min(2*wait, c.cfg.MaxBackoff)
	}
}

// connection is the life of one connection. It always ends with an error.
func (c *Client) connection(parent context.Context, sink func(gbr.Telemetry)) (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var wrongPin atomic.Bool
	// The target is only a name: a zone in an address is no valid target.
	conn, err := grpc.NewClient("passthrough:///"+serverName,
		grpc.WithTransportCredentials(credentials.NewTLS(c.tlsConfig(&wrongPin))),
		grpc.WithPerRPCCredentials(bearer(c.url.Token)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return c.cfg.Dialer(ctx, c.url.Addr())
		}),
		grpc.WithNoProxy(), // the agent is a cable away
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithInitialWindowSize(windowBytes),
		grpc.WithInitialConnWindowSize(windowBytes),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessageBytes)),
	)
	if err != nil {
		return false, fmt.Errorf("modemlink: client: %w", err)
	}
	defer conn.Close() //nolint:errcheck // it only says that it was closed before

	// Silence ends the connection: neither TCP nor gRPC's keep-alive (10 s at
	// least) notices a pulled cable in time.
	var dog watchdog
	dog.allow(connectTimeout)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel(nil)
	helpers.Go(func() { dog.run(ctx, func() { cancel(errSilent) }) })

	heard, err = c.stream(ctx, cancel, pb.NewModemLinkClient(conn), &dog, sink)
	switch cause := context.Cause(ctx); {
	case wrongPin.Load():
		err = ErrFingerprint
	case status.Code(err) == codes.Unauthenticated:
		err = ErrUnauthorized
	case errors.Is(cause, errSilent), errors.Is(cause, ErrUnauthorized):
		err = cause // and not that the call was cancelled
	default:
		if v := versionError(err); v != nil {
			err = v
		}
	}

	return heard, err
}

func (c *Client) tlsConfig(wrongPin *atomic.Bool) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		ServerName: serverName,
		// The pin replaces chain, name and dates. That the peer has the
		// certificate's key is checked by TLS all the same.
		InsecureSkipVerify: true,
		VerifyConnection: func(cs tls.ConnectionState) error {
			if len(cs.PeerCertificates) > 0 {
				got := sha256.Sum256(cs.PeerCertificates[0].Raw)
				if subtle.ConstantTimeCompare(got[:], c.url.Fingerprint[:]) == 1 {
					return nil
				}
			}
			wrongPin.Store(true)

			return ErrFingerprint
		},
	}
}

// stream receives until something fails; heard is whether anything came.
func (c *Client) stream(ctx context.Context, cancel context.CancelCauseFunc, link pb.ModemLinkClient,
	dog *watchdog, sink func(gbr.Telemetry),
) (heard bool, err error) {
	// A ping first: the first batch finds the clocks compared.
	if err := c.ping(ctx, link); err != nil {
		return false, err
	}
	in, err := link.Stream(ctx, &pb.StreamRequest{Version: ownVersion()})
	if err != nil {
		return false, err
	}
	var pings sync.WaitGroup
	pings.Go(func() {
		if err := c.pingLoop(ctx, link); err != nil {
			cancel(err)
		}
	})
	defer pings.Wait()
	defer cancel(nil)

	for {
		b, err := in.Recv()
		if err != nil {
			return heard, err
		}
		if !heard {
			heard = true
			dog.allow(linkTimeout)
			c.connected()
		}
		// A slow sink is not a silent link.
		dog.sleep()
		if pause := c.meter.take(c.elapsed(), b); pause > 0 {
			c.mu.Lock()
			c.status.Flooded++
			c.mu.Unlock()
			if rest(ctx, pause); ctx.Err() != nil {
				return heard, context.Cause(ctx) // and read no more
			}
		} else {
			c.onBatch(b, sink)
		}
		dog.wake()
	}
}

// pingLoop ends with nil when ctx does. A ping that fails is only missed: if
// the link is dead, the stream is silent too.
func (c *Client) pingLoop(ctx context.Context, link pb.ModemLinkClient) error {
	tick := time.NewTicker(pingAtStart)
	defer tick.Stop()
	for n := 0; ; n++ {
		if n == pingsAtStart {
			tick.Reset(pingEvery)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := c.ping(ctx, link); status.Code(err) == codes.Unauthenticated {
			return ErrUnauthorized
		}
	}
}

func (c *Client) ping(ctx context.Context, link pb.ModemLinkClient) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	t0 := c.elapsed()
	r, err := link.Ping(ctx, &pb.PingRequest{Version: ownVersion()})
	if err != nil {
		return err
	}
	t1 := c.elapsed()
	version, err := checkAgent(r.GetVersion())
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare(r.GetSession()).pinged(t0, t1, time.Duration(r.GetReceivedAtNs()), time.Duration(r.GetSentAtNs()))
	c.status.RTT, c.status.Version = t1-t0, version

	return nil
}

// compare returns the clock of a session. Call it under mu.
func (c *Client) compare(session uint64) *clock {
	if c.status.session != session {
		c.status.session = session
		c.dec.clock = clock{}
	}

	return &c.dec.clock
}

func (c *Client) elapsed() time.Duration { return time.Since(c.dec.base) }

// onBatch takes one message of the stream.
func (c *Client) onBatch(b *pb.Batch, sink func(gbr.Telemetry)) {
	now := c.elapsed()
	full := len(b.GetSamples())+len(b.GetGrants())+len(b.GetReports()) > 0
	c.mu.Lock()
	c.compare(b.GetSession()).heard(now, time.Duration(b.GetSentAtNs()))
	c.mu.Unlock()

	if stalled := b.GetSourceStalled(); stalled != c.stalled {
		c.stalled = stalled
		kind := SourceResumed
		if stalled {
			kind = SourceStalled
		}
		c.event(Event{Kind: kind})
	}
	if !c.inOrder(b, full) {
		c.mu.Lock()
		c.status.Ignored++
		c.mu.Unlock()

		return
	}
	if c.stalled {
		return
	}
	c.mu.Lock()
	ignored := c.dec.ignored
	t := c.dec.decode(now, b)
	c.status.Ignored += c.dec.ignored - ignored
	c.status.Batches++
	c.ages.add(now, c.dec.base, t)
	c.mu.Unlock()
	sink(t)
}

// inOrder books gaps and refuses what is old or double.
func (c *Client) inOrder(b *pb.Batch, full bool) bool {
	seq := b.GetSeq()
	if !c.known || b.GetSession() != c.session {
		c.known, c.session, c.seq = true, b.GetSession(), seq

		return true
	}
	next := c.seq
	if full {
		next++
	}
	if seq < next || full && next == 0 {
		return false
	}
	c.seq = seq
	if lost := seq - next; lost > 0 {
		c.mu.Lock()
		c.status.Gaps++
		c.status.LostBatches += lost
		c.mu.Unlock()
		c.event(Event{Kind: Gap, Lost: lost})
	}

	return true
}

func (c *Client) connected() {
	c.mu.Lock()
	c.status.Connected = true
	c.status.Connects++
	c.mu.Unlock()
	c.cfg.Logger.Info("modemlink: connected", "agent", c.url.Addr())
	c.event(Event{Kind: Connected})
}

func (c *Client) disconnected(ctx context.Context, err error) {
	c.mu.Lock()
	was := c.status.Connected
	c.status.Connected = false
	if ctx.Err() != nil {
		err = nil // it was asked for
	}
	c.status.Err = err
	c.mu.Unlock()
	if err != nil {
		c.cfg.Logger.Warn("modemlink: no link", "agent", c.url.Addr(), "err", err)
	}
	if was {
		c.event(Event{Kind: Disconnected, Err: err})
	}
}

func (c *Client) event(e Event) {
	if c.cfg.OnEvent != nil {
		e.At = time.Now()
		c.cfg.OnEvent(e)
	}
}
