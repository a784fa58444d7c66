// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"go.bug.st/serial"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// defaultBaud does not matter to USB and PCIe modems, whose ports are no wires.
const defaultBaud = 115200

// parseSerial reads DEV[,BAUD].
func parseSerial(arg string) (dev string, baud int, err error) {
	dev, rate, has := strings.Cut(arg, ",")
	if dev == "" {
		return "", 0, errors.New("source: serial: needs a device, as in serial:/dev/ttyUSB0")
	}
	if !has {
		return dev, defaultBaud, nil
	}
	baud, err = strconv.Atoi(rate)
	if err != nil || baud <= 0 {
		return "", 0, fmt.Errorf("source: serial: %q is no baud rate", rate)
	}

	return dev, baud, nil
}

// openSerial opens a modem's diagnostic port on a serial device.
func openSerial(dev string, baud int) opener {
	return func(context.Context) (port, error) {
		name := "serial:" + dev
		// Root gets into a port that another process has for itself; only a lock
		// keeps two agents apart.
		lock, err := lockDevice(dev)
		if err != nil {
			return nil, portError(name, err, "")
		}
		p, err := serial.Open(dev, &serial.Mode{
			BaudRate: baud, DataBits: 8, Parity: serial.NoParity, StopBits: serial.OneStopBit,
		})
		if err == nil {
			return &serialPort{p: p, lock: lock}, nil
		}
		// PCIe modems have device files that are no terminals.
		if f, fileErr := openCharDevice(dev); fileErr == nil {
			return &serialPort{p: f, lock: lock}, nil
		}
		_ = lock.Close() // nothing was done yet

		return nil, portError(name, serialError(err), "")
	}
}

type serialPort struct {
	p    io.ReadWriteCloser
	lock io.Closer
	buf  []byte
}

// Read is port's.
func (p *serialPort) Read(b []byte) (int, error) {
	n, err := p.p.Read(b)
	if err != nil {
		return n, serialError(err)
	}

	return n, nil
}

// Send is port's.
func (p *serialPort) Send(cmd []byte) error {
	p.buf = diag.AppendHDLC(p.buf[:0], cmd)
	for b := p.buf; len(b) > 0; {
		n, err := p.p.Write(b)
		if err != nil {
			return serialError(err)
		}
		b = b[n:]
	}

	return nil
}

// openCharDevice opens a device file that is no terminal, such as the ports of
// Linux's WWAN subsystem (/dev/wwan0qcdm0).
func openCharDevice(dev string) (*os.File, error) {
	info, err := os.Stat(dev)
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeCharDevice == 0 {
		return nil, fmt.Errorf("%w: %s is no device", ErrNoDevice, dev)
	}
	f, err := os.OpenFile(dev, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	// Only what can be polled can be closed under a Read.
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return f, nil
}

// Close is port's.
func (p *serialPort) Close() error { return errors.Join(p.p.Close(), p.lock.Close()) }

// serialError tells the library's errors in our own terms.
func serialError(err error) error {
	var e *serial.PortError
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case serial.PortBusy:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case serial.PermissionDenied:
		return fmt.Errorf("%w: %w", ErrPermission, err)
	case serial.PortNotFound:
		return fmt.Errorf("%w: %w", ErrNoDevice, err)
	case serial.PortClosed:
		return io.EOF
	default:
		return err
	}
}
