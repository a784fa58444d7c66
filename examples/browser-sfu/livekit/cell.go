// SPDX-License-Identifier: MIT

package main

import (
	"net"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtp"
)

// srtpTag is what the default profile, AEAD_AES_128_GCM, adds to a packet.
// RFC 7714 section 12.1.
const srtpTag = 16

// cell is an interceptor that has RTP take the emulated uplink, at the size that
// it has on the link. It comes first, so that nothing is between it and SRTP. The
// SDK's sockets cannot be had: ICE, DTLS and RTCP go beside the cell.
type cell struct{ link net.PacketConn }

// newCell wraps with what [app.Way] has; the link's far end hands packets on.
func newCell(wrap func(net.PacketConn) net.PacketConn) *cell { return &cell{wrap(outlet{})} }

// NewInterceptor implements [pion.Factory].
func (c *cell) NewInterceptor(string) (pion.Interceptor, error) { return &cellular{link: c.link}, nil }

type cellular struct {
	pion.NoOp
	link net.PacketConn
}

// stream is where the packets of a stream go on; it is the address of their
// datagrams.
type stream struct{ next pion.RTPWriter }

func (*stream) Network() string { return "rtp" }
func (*stream) String() string  { return "srtp" }

// BindLocalStream implements [pion.Interceptor].
func (c *cellular) BindLocalStream(_ *pion.StreamInfo, next pion.RTPWriter) pion.RTPWriter {
	to := &stream{next}

	return pion.RTPWriterFunc(func(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
		n := h.MarshalSize() + len(payload)
		b := make([]byte, n+srtpTag)
		at, err := h.MarshalTo(b)
		if err != nil {
			return 0, err
		}
		copy(b[at:], payload)
		if _, err := c.link.WriteTo(b, to); err != nil {
			return 0, err
		}

		return n, nil
	})
}

// outlet is the far end of the link.
type outlet struct{ net.PacketConn }

func (outlet) WriteTo(b []byte, addr net.Addr) (int, error) {
	to, ok := addr.(*stream)
	if !ok || len(b) < srtpTag {
		return 0, net.ErrClosed
	}
	var h rtp.Header
	at, err := h.Unmarshal(b[:len(b)-srtpTag])
	if err != nil {
		return 0, err
	}
	// What is padding says its header; the rest goes on as it came.
	if _, err := to.next.Write(&h, b[at:len(b)-srtpTag], nil); err != nil {
		return 0, err
	}

	return len(b), nil
}
