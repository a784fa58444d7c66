// SPDX-License-Identifier: MIT

//go:build linux

package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// The router answers nothing of its control messages that is needed; a pause
// lets it work on one before the next comes.
const (
	routerPause = 20 * time.Millisecond
	// routerEnd is how long Close waits for the router to hang up.
	routerEnd = 200 * time.Millisecond
)

// routerNames are the abstract names that the diag-router listens on. It and its
// clients make the name with strncpy from "\0diag", which copies nothing: the
// whole address is zeros, and its length counts. The other two are what a router
// without that slip would take.
func routerNames() []string {
	const path = 108 // sun_path
	name := "\x00diag"

	return []string{
		"@" + strings.Repeat("\x00", path-1),
		"@diag" + strings.Repeat("\x00", path-len(name)),
		"@diag",
	}
}

// openRouter connects to the program that has the modem's diagnostic channels on
// newer kernels. Its messages are the driver's: what was an ioctl is a message
// that begins with the request's number.
func openRouter(names []string, log *slog.Logger) opener {
	return func(context.Context) (port, error) {
		c, err := dialRouter(names)
		if err != nil {
			return nil, portError("diag-router", err, "")
		}
		p := &routerPort{c: c, buf: make([]byte, deviceRead), ended: make(chan struct{})}
		for _, msg := range routerSetup() {
			if err := p.write(msg); err != nil {
				return nil, errors.Join(gone("diag-router", err), c.Close())
			}
			time.Sleep(routerPause)
		}
		drain := binary.LittleEndian.AppendUint32(nil, reqBufDrain)
		drain = append(drain, modemPeripheral, 0, 0, 0)
		p.drain = startDrainer(log, func() error { return p.write(drain) })
		log.Info("source: diag: connected to the diag-router")

		return p, nil
	}
}

func dialRouter(names []string) (*net.UnixConn, error) {
	var first error
	for _, name := range names {
		c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: name})
		if err == nil {
			return c, nil
		}
		// A name that somebody has tells more than those that nobody has.
		if first == nil || errors.Is(first, syscall.ECONNREFUSED) {
			first = err
		}
	}

	return nil, first
}

// routerSetup is what the vendor's own logger sends first: which processors are
// there, logging mode with the process id behind the longest layout, and the
// buffer's mode.
func routerSetup() [][]byte {
	query := binary.LittleEndian.AppendUint32(nil, reqQueryCon)
	query = binary.LittleEndian.AppendUint32(query, 0xFF)
	query = append(query, make([]byte, 8)...)

	return [][]byte{query, routerMode(modeSocket), append(binary.LittleEndian.AppendUint32(nil, reqBufConfig), bufConfig()...)}
}

func routerMode(mode uint32) []byte {
	const peripheral, devices = 16, 20 // in the argument
	arg := modeLayout{size: 24}.argument(mode, 0xFF, false)
	clear(arg[peripheral:devices])
	b := append(binary.LittleEndian.AppendUint32(nil, reqSwitchLogging), arg...)

	return binary.LittleEndian.AppendUint32(b, uint32(os.Getpid()))
}

// routerPort is the port of the router's socket, a message a packet.
type routerPort struct {
	c     *net.UnixConn
	drain *drainer
	// mu orders messages: commands and drains come from two goroutines.
	mu  sync.Mutex
	out []byte

	buf, pending []byte
	// ended is closed when Read saw the end.
	ended   chan struct{}
	endOnce sync.Once
}

// Read is port's.
func (p *routerPort) Read(b []byte) (int, error) {
	for len(p.pending) == 0 {
		n, err := p.c.Read(p.buf)
		if err != nil {
			p.endOnce.Do(func() { close(p.ended) })

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
func (p *routerPort) Send(cmd []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = diag.AppendDeviceWrite(p.out[:0], 0, cmd)

	return p.writeLocked(p.out)
}

func (p *routerPort) write(msg []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.writeLocked(msg)
}

func (p *routerPort) writeLocked(msg []byte) error {
	if err := p.c.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	n, err := p.c.Write(msg)
	if err == nil && n < len(msg) {
		err = fmt.Errorf("source: diag-router: %d of %d bytes written", n, len(msg))
	}

	return err
}

// Close is port's. The router also restores the mode when the socket closes.
func (p *routerPort) Close() error {
	p.drain.close()
	err := errors.Join(p.write(routerMode(modeUSB)), p.c.CloseWrite())
	// A socket that closes with unread data resets the other end, which then
	// may not get to the last message.
	select {
	case <-p.ended:
	case <-time.After(routerEnd):
	}

	return errors.Join(err, p.c.Close())
}
