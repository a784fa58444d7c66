// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"net"
	"testing"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtp"
)

// wire is a link that keeps what is written until it is told to deliver.
type wire struct {
	net.PacketConn
	far  net.PacketConn
	sent [][]byte
	to   []net.Addr
}

func (w *wire) WriteTo(b []byte, a net.Addr) (int, error) {
	w.sent, w.to = append(w.sent, bytes.Clone(b)), append(w.to, a)

	return len(b), nil
}

// What goes in comes out the same, header extensions and padding too, at the size
// that it has on the link, and to the stream that it came from.
func TestCell(t *testing.T) {
	w := &wire{}
	c := newCell(func(far net.PacketConn) net.PacketConn { w.far = far; return w })
	i, err := c.NewInterceptor("")
	if err != nil {
		t.Fatal(err)
	}
	got := map[uint32]*rtp.Packet{}
	bind := func(ssrc uint32) pion.RTPWriter {
		return i.BindLocalStream(&pion.StreamInfo{SSRC: ssrc}, pion.RTPWriterFunc(
			func(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
				if h.SSRC != ssrc {
					t.Errorf("a packet of %d came to %d", h.SSRC, ssrc)
				}
				got[ssrc] = &rtp.Packet{Header: *h, Payload: bytes.Clone(payload)}

				return len(payload), nil
			}))
	}
	for ssrc, p := range map[uint32]*rtp.Packet{
		1: {Header: rtp.Header{Version: 2, Marker: true, SequenceNumber: 65535, Timestamp: 7, PayloadType: 96}, Payload: []byte("media")},
		2: {Header: rtp.Header{Version: 2, Padding: true, SequenceNumber: 3}, Payload: []byte{0, 0, 0, 4}},
		3: {Header: rtp.Header{Version: 2}, Payload: nil},
	} {
		p.SSRC = ssrc
		if ssrc == 1 {
			if err := p.SetExtension(5, []byte{1, 2}); err != nil {
				t.Fatal(err)
			}
		}
		before := len(w.sent)
		size := p.Header.MarshalSize() + len(p.Payload)
		n, err := bind(ssrc).Write(&p.Header, p.Payload, nil)
		if err != nil || n != size || len(w.sent) != before+1 || len(w.sent[before]) != size+srtpTag {
			t.Fatalf("%d: %d %v, %d datagrams", ssrc, n, err, len(w.sent))
		}
		if got[ssrc] != nil {
			t.Fatalf("%d did not wait for the link", ssrc)
		}
		if _, err := w.far.WriteTo(w.sent[before], w.to[before]); err != nil {
			t.Fatal(err)
		}
		g := got[ssrc]
		if g == nil || !bytes.Equal(g.Payload, p.Payload) || g.SequenceNumber != p.SequenceNumber || g.Marker != p.Marker ||
			g.Padding != p.Padding || !bytes.Equal(g.GetExtension(5), p.GetExtension(5)) {
			t.Errorf("%d: %+v became %+v", ssrc, p, g)
		}
	}
	if _, err := w.far.WriteTo([]byte("x"), &net.UDPAddr{}); err == nil {
		t.Error("a datagram of somebody else is taken")
	}
}
