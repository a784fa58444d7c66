// SPDX-License-Identifier: MIT

package interceptor_test

import (
	"fmt"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
)

// setBitRate stands for the encoder's control.
func setBitRate(bitrate int) { fmt.Println("encoder:", bitrate, "bit/s") }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A Pion application with our estimator: what is between the lines is all that
// changes.
func Example() {
	media, registry := &webrtc.MediaEngine{}, &pion.Registry{}
	must(media.RegisterDefaultCodecs())

	// ---
	var est *interceptor.Estimator
	factory, err := cc.NewInterceptor(interceptor.Factory(
		interceptor.WithBitrateBounds(100_000, 300_000, 10_000_000)))
	must(err)
	factory.OnNewPeerConnection(func(_ string, bwe cc.BandwidthEstimator) { est = bwe.(*interceptor.Estimator) })
	registry.Add(factory) // first
	must(webrtc.ConfigureTWCCHeaderExtensionSender(media, registry))
	// ---

	must(webrtc.RegisterDefaultInterceptors(media, registry))
	pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry)).
		NewPeerConnection(webrtc.Configuration{})
	must(err)
	track, err := webrtc.NewTrackLocalStaticSample(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "gbrcc")
	must(err)
	sender, err := pc.AddTrack(track)
	must(err)

	// ---
	called := make(chan struct{})
	est.OnTargetBitrateChange(func(bitrate int) { setBitRate(bitrate); close(called) })
	go func() { // without this loop Pion reads no feedback
		for buf := make([]byte, 1500); ; {
			if _, _, err := sender.Read(buf); err != nil {
				return
			}
		}
	}()
	// The modem's telemetry; modemlink's Client.Run(ctx, est.PushTelemetry) does
	// this.
	est.PushTelemetry(gbr.Telemetry{Samples: []gbr.Sample{
		{At: time.Now(), Window: 5 * time.Millisecond, Granted: 0, Reported: 0},
	}})
	// ---

	<-called
	fmt.Println("mode:", est.Target().Mode)
	must(pc.Close())
	// Output:
	// encoder: 300000 bit/s
	// mode: dual
}
