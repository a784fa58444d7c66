// SPDX-License-Identifier: MIT

package interceptor

import (
	"io"

	"github.com/pion/rtcp"
	"github.com/pion/transport/v5/packetio"
)

// What Pion takes where a SettingEngine has no BufferFactory, in bytes. pion/srtp:
// stream_srtp.go, stream_srtcp.go.
const (
	rtpBufferBytes  = 1_000_000
	rtcpBufferBytes = 100_000
)

// BufferFactory is for webrtc's SettingEngine of the same API:
//
//	settings.BufferFactory = factory.BufferFactory
//
// Pion sorts RTCP by the SSRC that it is about, and reads only what is about
// media. A transport-wide report is about whatever arrived last (as sent by
// libwebrtc and Pion), so that a report right after a retransmission or after
// padding is lost, and with it what a probe has found. Buffers of this factory
// hand such a report to the Estimator whose stream it is; all others are as Pion
// makes them, except that Pion itself reads no incoming RTP ahead of the
// application.
//
// Without it an Estimator that finds its reports missing says so in the log and
// sends no padding: large frames are its only probes then.
func (f *PeerFactory) BufferFactory(kind packetio.BufferPacketType, ssrc uint32) io.ReadWriteCloser {
	limit := rtpBufferBytes
	if kind == packetio.RTCPBufferPacket {
		for _, e := range f.Estimators() {
			if e.repairs(ssrc) {
				return reportBuffer{e}
			}
		}
		limit = rtcpBufferBytes
	}
	b := packetBuffer{packetio.NewBuffer()}
	b.SetLimitSize(limit)

	return b
}

// repairs tells whether a stream of e has RTX or FEC of that SSRC.
func (e *Estimator) repairs(ssrc uint32) bool {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.rtx[ssrc] != nil || e.fec[ssrc]
}

// reportBuffer takes the RTCP about a stream that nobody reads.
type reportBuffer struct{ e *Estimator }

// Write never fails: Pion would throw away the rest of the compound packet.
func (b reportBuffer) Write(p []byte) (int, error) {
	pkts, err := rtcp.Unmarshal(p)
	if err != nil {
		return len(p), nil //nolint:nilerr // as on a network
	}
	for _, pkt := range pkts {
		if fb, ok := pkt.(*rtcp.TransportLayerCC); ok {
			_ = b.e.WriteRTCP([]rtcp.Packet{fb}, nil) // nil always
		}
	}

	return len(p), nil
}

// Read has nothing to offer: all that is written is used already.
func (b reportBuffer) Read([]byte) (int, error) { return 0, io.EOF }

// Close does nothing.
func (b reportBuffer) Close() error { return nil }

// packetBuffer is Pion's buffer with the methods of its own wrapper, that for a
// packet's attributes (ECN marks for one) included.
type packetBuffer struct{ *packetio.Buffer }

func (b packetBuffer) Read(p []byte) (int, error) {
	n, _, err := b.Buffer.Read(p, nil)

	return n, err
}

func (b packetBuffer) Write(p []byte) (int, error) { return b.Buffer.Write(p, nil) }

// ReadWithAttributes is what pion/srtp asks for.
func (b packetBuffer) ReadWithAttributes(p []byte, a packetio.Attributes) (int, packetio.Attributes, error) {
	return b.Buffer.Read(p, a)
}

// WriteWithAttributes is what pion/srtp asks for.
func (b packetBuffer) WriteWithAttributes(p []byte, a packetio.Attributes) (int, error) {
	return b.Buffer.Write(p, a)
}
