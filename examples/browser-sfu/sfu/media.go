// SPDX-License-Identifier: MIT

package sfu

import (
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/webrtc/v4"
)

// The SRTP replay window: with Pion's default of 64 packets a retransmission
// that comes late is taken for a replay, which looks like loss to the sender.
const replayWindow = 1024

// A lost packet is asked for every nackEvery, at most nackTries times; a second
// later nobody can use it any more.
const (
	nackEvery = 40 * time.Millisecond
	nackTries = 20
)

// codecs in the order of preference, without RTX.
func codecs() (video, audio []webrtc.RTPCodecParameters) {
	feedback := []webrtc.RTCPFeedback{{Type: "nack"}, {Type: "nack", Parameter: "pli"}, {Type: "ccm", Parameter: "fir"}}
	add := func(mime, fmtp string, pt webrtc.PayloadType) {
		video = append(video, webrtc.RTPCodecParameters{
			RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: mime, ClockRate: 90_000, SDPFmtpLine: fmtp, RTCPFeedback: feedback},
			PayloadType:        pt,
		})
	}
	add(webrtc.MimeTypeVP8, "", 96)
	add(webrtc.MimeTypeH264, "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f", 102)
	add(webrtc.MimeTypeH264, "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f", 104)

	return video, []webrtc.RTPCodecParameters{{
		RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1",
		},
		PayloadType: 111,
	}}
}

// newAPI makes PeerConnections of one direction.
func (s *Server) newAPI(in bool) (*webrtc.API, error) {
	m, r := &webrtc.MediaEngine{}, &pion.Registry{}
	video, audio := codecs()
	for _, c := range video {
		if err := m.RegisterCodec(c, webrtc.RTPCodecTypeVideo); err != nil {
			return nil, err
		}
	}
	for _, c := range audio {
		if err := m.RegisterCodec(c, webrtc.RTPCodecTypeAudio); err != nil {
			return nil, err
		}
	}
	if in {
		// Packets keep no header extension on the way to the viewers. What is
		// not negotiated here, the sender does without: a browser turns
		// pictures upright itself, for one.
		m.RegisterFeedback(webrtc.RTCPFeedback{Type: "goog-remb"}, webrtc.RTPCodecTypeVideo)
		if err := webrtc.ConfigureTWCCSender(m, r); err != nil {
			return nil, err
		}
		generator, err := nack.NewGeneratorInterceptor(nack.GeneratorInterval(nackEvery), nack.GeneratorMaxNacksPerPacket(nackTries))
		if err != nil {
			return nil, err
		}
		r.Add(generator)
	} else {
		responder, err := nack.NewResponderInterceptor()
		if err != nil {
			return nil, err
		}
		r.Add(responder)
	}
	if err := webrtc.ConfigureRTCPReports(r); err != nil {
		return nil, err
	}
	var e webrtc.SettingEngine
	e.SetICEUDPMux(s.mux)
	e.SetIncludeLoopbackCandidate(s.loopback)
	// Names that browsers hide addresses behind are not looked up: they send
	// first, and are known by that.
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	e.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6})
	e.SetICETimeouts(5*time.Second, 10*time.Second, 2*time.Second)
	e.SetSRTPReplayProtectionWindow(replayWindow)

	return webrtc.NewAPI(webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(r), webrtc.WithSettingEngine(e)), nil
}
