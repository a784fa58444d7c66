// SPDX-License-Identifier: MIT

package peer

import (
	"encoding/binary"
	"errors"
	"time"
)

// headerLen is the part of a payload that carries the frame's identity; the
// rest is filling.
const headerLen = 4 + 2 + 2 + 8

// minPayload is the smallest payload that can be parsed.
const minPayload = headerLen

var errPayload = errors.New("peer: not a payload of this encoder")

// maxPackets is in a frame; keyBit in the count marks a key frame.
const (
	maxPackets = 1 << 12
	keyBit     = 1 << 15
)

// piece is one packet's part of a frame.
type piece struct {
	frame        uint32
	index, count uint16
	key          bool
	capture      time.Duration // since the start of the call
}

// put writes p at the start of b, which has minPayload bytes at least.
func (p piece) put(b []byte) {
	binary.BigEndian.PutUint32(b, p.frame)
	binary.BigEndian.PutUint16(b[4:], p.index)
	count := p.count
	if p.key {
		count |= keyBit
	}
	binary.BigEndian.PutUint16(b[6:], count)
	binary.BigEndian.PutUint64(b[8:], uint64(p.capture))
}

func parsePiece(b []byte) (piece, error) {
	if len(b) < minPayload {
		return piece{}, errPayload
	}
	count := binary.BigEndian.Uint16(b[6:])
	p := piece{
		frame:   binary.BigEndian.Uint32(b),
		index:   binary.BigEndian.Uint16(b[4:]),
		count:   count &^ keyBit,
		key:     count&keyBit != 0,
		capture: time.Duration(binary.BigEndian.Uint64(b[8:])),
	}
	if p.count == 0 || p.count > maxPackets || p.index >= p.count || p.capture < 0 {
		return piece{}, errPayload
	}

	return p, nil
}
