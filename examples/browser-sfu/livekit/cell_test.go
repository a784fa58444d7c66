// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

// wire is a link that keeps what is written until it is told to deliver.
type wire struct {
	net.PacketConn
	far  net.PacketConn
	mu   sync.Mutex
	sent [][]byte
	to   []net.Addr
}

func (w *wire) WriteTo(b []byte, a net.Addr) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent, w.to = append(w.sent, bytes.Clone(b)), append(w.to, a)

	return len(b), nil
}

// wrap is as app.Way has it.
func (w *wire) wrap(far net.PacketConn) net.PacketConn {
	w.far = far

	return w
}

// deliver is what the link does with the datagrams that it has, at last.
func (w *wire) deliver(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	sent, to := w.sent, w.to
	w.sent, w.to = nil, nil
	w.mu.Unlock()
	for i := range sent {
		if n, err := w.far.WriteTo(sent[i], to[i]); err != nil || n != len(sent[i]) {
			t.Errorf("delivered %d of %d bytes, %v", n, len(sent[i]), err)
		}
	}
}

func (w *wire) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	return len(w.sent)
}

// What goes in comes out the same, header extensions and padding too, at the size
// that it has on the link, and to the stream that it came from.
func TestCell(t *testing.T) {
	w := &wire{}
	c := newCell(w.wrap, (&wire{}).wrap)
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

// RTCP that leaves waits for the link, at its size there.
func TestCellReportsLeave(t *testing.T) {
	up := &wire{}
	i, err := newCell(up.wrap, (&wire{}).wrap).NewInterceptor("")
	if err != nil {
		t.Fatal(err)
	}
	var got [][]rtcp.Packet
	w := i.BindRTCPWriter(pion.RTCPWriterFunc(func(p []rtcp.Packet, _ pion.Attributes) (int, error) {
		got = append(got, p)

		return 0, nil
	}))
	sent := []rtcp.Packet{&rtcp.SenderReport{SSRC: 1, NTPTime: 5}, &rtcp.PictureLossIndication{MediaSSRC: 7}}
	n, err := w.Write(sent, nil)
	if err != nil || n != 28+12 || up.waiting() != 1 || len(up.sent[0]) != n+srtcpTag || got != nil {
		t.Fatalf("%d bytes, %v; %d wait, %v", n, err, up.waiting(), got)
	}
	up.deliver(t)
	if len(got) != 1 || !slices.Equal(got[0], sent) {
		t.Errorf("%v became %v", sent, got)
	}
	if _, err := w.Write([]rtcp.Packet{&rtcp.SourceDescription{Chunks: make([]rtcp.SourceDescriptionChunk, 99)}}, nil); err == nil {
		t.Error("no error for what is no packet")
	}
}

// RTCP that comes in waits for the way back; the end, and an end that is not for good
// such as a deadline, comes at once.
func TestCellReportsArrive(t *testing.T) {
	down := &wire{}
	i, err := newCell((&wire{}).wrap, down.wrap).NewInterceptor("")
	if err != nil {
		t.Fatal(err)
	}
	type input struct {
		text string
		err  error
	}
	from := make(chan input)
	r := i.BindRTCPReader(pion.RTCPReaderFunc(func(b []byte, a pion.Attributes) (int, pion.Attributes, error) {
		in := <-from

		return copy(b, in.text), a, in.err
	}))
	type output struct {
		text string
		own  bool // the attributes
		err  error
	}
	read := func() <-chan output {
		c := make(chan output, 1)
		go func() {
			b := make([]byte, 100)
			n, a, err := r.Read(b, pion.Attributes{"k": 1})
			c <- output{string(b[:n]), a["k"] == 1, err}
		}()

		return c
	}
	for _, text := range []string{"one", "two"} {
		c := read()
		from <- input{text: text}
		for end := time.Now().Add(5 * time.Second); down.waiting() == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("nothing takes the way back")
			}
		}
		select {
		case got := <-c:
			t.Fatalf("%+v came at once", got)
		case <-time.After(20 * time.Millisecond):
		}
		down.deliver(t)
		if got := <-c; got != (output{text, true, nil}) {
			t.Errorf("%+v, want %s", got, text)
		}
	}
	for _, end := range []error{errors.New("deadline"), io.EOF} {
		c := read()
		from <- input{err: end}
		if got := <-c; !errors.Is(got.err, end) {
			t.Errorf("%v, want %v", got.err, end)
		}
	}
	// Who does not read keeps nobody waiting.
	box := &inbox{came: make(chan []byte, inboxSize)}
	for range 2 * inboxSize {
		if err := box.deliver([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	if len(box.came) != inboxSize {
		t.Errorf("%d wait", len(box.came))
	}
}
