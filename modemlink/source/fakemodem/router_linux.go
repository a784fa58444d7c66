// SPDX-License-Identifier: MIT

package fakemodem

import (
	"encoding/binary"
	"net"
	"sync"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Messages of the router: numbers of ioctls, and data.
const (
	msgSwitchLogging = 7
	msgData          = 0x20
	msgBufDrain      = 36

	modeLen = 4 + 24 + 4 // number, longest layout, process id
)

// ListenRouter serves as diag-router on a socket; "@" begins an abstract name.
// A second client is cut off.
func (m *Modem) ListenRouter(name string) error {
	ln, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: name})
	if err != nil {
		return err
	}
	m.keep(ln)
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		for {
			c, err := ln.AcceptUnix()
			if err != nil {
				return
			}
			m.keep(closeOnce{c})
			m.wg.Add(1)
			go func() {
				defer m.wg.Done()
				m.serveRouter(c)
			}()
		}
	}()

	return nil
}

func (m *Modem) serveRouter(c *net.UnixConn) {
	defer c.Close() //nolint:errcheck // a client that is gone
	if !m.enter() {
		return
	}
	defer m.leave()
	var mu sync.Mutex
	write := func(frames []byte) error {
		mu.Lock()
		defer mu.Unlock()
		// type, number of buffers, length of the first
		b := binary.LittleEndian.AppendUint32(nil, msgData)
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(frames)))
		_, err := c.Write(append(b, frames...))

		return err
	}
	// Logs flow once the client asked for them.
	var stop func()
	defer func() {
		if stop != nil {
			stop()
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		msg := buf[:n]
		if len(msg) < 4 {
			continue
		}
		switch binary.LittleEndian.Uint32(msg) {
		case msgSwitchLogging:
			if len(msg) != modeLen {
				return
			}
			m.mu.Lock()
			m.modes = append(m.modes, binary.LittleEndian.Uint32(msg[4:]))
			m.mu.Unlock()
			if stop == nil {
				stop = m.play(write)
			}
		case msgBufDrain:
			m.Drain()
		case msgData:
			var d diag.Deframer
			d.Write(msg[4:])
			for {
				cmd, err := d.Next()
				if err != nil {
					break
				}
				if reply := m.Handle(cmd); reply != nil && write(m.frame(nil, reply)) != nil {
					return
				}
			}
		}
	}
}
