// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"go.uber.org/goleak"
)

// theatre serves the page with videos.
func theatre(t *testing.T) (*page, *httptest.Server) {
	t.Helper()
	p, err := newPage(options{cc: []string{"gbrcc", "pion"}, http: "127.0.0.1:0", film: &film{audio: &audio{}}, traceName: "x"})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(p.server.Handler)

	return p, s
}

func ask(t *testing.T, s *httptest.Server, method, path, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	r, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close() // it was read

	return r.StatusCode, string(b), r.Header
}

func TestWatchPage(t *testing.T) {
	p, s := theatre(t)
	defer s.Close()
	defer p.close()
	for path, want := range map[string]string{
		"/": `src="charts/"`, "/watch/watch.js": "RTCPeerConnection", "/watch/watch.css": "video",
		"/videos": `[{"cc":"gbrcc","color":"blue","sound":true},{"cc":"pion","color":"orange","sound":true}]`, "/charts/": "assets/page.js",
		"/charts/assets/page.css": "--blue",
	} {
		code, body, header := ask(t, s, http.MethodGet, path, "")
		if code != http.StatusOK || !strings.Contains(body, want) || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d without %s, policy %q", path, code, want, header.Get("Content-Security-Policy"))
		}
	}
	for _, tt := range []struct {
		path, body string
		header     []string
		want       int
	}{
		{"/play/bbr", "v=0\r\n", nil, http.StatusNotFound},
		{"/play/gbrcc", "not SDP", nil, http.StatusBadRequest},
		{"/play/gbrcc", "", nil, http.StatusBadRequest},
		{"/play/gbrcc", strings.Repeat("x", maxOffer+1), nil, http.StatusRequestEntityTooLarge},
		{"/play/gbrcc", "v=0\r\n", []string{"Origin", "http://elsewhere.example"}, http.StatusForbidden},
		{"/play/gbrcc", "v=0\r\n", []string{"Origin", "null"}, http.StatusForbidden},
	} {
		if code, text, _ := ask(t, s, http.MethodPost, tt.path, tt.body, tt.header...); code != tt.want {
			t.Errorf("%s %.20q %v: %d %q, want %d", tt.path, tt.body, tt.header, code, text, tt.want)
		}
	}
	if n := len(p.viewers.pcs); n != 0 {
		t.Errorf("%d connections of offers that were refused", n)
	}
}

// A viewer gets what the leg's receiver got, asks for a key frame when it comes,
// and leaves nothing behind.
func TestViewer(t *testing.T) {
	defer goleak.VerifyNone(t)
	p, s := theatre(t)
	asked := atomic.Int64{}
	start := time.Now().Add(-time.Minute)
	p.viewers.join("gbrcc", start, func() { asked.Add(1) })
	pc, err := p.viewers.api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	got, streams := make(chan *rtp.Packet, 1000), make(chan string, 2)
	reports := make(chan rtcp.SenderReport, 100)
	pc.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		streams <- track.StreamID()
		go func() {
			for {
				packets, _, err := receiver.ReadRTCP()
				if err != nil {
					return
				}
				for _, p := range packets {
					if r, ok := p.(*rtcp.SenderReport); ok && r.SSRC == uint32(track.SSRC()) {
						r.PacketCount = track.Codec().ClockRate // which of the two
						reports <- *r
					}
				}
			}
		}()
		for {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			select {
			case got <- packet:
			default:
			}
		}
	})
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeVideo, webrtc.RTPCodecTypeAudio} {
		if _, err := pc.AddTransceiverFromKind(kind, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}); err != nil {
			t.Fatal(err)
		}
	}
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	code, answer, _ := ask(t, s, http.MethodPost, "/play/gbrcc", pc.LocalDescription().SDP)
	if code != http.StatusCreated {
		t.Fatalf("%d: %s", code, answer)
	}
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	video, audio := p.viewers.forward("gbrcc")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	seen := map[uint32]bool{}
	for n := uint16(0); ; n++ {
		for _, forward := range []func(*rtp.Packet){video, audio} {
			forward(&rtp.Packet{
				Header:  rtp.Header{Version: 2, SequenceNumber: n, Timestamp: 90 * uint32(n), Extension: true, ExtensionProfile: 0xBEDE, PayloadType: 33},
				Payload: []byte{0x10, byte(n)},
			})
		}
		select {
		case r := <-reports:
			seen[r.PacketCount] = true
			// What both clocks say of the same moment is the same time of capture.
			at := time.Unix(int64(r.NTPTime>>32)-2_208_988_800, int64(r.NTPTime&0xffffffff*1e9>>32))
			captured := start.Add(time.Duration(r.RTPTime) * time.Second / time.Duration(r.PacketCount))
			within(t, "report", captured.Sub(at).Seconds()*1000, -0.1, 0.1, "ms")
			within(t, "age of a report", time.Since(at).Seconds(), 0, 1, "s")
		case packet := <-got:
			if packet.Extension || len(packet.Payload) != 2 || uint32(packet.SequenceNumber)*90 != packet.Timestamp {
				t.Errorf("got %v", packet)
			}
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("what arrives: %v", seen)
		}
		if seen[videoClock] && seen[audioClock] {
			break
		}
	}
	if a, b := <-streams, <-streams; a != "gbrcc" || b != a {
		t.Errorf("streams %q and %q, want one", a, b)
	}
	if asked.Load() == 0 {
		t.Error("no key frame was asked for")
	}
	p.close()
	s.Close()
	if err := pc.GracefulClose(); err != nil {
		t.Error(err)
	}
	if _, err := p.viewers.answer(t.Context(), p.viewers.legs["pion"], ""); err == nil {
		t.Error("an answer after the end")
	}
}
