// SPDX-License-Identifier: MIT

package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/interceptor"
)

// Bounds of the uplink, in bit/s.
const (
	MinBps   = 100_000
	StartBps = 500_000
	MaxBps   = 6_000_000
)

const connectTimeout = 10 * time.Second

// Config describes an Uplink.
type Config struct {
	// Endpoint is the WHIP address, Token its bearer token, if it wants one.
	Endpoint, Token string
	// Conn is the socket of the uplink, UDP; it is the caller's to close.
	Conn net.PacketConn
	// Telemetry is what the modem says; nil is none, which leaves the
	// end-to-end loop.
	Telemetry interceptor.TelemetrySource
	// Logger gets what happens; nil is silent.
	Logger *slog.Logger
}

// Uplink forwards publications, one after the other. Make one with New.
type Uplink struct {
	cfg     Config
	log     *slog.Logger
	mux     ice.UDPMux
	api     *webrtc.API
	factory *interceptor.PeerFactory

	mu  sync.Mutex
	est *interceptor.Estimator
}

// New returns an uplink that has not sent anything yet.
func New(cfg Config) (*Uplink, error) {
	if cfg.Conn == nil || cfg.Endpoint == "" {
		return nil, errors.New("gateway: a socket and an endpoint are needed")
	}
	u := &Uplink{cfg: cfg, log: cfg.Logger}
	if u.log == nil {
		u.log = slog.New(slog.DiscardHandler)
	}
	opts := []interceptor.Option{interceptor.WithBitrateBounds(MinBps, StartBps, MaxBps)}
	if cfg.Telemetry != nil {
		opts = append(opts, interceptor.WithTelemetrySource(cfg.Telemetry))
	}
	var err error
	if u.factory, err = interceptor.NewInterceptor(opts...); err != nil {
		return nil, err
	}
	m, r := &webrtc.MediaEngine{}, &pion.Registry{}
	if err := m.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	r.Add(u.factory) // first: next to the network
	if err := webrtc.ConfigureTWCCHeaderExtensionSender(m, r); err != nil {
		return nil, err
	}
	responder, err := nack.NewResponderInterceptor()
	if err != nil {
		return nil, err
	}
	r.Add(responder)
	if err := webrtc.ConfigureRTCPReports(r); err != nil {
		return nil, err
	}
	var e webrtc.SettingEngine
	u.mux = webrtc.NewICEUDPMux(nil, cfg.Conn)
	e.SetICEUDPMux(u.mux)
	e.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	e.SetIncludeLoopbackCandidate(true)
	e.SetICETimeouts(5*time.Second, 10*time.Second, 2*time.Second)
	u.api = webrtc.NewAPI(webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(r), webrtc.WithSettingEngine(e))

	return u, nil
}

// Close is for after the last Forward.
func (u *Uplink) Close() error { return errors.Join(u.factory.Close(), u.mux.Close()) }

// Estimator is that of the publication that is forwarded now, or nil.
func (u *Uplink) Estimator() *interceptor.Estimator {
	u.mu.Lock()
	defer u.mu.Unlock()

	return u.est
}

// Forward sends a publication until it ends, and connects again when the far end
// is lost.
func (u *Uplink) Forward(p *sfu.Publication) { Keep(p, u.log, u.forward) }

// forward is one connection's life.
func (u *Uplink) forward(ctx context.Context, p *sfu.Publication) error {
	pc, err := u.api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return err
	}
	defer func() { _ = pc.GracefulClose() }()
	est, ok := u.factory.ForPeerConnection(pc)
	if !ok {
		return errors.New("gateway: no estimator")
	}
	up, lost := make(chan struct{}), make(chan struct{})
	var onceUp, onceLost sync.Once
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		switch s {
		case webrtc.PeerConnectionStateConnected:
			onceUp.Do(func() { close(up) })
		case webrtc.PeerConnectionStateFailed, webrtc.PeerConnectionStateClosed:
			onceLost.Do(func() { close(lost) })
		default:
		}
	})
	to := map[string]sfu.Outlet{}
	for _, m := range p.Media() {
		write, err := addTrack(pc, m, p)
		if err != nil {
			return err
		}
		to[m.Kind] = OutletOf(m, write, func() *interceptor.Estimator { return est })
	}
	joining, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	session, err := join(joining, pc, u.cfg.Endpoint, u.cfg.Token)
	if err != nil {
		return fmt.Errorf("%s: %w", u.cfg.Endpoint, err)
	}
	defer session.leave()
	select {
	case <-up:
	case <-lost:
		return errors.New("connection failed")
	case <-joining.Done():
		return errors.New("not connected in time")
	}
	u.log.Info("uplink connected")
	u.set(est)
	defer u.set(nil)
	detach := p.Attach(to)
	defer detach()
	ctx, cancel = context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	Steer(ctx, p, func() *interceptor.Estimator { return est })

	return nil
}

func (u *Uplink) set(est *interceptor.Estimator) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.est = est
}

// addTrack adds a medium to the uplink and relays what the far end asks for.
func addTrack(pc *webrtc.PeerConnection, m sfu.Medium, p *sfu.Publication) (func(*rtp.Packet) error, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(m.Codec, m.Kind, "gateway")
	if err != nil {
		return nil, err
	}
	t, err := pc.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly})
	if err != nil {
		return nil, err
	}
	sender := t.Sender()
	go func() {
		for { // Pion handles feedback only while somebody reads
			packets, _, err := sender.ReadRTCP()
			if err != nil {
				return
			}
			for _, packet := range packets {
				switch packet.(type) {
				case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
					p.RequestKeyFrame()
				}
			}
		}
	}()

	return track.WriteRTP, nil
}
