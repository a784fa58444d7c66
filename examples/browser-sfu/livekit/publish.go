// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	lksdk "github.com/livekit/server-sdk-go/v2"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/app"
	"github.com/gbrcc/gbrcc/examples/browser-sfu/gateway"
	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/interceptor"
)

const (
	connectTimeout = 10 * time.Second
	// retransmit is how many packets the SDK keeps for NACK: a second of 6 Mbit/s.
	retransmit = 1024
)

// uplink publishes in a room. It implements [app.Uplink].
type uplink struct {
	server   server
	identity string
	log      *slog.Logger
	factory  *interceptor.PeerFactory
	chain    []pion.Factory
}

func newUplink(s server, w app.Way) (*uplink, error) {
	u := &uplink{server: s, identity: "gateway-" + rand.Text(), log: w.Logger}
	opts := []interceptor.Option{interceptor.WithBitrateBounds(gateway.MinBps, gateway.StartBps, gateway.MaxBps)}
	if w.Telemetry != nil {
		opts = append(opts, interceptor.WithTelemetrySource(w.Telemetry))
	}
	var err error
	if u.factory, err = interceptor.NewInterceptor(opts...); err != nil {
		return nil, err
	}
	// The SDK's own come after these, and lack what writes the extension that
	// the estimator numbers.
	numbers, err := twcc.NewHeaderExtensionInterceptor()
	if err != nil {
		return nil, err
	}
	if w.Up != nil {
		u.chain = append(u.chain, newCell(w.Up, w.Down))
	}
	u.chain = append(u.chain, u.factory, numbers)

	return u, nil
}

func (u *uplink) Close() error { return u.factory.Close() }

// Forward implements [app.Uplink].
func (u *uplink) Forward(p *sfu.Publication) { gateway.Keep(p, u.log, u.forward) }

// forward is one stay in the room. The SDK connects again by itself when it can.
func (u *uplink) forward(ctx context.Context, p *sfu.Publication) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	callback := lksdk.NewRoomCallback()
	callback.OnDisconnected = cancel
	callback.OnReconnecting = func() { u.log.Info("LiveKit: connecting again") }
	callback.OnReconnected = func() {
		u.log.Info("LiveKit: connected again")
		p.RequestKeyFrame()
	}
	room := lksdk.NewRoom(callback)
	err := room.JoinWithContext(ctx, u.server.url, lksdk.ConnectInfo{
		APIKey: u.server.key, APISecret: u.server.secret, RoomName: u.server.room, ParticipantIdentity: u.identity,
	},
		lksdk.WithInterceptors(u.chain), lksdk.WithIncludeDefaultInterceptors(true), lksdk.WithRetransmitBufferSize(retransmit),
		lksdk.WithAutoSubscribe(false), lksdk.WithSinglePeerConnection(), lksdk.WithDisableRegionDiscovery(),
		lksdk.WithConnectTimeout(connectTimeout))
	if err != nil {
		return err
	}
	defer room.Disconnect()
	current := func() *interceptor.Estimator { return u.estimator(room) }
	to := map[string]sfu.Outlet{}
	for _, m := range p.Media() {
		write, err := publish(room, m, p)
		if err != nil {
			return err
		}
		to[m.Kind] = gateway.OutletOf(m, write, current)
	}
	if err := u.await(ctx, room); err != nil {
		return err
	}
	u.log.Info("LiveKit: publishing", "room", u.server.room)
	defer p.Attach(to)()
	gateway.Steer(ctx, p, current)
	if ctx.Err() != nil {
		return errors.New("the room was left")
	}

	return nil
}

// estimator is that of the connection of now: the SDK may have made another one.
func (u *uplink) estimator(room *lksdk.Room) *interceptor.Estimator {
	pc := room.LocalParticipant.GetPublisherPeerConnection()
	if pc == nil {
		return nil
	}
	est, _ := u.factory.ForPeerConnection(pc)

	return est
}

// await returns when media can flow.
func (u *uplink) await(ctx context.Context, room *lksdk.Room) error {
	for end := time.Now().Add(connectTimeout); time.Now().Before(end); {
		pc := room.LocalParticipant.GetPublisherPeerConnection()
		if pc != nil && pc.ConnectionState() == webrtc.PeerConnectionStateConnected {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}

	return errors.New("no way for media to the LiveKit server: is its UDP port open, and its address not one of loopback?")
}

// publish adds a medium to the room.
func publish(room *lksdk.Room, m sfu.Medium, p *sfu.Publication) (func(*rtp.Packet) error, error) {
	track, err := lksdk.NewLocalTrack(m.Codec, lksdk.WithRTCPHandler(func(packet rtcp.Packet) {
		switch packet.(type) {
		case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
			p.RequestKeyFrame()
		}
	}))
	if err != nil {
		return nil, err
	}
	opts := &lksdk.TrackPublicationOptions{Name: m.Kind, Stream: "gateway"}
	if m.Kind == "video" {
		opts.VideoWidth, opts.VideoHeight = 1280, 720
	}
	if _, err := room.LocalParticipant.PublishTrack(track, opts); err != nil {
		return nil, err
	}

	return func(packet *rtp.Packet) error { return track.WriteRTP(packet, nil) }, nil
}
