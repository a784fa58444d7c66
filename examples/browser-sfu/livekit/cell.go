// SPDX-License-Identifier: MIT

package main

import (
	"net"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

// What the default profile, AEAD_AES_128_GCM, adds to a packet. RFC 7714 sections 8.2
// and 9.2.
const (
	srtpTag  = 16
	srtcpTag = 16 + 4
)

// cell is an interceptor that has media and RTCP take the emulated uplink, at the
// size that they have on the link, and RTCP that comes in as long as the network needs.
// It comes first, so that nothing is between it and SRTP.
//
// ICE and DTLS go beside the cell: the SDK (v2.19.0) makes its connection's
// SettingEngine itself, without a way for a socket or a network of ours into it, and
// takes the addresses of TURN servers, one of which could stand in the way, from the
// LiveKit server alone. They are some hundred bytes a second while media flows, and the
// estimator measures none of them; what is missing is how long the cell makes it take
// to connect, and to find out that the network has gone.
type cell struct{ up, down net.PacketConn }

// newCell wraps with what [app.Way] has; the links' far ends hand packets on.
func newCell(up, down func(net.PacketConn) net.PacketConn) *cell {
	return &cell{up(outlet{}), down(outlet{})}
}

// NewInterceptor implements [pion.Factory].
func (c *cell) NewInterceptor(string) (pion.Interceptor, error) { return &cellular{cell: c}, nil }

type cellular struct {
	pion.NoOp
	*cell
}

// hop is where a packet goes on behind the link; it is the address of its datagram.
type hop interface {
	net.Addr
	deliver(b []byte) error
}

// outlet is the far end of a link.
type outlet struct{ net.PacketConn }

func (outlet) WriteTo(b []byte, addr net.Addr) (int, error) {
	to, ok := addr.(hop)
	if !ok {
		return 0, net.ErrClosed
	}

	return len(b), to.deliver(b)
}

// stream is RTP's hop.
type stream struct{ next pion.RTPWriter }

func (*stream) Network() string { return "rtp" }
func (*stream) String() string  { return "srtp" }

func (s *stream) deliver(b []byte) error {
	if len(b) < srtpTag {
		return net.ErrClosed
	}
	var h rtp.Header
	at, err := h.Unmarshal(b[:len(b)-srtpTag])
	if err == nil {
		// What is padding says its header; the rest goes on as it came.
		_, err = s.next.Write(&h, b[at:len(b)-srtpTag], nil)
	}

	return err
}

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
		if _, err := c.up.WriteTo(b, to); err != nil {
			return 0, err
		}

		return n, nil
	})
}

// reports is the hop of RTCP that leaves.
type reports struct {
	next    pion.RTCPWriter
	packets []rtcp.Packet
}

func (*reports) Network() string { return "rtcp" }
func (*reports) String() string  { return "srtcp" }

func (r *reports) deliver([]byte) error {
	_, err := r.next.Write(r.packets, nil)

	return err
}

// BindRTCPWriter implements [pion.Interceptor].
func (c *cellular) BindRTCPWriter(next pion.RTCPWriter) pion.RTCPWriter {
	return pion.RTCPWriterFunc(func(packets []rtcp.Packet, _ pion.Attributes) (int, error) {
		b, err := rtcp.Marshal(packets)
		if err != nil {
			return 0, err
		}
		if _, err := c.up.WriteTo(append(b, make([]byte, srtcpTag)...), &reports{next, packets}); err != nil {
			return 0, err
		}

		return len(b), nil
	})
}

// inbox is the hop of RTCP that comes in: who reads it gets it when the network would
// have brought it. It is for one reader at a time, as Pion's.
type inbox struct {
	next pion.RTCPReader
	down net.PacketConn
	came chan []byte
	end  chan error
	runs bool // a goroutine reads next
}

// inboxSize is how much RTCP may wait; more than a reader leaves for seconds is lost.
const inboxSize = 64

func (*inbox) Network() string { return "rtcp" }
func (*inbox) String() string  { return "srtcp" }

func (i *inbox) deliver(b []byte) error {
	select {
	case i.came <- append([]byte(nil), b...):
	default:
	}

	return nil
}

// BindRTCPReader implements [pion.Interceptor].
func (c *cellular) BindRTCPReader(next pion.RTCPReader) pion.RTCPReader {
	return &inbox{next: next, down: c.down, came: make(chan []byte, inboxSize), end: make(chan error, 1)}
}

// Read implements [pion.RTCPReader].
func (i *inbox) Read(b []byte, a pion.Attributes) (int, pion.Attributes, error) {
	if !i.runs {
		i.runs = true
		go i.run(len(b))
	}
	select {
	case got := <-i.came:
		return copy(b, got), a, nil
	case err := <-i.end:
		i.runs = false

		return 0, a, err
	}
}

// run puts on the link what arrives, until there is an error, which the reader gets.
func (i *inbox) run(size int) {
	b := make([]byte, size)
	for {
		n, _, err := i.next.Read(b, nil)
		if err == nil {
			_, err = i.down.WriteTo(b[:n], i)
		}
		if err != nil {
			i.end <- err

			return
		}
	}
}
