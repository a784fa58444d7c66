// SPDX-License-Identifier: MIT

//go:build linux

package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Requests of the diagnostic driver, include/linux/diagchar.h of the msm kernel
// tree. The router takes the same numbers.
const (
	reqSwitchLogging = 7
	reqDeinit        = 9
	reqRemoteDev     = 32
	reqBufConfig     = 35
	reqBufDrain      = 36
	reqQueryConOld   = 40
	reqQueryCon      = 41
)

// Logging modes of the driver.
const (
	modeUSB    = 1
	modeMemory = 2
	modeSocket = 5
)

const (
	// conAll is a mask of all processors, for a driver that cannot be asked.
	conAll = 0x7F
	// modemPeripheral is the modem among the processors.
	modemPeripheral = 0
	// Watermarks of the buffer in per cent, the driver's own defaults.
	highWatermark, lowWatermark = 85, 15
	// deviceRead is one read: drivers cut off what does not fit.
	deviceRead = 256 << 10
	// remoteToken stands before data of and for an external modem.
	remoteToken = -1
)

// device is the driver's file. Close ends a Read under way.
type device interface {
	io.ReadWriteCloser
	// Ioctl passes a pointer to arg, which the driver may write to.
	Ioctl(req uintptr, arg []byte) error
	// IoctlInt passes a number itself.
	IoctlInt(req, arg uintptr) error
}

// openDevice opens the driver's file by dev and makes it give the modem's logs
// to us instead of the USB port.
func openDevice(dev func() (device, error), log *slog.Logger) opener {
	return func(context.Context) (port, error) {
		d, err := dev()
		if err != nil {
			return nil, portError("diag", err, "")
		}
		p := &devicePort{dev: d, remote: remoteModem(d), buf: make([]byte, deviceRead)}
		if err := p.switchMode(modeMemory); err != nil {
			_ = d.Close() // the mode was not changed

			return nil, portError("diag", err, "")
		}
		// Not all drivers know these two; then records come in bursts.
		if err := d.Ioctl(reqBufConfig, bufConfig()); err != nil {
			log.Info("source: diag: the modem's buffer cannot be set to streaming", "err", err)
		}
		p.drain = startDrainer(log, func() error { return d.Ioctl(reqBufDrain, []byte{modemPeripheral}) })
		log.Info("source: diag: opened the driver", "layout", p.layout.String(), "external_modem", p.remote)

		return p, nil
	}
}

func bufConfig() []byte {
	return diag.AppendBuffering(nil, modemPeripheral, diag.BufferingStreaming, highWatermark, lowWatermark)
}

// remoteModem tells whether the modem is a chip of its own.
func remoteModem(d device) bool {
	var mask [8]byte

	return d.Ioctl(reqRemoteDev, mask[:]) == nil && binary.LittleEndian.Uint16(mask[:]) != 0
}

// modeLayout is one form of the argument of reqSwitchLogging: its size, 0 for
// the mode as a number instead of a pointer, and its parameter byte, which some
// drivers want to be 1.
type modeLayout struct {
	size  int
	param byte
}

func (l modeLayout) String() string { return fmt.Sprintf("%d bytes, parameter %d", l.size, l.param) }

// modeLayouts are the layouts in the order in which they are tried: a driver
// takes the beginning of a longer argument for its own, so the longest is first.
func modeLayouts() []modeLayout {
	sizes := diag.SwitchLoggingSizes()
	layouts := []modeLayout{{sizes[0], 1}}
	for _, size := range sizes {
		layouts = append(layouts, modeLayout{size, 0})
	}

	return append(layouts, modeLayout{})
}

// argument returns the argument in this layout.
func (l modeLayout) argument(mode, processors uint32, remote bool) []byte {
	const param, devices, bridge = 12, 20, 2
	b := diag.AppendSwitchLogging(nil, l.size, mode, processors)
	if len(b) > param {
		b[param] = l.param
	}
	if remote && len(b) > devices {
		b[devices] |= bridge
	}

	return b
}

// devicePort is the port of the driver's file.
type devicePort struct {
	dev    device
	layout modeLayout
	// remote is whether the modem is a chip of its own, whose data has a token.
	remote bool
	drain  *drainer

	buf, pending []byte
	out          []byte
}

// switchMode finds a layout that this driver takes.
func (p *devicePort) switchMode(mode uint32) error {
	var first error
	for _, l := range modeLayouts() {
		err := p.switchBy(l, mode)
		if err == nil {
			p.layout = l

			return nil
		}
		if k := classify(err); k != nil {
			return err
		}
		if first == nil {
			first = err
		}
	}

	return fmt.Errorf("%w: it takes no known layout of the logging mode; some drivers say so when another "+
		"program is logging (%w)", ErrRefused, first)
}

func (p *devicePort) switchBy(l modeLayout, mode uint32) error {
	if l.size == 0 {
		return p.dev.IoctlInt(reqSwitchLogging, uintptr(mode))
	}

	return p.dev.Ioctl(reqSwitchLogging, l.argument(mode, p.processors(), p.remote))
}

// processors asks which processors the driver can log.
func (p *devicePort) processors() uint32 {
	for _, req := range [...]uintptr{reqQueryCon, reqQueryConOld} {
		var b [32]byte
		binary.LittleEndian.PutUint32(b[:], 0xFF)
		if p.dev.Ioctl(req, b[:]) == nil {
			if mask := binary.LittleEndian.Uint32(b[:]); mask != 0 && mask <= 0xFFFF {
				return mask
			}
		}
	}

	return conAll
}

// Read is port's.
func (p *devicePort) Read(b []byte) (int, error) {
	for len(p.pending) == 0 {
		n, err := p.dev.Read(p.buf)
		if err != nil {
			return 0, err
		}
		if p.pending, err = userData(p.buf[:n]); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.pending)
	p.pending = p.pending[n:]

	return n, nil
}

// Send is port's.
func (p *devicePort) Send(cmd []byte) error {
	var token int32
	if p.remote {
		token = remoteToken
	}
	p.out = diag.AppendDeviceWrite(p.out[:0], token, cmd)
	_, err := p.dev.Write(p.out)
	if errors.Is(err, syscall.EFAULT) {
		return nil // how drivers say that nobody takes this command
	}

	return err
}

// Close is port's.
func (p *devicePort) Close() error {
	p.drain.close()
	err := p.switchBy(p.layout, modeUSB)
	// It gives a reader that waits in the driver a last message.
	_ = p.dev.Ioctl(reqDeinit, make([]byte, 8)) // drivers without need it not

	return errors.Join(err, p.dev.Close())
}

// userData returns the HDLC bytes of what was read from the driver or the router;
// they are moved together in b. What is cut off is the business of the HDLC
// checksum.
func userData(b []byte) ([]byte, error) {
	n := 0
	err := diag.ParseDeviceRead(b, func(_ int32, data []byte) { n += copy(b[n:], data) })
	if errors.Is(err, diag.ErrDeviceEnd) {
		return nil, io.EOF
	}

	return b[:n], nil
}
