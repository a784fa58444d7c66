// SPDX-License-Identifier: MIT

package interceptor

import (
	"math/rand/v2"

	"github.com/pion/rtp"
)

const (
	// fillerBytes is the padding of one packet. RFC 3550 5.1 has one byte for
	// it; libwebrtc: rtp_rtcp/source/rtp_sender.cc stays below that as well.
	fillerBytes = 224
	// maxFiller is what such a packet takes on the link at most: header, the
	// transport-wide extension, padding.
	maxFiller = 12 + 8 + fillerBytes + linkOverhead
)

// padOn notes the stream of a media packet that was sent: padding goes out on its
// RTX stream, where the receiver throws it away (RFC 4588 section 4: an RTX
// payload has two bytes at least). A stream without RTX has nothing to carry
// padding, as its own numbers belong to the NACK responder; then large frames
// are the probes. Called with mu held.
func (e *Estimator) padOn(p *packet) {
	s := p.stream
	if s.urgent || s.rtx == nil || s.rtx.payloadType == 0 || p.header.SSRC != s.ssrc {
		return
	}
	s.timestamp = p.header.Timestamp
	if e.padded == nil && !e.bereft.Load() {
		e.pacer.AllowPadding(true)
	}
	e.padded = s
}

// pad makes a packet of padding that takes about size bytes on the link. Called
// with mu held, and only after padOn has allowed it.
func (e *Estimator) pad(size int) *packet {
	p, ok := packetPool.Get().(*packet)
	if !ok {
		p = new(packet)
	}
	s := e.padded
	p.stream, p.tracking, p.filler = s, s.tracking, true
	p.payload = nil
	p.header = rtp.Header{
		Version: 2, Padding: true, PayloadType: s.rtx.payloadType, SSRC: s.rtx.ssrc, Timestamp: s.timestamp,
		SequenceNumber: uint16(rand.Uint32()), //nolint:gosec // of the first packet only, number has the next ones
	}
	if s.tracking == byTransport {
		if err := p.header.SetExtension(s.extension, p.number[:]); err != nil {
			p.tracking = untracked
		}
	}
	overhead := p.header.MarshalSize() + linkOverhead
	filler := min(max(size-overhead, 1), fillerBytes)
	p.header.PaddingSize = byte(filler) //nolint:gosec // at most fillerBytes
	p.size = overhead + filler

	return p
}
