// SPDX-License-Identifier: MIT

package sfu

import (
	"testing"

	"github.com/pion/webrtc/v4"
)

func TestKeyFrameStart(t *testing.T) {
	tests := []struct {
		name, mime string
		payload    []byte
		want       bool
	}{
		{"key", webrtc.MimeTypeVP8, []byte{0x10, 0x00}, true},
		{"delta", webrtc.MimeTypeVP8, []byte{0x10, 0x01}, false},
		{"later packet", webrtc.MimeTypeVP8, []byte{0x00, 0x00}, false},
		{"other partition", webrtc.MimeTypeVP8, []byte{0x11, 0x00}, false},
		{"7 bit picture ID", webrtc.MimeTypeVP8, []byte{0x90, 0x80, 0x01, 0x00}, true},
		{"15 bit picture ID", webrtc.MimeTypeVP8, []byte{0x90, 0x80, 0x81, 0x01, 0x00}, true},
		{"all extensions, delta", webrtc.MimeTypeVP8, []byte{0x90, 0xf0, 0x81, 0x00, 0x00, 0x00, 0x01}, false},
		{"all extensions, key", webrtc.MimeTypeVP8, []byte{0x90, 0xf0, 0x81, 0x01, 0x01, 0x01, 0x00}, true},
		{"cut off", webrtc.MimeTypeVP8, []byte{0x90, 0x80, 0x81}, false},
		{"padding", webrtc.MimeTypeVP8, nil, false},
		{"SPS", webrtc.MimeTypeH264, []byte{0x67, 0x42}, true},
		{"IDR", webrtc.MimeTypeH264, []byte{0x65, 0x88}, true},
		{"slice", webrtc.MimeTypeH264, []byte{0x41, 0x9a}, false},
		{"STAP-A with SPS second", webrtc.MimeTypeH264, []byte{0x78, 0, 2, 0x09, 0x10, 0, 2, 0x67, 0x42}, true},
		{"STAP-A without", webrtc.MimeTypeH264, []byte{0x78, 0, 2, 0x09, 0x10, 0, 2, 0x41, 0x42}, false},
		{"FU-A, IDR begins", webrtc.MimeTypeH264, []byte{0x7c, 0x85, 0x88}, true},
		{"FU-A, IDR goes on", webrtc.MimeTypeH264, []byte{0x7c, 0x05, 0x88}, false},
		{"audio", webrtc.MimeTypeOpus, []byte{0}, true},
	}
	for _, tt := range tests {
		if got := keyFrameStart(tt.mime)(tt.payload); got != tt.want {
			t.Errorf("%s %s: %v", tt.mime, tt.name, got)
		}
	}
}

func FuzzKeyFrameStart(f *testing.F) {
	f.Add([]byte{0x90, 0xf0, 0x81, 0x01, 0x01, 0x01, 0x00})
	f.Add([]byte{0x78, 0, 2, 0x09, 0x10, 0, 2, 0x67, 0x42})
	f.Fuzz(func(t *testing.T, p []byte) {
		// A longer packet may begin a key frame where a shorter one did not
		// show it, never the other way.
		for _, key := range []func([]byte) bool{vp8Key, h264Key} {
			if key(p) && !key(append(p[:len(p):len(p)], 0)) {
				t.Errorf("%x is one, a byte more is not", p)
			}
		}
	})
}

func FuzzFragment(f *testing.F) {
	f.Add([]byte("a=ice-ufrag:abcd\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if fr, err := parseFragment(b); err == nil && len(fr.candidates) > maxCandidates {
			t.Errorf("%d candidates", len(fr.candidates))
		}
	})
}

func FuzzOffer(f *testing.F) {
	f.Add([]byte("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []role{publisher, viewer} {
			if o, err := parseOffer(b, kind); err == nil && (o.ufrag == "" || len(o.codecs) == 0) {
				t.Errorf("%q is taken: %+v", b, o)
			}
		}
	})
}
