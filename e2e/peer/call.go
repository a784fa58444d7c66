// SPDX-License-Identifier: MIT

package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/logging"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// Config is a call's. Sender, Receiver and Estimator are needed.
type Config struct {
	// Sender and Receiver are the two sockets; the call closes them.
	Sender, Receiver net.PacketConn
	// Estimator makes the sender's bandwidth estimator.
	Estimator cc.BandwidthEstimatorFactory
	// FPS is the encoder's frame rate, default 30. Seed is its noise's.
	FPS  int
	Seed uint64
	// MaxBps caps what the encoder makes, in bit/s on the link; 0: no cap.
	MaxBps int
	// FeedbackEvery is the TWCC interval, default 50 ms.
	FeedbackEvery time.Duration
	// RFC8888 asks for feedback in RFC 8888's format instead of TWCC.
	RFC8888 bool
	// Source, when not nil, makes the media in place of the encoder: it is
	// called when the peers are connected and returns when ctx ends.
	Source func(ctx context.Context, e cc.BandwidthEstimator, write func(*rtp.Packet) error)
	// Video, when not nil, makes the media as VP8 frames, as Source does.
	Video func(ctx context.Context, v *Video)
	// Audio, when not nil, makes sound beside the video, as Source does.
	Audio func(ctx context.Context, a *Audio)
	// Received and ReceivedAudio, when not nil, get every packet that the receiver
	// reads, of one medium each.
	Received, ReceivedAudio func(*rtp.Packet)
	// ReplayWindow is SRTP's replay protection in packets; 0 is Pion's, 64.
	// Pion's NACK responder reserves a number for every packet that it might
	// resend, so that resends that are further apart look like replays.
	ReplayWindow uint
	// LoggerFactory is Pion's; nil logs errors to stderr until Close.
	LoggerFactory logging.LoggerFactory
}

// PacerDelayer is an estimator that knows how long its pacer's queue is.
type PacerDelayer interface{ PacerDelay() time.Duration }

// watchEvery is how late a request for a key frame may be.
const watchEvery = 50 * time.Millisecond

// Call is two connected peers with video, and maybe sound, from one to the other.
type Call struct {
	estimator cc.BandwidthEstimator
	start     time.Time
	rcv       *receiver
	ear       *ear

	mu                sync.Mutex
	captured, leftOut int
	keyWanted         atomic.Bool
	askKey            atomic.Bool

	cancel  context.CancelFunc
	closers []func() error
	wg      sync.WaitGroup
	once    sync.Once
	err     error
}

// Dial connects two peers and starts the video. It fails when ctx ends before
// they are connected; the sockets are closed then too.
func Dial(ctx context.Context, cfg Config) (*Call, error) {
	if cfg.Sender == nil || cfg.Receiver == nil || cfg.Estimator == nil {
		return nil, errors.New("peer: Sender, Receiver and Estimator are needed")
	}
	if cfg.FPS <= 0 {
		cfg.FPS = 30
	}
	if cfg.FeedbackEvery <= 0 {
		cfg.FeedbackEvery = 50 * time.Millisecond
	}
	runCtx, cancel := context.WithCancel(context.Background())
	if cfg.LoggerFactory == nil {
		cfg.LoggerFactory = logs(runCtx)
	}
	c := &Call{cancel: cancel}
	if err := c.dial(ctx, runCtx, cfg); err != nil {
		return nil, errors.Join(err, c.Close())
	}

	return c, nil
}

func (c *Call) dial(ctx, runCtx context.Context, cfg Config) error {
	c.closeLater(cfg.Sender.Close, cfg.Receiver.Close)
	sender, err := c.newPeer(cfg, cfg.Sender, func(m *webrtc.MediaEngine, r *pion.Registry) error {
		return c.configureSender(cfg, m, r)
	})
	if err != nil {
		return err
	}
	receiver, err := c.newPeer(cfg, cfg.Receiver, func(m *webrtc.MediaEngine, r *pion.Registry) error {
		return configureReceiver(cfg, m, r)
	})
	if err != nil {
		return err
	}
	m := media{}
	if m.video, err = c.addTrack(sender, webrtc.MimeTypeVP8, "video"); err != nil {
		return err
	}
	if cfg.Audio != nil {
		if m.audio, err = c.addTrack(sender, webrtc.MimeTypeOpus, "audio"); err != nil {
			return err
		}
	}
	connected := make(chan struct{})
	failed := make(chan struct{})
	var once, failOnce sync.Once
	sender.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		switch s {
		case webrtc.PeerConnectionStateConnected:
			once.Do(func() { close(connected) })
		case webrtc.PeerConnectionStateFailed, webrtc.PeerConnectionStateClosed:
			failOnce.Do(func() { close(failed) })
		default:
		}
	})
	m.gotVideo, m.gotAudio = make(chan *webrtc.TrackRemote, 1), make(chan *webrtc.TrackRemote, 1)
	receiver.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		tracks := m.gotVideo
		if t.Kind() == webrtc.RTPCodecTypeAudio {
			tracks = m.gotAudio
		}
		select {
		case tracks <- t:
		default:
		}
	})
	if err := negotiate(ctx, sender, receiver); err != nil {
		return err
	}
	select {
	case <-connected:
	case <-failed:
		return errors.New("peer: the connection failed")
	case <-ctx.Done():
		return fmt.Errorf("peer: not connected: %w", context.Cause(ctx))
	}
	c.startMedia(runCtx, cfg, receiver, m)

	return nil
}

// media is the tracks of a call; audio is nil without sound.
type media struct {
	video, audio       *webrtc.TrackLocalStaticRTP
	gotVideo, gotAudio chan *webrtc.TrackRemote
}

// addTrack adds a track, and reads the feedback on it: nobody else does, and without
// a reader none arrives.
func (c *Call) addTrack(sender *webrtc.PeerConnection, mime, id string) (*webrtc.TrackLocalStaticRTP, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: mime}, id, "gbrcc")
	if err != nil {
		return nil, err
	}
	s, err := sender.AddTrack(track)
	if err != nil {
		return nil, err
	}
	c.wg.Go(func() {
		for {
			packets, _, err := s.ReadRTCP()
			if err != nil {
				return
			}
			for _, p := range packets {
				if _, ok := p.(*rtcp.PictureLossIndication); ok {
					c.keyWanted.Store(true)
				}
			}
		}
	})

	return track, nil
}

// startMedia starts the encoder and the readers of what arrives.
func (c *Call) startMedia(ctx context.Context, cfg Config, receiver *webrtc.PeerConnection, m media) {
	c.start = time.Now()
	c.rcv, c.ear = newReceiver(c.start), &ear{start: c.start}
	parse := func(p *rtp.Packet) (piece, error) { return parsePiece(p.Payload) }
	track := m.video
	v := &Video{call: c, write: trackWriter(track)}
	if cfg.Video != nil {
		parse = v.piece
	}
	if cfg.Audio != nil {
		c.wg.Go(func() { c.listen(ctx, m.gotAudio, cfg.ReceivedAudio) })
		c.wg.Go(func() { cfg.Audio(ctx, &Audio{call: c, write: trackWriter(m.audio)}) })
	}
	c.wg.Go(func() {
		var t *webrtc.TrackRemote
		select {
		case t = <-m.gotVideo:
		case <-ctx.Done():
			return
		}
		c.wg.Go(func() { c.watch(ctx, receiver, uint32(t.SSRC())) })
		for {
			p, attributes, err := t.ReadRTP()
			if err != nil {
				return
			}
			if cfg.Received != nil {
				cfg.Received(p)
			}
			resent := attributes.Get(webrtc.AttributeRtxSsrc) != nil
			if piece, err := parse(p); err == nil {
				c.rcv.onPiece(time.Now(), piece, len(p.Payload), p.Timestamp, resent)
			}
		}
	})
	if cfg.Video != nil {
		c.wg.Go(func() { cfg.Video(ctx, v) })

		return
	}
	if cfg.Source != nil {
		c.wg.Go(func() { cfg.Source(ctx, c.estimator, trackWriter(track)) })

		return
	}
	enc := &encoder{
		fps: cfg.FPS, start: c.start, rng: rand.New(rand.NewPCG(cfg.Seed, 0xe2c)),
		target: func() int {
			if bps := c.estimator.GetTargetBitrate(); cfg.MaxBps <= 0 || bps < cfg.MaxBps {
				return bps
			}

			return cfg.MaxBps
		},
		keyWanted: func() bool { return c.keyWanted.Swap(false) },
		write:     trackWriter(track),
	}
	if p, ok := c.estimator.(PacerDelayer); ok {
		enc.pacerDelay = p.PacerDelay
	}
	c.wg.Go(func() {
		enc.run(ctx, func(captured, leftOut int) {
			c.mu.Lock()
			c.captured, c.leftOut = captured, leftOut
			c.mu.Unlock()
		})
	})
}

// watch asks for key frames when the viewer cannot go on without one.
func (c *Call) watch(ctx context.Context, receiver *webrtc.PeerConnection, ssrc uint32) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for asked := 0; ; {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if requests := c.rcv.onTimer(now); requests > asked || c.askKey.Swap(false) {
				asked = requests
				// An error is the connection going down; the context tells when to
				// stop.
				_ = receiver.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: ssrc}})
			}
		}
	}
}

// newPeer makes a peer connection on one socket, with nothing but that socket.
func (c *Call) newPeer(cfg Config, conn net.PacketConn, configure func(*webrtc.MediaEngine, *pion.Registry) error) (*webrtc.PeerConnection, error) {
	m := &webrtc.MediaEngine{}
	if err := m.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	r := &pion.Registry{}
	if err := configure(m, r); err != nil {
		return nil, err
	}
	se := webrtc.SettingEngine{LoggerFactory: cfg.LoggerFactory}
	if cfg.ReplayWindow > 0 {
		se.SetSRTPReplayProtectionWindow(cfg.ReplayWindow)
	}
	mux := webrtc.NewICEUDPMux(cfg.LoggerFactory.NewLogger("mux"), conn)
	c.closeLater(mux.Close)
	se.SetICEUDPMux(mux)
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	se.SetIncludeLoopbackCandidate(true)
	pc, err := webrtc.NewAPI(
		webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(r), webrtc.WithSettingEngine(se),
	).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	c.closeLater(pc.Close)

	return pc, nil
}

// configureSender registers the estimator first: the first interceptor is the
// one next to the network, which sees every packet that the others make.
func (c *Call) configureSender(cfg Config, m *webrtc.MediaEngine, r *pion.Registry) error {
	factory, err := cc.NewInterceptor(cfg.Estimator)
	if err != nil {
		return err
	}
	factory.OnNewPeerConnection(func(_ string, e cc.BandwidthEstimator) { c.estimator = e })
	r.Add(factory)
	if cfg.RFC8888 {
		if err := webrtc.ConfigureCongestionControlFeedback(m, r); err != nil {
			return err
		}
	} else {
		if err := webrtc.ConfigureTWCCHeaderExtensionSender(m, r); err != nil {
			return err
		}
	}

	return configureRest(cfg, m, r)
}

// maxNACKs bounds the requests for one packet. Pion's generator does not see
// that an RTX packet has filled a gap and would go on asking for as long as it
// remembers the number.
const maxNACKs = 3

func configureReceiver(cfg Config, m *webrtc.MediaEngine, r *pion.Registry) error {
	var err error
	if cfg.RFC8888 {
		err = webrtc.ConfigureCongestionControlFeedback(m, r)
	} else {
		err = webrtc.ConfigureTWCCSenderWithOptions(m, r,
			twcc.SendInterval(cfg.FeedbackEvery), twcc.WithLoggerFactory(cfg.LoggerFactory))
	}
	if err != nil {
		return err
	}

	return configureRest(cfg, m, r)
}

// configureRest is what both sides do: reports and retransmission.
func configureRest(cfg Config, m *webrtc.MediaEngine, r *pion.Registry) error {
	logs := cfg.LoggerFactory
	err := webrtc.ConfigureRTCPReportsWithOptions(r,
		[]report.ReceiverOption{report.WithReceiverLoggerFactory(logs)}, report.WithSenderLoggerFactory(logs))
	if err != nil {
		return err
	}

	return webrtc.ConfigureNackWithOptions(m, r, []nack.GeneratorOption{
		nack.GeneratorMaxNacksPerPacket(maxNACKs), nack.WithGeneratorLoggerFactory(logs),
	}, nack.WithResponderLoggerFactory(logs))
}

// logs is Pion's usual log, until ctx ends: interceptors outlive the transport
// by a moment and call that an error.
func logs(ctx context.Context) logging.LoggerFactory {
	f := logging.NewDefaultLoggerFactory()
	f.Writer = logWriter{ctx, f.Writer}

	return f
}

type logWriter struct {
	ctx context.Context
	w   io.Writer
}

func (l logWriter) Write(b []byte) (int, error) {
	select {
	case <-l.ctx.Done():
		return len(b), nil
	default:
		return l.w.Write(b)
	}
}

// negotiate exchanges one offer and one answer with all candidates in them.
func negotiate(ctx context.Context, offerer, answerer *webrtc.PeerConnection) error {
	offer, err := offerer.CreateOffer(nil)
	if err != nil {
		return err
	}
	if err := describe(ctx, offerer, offer, answerer); err != nil {
		return err
	}
	answer, err := answerer.CreateAnswer(nil)
	if err != nil {
		return err
	}

	return describe(ctx, answerer, answer, offerer)
}

func describe(ctx context.Context, from *webrtc.PeerConnection, d webrtc.SessionDescription, to *webrtc.PeerConnection) error {
	gathered := webrtc.GatheringCompletePromise(from)
	if err := from.SetLocalDescription(d); err != nil {
		return err
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return fmt.Errorf("peer: no candidates: %w", context.Cause(ctx))
	}

	return to.SetRemoteDescription(*from.LocalDescription())
}

// RequestKeyFrame has the receiver ask for a key frame over the network, for
// somebody who came late.
func (c *Call) RequestKeyFrame() { c.askKey.Store(true) }

// Estimator is the sender's bandwidth estimator.
func (c *Call) Estimator() cc.BandwidthEstimator { return c.estimator }

// Start is when the first frame was captured.
func (c *Call) Start() time.Time { return c.start }

// Stats sums up the call so far.
func (c *Call) Stats() Stats {
	s := c.rcv.stats(time.Now())
	s.Audio = c.ear.stats()
	c.mu.Lock()
	s.FramesCaptured, s.FramesLeftOut = c.captured, c.leftOut
	c.mu.Unlock()

	return s
}

func (c *Call) closeLater(f ...func() error) { c.closers = append(c.closers, f...) }

// Close ends the call and waits for its goroutines; it may be called again.
func (c *Call) Close() error {
	c.once.Do(func() {
		c.cancel()
		var errs []error
		for i := len(c.closers) - 1; i >= 0; i-- {
			if err := c.closers[i](); err != nil && !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
		c.wg.Wait()
		c.err = errors.Join(errs...)
	})

	return c.err
}
