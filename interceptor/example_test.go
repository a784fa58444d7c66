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

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A Pion application with GBR-CC. README.md shows the marked lines: they are all
// that is added. As always with Pion the application must loop on
// RTPSender.Read, or no feedback is read.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	encoder := make(chan int, 10)
	setBitRate := func(bitrate int) { encoder <- bitrate } // stands for an encoder's control
	media, registry := &webrtc.MediaEngine{}, &pion.Registry{}
	must(media.RegisterDefaultCodecs())
	// Stands for an agent on a phone, which prints its pairing URL with -pair.
	agent, err := modemlink.NewServer(modemlink.ServerConfig{})
	must(err)
	pairingURL := agent.URL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7667}).String()

	// README
	link, err := modemlink.NewClient(pairingURL, modemlink.ClientConfig{})
	must(err)
	factory, err := cc.NewInterceptor(interceptor.Factory(interceptor.WithBitrateBounds(100_000, 300_000, 10_000_000)))
	must(err)
	factory.OnNewPeerConnection(func(_ string, e cc.BandwidthEstimator) {
		est := e.(*interceptor.Estimator)
		est.OnTargetBitrateChange(setBitRate)
		go func() { log.Print(link.Run(ctx, est.PushTelemetry)) }() // the phone's modem
	})
	registry.Add(factory) // before all others: the first one is next to the network
	must(webrtc.ConfigureTWCCHeaderExtensionSender(media, registry))
	// README

	must(webrtc.RegisterDefaultInterceptors(media, registry))
	api := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	must(err)
	fmt.Println("encoder:", <-encoder, "bit/s")
	cancel()
	must(pc.Close())
	// Output: encoder: 300000 bit/s
}
