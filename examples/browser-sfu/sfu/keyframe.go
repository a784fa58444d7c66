// SPDX-License-Identifier: MIT

package sfu

import (
	"strings"

	"github.com/pion/webrtc/v4"
)

// keyFrameStart returns what tells whether a decoder can begin with a packet.
func keyFrameStart(mimeType string) func(payload []byte) bool {
	switch {
	case strings.EqualFold(mimeType, webrtc.MimeTypeVP8):
		return vp8Key
	case strings.EqualFold(mimeType, webrtc.MimeTypeH264):
		return h264Key
	default: // every packet of audio
		return func([]byte) bool { return true }
	}
}

// vp8Key reads the payload descriptor, RFC 7741 4.2, and the first bit of the
// frame, RFC 6386 9.1.
func vp8Key(p []byte) bool {
	if len(p) < 1 {
		return false
	}
	const extended, start, partition = 0x80, 0x10, 0x07
	if p[0]&start == 0 || p[0]&partition != 0 {
		return false
	}
	i := 1
	if p[0]&extended != 0 {
		if len(p) < 2 {
			return false
		}
		ext := p[1]
		i = 2
		if ext&0x80 != 0 { // picture ID, of one byte or two
			if len(p) > i && p[i]&0x80 != 0 {
				i++
			}
			i++
		}
		if ext&0x40 != 0 { // TL0PICIDX
			i++
		}
		if ext&0x30 != 0 { // TID, KEYIDX
			i++
		}
	}

	return len(p) > i && p[i]&1 == 0
}

// h264Key looks for parameters or an IDR picture. RFC 6184 5.
func h264Key(p []byte) bool {
	const (
		idr, sps     = 5, 7
		stapA, fuA   = 24, 28
		typeOf, head = 0x1f, 0x80
	)
	key := func(nal byte) bool { return nal&typeOf == idr || nal&typeOf == sps }
	if len(p) < 2 {
		return false
	}
	switch p[0] & typeOf {
	case stapA:
		for i := 1; i+2 < len(p); {
			if key(p[i+2]) {
				return true
			}
			i += 2 + int(p[i])<<8 + int(p[i+1])
		}

		return false
	case fuA:
		return p[1]&head != 0 && key(p[1])
	default:
		return key(p[0])
	}
}
