// SPDX-License-Identifier: MIT

// Package sfutest is what the tests of browser-sfu's packages and of its module share:
// peers without a browser, and a terminal to look at.
package sfutest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
)

// Peer is a connection on loopback that ends with the test, with what browsers have:
// NACK, reports, transport-wide numbers. change may be nil.
func Peer(t testing.TB, change func(*webrtc.SettingEngine)) *webrtc.PeerConnection {
	t.Helper()
	var e webrtc.SettingEngine
	e.SetIncludeLoopbackCandidate(true)
	e.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	e.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	if change != nil {
		change(&e)
	}
	m, r := &webrtc.MediaEngine{}, &pion.Registry{}
	err := errors.Join(
		m.RegisterDefaultCodecs(), webrtc.ConfigureTWCCHeaderExtensionSender(m, r), webrtc.RegisterDefaultInterceptors(m, r))
	if err != nil {
		t.Fatal(err)
	}
	api := webrtc.NewAPI(webrtc.WithSettingEngine(e), webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(r))
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })

	return pc
}

// Camera adds a track of VP8 to send, and hands over what comes back on it.
func Camera(t testing.TB, pc *webrtc.PeerConnection, feedback func(rtcp.Packet)) *webrtc.TrackLocalStaticRTP {
	t.Helper()
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}, "video", "cam")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := pc.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly})
	if err != nil {
		t.Fatal(err)
	}
	go func() { // ends with pc
		for {
			packets, _, err := tr.Sender().ReadRTCP()
			if err != nil {
				return
			}
			for _, p := range packets {
				feedback(p)
			}
		}
	}()

	return track
}

// Offer is a complete offer.
func Offer(t testing.TB, pc *webrtc.PeerConnection) string {
	t.Helper()
	o, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(o); err != nil {
		t.Fatal(err)
	}
	<-gathered

	return pc.LocalDescription().SDP
}

// Join posts an offer to WHIP or WHEP and takes the answer, whose header it returns. It
// tries again while there is nothing to view.
func Join(t testing.TB, pc *webrtc.PeerConnection, endpoint, token string) http.Header {
	t.Helper()
	offer := Offer(t, pc)
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(offer))
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

			return resp.Header
		}
		if resp.StatusCode != http.StatusNotFound || time.Now().After(end) {
			t.Fatalf("%s: %s %s", endpoint, resp.Status, b)
		}
	}
}

// Terminal is looked at while something is printed on it.
type Terminal struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (s *Terminal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.text.Write(b)
}

// String is what was printed so far.
func (s *Terminal) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.text.String()
}
