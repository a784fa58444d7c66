// SPDX-License-Identifier: MIT

package interceptor_test

import (
	"fmt"
	"net"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A Pion application with GBR-CC and a phone's modem: newCall and send are in
// README.md.
func Example() {
	// Stands for an agent on a phone, which prints its pairing URL with -pair.
	agent, err := modemlink.NewServer(modemlink.ServerConfig{})
	must(err)
	pairingURL := agent.URL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7667}).String()

	encoder := make(chan int, 10) // stands for an encoder's control
	pc, err := newCall(pairingURL, func(bitrate int) { encoder <- bitrate })
	must(err)
	track, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "camera")
	must(err)
	must(send(pc, track))

	fmt.Println("encoder:", <-encoder, "bit/s")
	must(pc.Close())
	// Output: encoder: 300000 bit/s
}

// newAPI is what every application with Pion has: codecs and interceptors.
func newAPI(estimators pion.Factory) *webrtc.API {
	media, registry := &webrtc.MediaEngine{}, &pion.Registry{}
	must(media.RegisterDefaultCodecs())
	registry.Add(estimators)
	must(webrtc.ConfigureTWCCHeaderExtensionSender(media, registry))
	must(webrtc.RegisterDefaultInterceptors(media, registry))

	return webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
}

// A sender without a modem: the end-to-end loop alone. What the pacer asks of the
// encoder keeps the call in time when the rate falls.
func ExampleNewInterceptor() {
	estimators, err := interceptor.NewInterceptor()
	must(err)
	pc, err := newAPI(estimators).NewPeerConnection(webrtc.Configuration{})
	must(err)
	track, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "pion")
	must(err)
	must(send(pc, track))
	est, _ := estimators.ForPeerConnection(pc)
	est.OnTargetBitrateChange(func(bitrate int) { _ = bitrate /* encoder.SetBitRate(bitrate) */ })
	est.OnAdvice(func(a interceptor.Advice) { _ = a.SkipFrames /* leave out frames; a.KeyFrame: make one */ })

	fmt.Println(est.Target().Mode, est.GetTargetBitrate())
	must(pc.Close())
	_, open := estimators.ForPeerConnection(pc)
	fmt.Println("after Close:", open)
	// Output:
	// outer-only 300000
	// after Close: false
}

// An encoder that can hit a size is told one for each frame, which keeps the
// phone's queue shorter than a rate does. Without telemetry there is the rate.
func ExampleEstimator_FrameBudget() {
	est, err := interceptor.NewEstimator()
	must(err)
	capture := func() {
		bytes, ok := est.FrameBudget()
		if !ok {
			bytes = est.GetTargetBitrate() / 8 / 30
		}
		if bytes == 0 || est.SkipFrame() {
			fmt.Println("leave it out")

			return
		}
		fmt.Println("a frame of", bytes, "bytes") // encoder.Encode(picture, bytes)
	}
	capture()
	must(est.Close())
	// Output: a frame of 1250 bytes
}

// An application that has Pion's estimator changes one argument, or decides call
// by call which one to use.
func ExampleFactory() {
	gbrcc := true
	estimator := func() (cc.BandwidthEstimator, error) {
		if gbrcc {
			return interceptor.Factory(interceptor.WithPreset("call"))()
		}

		return gcc.NewSendSideBWE()
	}
	factory, err := cc.NewInterceptor(estimator)
	must(err)
	var bwe cc.BandwidthEstimator
	factory.OnNewPeerConnection(func(_ string, e cc.BandwidthEstimator) { bwe = e })
	api := newAPI(factory)
	for _, gbrcc = range []bool{true, false} {
		pc, err := api.NewPeerConnection(webrtc.Configuration{})
		must(err)
		_, ours := bwe.(*interceptor.Estimator)
		fmt.Println(ours)
		must(pc.Close())
	}
	// Output:
	// true
	// false
}

// In mid call: from steering by the modem to the end-to-end loop with other
// bounds, and back.
func ExampleEstimator_Switch() {
	est, err := interceptor.NewEstimator(interceptor.WithBitrateBounds(100_000, 800_000, 5_000_000))
	must(err)
	must(est.Switch(interceptor.WithAlgorithm(gbr.Seed), interceptor.WithBitrateBounds(100_000, 300_000, 600_000)))
	fmt.Println(est.GetTargetBitrate())
	must(est.Switch(interceptor.WithAlgorithm(gbr.Default), interceptor.WithBitrateBounds(100_000, 300_000, 5_000_000)))
	fmt.Println(est.GetTargetBitrate())
	must(est.Close())
	// Output:
	// 600000
	// 600000
}

// The up-link of an SFU or a gateway: one PeerConnection carries the audio and
// the simulcast layers of a camera, as many as fit the target.
func ExampleAllocator() {
	allocator, err := interceptor.NewAllocator([]interceptor.StreamBounds{
		{ID: "audio", Priority: 10, MinBps: 32_000, MaxBps: 64_000, Always: true},
		{ID: "quarter", Priority: 3, MinBps: 100_000, MaxBps: 200_000},
		{ID: "half", Priority: 2, MinBps: 300_000, MaxBps: 700_000},
		{ID: "full", Priority: 1, MinBps: 1_000_000, MaxBps: 2_500_000},
	}, func(rates []interceptor.Allocation) {
		for _, r := range rates {
			fmt.Print(r.ID, " ", r.BitrateBps/1000, ", ") // 0: do not forward this layer
		}
		fmt.Println("kbit/s")
	})
	must(err)
	// allocator.Serve(est)
	for _, target := range []int{50_000, 250_000, 700_000, 2_000_000} {
		allocator.SetTarget(target)
	}
	// Output:
	// audio 50, quarter 0, half 0, full 0, kbit/s
	// audio 64, quarter 186, half 0, full 0, kbit/s
	// audio 64, quarter 200, half 436, full 0, kbit/s
	// audio 64, quarter 200, half 700, full 1036, kbit/s
}

// Two PeerConnections of one phone share its modem: the second one gets a third
// of the capacity, and all of it when the first is closed.
func ExampleUplink() {
	// link.Run of a modemlink client in place of nil, which leaves it to the
	// application to push what the modem says.
	uplink := interceptor.NewUplink(nil)
	camera, err := interceptor.NewEstimator(interceptor.WithUplink(uplink, 2))
	must(err)
	screen, err := interceptor.NewEstimator(interceptor.WithUplink(uplink, 1))
	must(err)
	uplink.PushTelemetry(gbr.Telemetry{Samples: []gbr.Sample{{
		At: time.Now(), Window: 5 * time.Millisecond, Granted: 3000, Reported: 6000,
	}}})
	fmt.Println(camera.Target().Mode, screen.Target().Mode)
	must(camera.Close())
	must(screen.Close())
	// Output: dual dual
}
