// SPDX-License-Identifier: MIT

package interceptor

import (
	"encoding/binary"
	"maps"
	"strings"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtp"
)

const (
	transportCCURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

	// linkOverhead is what a packet costs above RTP header and payload, bytes.
	// RFC 3711 5.2: 80 bit tag; AES-GCM has 16 bytes, which is close enough.
	linkOverhead = 10 + 20 + 8 // SRTP, IPv4, UDP

	// maxCSRC is what the count in an RTP header can say. RFC 3550 5.1.
	maxCSRC = 15

	typicalPacket = 1500
)

// tracking is how the receiver reports on a stream.
type tracking uint8

const (
	untracked tracking = iota
	byTransport
	byRTP
)

func (t tracking) String() string {
	switch t {
	case untracked:
		return "none"
	case byTransport:
		return "transport-cc"
	case byRTP:
		return "ccfb"
	default:
		return "invalid"
	}
}

// trackingOf tells how a stream was negotiated. The header extension alone is
// enough for transport-wide feedback, as Pion's own estimator has it, unless
// the peer asks for RFC 8888 and not for transport-cc.
func trackingOf(info *pion.StreamInfo) (kind tracking, extension uint8) {
	for _, x := range info.RTPHeaderExtensions {
		if x.URI == transportCCURI && x.ID > 0 && x.ID < 256 {
			extension = uint8(x.ID)

			break
		}
	}
	var ccfb, transport bool
	for _, f := range info.RTCPFeedback {
		switch {
		case strings.EqualFold(f.Type, "transport-cc"):
			transport = true
		case strings.EqualFold(f.Type, "ack") && strings.EqualFold(f.Parameter, "ccfb"):
			ccfb = true
		}
	}
	switch {
	case extension != 0 && (transport || !ccfb):
		return byTransport, extension
	case ccfb:
		return byRTP, 0
	default:
		return untracked, 0
	}
}

// rtxNumbers continues the RTP numbers of an RTX stream without gaps: what is
// sent is numbered, not what might be.
type rtxNumbers struct {
	ssrc        uint32
	payloadType uint8
	next        uint16
	started     bool
}

// peek returns the number of the next packet, whose present one is own.
func (r *rtxNumbers) peek(own uint16) uint16 {
	if !r.started {
		return own
	}

	return r.next
}

func (r *rtxNumbers) sent(number uint16) { r.next, r.started = number+1, true }

// resender is what Pion's NACK responder attaches to a resend, under a key that
// cannot be named outside of Pion: while it is retained, the responder does not
// resend the packet a second time.
type resender interface {
	Retain()
	Release(sent bool)
}

// packet is a copy of what was given to Write. Packets are used again.
type packet struct {
	stream *stream
	header rtp.Header
	raw    []byte // what header and payload point into
	// number is where the transport-wide number goes, part of the header's
	// extensions when tracking is byTransport.
	number   [2]byte
	payload  []byte
	attrs    pion.Attributes
	resend   resender
	size     int // on the link
	tracking tracking
	cluster  int // the probe it is sent for, 0 for none
	filler   bool

	// From the moment of sending.
	ticket ticket
	at     time.Time
}

// copyOf fills p with a copy that shares nothing with the caller.
func (p *packet) copyOf(h *rtp.Header, payload []byte) {
	n := h.MarshalSize()
	if need := n + len(payload); cap(p.raw) < need {
		p.raw = make([]byte, need, max(need, typicalPacket))
	} else {
		p.raw = p.raw[:need]
	}
	// Through its bytes: unlike Clone this reuses the header's slices.
	if !p.parse(h, p.raw[:n]) {
		p.header = h.Clone() // it has no bytes; let the next writer say so
	}
	p.header.PaddingSize = h.PaddingSize
	p.payload = p.raw[n:]
	copy(p.payload, payload)
}

// parse copies h by way of buf.
func (p *packet) parse(h *rtp.Header, buf []byte) bool {
	if len(h.CSRC) > maxCSRC {
		return false
	}
	if _, err := h.MarshalTo(buf); err != nil {
		return false
	}
	_, err := p.header.Unmarshal(buf)

	return err == nil
}

// stream is the writer of one stream with its RTX and FEC. It is safe for
// concurrent use.
type stream struct {
	e         *Estimator
	next      pion.RTPWriter
	extension uint8
	tracking  tracking
	ssrc      uint32
	urgent    bool
	// The rest is guarded by e.mu.
	rtx       *rtxNumbers // nil without RTX
	timestamp uint32      // of the latest media packet sent
}

func newStream(e *Estimator, info *pion.StreamInfo, next pion.RTPWriter) *stream {
	s := &stream{
		e: e, next: next, ssrc: info.SSRC,
		// A few packets a second that a queue of video must not delay.
		urgent: len(info.MimeType) >= 6 && strings.EqualFold(info.MimeType[:6], "audio/"),
	}
	s.tracking, s.extension = trackingOf(info)

	return s
}

// Write implements Pion's RTPWriter: it queues a copy of the packet. The result
// is the packet's size without what SRTP adds; nil also for a packet that the
// full queue drops, see the package comment.
func (s *stream) Write(h *rtp.Header, payload []byte, a pion.Attributes) (int, error) {
	if h == nil {
		return 0, errNilHeader
	}
	e := s.e
	p, ok := e.pool.Get().(*packet)
	if !ok {
		p = new(packet)
	}
	p.stream, p.tracking, p.cluster, p.filler = s, s.tracking, 0, false
	p.copyOf(h, payload)
	if s.tracking == byTransport {
		if err := p.header.SetExtension(s.extension, p.number[:]); err != nil {
			// Another profile in which the extension has no room.
			p.tracking = untracked
		}
	}
	n := p.header.MarshalSize() + len(payload) + int(p.header.PaddingSize)
	p.size = n + linkOverhead
	if len(a) > 0 {
		p.attrs = maps.Clone(a)
		for _, v := range a {
			if r, ok := v.(resender); ok {
				p.resend = r
				r.Retain()
			}
		}
	}

	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		e.release(p, false)

		return 0, ErrClosed
	}
	now := e.now()
	if s.urgent {
		ok = e.pacer.PushUrgent(now, p, p.size)
	} else {
		ok = e.pacer.Push(now, p, p.size)
	}
	if !ok {
		e.count.refused++
		if e.rec != nil {
			e.rec.Record(now, RefusedEvent{
				SSRC: p.header.SSRC, Number: p.header.SequenceNumber, Size: p.size, DelayMs: milliseconds(e.pacer.Delay()),
			})
		}
	}
	e.kick(now)
	e.mu.Unlock()
	if !ok {
		e.release(p, false)
	}

	return n, nil
}

// number gives p its numbers, at the moment of sending. Called with mu held.
func (e *Estimator) number(p *packet, now time.Time) {
	p.at = now
	if rtx := p.stream.rtx; rtx != nil && p.header.SSRC == rtx.ssrc {
		p.header.SequenceNumber = rtx.peek(p.header.SequenceNumber)
	}
	switch p.tracking {
	case byTransport:
		p.ticket = e.history.beginTransport(now, p.size)
		binary.BigEndian.PutUint16(p.number[:], uint16(p.ticket.number)) //nolint:gosec // wraps on purpose
	case byRTP:
		if e.transport {
			p.tracking = untracked
		} else {
			p.ticket = e.history.beginRTP(p.header.SSRC, p.header.SequenceNumber, now, p.size)
		}
	case untracked:
	}
	if p.cluster != 0 && p.tracking != untracked {
		e.history.probe(&p.ticket, p.cluster)
	}
}

// settle books what became of p, which number has numbered. Called with mu
// held.
func (e *Estimator) settle(p *packet, sent bool) {
	if p.tracking != untracked {
		e.history.end(p.ticket, sent)
	}
	if !sent {
		e.count.unsent++

		return
	}
	e.count.packetsSent++
	e.count.bytesSent += int64(p.size)
	if rtx := p.stream.rtx; rtx != nil && p.header.SSRC == rtx.ssrc {
		rtx.sent(p.header.SequenceNumber)
		if !p.filler {
			e.count.rtxSent++
		}
	}
	if p.tracking == untracked {
		e.count.untracked++

		return
	}
	if p.filler {
		e.count.padding++
	} else {
		e.padOn(p)
	}
	now := e.now()
	e.watch.sent(p.at)
	e.core.OnPacketSent(now, p.ticket.packet)
	e.follow(now)
}

// release gives p back, to Pion and to the pool. Called without mu: Pion takes
// locks of its own.
func (e *Estimator) release(p *packet, sent bool) {
	if p.resend != nil {
		p.resend.Release(sent)
	}
	p.stream, p.resend, p.attrs, p.payload, p.ticket = nil, nil, nil, nil, ticket{}
	e.pool.Put(p)
}
