// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Commands that set what the modem logs. All are payloads: frame them with
// AppendHDLC, AppendRouter or AppendDeviceWrite.
const (
	cmdLogMask  = 0x73
	cmdDebug    = 0x7D
	cmdEvents   = 0x60
	cmdSubsys   = 0x4B
	logMaskHead = 8
	// maskCodes is the log codes of one equipment id.
	maskCodes = 1 << 12
)

// LogMaskOp is an operation of the log mask command.
type LogMaskOp uint32

// Log mask operations.
const (
	LogMaskDisable LogMaskOp = 0
	LogMaskRanges  LogMaskOp = 1
	LogMaskSet     LogMaskOp = 3
	LogMaskGet     LogMaskOp = 4
)

// Errors of log masks.
var (
	// ErrForbidden is a log code that holds keys or identities.
	ErrForbidden = errors.New("diag: log code must never be enabled")
	// ErrNotLogMask is an answer to another command.
	ErrNotLogMask = errors.New("diag: not a log mask answer")
)

// Forbidden tells whether packets of the code hold ciphering keys, user data or
// identities of the subscriber. This package never enables them, and a Decoder
// hands them to no hook, should another tool have enabled them.
func Forbidden(code LogCode) bool {
	switch {
	case code >= 0xB0A0 && code <= 0xB0B5: // LTE PDCP: keys in the configuration
		return true
	case code >= 0xB0E0 && code <= 0xB0EF: // LTE NAS: security context, identities
		return true
	case code >= 0xB800 && code <= 0xB80F: // NR NAS
		return true
	case code >= 0xB840 && code <= 0xB84F: // NR PDCP
		return true
	default:
		return code == 0xB871 // NR L2 uplink configuration: keys
	}
}

// GBRCodes returns the log codes that tell of grants and buffer status, and of
// the configuration behind them, ascending: what to enable in the modem.
func GBRCodes() []LogCode {
	return []LogCode{
		0xB060, 0xB064, 0xB066, 0xB067, 0xB0C0, 0xB139, 0xB16C,
		0xB821, 0xB872, 0xB873, 0xB881, 0xB883, 0xB885,
	}
}

// LogMask is the log codes of one equipment id: bit i stands for code
// id<<12 | i. LTE and NR share id 0xB.
type LogMask struct {
	Equipment uint32
	// Items is the number of bits.
	Items uint32
	Bits  []byte
}

// BuildLogMask makes a mask that enables the codes, which must share their
// equipment id. last is the last item that the modem has (see LogMaskReply); it
// refuses longer masks, and the codes beyond come back. The error is
// ErrForbidden when one of the codes is.
func BuildLogMask(last uint32, codes ...LogCode) (m LogMask, beyond []LogCode, err error) {
	if len(codes) == 0 {
		return m, nil, errors.New("diag: log mask without codes")
	}
	m.Equipment = uint32(codes[0] >> 12)
	m.Items = min(last, maskCodes-1) + 1
	m.Bits = make([]byte, (m.Items+7)/8)
	for _, c := range codes {
		item := uint32(c) & (maskCodes - 1)
		switch {
		case Forbidden(c):
			return LogMask{}, nil, fmt.Errorf("%w: %v", ErrForbidden, c)
		case uint32(c>>12) != m.Equipment:
			return LogMask{}, nil, fmt.Errorf("diag: log mask of %v and %v: two equipment ids", codes[0], c)
		case item >= m.Items:
			beyond = append(beyond, c)
		default:
			m.Bits[item/8] |= 1 << (item % 8)
		}
	}

	return m, beyond, nil
}

// Has tells whether the mask enables a code.
func (m LogMask) Has(code LogCode) bool {
	item := uint32(code) & (maskCodes - 1)

	return uint32(code>>12) == m.Equipment && item < m.Items && int(item/8) < len(m.Bits) && m.Bits[item/8]>>(item%8)&1 != 0
}

// forbidden returns a code of the mask that must not be enabled.
func (m LogMask) forbidden() (LogCode, bool) {
	for item := range min(m.Items, maskCodes) {
		if code := LogCode(m.Equipment<<12 | item); m.Has(code) && Forbidden(code) {
			return code, true
		}
	}

	return 0, false
}

// AppendLogMaskDisable appends the command that disables all logs.
func AppendLogMaskDisable(dst []byte) []byte { return appendLogMask(dst, LogMaskDisable) }

// AppendLogMaskRanges appends the question for the last item per equipment id.
func AppendLogMaskRanges(dst []byte) []byte { return appendLogMask(dst, LogMaskRanges) }

// AppendLogMaskGet appends the question for the mask of an equipment id.
func AppendLogMaskGet(dst []byte, equipment uint32) []byte {
	return binary.LittleEndian.AppendUint32(appendLogMask(dst, LogMaskGet), equipment)
}

// AppendLogMaskSet appends the command that sets a mask. It is the one way to
// enable logs here and refuses what is forbidden, whoever built the mask.
func AppendLogMaskSet(dst []byte, m LogMask) ([]byte, error) {
	if code, bad := m.forbidden(); bad {
		return dst, fmt.Errorf("%w: %v", ErrForbidden, code)
	}
	if m.Equipment > 15 || m.Items > maskCodes || len(m.Bits) != int(m.Items+7)/8 {
		return dst, fmt.Errorf("%w: log mask of %d bytes for %d items", ErrNotEncodable, len(m.Bits), m.Items)
	}
	dst = appendLogMask(dst, LogMaskSet)
	dst = binary.LittleEndian.AppendUint32(dst, m.Equipment)
	dst = binary.LittleEndian.AppendUint32(dst, m.Items)

	return append(dst, m.Bits...), nil
}

func appendLogMask(dst []byte, op LogMaskOp) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, cmdLogMask, 0, 0, 0), uint32(op))
}

// LogMaskReply is the modem's answer to a log mask command.
type LogMaskReply struct {
	Op LogMaskOp
	// Status is 0 for success.
	Status uint32
	// Last is the last item per equipment id, of LogMaskRanges; 0 is none.
	Last [16]uint32
	// Mask is of LogMaskSet and LogMaskGet; its bits belong to the frame.
	Mask LogMask
}

// ParseLogMaskReply reads an answer. The error is ErrNotLogMask for frames of
// another command, or ErrTruncated. A refusal has a Status and no content.
func ParseLogMaskReply(frame []byte) (LogMaskReply, error) {
	var r LogMaskReply
	if len(frame) == 0 || frame[0] != cmdLogMask {
		return r, ErrNotLogMask
	}
	if len(frame) < logMaskHead+4 {
		return r, fmt.Errorf("%w: log mask answer", ErrTruncated)
	}
	r.Op = LogMaskOp(binary.LittleEndian.Uint32(frame[4:]))
	r.Status = binary.LittleEndian.Uint32(frame[8:])
	b := frame[logMaskHead+4:]
	if r.Status != 0 {
		return r, nil
	}
	switch r.Op {
	case LogMaskRanges:
		if len(b) < 4*len(r.Last) {
			return r, fmt.Errorf("%w: log mask ranges", ErrTruncated)
		}
		for i := range r.Last {
			r.Last[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
	case LogMaskSet, LogMaskGet:
		if len(b) < 8 {
			return r, fmt.Errorf("%w: log mask", ErrTruncated)
		}
		r.Mask.Equipment, r.Mask.Items = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		b = b[8:]
		if r.Mask.Items > maskCodes || len(b) < int(r.Mask.Items+7)/8 {
			return r, fmt.Errorf("%w: log mask of %d items", ErrTruncated, r.Mask.Items)
		}
		r.Mask.Bits = b[:(r.Mask.Items+7)/8]
	case LogMaskDisable:
	}

	return r, nil
}

// AppendLogMaskReply appends an answer, the inverse of ParseLogMaskReply, for
// emulated modems.
func AppendLogMaskReply(dst []byte, r LogMaskReply) []byte {
	dst = binary.LittleEndian.AppendUint32(appendLogMask(dst, r.Op), r.Status)
	switch {
	case r.Status != 0:
	case r.Op == LogMaskRanges:
		for _, last := range r.Last {
			dst = binary.LittleEndian.AppendUint32(dst, last)
		}
	case r.Op == LogMaskSet || r.Op == LogMaskGet:
		dst = binary.LittleEndian.AppendUint32(dst, r.Mask.Equipment)
		dst = binary.LittleEndian.AppendUint32(dst, r.Mask.Items)
		dst = append(dst, r.Mask.Bits...)
	}

	return dst
}

// StartUp returns the commands to send before the log mask, in order; wait for
// the answer of each. They ask who is there, turn all logs off, and then events
// and debug messages, which would fill the link. After the last one ask for the
// ranges and set the mask.
func StartUp() [][]byte {
	return [][]byte{
		{0x1D},                        // time
		{0x00},                        // version
		{0x7C},                        // build
		{0x1C},                        // protocol version
		{0x0C},                        // status
		{0x63},                        // features
		{cmdSubsys, 0x0F, 0x00, 0x00}, // subsystems
		{cmdSubsys, 0x09, 0x00, 0x00},
		{cmdSubsys, 0x08, 0x00, 0x00},
		{cmdSubsys, 0x08, 0x01, 0x00},
		{cmdSubsys, 0x04, 0x00, 0x00},
		{cmdSubsys, 0x04, 0x0F, 0x00},
		AppendLogMaskDisable(nil),
		{cmdEvents, 0x00},
		{cmdDebug, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00},
	}
}
