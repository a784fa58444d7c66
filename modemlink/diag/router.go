// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// Frames between modem and diag-router on newer phones have no checksum and no
// escapes:
//
//	7E 01 | length u16 | payload | 7E
const (
	routerVersion   = 1
	routerHeaderLen = 4
	routerExtra     = routerHeaderLen + 1
)

// routerFrame returns the payload of the frame that b begins with and what
// follows it; nil if b does not begin with a whole frame.
func routerFrame(b []byte) (payload, rest []byte) {
	if len(b) < routerExtra || b[0] != hdlcFlag || b[1] != routerVersion {
		return nil, b
	}
	end := routerHeaderLen + int(binary.LittleEndian.Uint16(b[2:]))
	if end == routerHeaderLen || len(b) <= end || b[end] != hdlcFlag {
		return nil, b
	}

	return b[routerHeaderLen:end:end], b[end+1:]
}

// AppendRouter appends a payload of 1 to 65535 bytes as one frame of
// FormatRouter; another length appends nothing.
func AppendRouter(dst, payload []byte) []byte {
	if len(payload) == 0 || len(payload) > 1<<16-1 {
		return dst
	}
	dst = append(dst, hdlcFlag, routerVersion)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(payload)))

	return append(append(dst, payload...), hdlcFlag)
}
