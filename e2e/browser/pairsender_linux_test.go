// SPDX-License-Identifier: MIT

//go:build browser && codec

package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	piongcc "github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/e2e/cell/live"
	"github.com/gbrcc/gbrcc/e2e/video"
	"github.com/gbrcc/gbrcc/e2e/video/devices"
	"github.com/gbrcc/gbrcc/e2e/video/vp8"
	"github.com/gbrcc/gbrcc/interceptor"
	modem "github.com/gbrcc/gbrcc/modemlink/source"
)

// Lowest, first and highest rate of all senders, in bit/s.
const (
	pairMinBps   = 100_000
	pairStartBps = 300_000
	pairMaxBps   = 6_000_000
)

// filmer is a sender of the pattern.
type filmer interface {
	offer(ctx context.Context) (string, error)
	accept(ctx context.Context, answer string) error
	// finish ends it and returns its frames by number.
	finish(ctx context.Context) (map[int]filmed, error)
}

// filmed is a frame at its sender: when it was captured, and, which is not known
// of Chromium's, when it was encoded, its bytes, the target then in bit/s, and
// whether it is a key frame.
type filmed struct {
	captured, encoded time.Time
	bytes, target     int
	key               bool
}

// pionFilmer is a Pion sender with a real encoder, under GBR-CC or Pion's GCC.
type pionFilmer struct {
	*endpoint
	src       video.Source
	estimator cc.BandwidthEstimator
	track     *webrtc.TrackLocalStaticRTP
	sender    *webrtc.RTPSender
	pilot     *video.Pilot
	stop      context.CancelFunc
	wg        sync.WaitGroup
	budgets   bool
	frames    map[int]filmed
	err       error // of the encoder, after finish
}

func newPionFilmer(who string, link *live.Link, src video.Source) (*pionFilmer, error) {
	f := &pionFilmer{src: src, budgets: who == "gbrcc-budget", frames: map[int]filmed{}}
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	factory, err := cc.NewInterceptor(func() (cc.BandwidthEstimator, error) {
		if who == "pion" {
			return piongcc.NewSendSideBWE(
				piongcc.SendSideBWEInitialBitrate(pairStartBps), piongcc.SendSideBWEMinBitrate(pairMinBps),
				piongcc.SendSideBWEMaxBitrate(pairMaxBps), piongcc.SendSideBWEPacer(piongcc.NewNoOpPacer()))
		}

		return interceptor.NewEstimator(interceptor.WithBitrateBounds(pairMinBps, pairStartBps, pairMaxBps))
	})
	if err != nil {
		return nil, err
	}
	factory.OnNewPeerConnection(func(_ string, e cc.BandwidthEstimator) { f.estimator = e })
	r := &pion.Registry{}
	r.Add(factory)
	for _, make := range []func() (pion.Factory, error){
		func() (pion.Factory, error) { return twcc.NewHeaderExtensionInterceptor() },
		func() (pion.Factory, error) { return report.NewSenderInterceptor() },
		func() (pion.Factory, error) { return nack.NewResponderInterceptor() },
	} {
		i, err := make()
		if err != nil {
			return nil, err
		}
		r.Add(i)
	}
	if f.endpoint, err = newEndpoint(r); err != nil {
		return nil, err
	}
	f.track, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", who)
	if err == nil {
		f.sender, err = f.pc.AddTrack(f.track)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	if e, ok := f.estimator.(*interceptor.Estimator); ok {
		agent, err := modem.NewDiag(link.Diag(), modem.DiagConfig{AliveWhileOpen: true})
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.wg.Go(func() { _ = agent.Run(ctx, e.PushTelemetry) })
	}

	return f, nil
}

func (f *pionFilmer) offer(ctx context.Context) (string, error) {
	d, err := f.pc.CreateOffer(nil)

	return f.describe(ctx, d, err)
}

func (f *pionFilmer) accept(ctx context.Context, answer string) error {
	connected := make(chan struct{})
	var once sync.Once
	f.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(connected) })
		}
	})
	if err := f.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		return err
	}
	select {
	case <-connected:
	case <-ctx.Done():
		return fmt.Errorf("browser: not connected: %w", context.Cause(ctx))
	}

	return f.film()
}

// film starts the encoder.
func (f *pionFilmer) film() error {
	start, seq := time.Now(), uint16(1)
	pack := codecs.VP8Payloader{EnablePictureID: true}
	var err error
	var budget func() (int, bool)
	var leave func() bool
	if e, ok := f.estimator.(*interceptor.Estimator); ok {
		leave = e.SkipFrame
		if f.budgets {
			budget = e.FrameBudget
		}
	}
	f.pilot, err = video.New(video.Config{
		Builder: devices.Encoder(&vp8.Builder{}, true), Source: f.src, MaxBps: pairMaxBps, Budget: budget, Leave: leave,
		Target: f.estimator.GetTargetBitrate,
		Text:   func(int, time.Duration) string { return "" },
		Write: func(fr video.Frame) error {
			f.frames[fr.Number] = filmed{start.Add(fr.Captured), time.Now(), len(fr.Data), f.estimator.GetTargetBitrate(), fr.Key}
			payloads := pack.Payload(video.PacketBytes, fr.Data)
			for i, p := range payloads {
				// An error is the connection going down.
				_ = f.track.WriteRTP(&rtp.Packet{
					Header: rtp.Header{
						Version: 2, Marker: i == len(payloads)-1, SequenceNumber: seq, Timestamp: uint32(fr.Captured.Seconds() * clockRate),
					},
					Payload: p,
				})
				seq++
			}

			return nil
		},
	})
	if err != nil {
		return err
	}
	if e, ok := f.estimator.(*interceptor.Estimator); ok {
		e.OnAdvice(func(a interceptor.Advice) {
			f.pilot.Skip(a.SkipFrames)
			if a.KeyFrame {
				f.pilot.KeyFrame()
			}
		})
	}
	f.wg.Go(func() {
		for {
			packets, _, err := f.sender.ReadRTCP()
			if err != nil {
				return
			}
			for _, p := range packets {
				if _, ok := p.(*rtcp.PictureLossIndication); ok {
					f.pilot.KeyFrame()
				}
			}
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	stop := f.stop
	f.stop = func() { cancel(); stop() }
	f.wg.Go(func() { f.err = errors.Join(f.pilot.Run(ctx, start), f.pilot.Close()) })

	return nil
}

func (f *pionFilmer) finish(context.Context) (map[int]filmed, error) {
	f.stop()
	err := f.close()
	f.wg.Wait()

	return f.frames, errors.Join(err, f.err)
}

// chromiumFilmer sends from a page.
type chromiumFilmer struct{ page context.Context }

func (f *chromiumFilmer) offer(ctx context.Context) (string, error) {
	_ = ctx

	return call[string](f.page, "offer", pairMaxBps)
}

func (f *chromiumFilmer) accept(_ context.Context, answer string) error {
	_, err := call[any](f.page, "accept", answer)

	return err
}

func (f *chromiumFilmer) finish(context.Context) (map[int]filmed, error) {
	text, err := call[string](f.page, "stop")
	if err != nil {
		return nil, err
	}
	var got [][2]float64
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return nil, err
	}
	frames := map[int]filmed{}
	for _, g := range got {
		frames[int(g[0])] = filmed{captured: time.UnixMicro(int64(g[1] * 1000))}
	}

	return frames, nil
}
