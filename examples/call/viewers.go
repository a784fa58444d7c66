// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
)

const (
	maxViewers = 16
	maxOffer   = 64 << 10
	answerTime = 5 * time.Second
)

// viewers are browsers that play what the legs' receivers get, over connections of
// their own: with all that the emulated cell did to it, and nothing more.
type viewers struct {
	api *webrtc.API

	mu     sync.Mutex
	legs   map[string]*playback
	pcs    map[*webrtc.PeerConnection]*playback
	closed bool

	end, ended chan struct{} // of the reports
}

// playback is a leg's.
type playback struct {
	video, audio *webrtc.TrackLocalStaticRTP // no audio: nil
	start        time.Time                   // the zero of both tracks' timestamps
	askKey       func()                      // nil before the call
}

func newViewers(cc []string, withSound bool) (*viewers, error) {
	m := &webrtc.MediaEngine{}
	feedback := []webrtc.RTCPFeedback{{Type: "nack", Parameter: "pli"}}
	vp8 := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: videoClock, RTCPFeedback: feedback}
	opus := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: audioClock, Channels: 2}
	err := errors.Join(
		m.RegisterCodec(webrtc.RTPCodecParameters{PayloadType: 96, RTPCodecCapability: vp8}, webrtc.RTPCodecTypeVideo),
		m.RegisterCodec(webrtc.RTPCodecParameters{PayloadType: 111, RTPCodecCapability: opus}, webrtc.RTPCodecTypeAudio))
	if err != nil {
		return nil, err
	}
	var e webrtc.SettingEngine
	e.SetIncludeLoopbackCandidate(true)
	// Browsers hide their addresses behind names; they send first, and are known by
	// that.
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	e.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	v := &viewers{
		api:  webrtc.NewAPI(webrtc.WithMediaEngine(m), webrtc.WithSettingEngine(e)),
		legs: map[string]*playback{}, pcs: map[*webrtc.PeerConnection]*playback{},
		end: make(chan struct{}), ended: make(chan struct{}),
	}
	for _, name := range cc {
		// Of one stream, which is what a browser plays in step.
		s := &playback{}
		if s.video, err = webrtc.NewTrackLocalStaticRTP(vp8, "video", name); err != nil {
			return nil, err
		}
		if withSound {
			if s.audio, err = webrtc.NewTrackLocalStaticRTP(opus, "audio", name); err != nil {
				return nil, err
			}
		}
		v.legs[name] = s
	}
	go v.report()

	return v, nil
}

// join says when a leg has started, and how to ask for a key frame. forward gets its
// packets.
func (v *viewers) join(cc string, start time.Time, askKey func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.legs[cc].start, v.legs[cc].askKey = start, askKey
}

// forward is peer.Config.Received and ReceivedAudio of a leg.
func (v *viewers) forward(cc string) (video, audio func(*rtp.Packet)) {
	to := func(track *webrtc.TrackLocalStaticRTP) func(*rtp.Packet) {
		return func(p *rtp.Packet) {
			c := *p
			c.Extension, c.Extensions = false, nil // of the hop that it came over
			_ = track.WriteRTP(&c)                 // a viewer that is gone
		}
	}

	return to(v.legs[cc].video), to(v.legs[cc].audio)
}

func (v *viewers) wantKey(s *playback) {
	v.mu.Lock()
	ask := s.askKey
	v.mu.Unlock()
	if ask != nil {
		ask()
	}
}

// ServeHTTP answers an offer to play: POST of application/sdp to play/{cc}.
func (v *viewers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := v.legs[r.PathValue("cc")]
	if s == nil {
		http.NotFound(w, r)

		return
	}
	if origin := r.Header.Get("Origin"); !sfu.LocalHost(r) || origin != "" && origin != "http://"+r.Host {
		http.Error(w, "request of another site", http.StatusForbidden)

		return
	}
	offer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOffer))
	if err != nil {
		http.Error(w, "an offer of more than 64 KiB", http.StatusRequestEntityTooLarge)

		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	answer, err := v.answer(ctx, s, string(offer))
	switch {
	case errors.Is(err, errFull):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, "not an offer that can be answered: "+err.Error(), http.StatusBadRequest)
	default:
		w.Header().Set("Content-Type", "application/sdp")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, answer)
	}
}

var errFull = errors.New("too many viewers, or the call is over")

func (v *viewers) answer(ctx context.Context, s *playback, offer string) (answer string, err error) {
	pc, err := v.open(s)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			v.drop(pc)
		}
	}()
	sender, err := pc.AddTrack(s.video)
	if err != nil {
		return "", err
	}
	if s.audio != nil {
		if _, err := pc.AddTrack(s.audio); err != nil {
			return "", err
		}
	}
	go func() { // ends with pc
		for {
			packets, _, err := sender.ReadRTCP()
			if err != nil {
				return
			}
			for _, p := range packets {
				if _, ok := p.(*rtcp.PictureLossIndication); ok {
					v.wantKey(s)
				}
			}
		}
	}()
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", err
	}
	a, err := pc.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(a); err != nil {
		return "", err
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}

	return pc.LocalDescription().SDP, nil
}

// open makes a connection, which goes when the browser does.
func (v *viewers) open(s *playback) (*webrtc.PeerConnection, error) {
	pc, err := v.api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	full := v.closed || len(v.pcs) >= maxViewers
	if !full {
		v.pcs[pc] = s
	}
	v.mu.Unlock()
	if full {
		return nil, errors.Join(errFull, pc.Close())
	}
	pc.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		switch state {
		case webrtc.PeerConnectionStateConnected:
			v.wantKey(s)
		case webrtc.PeerConnectionStateFailed, webrtc.PeerConnectionStateDisconnected:
			go v.drop(pc) // it waits for this callback
		default:
		}
	})

	return pc, nil
}

func (v *viewers) drop(pc *webrtc.PeerConnection) {
	v.mu.Lock()
	delete(v.pcs, pc)
	v.mu.Unlock()
	_ = pc.GracefulClose() // its errors are those of a far end that is gone
}

// close ends all connections.
func (v *viewers) close() {
	v.mu.Lock()
	v.closed = true
	pcs := v.pcs
	v.pcs = map[*webrtc.PeerConnection]*playback{}
	v.mu.Unlock()
	close(v.end)
	<-v.ended
	for pc := range pcs {
		_ = pc.GracefulClose()
	}
}
