// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// peer is a connection on loopback.
func peer(t *testing.T) *webrtc.PeerConnection {
	t.Helper()
	var e webrtc.SettingEngine
	e.SetIncludeLoopbackCandidate(true)
	e.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	e.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(e)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })

	return pc
}

// join posts an offer; it tries again while there is nothing to view.
func join(t *testing.T, pc *webrtc.PeerConnection, endpoint, token string) {
	t.Helper()
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(pc.LocalDescription().SDP))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/sdp")
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusCreated {
			if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(b)}); err != nil {
				t.Fatal(err)
			}

			return
		}
		if resp.StatusCode != http.StatusNotFound || time.Now().After(end) {
			t.Fatalf("%s: %s %s", endpoint, resp.Status, b)
		}
	}
}

// A publisher without a browser, over the emulated uplink to a viewer: pictures
// arrive, key frames are asked for, and the publisher hears what it may send.
func TestGateway(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		t.Run(listen, func(t *testing.T) { testGateway(t, listen) })
	}
}

func testGateway(t *testing.T, listen string) {
	t.Helper()
	r := start(t, "-listen", listen)
	defer http.DefaultClient.CloseIdleConnections()
	at, token, _ := strings.Cut(r.publish, "publish#")
	token, err := url.PathUnescape(token)
	if err != nil {
		t.Fatal(err)
	}
	camera := peer(t)
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}, "video", "cam")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := camera.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly})
	if err != nil {
		t.Fatal(err)
	}
	var keys, remb, got atomic.Int64
	go func() {
		for {
			packets, _, err := tr.Sender().ReadRTCP()
			if err != nil {
				return
			}
			for _, p := range packets {
				switch p := p.(type) {
				case *rtcp.PictureLossIndication:
					keys.Add(1)
				case *rtcp.ReceiverEstimatedMaximumBitrate:
					remb.Store(int64(p.Bitrate))
				}
			}
		}
	}()
	join(t, camera, at+"whip", token)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	defer func() { cancel(); <-done }()
	go func() {
		defer close(done)
		for n := 0; ctx.Err() == nil; n++ {
			payload := make([]byte, 800)
			payload[0], payload[1] = 0x10, 1 // VP8, not a key frame
			if n%10 == 0 {
				payload[1] = 0
			}
			_ = track.WriteRTP(&rtp.Packet{
				Header: rtp.Header{Version: 2, Marker: true, SequenceNumber: uint16(n), Timestamp: uint32(n * 3000)}, Payload: payload,
			})
			time.Sleep(33 * time.Millisecond)
		}
	}()
	screen := peer(t)
	if _, err := screen.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}); err != nil {
		t.Fatal(err)
	}
	screen.OnTrack(func(tr *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			if _, _, err := tr.ReadRTP(); err != nil {
				return
			}
			got.Add(1)
		}
	})
	join(t, screen, strings.TrimSuffix(r.view, "view")+"whep", "")
	for end := time.Now().Add(15 * time.Second); got.Load() < 30 || keys.Load() < 1 || remb.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d packets arrived, %d key frames were asked for, REMB %d", got.Load(), keys.Load(), remb.Load())
		}
	}
	if bps := remb.Load(); bps < 100_000 || bps > 6_000_000 {
		t.Errorf("REMB %d bit/s", bps)
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}
