// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Commands of the diagnostic protocol that this package tells apart.
const (
	cmdLog        = 0x10
	cmdMultiRadio = 0x98
	cmdSecureLog  = 0x9E
)

const (
	radioHeaderLen = 8
	// logHeaderLen is the command, the pending count, the outer length and
	// the 12 bytes that the inner length counts: length, code, time stamp.
	logHeaderLen    = 16
	logInnerHeader  = 12
	secureHeaderLen = 24
	maxBody         = 1<<16 - 1 - logInnerHeader
)

// Errors of ParseFrame. They are normal in a stream: count them and go on.
var (
	// ErrNotLog is a frame with another command: events, debug text, answers.
	ErrNotLog = errors.New("diag: not a log packet")
	// ErrEncrypted is a log packet that the modem encrypts. The packet
	// returned with it has Code and Radio.
	ErrEncrypted = errors.New("diag: encrypted log packet")
	// ErrTruncated is a frame, packet or record shorter than its own lengths.
	ErrTruncated = errors.New("diag: truncated")
	// ErrMalformed is a packet that contradicts its format.
	ErrMalformed = errors.New("diag: malformed")
)

// Packet is one log packet. Body belongs to the frame that it was parsed from.
type Packet struct {
	Code   LogCode
	Logged Timestamp
	// Radio is the id of the multi-radio wrapper, 0 without one. Two SIMs
	// are two radios with frame numbers of their own.
	Radio uint32
	Body  []byte
}

// ParseFrame reads the header of a frame's log packet. It does not copy.
func ParseFrame(frame []byte) (Packet, error) {
	var p Packet
	if len(frame) > 0 && frame[0] == cmdMultiRadio {
		if len(frame) < radioHeaderLen {
			return p, fmt.Errorf("%w: radio wrapper", ErrTruncated)
		}
		p.Radio = binary.LittleEndian.Uint32(frame[4:])
		frame = frame[radioHeaderLen:]
	}
	switch {
	case len(frame) == 0:
		return p, fmt.Errorf("%w: empty frame", ErrTruncated)
	case frame[0] == cmdSecureLog:
		if len(frame) < secureHeaderLen {
			return p, fmt.Errorf("%w: secure log", ErrTruncated)
		}
		p.Code = LogCode(binary.LittleEndian.Uint16(frame[22:]))

		return p, ErrEncrypted
	case frame[0] != cmdLog:
		return p, ErrNotLog
	case len(frame) < logHeaderLen:
		return p, fmt.Errorf("%w: log header", ErrTruncated)
	}
	inner := int(binary.LittleEndian.Uint16(frame[4:]))
	p.Code = LogCode(binary.LittleEndian.Uint16(frame[6:]))
	p.Logged = Timestamp(binary.LittleEndian.Uint64(frame[8:]))
	switch {
	case inner < logInnerHeader:
		return p, fmt.Errorf("%w: log length %d", ErrMalformed, inner)
	case inner-logInnerHeader > len(frame)-logHeaderLen:
		return p, fmt.Errorf("%w: log length %d in a frame of %d", ErrTruncated, inner, len(frame))
	}
	p.Body = frame[logHeaderLen : logHeaderLen+inner-logInnerHeader]

	return p, nil
}

// AppendLog appends a log packet, the inverse of ParseFrame; AppendHDLC frames
// it. A body longer than 65523 bytes does not fit and appends nothing.
func AppendLog(dst []byte, code LogCode, logged Timestamp, body []byte) []byte {
	if len(body) > maxBody {
		return dst
	}
	n := uint16(len(body) + logInnerHeader)
	dst = append(dst, cmdLog, 0)
	dst = binary.LittleEndian.AppendUint16(dst, n)
	dst = binary.LittleEndian.AppendUint16(dst, n)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(code))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(logged))

	return append(dst, body...)
}

// AppendRadio appends the multi-radio wrapper for the packet that follows it.
func AppendRadio(dst []byte, radio uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, cmdMultiRadio, 1, 0, 0), radio)
}
