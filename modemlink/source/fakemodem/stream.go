// SPDX-License-Identifier: MIT

package fakemodem

import (
	"io"
	"net"
	"sync"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// ServeStream is the modem's end of a byte stream, until that ends; it closes rw.
// A second client is cut off.
func (m *Modem) ServeStream(rw io.ReadWriteCloser) {
	defer rw.Close() //nolint:errcheck // a port that is gone
	if !m.enter() {
		return
	}
	defer m.leave()
	m.stream(rw)
}

// stream does it without owning. Errors of the port are its end.
func (m *Modem) stream(rw io.ReadWriter) {
	var mu sync.Mutex
	write := func(frames []byte) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := rw.Write(frames)

		return err
	}
	stop := m.play(write)
	defer stop()
	var (
		d   diag.Deframer
		buf [4096]byte
	)
	for {
		n, err := rw.Read(buf[:])
		d.Write(buf[:n])
		for {
			cmd, err := d.Next()
			if err != nil {
				break
			}
			if reply := m.Handle(cmd); reply != nil && write(m.frame(nil, reply)) != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// frame appends a payload as the modem sends it.
func (m *Modem) frame(dst, payload []byte) []byte {
	if m.cfg.Wrapped {
		payload = append(diag.AppendRadio(nil, 1), payload...)
	}

	return diag.AppendHDLC(dst, payload)
}

// ListenTCP serves raw on the loopback, as a bridge does, and returns the
// address.
func (m *Modem) ListenTCP() (addr string, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	m.keep(ln)
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			m.keep(closeOnce{c})
			m.wg.Add(1)
			go func() {
				defer m.wg.Done()
				m.ServeStream(c)
			}()
		}
	}()

	return ln.Addr().String(), nil
}

// closeOnce forgets that it was closed already.
type closeOnce struct{ io.Closer }

// Close closes it.
func (c closeOnce) Close() error {
	_ = c.Closer.Close() // maybe not for the first time

	return nil
}

// Unplug cuts the clients off as a cable does that is pulled.
func (m *Modem) Unplug() {
	m.mu.Lock()
	var keep []io.Closer
	for _, c := range m.closers {
		if o, ok := c.(closeOnce); ok {
			_ = o.Close() // never an error
		} else {
			keep = append(keep, c)
		}
	}
	m.closers = keep
	m.mu.Unlock()
}
