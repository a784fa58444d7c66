// SPDX-License-Identifier: MIT

package sfu

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfutest"
)

func TestStartBitrate(t *testing.T) {
	const in = "m=audio 9 x 111\r\na=rtpmap:111 opus/48000/2\r\na=fmtp:111 minptime=10\r\n" +
		"m=video 9 x 96 102\r\na=rtpmap:96 VP8/90000\r\na=rtpmap:102 H264/90000\r\na=fmtp:102 packetization-mode=1\r\n"
	const want = "m=audio 9 x 111\r\na=rtpmap:111 opus/48000/2\r\na=fmtp:111 minptime=10\r\n" +
		"m=video 9 x 96 102\r\na=rtpmap:96 VP8/90000\r\na=fmtp:96 x-google-start-bitrate=500\r\n" +
		"a=rtpmap:102 H264/90000\r\na=fmtp:102 packetization-mode=1;x-google-start-bitrate=500\r\n"
	if got := startBitrate(in, 500); got != want {
		t.Errorf("%s", got)
	}
	if got := startBitrate(in, 0); got != in {
		t.Errorf("%s", got)
	}
}

// A page that hears its rate on a channel may begin with a high estimate; who does
// not begins with what the uplink is known to take.
func TestStartBitrateOfAPage(t *testing.T) {
	_, url := start(t, func(c *Config) { c.StartKbps, c.StartToldKbps = 500, 6000 })
	for channel, want := range map[bool]string{false: "=500\r", true: "=6000\r"} {
		pc := peer(t)
		track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}, "video", "cam")
		if err == nil {
			_, err = pc.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly})
		}
		if err == nil && channel {
			_, err = pc.CreateDataChannel(rateChannel, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		a, err := ask(t.Context(), http.MethodPost, url+"/whip", typeSDP, sfutest.Offer(t, pc), "Authorization", "Bearer "+token)
		if err != nil || a.status != http.StatusCreated {
			t.Fatalf("%v %v", a, err)
		}
		if !strings.Contains(a.body, "x-google-start-bitrate"+want) {
			t.Errorf("with a channel %v: want %q in %s", channel, want, a.body)
		}
	}
}
