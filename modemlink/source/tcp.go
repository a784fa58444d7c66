// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"net"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

const (
	dialTimeout = 5 * time.Second
	sendTimeout = time.Second
)

// openTCP opens a raw diagnostic bridge: a server that passes the bytes of the
// modem's port in both directions and adds nothing.
func openTCP(addr string) opener {
	return func(ctx context.Context) (port, error) {
		d := net.Dialer{Timeout: dialTimeout}
		c, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, portError("tcp:"+addr, err, "is the bridge running, and forwarded (adb forward)?")
		}

		return &tcpPort{Conn: c}, nil
	}
}

type tcpPort struct {
	net.Conn
	buf []byte
}

// Send is port's.
func (p *tcpPort) Send(cmd []byte) error {
	p.buf = diag.AppendHDLC(p.buf[:0], cmd)
	if err := p.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	_, err := p.Write(p.buf)

	return err
}
