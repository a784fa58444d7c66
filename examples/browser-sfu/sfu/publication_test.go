// SPDX-License-Identifier: MIT

package sfu

import "testing"

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
