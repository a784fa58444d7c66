// SPDX-License-Identifier: MIT

package live

import "net"

// conn is a socket whose datagrams take the link.
type conn struct {
	net.PacketConn
	send func(conn net.PacketConn, p []byte, addr net.Addr) (int, error)
}

// WriteTo hands a datagram to the link. It never blocks; what is lost later is
// lost silently, as on a network.
func (c *conn) WriteTo(p []byte, addr net.Addr) (int, error) {
	return c.send(c.PacketConn, p, addr)
}

// Uplink wraps the socket of the phone's side: what is written goes through
// the cell, at the size of its IPv4 packet, and then out of c to the address.
// Reading and everything else is c's. After Close of the link WriteTo returns
// net.ErrClosed.
func (l *Link) Uplink(c net.PacketConn) net.PacketConn { return &conn{c, l.up} }

// Downlink wraps the socket of the far side: what is written goes out of c
// after ReturnDelay.
func (l *Link) Downlink(c net.PacketConn) net.PacketConn { return &conn{c, l.down} }
