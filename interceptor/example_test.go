// SPDX-License-Identifier: MIT

package interceptor_test

import (
	"context"
	"fmt"
	"log"
	"net"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink"
)

// setBitRate stands for the encoder's control.
func setBitRate(bitrate int) {}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A Pion application with GBR-CC. README.md shows the marked lines: they are all
// that changes.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	media, registry := &webrtc.MediaEngine{}, &pion.Registry{}
	must(media.RegisterDefaultCodecs())
	// Stands for an agent on a phone, which prints its pairing URL with -pair.
	agent, err := modemlink.NewServer(modemlink.ServerConfig{})
	must(err)
	pairingURL := agent.URL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7667}).String()

	// README
	var est *interceptor.Estimator
	factory, err := cc.NewInterceptor(interceptor.Factory(interceptor.WithBitrateBounds(100_000, 300_000, 10_000_000)))
	must(err)
	factory.OnNewPeerConnection(func(_ string, e cc.BandwidthEstimator) { est = e.(*interceptor.Estimator) })
	registry.Add(factory) // before all others: the first one is next to the network
	must(webrtc.ConfigureTWCCHeaderExtensionSender(media, registry))
	must(webrtc.RegisterDefaultInterceptors(media, registry))
	api := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	must(err)
	link, err := modemlink.NewClient(pairingURL, modemlink.ClientConfig{})
	must(err)
	go func() { log.Print(link.Run(ctx, est.PushTelemetry)) }() // the phone's modem
	est.OnTargetBitrateChange(setBitRate)
	// And, as always with Pion: loop on RTPSender.Read, or no feedback is read.
	// README

	fmt.Println(est.GetTargetBitrate(), "bit/s,", est.Target().Mode)
	cancel()
	must(pc.Close())
	// Output: 300000 bit/s, outer-only
}
