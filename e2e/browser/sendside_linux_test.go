// SPDX-License-Identifier: MIT

//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/logging"
	"github.com/pion/rtp"
	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
	"github.com/gbrcc/gbrcc/interceptor"
)

const (
	// feedbackEvery is the receiver's interval of transport feedback: what a
	// libwebrtc that itself sends at 300 kbit/s would take.
	feedbackEvery = 50 * ms
	sampleEvery   = 200 * ms
	startBps      = 300_000 // libwebrtc: BitrateConstraints
	minBps        = 30_000
	// replayWindow lets SRTP take packets that come late. The default of 64
	// drops them, which looks like loss only to the application, but is one trap
	// less.
	replayWindow = 1024
)

// endpoint is a Pion peer on a socket of its own.
type endpoint struct {
	pc     *webrtc.PeerConnection
	socket *net.UDPConn
	mux    io.Closer
}

// newEndpoint makes a peer with VP8, RTX and transport feedback.
func newEndpoint(interceptors *pion.Registry) (*endpoint, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	logs := logging.NewDefaultLoggerFactory()
	logs.DefaultLogLevel = logging.LogLevelDisabled
	e := &endpoint{socket: conn}
	mux := webrtc.NewICEUDPMux(logs.NewLogger("mux"), conn)
	e.mux = mux
	m := &webrtc.MediaEngine{}
	for _, c := range []webrtc.RTPCodecParameters{
		{PayloadType: 96, RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeVP8, ClockRate: clockRate, RTCPFeedback: []webrtc.RTCPFeedback{
				{Type: webrtc.TypeRTCPFBTransportCC}, {Type: "nack"}, {Type: "nack", Parameter: "pli"},
			},
		}},
		{PayloadType: 97, RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeRTX, ClockRate: clockRate, SDPFmtpLine: "apt=96",
		}},
	} {
		if err := m.RegisterCodec(c, webrtc.RTPCodecTypeVideo); err != nil {
			return nil, errors.Join(err, mux.Close())
		}
	}
	if err := m.RegisterHeaderExtension(webrtc.RTPHeaderExtensionCapability{URI: sdp.TransportCCURI}, webrtc.RTPCodecTypeVideo); err != nil {
		return nil, errors.Join(err, mux.Close())
	}
	se := webrtc.SettingEngine{LoggerFactory: logs}
	se.SetICEUDPMux(mux)
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	se.SetIncludeLoopbackCandidate(true)
	se.SetSRTPReplayProtectionWindow(replayWindow)
	e.pc, err = webrtc.NewAPI(
		webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(interceptors), webrtc.WithSettingEngine(se),
	).NewPeerConnection(webrtc.Configuration{
		// The relay reads the transport-wide numbers. RFC 9335.
		RTPHeaderEncryptionPolicy: webrtc.RTPHeaderEncryptionPolicyDisable,
	})
	if err != nil {
		return nil, errors.Join(err, mux.Close())
	}

	return e, nil
}

func (e *endpoint) close() error { return errors.Join(e.pc.Close(), e.mux.Close()) }

// describe sets a description of its own and returns it with all candidates.
func (e *endpoint) describe(ctx context.Context, d webrtc.SessionDescription, err error) (string, error) {
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(e.pc)
	if err := e.pc.SetLocalDescription(d); err != nil {
		return "", err
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}

	return e.pc.LocalDescription().SDP, nil
}

// sink is the receiver of a video that it only counts, behind a relay.
//
// It asks for no repairs. Pion's NACK generator does not see that a packet came
// as RTX and asks on; the sender's answers are load that tells nothing about its
// estimator. RTX is negotiated all the same: senders pad on it when they probe.
type sink struct {
	*endpoint
	relay *relay
	stop  chan struct{}
	wg    sync.WaitGroup

	mu       sync.Mutex
	recorder *twcc.Recorder
	ext      uint8  // of the transport-wide number
	video    uint8  // payload type
	media    uint32 // SSRC of the video
}

func newSink(path cell.PathConfig, seed uint64) (*sink, error) {
	r := &pion.Registry{}
	reports, err := report.NewReceiverInterceptor()
	if err != nil {
		return nil, err
	}
	r.Add(reports)
	s := &sink{stop: make(chan struct{}), recorder: twcc.NewRecorder(1)}
	if s.endpoint, err = newEndpoint(r); err != nil {
		return nil, err
	}
	if s.relay, err = newRelay(s.socket.LocalAddr().(*net.UDPAddr), path, seed); err != nil {
		return nil, errors.Join(err, s.endpoint.close())
	}
	s.relay.arrived = s.arrived
	s.pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		b := make([]byte, 1500)
		for {
			if _, _, err := t.Read(b); err != nil {
				return
			}
		}
	})
	s.relay.run()
	s.wg.Go(s.report)

	return s, nil
}

var (
	anyCandidate = regexp.MustCompile(`(?m)^a=candidate:.*\r?\n`)
	portOf       = regexp.MustCompile(`(?m)^(a=candidate:\S+ \d+ \S+ \d+ \S+ )\d+ `)
	videoType    = regexp.MustCompile(`(?m)^m=video \d+ \S+ (\d+)`)
	extensionOf  = regexp.MustCompile(`(?m)^a=extmap:(\d+)\S* ` + regexp.QuoteMeta(sdp.TransportCCURI))
)

// answer takes an offer without its candidates: whoever offers is where its
// datagrams come from. The answer leads to the relay.
func (s *sink) answer(ctx context.Context, offer string) (string, error) {
	offer = anyCandidate.ReplaceAllString(offer, "")
	if err := s.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", err
	}
	d, err := s.pc.CreateAnswer(nil)
	answer, err := s.describe(ctx, d, err)
	if err != nil {
		return "", err
	}
	ext, video := extensionOf.FindStringSubmatch(answer), videoType.FindStringSubmatch(answer)
	if ext == nil || video == nil {
		return "", errors.New("browser: no transport feedback or no video in the answer")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, v := range []*uint8{&s.ext, &s.video} {
		n, err := strconv.ParseUint([][]string{ext, video}[i][1], 10, 8)
		if err != nil {
			return "", err
		}
		*v = uint8(n)
	}

	return portOf.ReplaceAllString(answer, "${1}"+strconv.Itoa(s.relay.port())+" "), nil
}

// arrived notes an arrival for the feedback. Headers are not encrypted.
func (s *sink) arrived(at time.Time, packet []byte) {
	var h rtp.Header
	if _, err := h.Unmarshal(packet); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.PayloadType == s.video {
		s.media = h.SSRC
	}
	var number rtp.TransportCCExtension
	if number.Unmarshal(h.GetExtension(s.ext)) == nil {
		// Always in the name of the video: Pion's sender throws away RTCP about its
		// RTX stream, and with it the report if the last packet in it was padding.
		s.recorder.Record(s.media, number.TransportSequence, at.UnixMicro())
	}
}

// report sends feedback.
func (s *sink) report() {
	tick := time.NewTicker(feedbackEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		packets := s.recorder.BuildFeedbackPacket()
		s.mu.Unlock()
		if len(packets) > 0 {
			_ = s.pc.WriteRTCP(packets) // as on a network
		}
	}
}

func (s *sink) close() error {
	close(s.stop)
	s.wg.Wait()

	return errors.Join(s.endpoint.close(), s.relay.close())
}

// sample is what a sender says at a time.
type sample struct {
	At time.Time
	// EstimateBps is the estimator's, TargetBps the encoder's share of it.
	EstimateBps, TargetBps float64
}

// source is a sender on its way to a sink.
type source interface {
	// offer begins, accept ends the negotiation; media flows once connected.
	offer(ctx context.Context) (string, error)
	accept(ctx context.Context, answer string) error
	// finish ends the video and returns what the sender said meanwhile.
	finish(ctx context.Context) ([]sample, error)
}

// chromium is a source in the page.
type chromium struct {
	id, title string
	maxBps    int
}

func (c *chromium) offer(ctx context.Context) (string, error) {
	return call[string](ctx, "offer", c.id, c.title, c.maxBps)
}

func (c *chromium) accept(ctx context.Context, answer string) error {
	_, err := call[any](ctx, "accept", c.id, answer)

	return err
}

func (c *chromium) finish(ctx context.Context) ([]sample, error) {
	text, err := call[string](ctx, "finish", c.id)
	if err != nil {
		return nil, err
	}
	var got []struct{ At, Estimate, Target float64 }
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return nil, err
	}
	var out []sample
	for _, g := range got {
		out = append(out, sample{time.UnixMicro(int64(g.At * 1000)), g.Estimate, g.Target})
	}

	return out, nil
}

// ours is a Pion sender with our estimator, which has no telemetry and so is
// plain GCC, and a synthetic encoder.
type ours struct {
	*endpoint
	maxBps    int
	seed      uint64
	estimator *interceptor.Estimator
	track     *webrtc.TrackLocalStaticRTP
	sender    *webrtc.RTPSender
	stop      context.CancelFunc
	wg        sync.WaitGroup
	samples   []sample
}

// newOurs makes one. Events, when not nil, gets what the estimator does.
func newOurs(maxBps int, seed uint64, events io.Writer) (*ours, error) {
	o := &ours{maxBps: maxBps, seed: seed, stop: func() {}}
	options := []interceptor.Option{
		interceptor.WithBitrateBounds(minBps, startBps, interceptor.DefaultMaxBps),
	}
	if events != nil {
		options = append(options, interceptor.WithEventWriter(events))
	}
	factory, err := cc.NewInterceptor(interceptor.Factory(options...))
	if err != nil {
		return nil, err
	}
	factory.OnNewPeerConnection(func(_ string, e cc.BandwidthEstimator) { o.estimator, _ = e.(*interceptor.Estimator) })
	r := &pion.Registry{}
	r.Add(factory)
	numbers, err := twcc.NewHeaderExtensionInterceptor()
	if err != nil {
		return nil, err
	}
	r.Add(numbers)
	reports, err := report.NewSenderInterceptor()
	if err != nil {
		return nil, err
	}
	r.Add(reports)
	if o.endpoint, err = newEndpoint(r); err != nil {
		return nil, err
	}
	o.track, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "ours")
	if err == nil {
		o.sender, err = o.pc.AddTrack(o.track)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}

	return o, nil
}

func (o *ours) offer(ctx context.Context) (string, error) {
	d, err := o.pc.CreateOffer(nil)
	offer, err := o.describe(ctx, d, err)

	return offer, err
}

func (o *ours) accept(ctx context.Context, answer string) error {
	connected := make(chan struct{})
	var once sync.Once
	o.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(connected) })
		}
	})
	if err := o.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		return err
	}
	select {
	case <-connected:
	case <-ctx.Done():
		return fmt.Errorf("browser: not connected: %w", context.Cause(ctx))
	}
	ctx, o.stop = context.WithCancel(context.Background())
	o.wg.Go(func() {
		b := make([]byte, 1500)
		for {
			if _, _, err := o.sender.Read(b); err != nil {
				return
			}
		}
	})
	o.wg.Go(func() { o.encode(ctx) })

	return nil
}

// skipAbove is the pacer's queue above which a frame is left out; libwebrtc's
// encoder does the like.
const skipAbove = 250 * ms

// encode makes frames and samples between them.
func (o *ours) encode(ctx context.Context) {
	start := time.Now()
	src, err := media.New(media.Config{
		Start: start, Seed: o.seed, Lag: encoderLag, Noise: encoderNoise, HeaderBytes: encoderHeader, CapBps: o.maxBps,
	})
	if err != nil {
		panic(err) // a constant configuration
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	seq, next := uint16(1), start
	payload := make([]byte, maxPacket)
	for {
		timer.Reset(time.Until(src.NextTimeout()))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		now := time.Now()
		target := o.estimator.GetTargetBitrate()
		if !now.Before(next) {
			next = now.Add(sampleEvery)
			o.samples = append(o.samples, sample{now, float64(target), float64(min(target, o.maxBps))})
		}
		src.OnTarget(now, target)
		f, ok := src.Capture(now, media.Budget{})
		if !ok {
			continue
		}
		if o.estimator.PacerDelay() > skipAbove {
			src.OnSkipped(now)

			continue
		}
		count := (f.Size + maxPacket - 1) / maxPacket
		for i := range count {
			// An error is the connection going down.
			_ = o.track.WriteRTP(&rtp.Packet{
				Header: rtp.Header{
					Version: 2, Marker: i == count-1, SequenceNumber: seq,
					Timestamp: uint32(now.Sub(start).Seconds() * clockRate),
				},
				Payload: payload[:part(f.Size, i, count)],
			})
			seq++
		}
	}
}

func (o *ours) finish(context.Context) ([]sample, error) {
	o.stop()
	err := o.close()
	o.wg.Wait()

	return o.samples, err
}
