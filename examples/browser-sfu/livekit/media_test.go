// SPDX-License-Identifier: MIT

//go:build livekit

package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/livekit/protocol/auth"
	lksdk "github.com/livekit/server-sdk-go/v2"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfutest"
)

// camera publishes VP8 by WHIP as a page does: frames of the size that it is told
// on the data channel, a key frame when asked.
type camera struct {
	bps  atomic.Int64
	keys atomic.Int64
}

const startBps = 500_000

func newCamera(t *testing.T, endpoint, token string) *camera {
	t.Helper()
	pc := sfutest.Peer(t, nil)
	c := &camera{}
	c.bps.Store(startBps)
	track := sfutest.Camera(t, pc, func(p rtcp.Packet) {
		if _, ok := p.(*rtcp.PictureLossIndication); ok {
			c.keys.Add(1)
		}
	})
	rate, err := pc.CreateDataChannel("rate", nil)
	if err != nil {
		t.Fatal(err)
	}
	rate.OnMessage(func(m webrtc.DataChannelMessage) {
		if bps, err := strconv.Atoi(string(m.Data)); err == nil {
			c.bps.Store(int64(bps))
		}
	})
	sfutest.Join(t, pc, endpoint, token)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		c.film(ctx, track)
	}()

	return c
}

const fps = 30

func (c *camera) film(ctx context.Context, track *webrtc.TrackLocalStaticRTP) {
	tick := time.NewTicker(time.Second / fps)
	defer tick.Stop()
	var seq uint16
	answered := int64(-1)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := c.keys.Load()
		frame := frameOf(int(c.bps.Load())/8/fps, asked != answered)
		answered = asked
		const most = 1100
		for first := true; len(frame) > 0; first = false {
			part := frame[:min(most, len(frame))]
			frame = frame[len(part):]
			// RFC 7741 4.2: X, S; I; a picture ID of 15 bits.
			head := []byte{0x80, 0x80, 0x80 | byte(n>>8)&0x7f, byte(n)}
			if first {
				head[0] |= 0x10
			}
			seq++
			_ = track.WriteRTP(&rtp.Packet{
				Header:  rtp.Header{Version: 2, Marker: len(frame) == 0, SequenceNumber: seq, Timestamp: uint32(n * 90_000 / fps)},
				Payload: append(head, part...),
			})
		}
	}
}

// frameOf is a frame of VP8 as far as an SFU looks: RFC 6386 9.1.
func frameOf(size int, key bool) []byte {
	b := make([]byte, max(size, 20))
	if key {
		b = make([]byte, max(2*size, 20))
		copy(b, []byte{0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x00, 0x05, 0xd0, 0x02}) // 1280 x 720
	} else {
		b[0] = 0x11
	}

	return b
}

// screen is a viewer by the SDK.
type screen struct {
	packets, bytes, holes, keys atomic.Int64
	subscribed                  atomic.Int64
}

func newScreen(t *testing.T, s server) *screen {
	t.Helper()
	token, err := s.viewerToken()
	if err != nil {
		t.Fatal(err)
	}
	v := &screen{}
	callback := lksdk.NewRoomCallback()
	callback.OnTrackSubscribed = func(track *webrtc.TrackRemote, _ *lksdk.RemoteTrackPublication, rp *lksdk.RemoteParticipant) {
		v.subscribed.Add(1)
		rp.WritePLI(track.SSRC())
		for last := -1; ; {
			p, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			if last >= 0 && p.SequenceNumber != uint16(last)+1 {
				v.holes.Add(1)
			}
			last = int(p.SequenceNumber)
			if len(p.Payload) > 4 && p.Payload[0]&0x10 != 0 && p.Payload[4]&1 == 0 {
				v.keys.Add(1)
			}
			v.packets.Add(1)
			v.bytes.Add(int64(len(p.Payload)))
		}
	}
	room, err := lksdk.ConnectToRoomWithToken(s.url, token, callback)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(room.Disconnect)

	return v
}

// mbps is what arrives during a time.
func (v *screen) mbps(d time.Duration) float64 {
	begin, at := v.bytes.Load(), time.Now()
	time.Sleep(d)

	return float64(v.bytes.Load()-begin) * 8 / 1e6 / time.Since(at).Seconds()
}

func publisherToken(s server) (string, error) {
	return auth.NewAccessToken(s.key, s.secret).SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: s.room}).
		SetIdentity("whip").SetValidFor(time.Hour).ToJWT()
}
