// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"encoding/binary"
)

// Splitter cuts a stream of any Format into log packets. Its memory is bounded.
// The zero value is ready and reads FormatHDLC. Not safe for concurrent use.
type Splitter struct {
	// Format is set before the first Write.
	Format Format

	hdlc Deframer
	// buf holds the bytes of the formats that are not HDLC, from start on.
	buf   []byte
	start int
	stats FrameStats
	// last is the time of the last packet of DLF, and adrift that what follows
	// it was none.
	last   Timestamp
	adrift bool
}

// Write adds bytes. It invalidates the packet that Next returned. At most 4 MiB
// are kept unread; beyond that the oldest go, and are counted.
func (s *Splitter) Write(p []byte) {
	if s.Format == FormatHDLC {
		s.hdlc.Write(p)

		return
	}
	if over := len(p) - maxBuffered; over > 0 {
		s.lose(len(s.buf) - s.start)
		s.stats.Lost += uint64(over)
		p = p[over:]
	}
	if over := len(s.buf) - s.start + len(p) - maxBuffered; over > 0 {
		s.lose(over)
	}
	if s.start > 0 && (s.start == len(s.buf) || len(s.buf)+len(p) > cap(s.buf)) {
		s.buf, s.start = s.buf[:copy(s.buf, s.buf[s.start:])], 0
	}
	s.buf = append(s.buf, p...)
}

// lose drops bytes that no packet begins with.
func (s *Splitter) lose(n int) {
	s.stats.Lost += uint64(n)
	s.start += n
}

// Next returns the next log packet; its body is valid until the next Write. The
// error is ErrMore when no whole frame is there, else that of ParseFrame for one
// frame: go on.
func (s *Splitter) Next() (Packet, error) {
	if s.Format == FormatQMDL2 {
		if !s.header() {
			return Packet{}, ErrMore
		}
	}
	switch s.Format {
	case FormatRouter:
		return s.nextRouter()
	case FormatDLF:
		return s.nextDLF()
	case FormatScan:
		return s.nextScan()
	case FormatHDLC, FormatQMDL2:
	}
	frame, err := s.hdlc.Next()
	if err != nil {
		return Packet{}, err
	}

	return ParseFrame(frame)
}

// header passes a QMDL2 header and goes on in the format that it tells; without
// one it is HDLC.
func (s *Splitter) header() bool {
	b := s.buf[s.start:]
	if len(b) < qmdl2HeaderLen {
		return false
	}
	n, inner := qmdl2Header(b)
	if len(b) < n {
		return false
	}
	s.start += n
	s.Format = inner
	if inner == FormatHDLC {
		s.hdlc.Write(s.buf[s.start:])
		s.buf, s.start = nil, 0
	}

	return true
}

func (s *Splitter) nextRouter() (Packet, error) {
	for {
		b := s.buf[s.start:]
		payload, rest := routerFrame(b)
		if payload != nil {
			s.start = len(s.buf) - len(rest)
			s.stats.Frames++

			return ParseFrame(payload)
		}
		if couldBeRouter(b) {
			return Packet{}, ErrMore
		}
		next := bytes.IndexByte(b[1:], hdlcFlag)
		if next < 0 {
			next = len(b) - 1
		}
		s.lose(next + 1)
	}
}

// couldBeRouter tells that more bytes may make a frame of b.
func couldBeRouter(b []byte) bool {
	switch {
	case len(b) == 0:
		return true
	case b[0] != hdlcFlag, len(b) > 1 && b[1] != routerVersion:
		return false
	case len(b) < routerHeaderLen:
		return true
	}
	n := int(binary.LittleEndian.Uint16(b[2:]))

	return n > 0 && len(b) <= routerHeaderLen+n
}

func (s *Splitter) nextDLF() (Packet, error) {
	for {
		b := s.buf[s.start:]
		if len(b) < logInnerHeader {
			return Packet{}, ErrMore
		}
		if !plausibleLog(b) || s.adrift && !s.continues(b) {
			s.lose(1)
			s.adrift = true

			continue
		}
		n := int(binary.LittleEndian.Uint16(b))
		if len(b) < n {
			return Packet{}, ErrMore
		}
		s.start += n
		s.stats.Frames++
		p := innerLog(b[:n:n])
		s.last, s.adrift = p.Logged, false

		return p, nil
	}
}

// continues tells that the packet at b is of about the time of the last one. DLF
// has no marks between packets: amid junk, a header off by a byte would do.
func (s *Splitter) continues(b []byte) bool {
	const day = 24 * 60 * 60 * ticksPerSec
	a, z := binary.LittleEndian.Uint64(b[4:])>>16, uint64(s.last>>16)

	return s.last == 0 || max(a, z)-min(a, z) < day
}

// innerLog reads a log packet from its inner length on.
func innerLog(b []byte) Packet {
	return Packet{
		Code: LogCode(binary.LittleEndian.Uint16(b[2:])), Logged: Timestamp(binary.LittleEndian.Uint64(b[4:])),
		Body: b[logInnerHeader:],
	}
}

// nextScan looks for 10 00 and the length twice.
func (s *Splitter) nextScan() (Packet, error) {
	for {
		b := s.buf[s.start:]
		i := bytes.Index(b, []byte{cmdLog, 0})
		if i < 0 {
			// The last bytes may be the wrapper or begin the command.
			s.lose(max(0, len(b)-radioHeaderLen-1))

			return Packet{}, ErrMore
		}
		log := b[i:]
		if len(log) < logHeaderLen {
			s.lose(max(0, i-radioHeaderLen))

			return Packet{}, ErrMore
		}
		n := int(binary.LittleEndian.Uint16(log[4:]))
		if int(binary.LittleEndian.Uint16(log[2:])) != n || !plausibleLog(log[4:]) {
			s.lose(i + 1)

			continue
		}
		if len(log) < 4+n {
			s.lose(max(0, i-radioHeaderLen))

			return Packet{}, ErrMore
		}
		p := innerLog(log[4 : 4+n : 4+n])
		if w := i - radioHeaderLen; w >= 0 && bytes.Equal(b[w:w+4], []byte{cmdMultiRadio, 1, 0, 0}) {
			p.Radio = binary.LittleEndian.Uint32(b[w+4:])
			i = w
		}
		s.lose(i)
		s.start = len(s.buf) - len(log) + 4 + n
		s.stats.Frames++

		return p, nil
	}
}

// Stats returns the counters.
func (s *Splitter) Stats() FrameStats {
	h := s.hdlc.Stats()
	h.Frames += s.stats.Frames
	h.Lost += s.stats.Lost

	return h
}

// Pending is the bytes of an unfinished frame; at the end of a file they are
// lost.
func (s *Splitter) Pending() int {
	return len(s.buf) - s.start + len(s.hdlc.buf) - s.hdlc.start
}
