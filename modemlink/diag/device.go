// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What the kernel's diagnostic device gives and takes, and the arguments of its
// ioctls. Opening it is the live source's business.
//
//	read:  20 00 00 00 | [token i32] | buffers u32 | buffers of ([token i32] | length u32 | bytes)
//	write: 20 00 00 00 | [token i32] | HDLC frame
//
// The token, negative, is there when the modem is an external one; kernels differ
// in which of the two places a read has it. The bytes are FormatHDLC. The router
// of newer phones has the same messages.
const (
	deviceDeinit   = 0x10
	deviceUserData = 0x20
)

// What a read may have instead of modem data.
var (
	// ErrNotData is something else, such as log masks.
	ErrNotData = errors.New("diag: not modem data")
	// ErrDeviceEnd is the last message: a reader is to close the device.
	ErrDeviceEnd = errors.New("diag: the device ends")
)

// ParseDeviceRead calls fn with each piece of HDLC bytes in what one read from the
// device gave, in order; token is 0 for the phone's own modem. The error is
// ErrNotData, ErrDeviceEnd or ErrTruncated; pieces before it were given, and what
// is there of one that was cut off. Pieces alias b and do not overlap; fn may
// overwrite all of b up to the end of its piece.
func ParseDeviceRead(b []byte, fn func(token int32, data []byte)) error {
	d := deviceRead{b: b}
	switch kind := d.word(); {
	case d.short:
		return fmt.Errorf("%w: device buffer", ErrTruncated)
	case kind == deviceDeinit:
		return ErrDeviceEnd
	case kind != deviceUserData:
		return fmt.Errorf("%w: type %#x", ErrNotData, kind)
	}
	// No read has 2^31 buffers, and no buffer 2^31 bytes: a negative number is the
	// token.
	n := d.word()
	all := int32(n)
	if all < 0 {
		n = d.word()
	} else {
		all = 0
	}
	for ; n > 0 && !d.short; n-- {
		size, token := d.word(), all
		if t := int32(size); t < 0 {
			size, token = d.word(), t
		}
		if d.short {
			break
		}
		data := d.b[:min(uint64(size), uint64(len(d.b)))]
		d.short = uint64(size) > uint64(len(data))
		d.b = d.b[len(data):]
		if len(data) > 0 || !d.short {
			fn(token, data[:len(data):len(data)])
		}
	}
	if d.short {
		return fmt.Errorf("%w: device buffer", ErrTruncated)
	}

	return nil
}

// deviceRead is what is left of a read.
type deviceRead struct {
	b     []byte
	short bool // a number was missing
}

func (d *deviceRead) word() uint32 {
	const size = 4
	if len(d.b) < size {
		d.short = true

		return 0
	}
	v := binary.LittleEndian.Uint32(d.b)
	d.b = d.b[size:]

	return v
}

// AppendDeviceRead appends what a read from the device gives, the inverse of
// ParseDeviceRead. token is 0 or negative; it is put before the number of buffers.
func AppendDeviceRead(dst []byte, token int32, pieces ...[]byte) []byte {
	dst = appendDeviceHeader(dst, token)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(pieces)))
	for _, p := range pieces {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p)))
		dst = append(dst, p...)
	}

	return dst
}

// AppendDeviceWrite appends what to write to the device for a command to reach
// the modem. token is 0 for the phone's own modem, else negative.
func AppendDeviceWrite(dst []byte, token int32, command []byte) []byte {
	return AppendHDLC(appendDeviceHeader(dst, token), command)
}

func appendDeviceHeader(dst []byte, token int32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, deviceUserData)
	if token < 0 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(token))
	}

	return dst
}

// SwitchLoggingSizes returns the lengths that the argument of the "switch
// logging" ioctl has on the kernels in the wild, longest first: probe in this
// order, a wrong one is refused.
func SwitchLoggingSizes() [5]int { return [...]int{24, 20, 16, 12, 4} }

// AppendSwitchLogging appends that argument: mode 2 gives the data to the
// caller, 1 back to USB; peripherals is a bit set of processors, bit 1 the
// modem. size is one of SwitchLoggingSizes; the longer ones are
//
//	mode u32 | peripherals u32 | domains u32 | 4 x u8 | peripheral i32 | devices u32
//
// and the one of 12 has the bytes instead of the domains.
func AppendSwitchLogging(dst []byte, size int, mode, peripherals uint32) []byte {
	const (
		shortSize    = 12
		byPeripheral = 1
		noPeripheral = -22 // EINVAL: of no protection domain
		thisDevice   = 1
	)
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, mode)
	dst = binary.LittleEndian.AppendUint32(dst, peripherals)
	dst = append(dst, make([]byte, 8)...)
	if size > shortSize {
		dst[len(dst)-4] = byPeripheral
	}
	none := int32(noPeripheral)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(none))
	dst = binary.LittleEndian.AppendUint32(dst, thisDevice)

	return dst[:at+min(max(size, 0), len(dst)-at)]
}

// BufferingMode is how a processor's diagnostic buffer is emptied.
type BufferingMode uint8

// Buffering modes.
const (
	BufferingStreaming BufferingMode = iota
	BufferingThreshold
	BufferingCircular
)

// AppendBuffering appends the argument of the "peripheral buffer configuration"
// ioctl. high and low are the water marks in percent, 85 and 15 as a rule.
func AppendBuffering(dst []byte, peripheral uint8, mode BufferingMode, high, low uint8) []byte {
	return append(dst, peripheral, byte(mode), high, low)
}
