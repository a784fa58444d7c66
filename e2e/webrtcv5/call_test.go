// SPDX-License-Identifier: MIT

package webrtcv5

import (
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v5"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
)

// A call over loopback: the PeerConnection's Estimator is found, gets feedback
// and telemetry, and steers.
func TestCall(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	factory, err := interceptor.NewInterceptor(interceptor.WithBitrateBounds(100_000, 300_000, 4_000_000))
	must(err)
	peer := func(register func(*webrtc.MediaEngine, *pion.Registry) error) *webrtc.PeerConnection {
		m, r := &webrtc.MediaEngine{}, &pion.Registry{}
		must(m.RegisterDefaultCodecs())
		must(register(m, r))
		must(webrtc.ConfigureNack(m, r))
		se := webrtc.SettingEngine{}
		se.SetIncludeLoopbackCandidate(true)
		pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(r), webrtc.WithSettingEngine(se)).
			NewPeerConnection(webrtc.Configuration{})
		must(err)
		t.Cleanup(func() { must(pc.Close()) })

		return pc
	}
	near := peer(func(m *webrtc.MediaEngine, r *pion.Registry) error {
		r.Add(factory)

		return webrtc.ConfigureTWCCHeaderExtensionSender(m, r)
	})
	far := peer(webrtc.ConfigureTWCCSender)
	// Pion's receiver reports what the application has read.
	far.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for buf := make([]byte, 1500); ; {
			if _, _, err := track.Read(buf); err != nil {
				return
			}
		}
	})
	est, ok := factory.ForPeerConnection(near)
	if !ok {
		t.Fatal("no Estimator")
	}
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "v", "v")
	must(err)
	sender, err := near.AddTrack(track)
	must(err)
	go func() {
		for buf := make([]byte, 1500); ; {
			if _, _, err := sender.Read(buf); err != nil {
				return
			}
		}
	}()
	describe := func(from, to *webrtc.PeerConnection, d webrtc.SessionDescription, err error) {
		must(err)
		gathered := webrtc.GatheringCompletePromise(from)
		must(from.SetLocalDescription(d))
		<-gathered
		must(to.SetRemoteDescription(*from.LocalDescription()))
	}
	offer, err := near.CreateOffer(nil)
	describe(near, far, offer, err)
	answer, err := far.CreateAnswer(nil)
	describe(far, near, answer, err)
	tick := time.NewTicker(time.Second / 30)
	defer tick.Stop()
	seq := uint16(0)
	highest := 0
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && highest < 1_500_000; {
		now := <-tick.C
		est.PushSample(gbr.Sample{At: now, Window: 5 * time.Millisecond, Granted: 1000, Reported: 1000})
		for left := est.GetTargetBitrate() / 8 / 30; left > 0; left -= 1200 {
			must(track.WriteRTP(&rtp.Packet{
				Header:  rtp.Header{Version: 2, SequenceNumber: seq, Timestamp: uint32(seq)},
				Payload: make([]byte, max(20, min(1100, left))),
			}))
			seq++
		}
		highest = max(highest, est.GetTargetBitrate())
	}
	stats := est.GetStats()
	if highest < 1_500_000 || stats[interceptor.StatFeedbackReports].(int64) < 5 || stats[interceptor.StatPacketsUntracked] != int64(0) {
		t.Errorf("target went up to %d bit/s, %v", highest, stats)
	}
}
