// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// HDLC bytes of the diagnostic port.
const (
	hdlcFlag   = 0x7E
	hdlcEscape = 0x7D
	hdlcXor    = 0x20
	crcLen     = 2
)

// Bounds of a Deframer.
const (
	// maxRawFrame bounds a frame on the wire. A log packet has a 16-bit
	// length; twice that holds it with every byte escaped.
	maxRawFrame = 2 * (1<<16 + 64)
	// maxBuffered bounds what was written and not yet read.
	maxBuffered = 4 << 20
)

// ErrMore is returned by Next when no whole frame is there: write more.
var ErrMore = errors.New("diag: need more bytes")

// FrameStats counts what a Deframer saw.
type FrameStats struct {
	// Frames were returned by Next.
	Frames uint64
	// BadCRC were dropped for their checksum, Oversized for their length,
	// Short for being shorter than a checksum. Empty frames are normal and
	// not counted.
	BadCRC, Oversized, Short uint64
	// Lost is bytes dropped because the reader fell too far behind.
	Lost uint64
}

// Deframer cuts a byte stream into HDLC frames. However the stream is cut into
// writes, the frames are the same. Its memory is bounded. The zero value is
// ready. Not safe for concurrent use.
type Deframer struct {
	buf []byte
	// start is where the frame under work begins, scan how far it is known
	// to hold no flag.
	start, scan int
	// skip: drop everything up to the next flag.
	skip  bool
	stats FrameStats
}

// Write adds bytes from the port. It invalidates the frame that Next returned.
// At most 4 MiB are kept unread; beyond that the oldest go, and are counted.
func (d *Deframer) Write(p []byte) {
	if over := len(p) - maxBuffered; over > 0 {
		d.stats.Lost += uint64(over) + uint64(len(d.buf)-d.start)
		d.buf, d.start, d.scan, d.skip = d.buf[:0], 0, 0, true
		p = p[over:]
	}
	if over := len(d.buf) - d.start + len(p) - maxBuffered; over > 0 {
		d.stats.Lost += uint64(over)
		d.start += over
		d.scan = max(d.scan, d.start)
		d.skip = true
	}
	if d.start > 0 && (d.start == len(d.buf) || len(d.buf)+len(p) > cap(d.buf)) {
		n := copy(d.buf, d.buf[d.start:])
		d.buf, d.scan, d.start = d.buf[:n], d.scan-d.start, 0
	}
	d.buf = append(d.buf, p...)
}

// Next returns the payload of the next good frame, valid until the next Write,
// or ErrMore. Bad frames are dropped and counted.
func (d *Deframer) Next() (frame []byte, err error) {
	for {
		i := bytes.IndexByte(d.buf[d.scan:], hdlcFlag)
		if i < 0 {
			d.scan = len(d.buf)
			if !d.skip && d.scan-d.start > maxRawFrame {
				d.stats.Oversized++
				d.skip = true
			}
			if d.skip {
				d.start = d.scan
			}

			return nil, ErrMore
		}
		raw := d.buf[d.start : d.scan+i]
		d.scan += i + 1
		d.start = d.scan
		if d.skip {
			d.skip = false

			continue
		}
		if frame = d.check(raw); frame != nil {
			d.stats.Frames++

			return frame, nil
		}
	}
}

// check returns the payload of a raw frame, or nil.
func (d *Deframer) check(raw []byte) []byte {
	switch {
	case len(raw) == 0:
		return nil
	case len(raw) > maxRawFrame:
		d.stats.Oversized++

		return nil
	}
	p := unescape(raw)
	if len(p) <= crcLen {
		d.stats.Short++

		return nil
	}
	n := len(p) - crcLen
	if crc16(p[:n]) != binary.LittleEndian.Uint16(p[n:]) {
		d.stats.BadCRC++

		return nil
	}

	return p[:n:n]
}

// Stats returns the counters.
func (d *Deframer) Stats() FrameStats { return d.stats }

// unescape works in place. An escape at the very end is dropped; the checksum
// then fails.
func unescape(p []byte) []byte {
	w := bytes.IndexByte(p, hdlcEscape)
	if w < 0 {
		return p
	}
	for r := w; r < len(p); r++ {
		b := p[r]
		if b == hdlcEscape {
			r++
			if r == len(p) {
				break
			}
			b = p[r] ^ hdlcXor
		}
		p[w] = b
		w++
	}

	return p[:w]
}

// AppendHDLC appends payload as one frame: checksum, escapes, closing flag.
func AppendHDLC(dst, payload []byte) []byte {
	for _, b := range payload {
		dst = appendEscaped(dst, b)
	}
	crc := crc16(payload)
	dst = appendEscaped(dst, byte(crc))
	dst = appendEscaped(dst, byte(crc>>8))

	return append(dst, hdlcFlag)
}

func appendEscaped(dst []byte, b byte) []byte {
	if b == hdlcFlag || b == hdlcEscape {
		return append(dst, hdlcEscape, b^hdlcXor)
	}

	return append(dst, b)
}
