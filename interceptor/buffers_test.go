// SPDX-License-Identifier: MIT

package interceptor

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/transport/v5/packetio"

	"github.com/gbrcc/gbrcc/gbr"
)

// received is a report that all packets from first on have arrived.
func received(first uint16, count int) *rtcp.TransportLayerCC {
	fb := &rtcp.TransportLayerCC{
		Header:     rtcp.Header{Type: rtcp.TypeTransportSpecificFeedback, Count: rtcp.FormatTCC},
		SenderSSRC: 1, MediaSSRC: rtxSSRC,
		BaseSequenceNumber: first, PacketStatusCount: uint16(count), ReferenceTime: 100,
		PacketChunks: []rtcp.PacketStatusChunk{&rtcp.RunLengthChunk{
			PacketStatusSymbol: rtcp.TypeTCCPacketReceivedSmallDelta, RunLength: uint16(count),
		}},
	}
	for range count {
		fb.RecvDeltas = append(fb.RecvDeltas, &rtcp.RecvDelta{Type: rtcp.TypeTCCPacketReceivedSmallDelta, Delta: 250})
	}
	n := 4 + 16 + 2*len(fb.PacketChunks) + count
	fb.Header.Padding = n%4 != 0
	fb.Header.Length = uint16((n+3)/4 - 1)

	return fb
}

// Reports that end with a packet of the RTX stream do not come: the third of
// them is said in the log, once, and ends the padding. One that comes, or a gap
// that ends with media, is another matter.
func TestReportsAboutRTXMissing(t *testing.T) {
	// Each letter is a packet and a report of it: media, RTX. Capitals: the report
	// is lost.
	for packets, warned := range map[string]bool{
		"mRmRmRmmm":    true,
		"RmRmRmRmRm":   true,
		"mRmRm":        false,
		"mRmRmR":       false, // nobody knows yet
		"mRmRrmRmRmRm": false,
		"mMmMmMmMm":    false,
		"mRMmRMmRMm":   false, // the last one of a gap is what its report is about
		"mMRmMRmRRRm":  true,
	} {
		synctest.Test(t, func(t *testing.T) {
			o := &probingOuter{fakeOuter: &fakeOuter{bitrate: 1_000_000, pacing: 2_000_000}}
			r := newRig(t, 0, WithOuter(func() (gbr.Outer, error) { return o, nil }))
			r.outer = o.fakeOuter
			w := r.video()
			for i, c := range packets {
				ssrc := uint32(mediaSSRC)
				if strings.ContainsRune("rR", c) {
					ssrc = rtxSSRC
				}
				mustWrite(t, w, header(ssrc, uint16(i)), payloadFor(1250))
				time.Sleep(20 * time.Millisecond)
				if strings.ContainsRune("mr", c) {
					_ = r.WriteRTCP([]rtcp.Packet{received(uint16(i), 1)}, nil)
				}
			}
			if said := strings.Count(r.log.warnings(), "right after retransmissions"); said > 1 || (said == 1) != warned {
				t.Errorf("%s: %d warnings, want one: %v", packets, said, warned)
			}
			r.probe(o)
			for i := range 3 {
				mustWrite(t, w, header(mediaSSRC, uint16(100+i)), payloadFor(1250))
				time.Sleep(50 * time.Millisecond)
			}
			if n := r.stat(StatPaddingSent); (n > 0) == warned {
				t.Errorf("%s: %d packets of padding", packets, n)
			}
		})
	}
}

// The factory's buffers hand reports about RTX and FEC to the Estimator, and are
// plain buffers otherwise.
func TestBufferFactory(t *testing.T) {
	f, err := NewInterceptor(WithBitrateBounds(100_000, 300_000, 1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.NewInterceptor("other"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.NewInterceptor("ours"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := f.Estimators()["ours"]
	w := e.AddStream(videoInfo(), &wire{})
	for i := range 4 {
		mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(200))
	}
	time.Sleep(50 * time.Millisecond)
	reports := func() int64 {
		n, _ := e.GetStats()[StatFeedbackReports].(int64)

		return n
	}
	raw, err := rtcp.Marshal([]rtcp.Packet{&rtcp.ReceiverReport{SSRC: 1}, received(0, 2)})
	if err != nil {
		t.Fatal(err)
	}
	for i, ssrc := range []uint32{rtxSSRC, fecSSRC} {
		b := f.BufferFactory(packetio.RTCPBufferPacket, ssrc)
		if i == 1 {
			if raw, err = received(2, 2).Marshal(); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range [][]byte{raw, {1, 2, 3}, nil} {
			if n, err := b.Write(p); n != len(p) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		if _, err := b.Read(make([]byte, 100)); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if got := reports(); got != int64(i+1) {
			t.Errorf("%d reports taken in, want %d", got, i+1)
		}
	}
	for _, tt := range []struct {
		kind packetio.BufferPacketType
		ssrc uint32
		most int // bytes that fit
	}{{packetio.RTPBufferPacket, rtxSSRC, 1_000_000}, {packetio.RTCPBufferPacket, mediaSSRC, 100_000}, {packetio.RTCPBufferPacket, 99, 100_000}} {
		b := f.BufferFactory(tt.kind, tt.ssrc)
		fits := 0
		for range 2000 {
			if _, err := b.Write(make([]byte, 1000)); errors.Is(err, packetio.ErrFull) {
				break
			}
			fits += 1000
		}
		within(t, "bytes that fit", float64(fits), float64(tt.most), 0.01*float64(tt.most), "B")
		if n, err := b.Read(make([]byte, 2000)); n != 1000 || err != nil {
			t.Errorf("%d bytes read, %v", n, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	marked, ok := f.BufferFactory(packetio.RTPBufferPacket, 5).(interface {
		ReadWithAttributes(p []byte, a packetio.Attributes) (int, packetio.Attributes, error)
		WriteWithAttributes(p []byte, a packetio.Attributes) (int, error)
	})
	if !ok {
		t.Fatal("attributes get lost")
	}
	if _, err := marked.WriteWithAttributes([]byte("x"), packetio.Attributes{{Key: "ECN", Value: 3}}); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 10)
	if n, a, err := marked.ReadWithAttributes(p, nil); err != nil || !bytes.Equal(p[:n], []byte("x")) || a.Get("ECN") != 3 {
		t.Errorf("%q with %v, %v", p[:n], a, err)
	}
}
