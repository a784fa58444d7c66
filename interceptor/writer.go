// SPDX-License-Identifier: MIT

package interceptor

import (
	"encoding/binary"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gcc"
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

// take returns the number of the next packet, whose present one is own.
func (r *rtxNumbers) take(own uint16) uint16 {
	if !r.started {
		r.next, r.started = own, true
	}
	r.next++

	return r.next - 1
}

// takeBack uses the latest number again.
func (r *rtxNumbers) takeBack(number uint16) {
	if r.next == number+1 {
		r.next = number
	}
}

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
	few    [2]rtp.Extension // the header's, unless there were ever more
	// number is where the transport-wide number goes, part of the header's
	// extensions when tracking is byTransport.
	number   [2]byte
	tracking tracking
	filler   bool
	sent     bool
	size     int // on the link
	cluster  int // the probe it is sent for, 0 for none

	// From the moment of sending.
	at     time.Time
	ticket ticket

	payload []byte
	attrs   pion.Attributes
	resend  resender
	raw     []byte // what header and payload point into
}

// packetPool has those that nobody uses now. All Estimators share them: each needs
// many for a moment and none for most of the time.
//
//nolint:gochecknoglobals // a cache, as sync.Pool is meant to be
var packetPool = sync.Pool{New: func() any { return newPacket() }}

func newPacket() *packet {
	p := new(packet)
	p.header.Extensions = p.few[:0]

	return p
}

// copyOf fills p with a copy that shares nothing with the caller. It may leave out
// the transport-wide extension, which the caller sets anyway.
func (p *packet) copyOf(h *rtp.Header, payload []byte) {
	if p.tracking == byTransport && bare(h, p.stream.extension) {
		csrc, extensions := p.header.CSRC[:0], p.header.Extensions[:0]
		p.header = *h
		p.header.CSRC, p.header.Extensions = csrc, extensions
		p.room(len(payload))
		p.payload = p.raw
		copy(p.payload, payload)

		return
	}
	n := h.MarshalSize()
	p.room(n + len(payload))
	// Through its bytes: unlike Clone this reuses the header's slices.
	if !p.parse(h, p.raw[:n]) {
		p.header = h.Clone() // it has no bytes; let the next writer say so
	}
	p.header.PaddingSize = h.PaddingSize
	p.payload = p.raw[n:]
	copy(p.payload, payload)
}

// bare tells that a header has nothing that it would share with its copy, other
// than an extension. That is so with most packets, and saves to write and to parse
// its bytes.
func bare(h *rtp.Header, extension uint8) bool {
	if len(h.CSRC) > 0 {
		return false
	}
	if !h.Extension {
		return len(h.Extensions) == 0
	}

	return h.ExtensionProfile == rtp.ExtensionProfileOneByte && len(h.Extensions) == 1 && len(h.GetExtension(extension)) > 0
}

// room makes raw n bytes long.
func (p *packet) room(n int) {
	if cap(p.raw) < n {
		p.raw = make([]byte, n, max(n, typicalPacket))
	} else {
		p.raw = p.raw[:n]
	}
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
	urgent    bool
	ssrc, fec uint32
	bare      atomic.Bool  // media came without the extension
	rtx       *rtxNumbers  // nil without RTX; guarded by e.mu
	refusing  refusedFrame // guarded by e.mu
	timestamp uint32       // of the latest media packet sent; guarded by e.mu
}

func newStream(e *Estimator, info *pion.StreamInfo, next pion.RTPWriter) *stream {
	s := &stream{
		e: e, next: next, ssrc: info.SSRC, fec: info.SSRCForwardErrorCorrection,
		// A few packets a second that a queue of video must not delay.
		urgent: len(info.MimeType) >= 6 && strings.EqualFold(info.MimeType[:6], "audio/"),
	}
	s.tracking, s.extension = trackingOf(info)

	return s
}

// refusedFrame is the frame whose rest is dropped because a packet of it was:
// without that one nobody can decode the others, and each would cost the frames
// behind it their place in the queue.
type refusedFrame struct {
	timestamp uint32
	on        bool
}

// refuses tells whether a packet belongs to it. A packet of another frame ends
// it. It is not asked about retransmissions.
func (s *stream) refuses(h *rtp.Header) bool {
	if !s.refusing.on || s.urgent || h.SSRC != s.ssrc {
		return false
	}
	s.refusing.on = h.Timestamp == s.refusing.timestamp

	return s.refusing.on
}

// refused books a packet that is dropped.
func (s *stream) refused(p *packet, now time.Time) {
	e := s.e
	e.count.refused++
	if h := &p.header; !s.urgent && h.SSRC == s.ssrc && p.resend == nil {
		if !s.refusing.on {
			e.count.framesRefused++
		}
		s.refusing = refusedFrame{h.Timestamp, true}
		e.advice.refused()
	}
	if e.rec != nil {
		e.rec.Record(now, RefusedEvent{
			SSRC: p.header.SSRC, Number: p.header.SequenceNumber, Size: p.size, DelayMs: milliseconds(e.pacer.Delay()),
		})
	}
}

// Write implements Pion's RTPWriter: it queues a copy of the packet. The result
// is the packet's size without what SRTP adds; nil also for a packet that the
// full queue drops, see the package comment.
func (s *stream) Write(h *rtp.Header, payload []byte, a pion.Attributes) (int, error) {
	if h == nil {
		return 0, errNilHeader
	}
	e := s.e
	p, ok := packetPool.Get().(*packet)
	if !ok {
		p = newPacket()
	}
	p.stream, p.tracking, p.cluster, p.filler = s, s.tracking, 0, false
	deaf := s.fec != 0 && h.SSRC == s.fec && e.fecDeaf.Load()
	if deaf {
		p.tracking = untracked
	}
	p.copyOf(h, payload)
	if deaf && s.tracking == byTransport {
		_ = p.header.DelExtension(s.extension) // it has none in most cases
	}
	if p.tracking == byTransport {
		if s.fec != 0 {
			s.checkOrder(h)
		}
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
	// libwebrtc: pacing/pacing_controller has this order.
	switch {
	case p.resend == nil && s.refuses(&p.header):
		ok = false
	case s.urgent:
		ok = e.pacer.PushUrgent(now, p, p.size)
	case p.resend != nil || s.rtx != nil && h.SSRC == s.rtx.ssrc:
		ok = e.pacer.PushAhead(now, p, p.size)
	default:
		ok = e.pacer.Push(now, p, p.size)
	}
	if !ok {
		s.refused(p, now)
	}
	e.advise()
	send := false
	if ok && !e.sending {
		next := e.pacer.NextSend(now)
		if send = !next.IsZero() && !next.After(now); send {
			e.sending = true
		} else {
			e.armFor(next, now)
		}
	}
	e.mu.Unlock()
	if !ok {
		e.release(p, false)
	}
	if send {
		ended := false
		defer func() {
			if !ended {
				e.giveUp(now)
			}
		}()
		e.transmit(now, inlineLimit)
		ended = true
	}

	return n, nil
}

// number gives p its numbers, at the moment of sending. Called with mu held.
func (e *Estimator) number(p *packet, now time.Time) {
	p.at = now
	rtx := p.stream.rtx
	onRTX := rtx != nil && p.header.SSRC == rtx.ssrc
	if onRTX {
		p.header.SequenceNumber = rtx.take(p.header.SequenceNumber)
	}
	fec := p.stream.fec != 0 && p.header.SSRC == p.stream.fec
	switch p.tracking {
	case byTransport:
		p.ticket = e.history.beginTransport(now, p.size, fec)
		binary.BigEndian.PutUint16(p.number[:], uint16(p.ticket.number)) //nolint:gosec // wraps on purpose
		if onRTX {
			e.history.onRTX(p.ticket)
		}
	case byRTP:
		if e.transport {
			p.tracking = untracked
		} else {
			p.ticket = e.history.beginRTP(p.header.SSRC, p.header.SequenceNumber, now, p.size, fec)
		}
	case untracked:
	}
	if p.cluster != 0 && p.tracking != untracked {
		e.history.probe(p.ticket, p.cluster)
	}
}

// unsent takes back p's numbers, of those that have them the latest first.
// Called with mu held.
func (e *Estimator) unsent(p *packet) {
	if p.tracking != untracked {
		e.history.takeBack(p.ticket)
	}
	if rtx := p.stream.rtx; rtx != nil && p.header.SSRC == rtx.ssrc {
		rtx.takeBack(p.header.SequenceNumber)
	}
	e.count.unsent++
}

// settle books that p has left. Called with mu held.
func (e *Estimator) settle(p *packet) {
	e.count.packetsSent++
	e.count.bytesSent += int64(p.size)
	repair := true
	switch rtx, ssrc := p.stream.rtx, p.header.SSRC; {
	case p.filler:
		e.count.padding++
	case rtx != nil && ssrc == rtx.ssrc:
		e.count.rtxSent++
		e.count.rtxBytes += int64(p.size)
	case p.stream.fec != 0 && ssrc == p.stream.fec:
		e.count.fecSent++
		e.count.fecBytes += int64(p.size)
	default:
		repair = false
	}
	if !p.filler { // probing is short, and has no claim on the encoder's rate
		e.repair.sent(p.at, p.size, repair)
	}
	if e.advice.watching() {
		e.advise()
	}
	e.hearOthers(p.at)
	e.tellOthers(p.at, p.size)
	if p.tracking == untracked {
		e.count.untracked++
		e.core.OnOthersSent(p.at, gcc.SentPacket{At: p.at, Size: p.size})

		return
	}
	if !p.filler {
		e.padOn(p)
	}
	e.watch.sent(p.at)
	e.core.OnPacketSent(p.at, gcc.SentPacket{Seq: p.ticket.seq, Size: p.size, At: p.at, Probe: p.cluster})
	if p.at.Sub(e.followed) >= followEvery {
		e.follow(p.at)
	}
}

// release gives p back, to Pion and to the pool. Called without mu: Pion takes
// locks of its own.
func (e *Estimator) release(p *packet, sent bool) {
	if p.resend != nil {
		p.resend.Release(sent)
	}
	p.stream, p.resend, p.attrs, p.payload, p.ticket = nil, nil, nil, nil, ticket{}
	packetPool.Put(p)
}

// advise looks whether the queue gives reason to. Called with mu held.
func (e *Estimator) advise() {
	if e.advice.observe(e.pacer.Delay()) && e.onAdvice != nil {
		signal(e.notify)
	}
}

// checkOrder says so in the log when FEC protects other bytes than are sent.
// interceptor#331: packets that are recovered then have a wrong length.
func (s *stream) checkOrder(h *rtp.Header) {
	has := h.GetExtension(s.extension) != nil
	switch {
	case h.SSRC == s.ssrc:
		if !has {
			s.bare.Store(true)
		}
	case h.SSRC == s.fec && has:
		s.e.warnOnce(&s.e.saidOrder, "FlexFEC protects packets without the TWCC header extension, what it recovers is "+
			"corrupt: call webrtc.ConfigureFlexFEC03 before webrtc.ConfigureTWCCHeaderExtensionSender, both after "+
			"adding the estimator")
	case h.SSRC == s.fec && s.bare.Load():
		s.e.warnOnce(&s.e.saidOrder, "FlexFEC protects packets to which nobody has added the TWCC header extension, "+
			"what it recovers is corrupt: call webrtc.ConfigureTWCCHeaderExtensionSender after webrtc.ConfigureFlexFEC03")
	}
}

func (e *Estimator) warnOnce(said *atomic.Bool, text string) {
	if !said.Swap(true) {
		e.log.Warn(text)
	}
}
