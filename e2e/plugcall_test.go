// SPDX-License-Identifier: MIT

package e2e

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/flexfec"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/logging"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/cell/live"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// plugCall is a Pion call that does in mid call what applications do: streams
// come and go, it is renegotiated, ICE is restarted. In a bubble, like stack.
type plugCall struct {
	t         testing.TB
	link      *live.Link
	ownsLink  bool
	estimator *interceptor.Estimator
	near, far *webrtc.PeerConnection
	start     time.Time
	ctx       context.Context
	stop      context.CancelFunc
	closers   []func() error
	wg        sync.WaitGroup
	warnings  *warnings
	mu        sync.Mutex
	arrivals  map[string]*arrivals // by track
}

type plugConfig struct {
	capacity  cell.Trace
	path      cell.PathConfig
	seed      uint64
	link      *live.Link // instead of one of its own, without telemetry
	options   []interceptor.Option
	fec       bool
	wrongFEC  bool // registered on the wrong side
	rfc8888   bool
	reportInt time.Duration
	// pionBuffers: those of our factory are left out.
	pionBuffers bool
	// feedback says what becomes of a feedback packet: how many copies arrive,
	// and how much later.
	feedback func(at time.Duration) (copies int, delay time.Duration)
}

// warnings is a logger factory that keeps what ours says.
type warnings struct {
	mu    sync.Mutex
	lines []string
}

func (w *warnings) NewLogger(scope string) logging.LeveledLogger {
	if scope == "gbrcc" {
		return warningLogger{w, logging.NewDefaultLeveledLoggerForScope(scope, logging.LogLevelDisabled, io.Discard)}
	}

	return logging.NewDefaultLeveledLoggerForScope(scope, logging.LogLevelDisabled, io.Discard)
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.lines)
}

type warningLogger struct {
	w *warnings
	logging.LeveledLogger
}

func (l warningLogger) Warn(text string) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.w.lines = append(l.w.lines, text)
}

func (l warningLogger) Warnf(format string, a ...any) { l.Warn(fmt.Sprintf(format, a...)) }

func newPlugLink(t testing.TB, c cell.Config) *live.Link {
	t.Helper()
	c.Start = time.Now()
	link, err := live.New(live.Config{Cell: c})
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Start(); err != nil {
		t.Fatal(err)
	}

	return link
}

// modemOf is the telemetry of a link's phone.
func modemOf(link *live.Link) interceptor.TelemetrySource {
	return func(ctx context.Context, sink func(gbr.Telemetry)) error {
		port := link.Diag()
		src, err := source.NewDiag(port, source.DiagConfig{AliveWhileOpen: true})
		if err != nil {
			return err
		}
		defer context.AfterFunc(ctx, func() { _ = port.Close() })()

		return src.Run(ctx, sink)
	}
}

func newPlugCall(t testing.TB, cfg plugConfig) *plugCall {
	t.Helper()
	c := &plugCall{t: t, link: cfg.link, arrivals: map[string]*arrivals{}, warnings: &warnings{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	options := []interceptor.Option{
		interceptor.WithBitrateBounds(100_000, 300_000, 10_000_000), interceptor.WithLoggerFactory(c.warnings),
	}
	if c.link == nil {
		c.link, c.ownsLink = newPlugLink(t, cell.Config{Seed: cfg.seed, Capacity: cfg.capacity, Path: cfg.path}), true
		options = append(options, interceptor.WithTelemetrySource(modemOf(c.link)))
	}
	factory, err := interceptor.NewInterceptor(append(options, cfg.options...)...)
	if err != nil {
		t.Fatal(err)
	}
	near, far := newWire()
	c.start = time.Now()
	var returning net.PacketConn = far
	if cfg.feedback != nil {
		returning = &faultyFeedback{PacketConn: far, start: c.start, fate: cfg.feedback}
	}
	settings := webrtc.SettingEngine{}
	if !cfg.pionBuffers {
		settings.BufferFactory = factory.BufferFactory
	}
	c.near = c.newPeer(c.link.Uplink(near), settings, func(m *webrtc.MediaEngine, r *pion.Registry) error {
		r.Add(factory)
		fec := func() error {
			if !cfg.fec {
				return nil
			}

			return webrtc.ConfigureFlexFEC03(118, m, r, flexfec.NumMediaPackets(8), flexfec.NumFECPackets(1))
		}
		if !cfg.wrongFEC {
			if err := fec(); err != nil {
				return err
			}
		}
		if cfg.rfc8888 {
			if err := webrtc.ConfigureCongestionControlFeedback(m, r); err != nil {
				return err
			}
		} else if err := webrtc.ConfigureTWCCHeaderExtensionSender(m, r); err != nil {
			return err
		}
		if cfg.wrongFEC {
			if err := fec(); err != nil {
				return err
			}
		}

		return webrtc.ConfigureNackWithOptions(m, r, nil)
	})
	c.far = c.newPeer(c.link.Downlink(returning), webrtc.SettingEngine{}, func(m *webrtc.MediaEngine, r *pion.Registry) error {
		if cfg.fec {
			if err := webrtc.ConfigureFlexFEC03(118, m, r); err != nil {
				return err
			}
		}
		if cfg.rfc8888 {
			if err := webrtc.ConfigureCongestionControlFeedback(m, r); err != nil {
				return err
			}
		} else {
			every := cfg.reportInt
			if every == 0 {
				every = 50 * time.Millisecond
			}
			if err := webrtc.ConfigureTWCCSenderWithOptions(m, r, twcc.SendInterval(every)); err != nil {
				return err
			}
		}

		return webrtc.ConfigureNackWithOptions(m, r, []nack.GeneratorOption{nack.GeneratorMaxNacksPerPacket(3)})
	})
	var ok bool
	if c.estimator, ok = factory.ForPeerConnection(c.near); !ok {
		t.Fatal("the PeerConnection has no Estimator")
	}
	c.far.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		// Called in a goroutine of Pion's, which may be ours.
		c.receive(track)
	})

	return c
}

func (c *plugCall) newPeer(conn net.PacketConn, se webrtc.SettingEngine, configure func(*webrtc.MediaEngine, *pion.Registry) error) *webrtc.PeerConnection {
	c.t.Helper()
	m, r := &webrtc.MediaEngine{}, &pion.Registry{}
	if err := m.RegisterDefaultCodecs(); err != nil {
		c.t.Fatal(err)
	}
	if err := webrtc.ConfigureSimulcastExtensionHeaders(m); err != nil {
		c.t.Fatal(err)
	}
	if err := configure(m, r); err != nil {
		c.t.Fatal(err)
	}
	se.LoggerFactory = c.warnings
	mux := webrtc.NewICEUDPMux(nil, conn)
	se.SetICEUDPMux(mux)
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	pc, err := webrtc.NewAPI(
		webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(r), webrtc.WithSettingEngine(se),
	).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.closers = append(c.closers, pc.Close, mux.Close)

	return pc
}

// negotiate makes an offer with all there is now, and waits for media to flow.
func (c *plugCall) negotiate(o *webrtc.OfferOptions) {
	c.t.Helper()
	connected := make(chan struct{})
	var once sync.Once
	c.near.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(connected) })
		}
	})
	describe := func(from, to *webrtc.PeerConnection, d webrtc.SessionDescription, err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
		gathered := webrtc.GatheringCompletePromise(from)
		if err := from.SetLocalDescription(d); err != nil {
			c.t.Fatal(err)
		}
		<-gathered
		if err := to.SetRemoteDescription(*from.LocalDescription()); err != nil {
			c.t.Fatal(err)
		}
	}
	offer, err := c.near.CreateOffer(o)
	describe(c.near, c.far, offer, err)
	answer, err := c.far.CreateAnswer(nil)
	describe(c.far, c.near, answer, err)
	if c.near.ConnectionState() == webrtc.PeerConnectionStateConnected && o == nil {
		return
	}
	select {
	case <-connected:
	case <-time.After(10 * time.Second):
		if c.near.ConnectionState() != webrtc.PeerConnectionStateConnected {
			c.t.Fatalf("not connected: %v", c.near.ConnectionState())
		}
	}
}

// mediaStream is a stream that is sent.
type mediaStream struct {
	sender *webrtc.RTPSender
	stop   context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	sent   int64 // packets
	plis   int
	errors int
}

func (m *mediaStream) counts() (sent int64, plis, errors int) {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.sent, m.plis, m.errors
}

type streamConfig struct {
	mime string
	// bps is the stream's rate now, on the link.
	bps func() int
	// budgets lets it obey frame budgets where there are any.
	budgets bool
	fps     int
	// first is the first RTP number.
	first uint16
	// burst is a frame of so many packets every burstEvery.
	burst      int
	burstEvery time.Duration
	// size is the largest payload, 1100 if zero.
	size int
}

// add puts a track into the call; it is sent from the next negotiation on.
func (c *plugCall) add(name string, cfg streamConfig) *mediaStream {
	c.t.Helper()
	if cfg.mime == "" {
		cfg.mime = webrtc.MimeTypeVP8
	}
	if cfg.fps == 0 {
		cfg.fps = 30
	}
	if cfg.size == 0 {
		cfg.size = 1100
	}
	if cfg.bps == nil {
		cfg.bps = c.estimator.GetTargetBitrate
	}
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: cfg.mime}, name, name)
	if err != nil {
		c.t.Fatal(err)
	}
	sender, err := c.near.AddTrack(track)
	if err != nil {
		c.t.Fatal(err)
	}
	m := &mediaStream{sender: sender, done: make(chan struct{})}
	ctx, stop := context.WithCancel(c.ctx)
	m.stop = stop
	c.wg.Go(func() {
		for {
			pkts, _, err := sender.ReadRTCP()
			if err != nil {
				return
			}
			m.mu.Lock()
			for _, p := range pkts {
				if _, ok := p.(*rtcp.PictureLossIndication); ok {
					m.plis++
				}
			}
			m.mu.Unlock()
		}
	})
	c.wg.Go(func() {
		defer close(m.done)
		tick := time.NewTicker(time.Second / time.Duration(cfg.fps))
		defer tick.Stop()
		seq, burst := cfg.first, time.Now().Add(cfg.burstEvery)
		for timestamp := uint32(0); ; timestamp += uint32(90000 / cfg.fps) {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if c.estimator.PacerDelay() > 250*time.Millisecond && cfg.mime == webrtc.MimeTypeVP8 {
				continue
			}
			left := cfg.bps() / 8 / cfg.fps
			if cfg.budgets {
				if size, ok := c.estimator.FrameBudget(); ok {
					left = size
				}
			}
			if cfg.burst > 0 && time.Now().After(burst) {
				burst = burst.Add(cfg.burstEvery)
				left = cfg.burst * (cfg.size + 50)
			}
			for left > 0 {
				payload := make([]byte, max(20, min(cfg.size, left-50)))
				binary.BigEndian.PutUint64(payload[8:], uint64(time.Since(c.start)))
				left -= len(payload) + 50
				err := track.WriteRTP(&rtp.Packet{
					Header:  rtp.Header{Version: 2, SequenceNumber: seq, Timestamp: timestamp, Marker: left <= 0},
					Payload: payload,
				})
				seq++
				m.mu.Lock()
				m.sent++
				if err != nil && !errors.Is(err, io.ErrClosedPipe) {
					m.errors++
				}
				m.mu.Unlock()
			}
		}
	})

	return m
}

// remove takes a stream out; negotiate afterwards.
func (c *plugCall) remove(m *mediaStream) {
	c.t.Helper()
	m.stop()
	<-m.done
	if err := c.near.RemoveTrack(m.sender); err != nil {
		c.t.Error(err)
	}
}

// arrivals is what came of a track.
type arrivals struct {
	packets, bytes int64 // first copies
	seen           map[uint16]time.Duration
	last           time.Duration
	delays         []float64 // ms
	ssrc           webrtc.SSRC
}

func (c *plugCall) receive(track *webrtc.TrackRemote) {
	c.wg.Add(1)
	defer c.wg.Done()
	for {
		p, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		now := time.Since(c.start)
		c.mu.Lock()
		name := track.ID() + track.RID()
		a := c.arrivals[name]
		if a == nil {
			a = &arrivals{seen: map[uint16]time.Duration{}, ssrc: track.SSRC()}
			c.arrivals[name] = a
		}
		if at, again := a.seen[p.SequenceNumber]; (!again || now-at > 20*time.Second) && len(p.Payload) >= 20 {
			a.seen[p.SequenceNumber] = now
			a.packets++
			a.bytes += int64(len(p.Payload)) + 50
			a.last = now
			a.delays = append(a.delays, float64(now-time.Duration(binary.BigEndian.Uint64(p.Payload[8:])))/1e6)
		}
		c.mu.Unlock()
	}
}

// got is a copy of a track's arrivals, without the numbers.
func (c *plugCall) got(name string) arrivals {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.arrivals[name]; a != nil {
		out := *a
		out.delays, out.seen = slices.Clone(a.delays), nil

		return out
	}

	return arrivals{}
}

// rate is what arrived of all tracks within the next d, in Mbit/s.
func (c *plugCall) rate(d time.Duration) float64 {
	sum := func() (bytes int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, a := range c.arrivals {
			bytes += a.bytes
		}

		return bytes
	}
	from := sum()
	time.Sleep(d)

	return float64(sum()-from) * 8 / d.Seconds() / 1e6
}

// delay is a quantile of a track's packet delays since the from-th, in ms.
func (c *plugCall) delay(name string, from int, q float64) float64 {
	d := c.got(name).delays
	if len(d) <= from {
		return math.NaN()
	}
	d = d[from:]
	slices.Sort(d)

	return d[int(q*float64(len(d)-1))]
}

func (c *plugCall) stat(key string) float64 {
	c.t.Helper()
	switch v := c.estimator.GetStats()[key].(type) {
	case int64:
		return float64(v)
	case int:
		return float64(v)
	case float64:
		return v
	default:
		c.t.Fatalf("%s is %T", key, v)

		return 0
	}
}

func (c *plugCall) close() {
	c.t.Helper()
	c.stop()
	for _, f := range c.closers {
		if err := f(); err != nil && !errors.Is(err, net.ErrClosed) {
			c.t.Error("closing:", err)
		}
	}
	c.wg.Wait()
	if c.ownsLink {
		if err := c.link.Close(); err != nil {
			c.t.Error(err)
		}
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

// faultyFeedback loses, repeats and delays congestion feedback, and nothing else.
type faultyFeedback struct {
	net.PacketConn
	start time.Time
	fate  func(at time.Duration) (copies int, delay time.Duration)
}

func (f *faultyFeedback) WriteTo(p []byte, addr net.Addr) (int, error) {
	// RFC 5761 4: the type is in the clear in SRTCP too. 205 is transport
	// feedback: transport-cc, RFC 8888 and NACK by their format.
	if len(p) < 2 || p[1] != 205 || p[0]&0x1f != rtcp.FormatTCC && p[0]&0x1f != rtcp.FormatCCFB {
		return f.PacketConn.WriteTo(p, addr)
	}
	copies, delay := f.fate(time.Since(f.start))
	for range copies {
		if delay == 0 {
			if _, err := f.PacketConn.WriteTo(p, addr); err != nil {
				return 0, err
			}

			continue
		}
		late := slices.Clone(p)
		time.AfterFunc(delay, func() { _, _ = f.PacketConn.WriteTo(late, addr) })
	}

	return len(p), nil
}
