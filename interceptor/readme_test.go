// SPDX-License-Identifier: MIT

package interceptor_test

import (
	"errors"

	pion "github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink"
)

// newCall makes a PeerConnection that steers by the modem of the phone whose agent
// has printed pairingURL. setBitRate is the encoder's, in bit/s.
func newCall(pairingURL string, setBitRate func(bitrate int)) (*webrtc.PeerConnection, error) {
	link, err := modemlink.NewClient(pairingURL, modemlink.ClientConfig{})
	if err != nil {
		return nil, err
	}
	estimators, err := interceptor.NewInterceptor(
		interceptor.WithBitrateBounds(100_000, 300_000, 10_000_000), // lowest, first, highest
		interceptor.WithTelemetrySource(link.Run))
	if err != nil {
		return nil, err
	}
	media, registry := &webrtc.MediaEngine{}, &pion.Registry{}
	registry.Add(estimators) // before all others: the first one is next to the network
	err = errors.Join(
		media.RegisterDefaultCodecs(),
		webrtc.ConfigureTWCCHeaderExtensionSender(media, registry),
		webrtc.RegisterDefaultInterceptors(media, registry))
	if err != nil {
		return nil, err
	}
	// Or what the receiver says right after a retransmission is lost in Pion.
	settings := webrtc.SettingEngine{BufferFactory: estimators.BufferFactory}
	pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry),
		webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	est, _ := estimators.ForPeerConnection(pc)
	est.OnTargetBitrateChange(setBitRate)

	return pc, nil
}

// send adds a track and reads its RTCP: Pion hands feedback to the estimator only
// while the application reads.
func send(pc *webrtc.PeerConnection, track webrtc.TrackLocal) error {
	sender, err := pc.AddTrack(track)
	if err != nil {
		return err
	}
	go func() {
		for buf := make([]byte, 1500); ; {
			if _, _, err := sender.Read(buf); err != nil {
				return
			}
		}
	}()

	return nil
}
