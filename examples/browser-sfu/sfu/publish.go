// SPDX-License-Identifier: MIT

package sfu

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// keyFrameEvery is the shortest time between two requests: a key frame is
// several times as large as another one, on an uplink that is the bottleneck.
const keyFrameEvery = 500 * time.Millisecond

// publication is what one publisher sends.
type publication struct {
	x     *session
	want  int           // tracks in the offer
	ready chan struct{} // closed once viewers can be told what there is

	mu        sync.Mutex
	sources   []*source
	viewers   map[*session]struct{}
	over      bool
	rate      *webrtc.DataChannel // nil: the publisher did not open one
	readyOnce sync.Once

	keyWanted atomic.Bool
	keyMu     sync.Mutex
	keyAsked  time.Time
	keyCount  atomic.Int64
}

// source is a track of a publication.
type source struct {
	kind  string // audio or video
	codec webrtc.RTPCodecCapability
	ssrc  uint32
	key   func(payload []byte) bool

	mu    sync.RWMutex
	feeds map[*feed]struct{}

	packets, bytes atomic.Int64
}

// publish answers a publisher. It takes over once it is connected.
func (s *Server) publish(ctx context.Context, o offer) (*session, string, error) {
	x, err := s.open(publisher, o)
	if err != nil {
		return nil, "", err
	}
	p := &publication{x: x, want: len(o.codecs), ready: make(chan struct{}), viewers: map[*session]struct{}{}}
	x.onUp = func() { s.takeOver(p) }
	x.onGone = func() { s.endOf(p) }
	x.pc.OnTrack(func(t *webrtc.TrackRemote, r *webrtc.RTPReceiver) {
		go drain(r.Read)
		src := p.add(t)
		if src == nil {
			drain(t.Read) // layers of simulcast beyond the first

			return
		}
		p.forward(src, t)
	})
	x.pc.OnDataChannel(func(d *webrtc.DataChannel) {
		if d.Label() == rateChannel {
			p.mu.Lock()
			p.rate = d
			p.mu.Unlock()
		}
	})
	s.start(x)
	answer, err := x.answer(ctx, o)
	if err != nil {
		x.end()

		return nil, "", err
	}

	kbps := s.cfg.StartKbps
	if o.channel && s.cfg.StartToldKbps > 0 {
		kbps = s.cfg.StartToldKbps
	}

	return x, startBitrate(answer, kbps), nil
}

// wantKeyFrame asks for a key frame from any goroutine.
func (p *publication) wantKeyFrame() { p.requestKeyFrame(time.Now()) }

// drain reads feedback, which Pion handles only while somebody reads.
func drain(read func([]byte) (int, pionAttributes, error)) {
	b := make([]byte, 1500)
	for {
		if _, _, err := read(b); err != nil {
			return
		}
	}
}

func (s *Server) takeOver(p *publication) {
	s.mu.Lock()
	old := s.current
	s.current = p
	s.mu.Unlock()
	if old != nil {
		s.log.Info("publisher replaced")
		old.x.end()
	}
	s.log.Info("publisher connected")
	if s.cfg.OnPublish == nil {
		return
	}
	s.wg.Go(func() {
		select {
		case <-p.ready:
			s.cfg.OnPublish(&Publication{p})
		case <-p.x.done:
		}
	})
}

// endOf takes a publication away, and its viewers with it.
func (s *Server) endOf(p *publication) {
	p.mu.Lock()
	p.over = true
	for x := range p.viewers {
		x.end()
	}
	sources := p.sources
	p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == p {
		s.current = nil
	}
	for _, src := range sources {
		s.past.addSource(src)
	}
	s.past.KeyFrameRequests += p.keyCount.Load()
	s.log.Info("publisher gone")
}

// add makes a source of the first track of a kind, nil of others.
func (p *publication) add(t *webrtc.TrackRemote) *source {
	src := &source{
		kind: t.Kind().String(), codec: t.Codec().RTPCodecCapability, ssrc: uint32(t.SSRC()),
		key: keyFrameStart(t.Codec().MimeType), feeds: map[*feed]struct{}{},
	}
	p.mu.Lock()
	if slices.ContainsFunc(p.sources, func(other *source) bool { return other.kind == src.kind }) {
		p.mu.Unlock()

		return nil
	}
	p.sources = append(p.sources, src)
	n := len(p.sources)
	p.mu.Unlock()
	if n >= p.want {
		p.setReady()
	} else {
		time.AfterFunc(settleTime, p.setReady)
	}

	return src
}

func (p *publication) setReady() { p.readyOnce.Do(func() { close(p.ready) }) }

// forward gives what a track brings to the viewers, and waits for none.
func (p *publication) forward(src *source, t *webrtc.TrackRemote) {
	for {
		packet, _, err := t.ReadRTP()
		if err != nil {
			return
		}
		src.packets.Add(1)
		src.bytes.Add(int64(len(packet.Payload)))
		if src.give(packet) {
			p.keyWanted.Store(true)
		}
		if p.keyWanted.Load() {
			p.requestKeyFrame(time.Now())
		}
	}
}

// give tells whether a viewer waits for a key frame.
func (src *source) give(packet *rtp.Packet) (wantsKey bool) {
	src.mu.RLock()
	defer src.mu.RUnlock()
	for f := range src.feeds {
		if f.push(packet) {
			wantsKey = true
		}
	}

	return wantsKey
}

// requestKeyFrame sends a PLI; one that comes too soon after another is sent
// later.
func (p *publication) requestKeyFrame(now time.Time) {
	p.keyMu.Lock()
	defer p.keyMu.Unlock()
	if now.Sub(p.keyAsked) < keyFrameEvery {
		p.keyWanted.Store(true)

		return
	}
	p.keyAsked = now
	p.keyWanted.Store(false)
	p.mu.Lock()
	var out []rtcp.Packet
	for _, src := range p.sources {
		if src.kind == "video" {
			out = append(out, &rtcp.PictureLossIndication{MediaSSRC: src.ssrc})
		}
	}
	p.mu.Unlock()
	if out != nil && p.x.pc.WriteRTCP(out) == nil {
		p.keyCount.Add(1)
	}
}

// attach lets packets flow to a viewer that is connected.
func (p *publication) attach(x *session, feeds map[*source]*feed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	p.viewers[x] = struct{}{}
	for src, f := range feeds {
		src.mu.Lock()
		src.feeds[f] = struct{}{}
		src.mu.Unlock()
	}

	return true
}

func (p *publication) detach(x *session, feeds map[*source]*feed) {
	p.mu.Lock()
	delete(p.viewers, x)
	p.mu.Unlock()
	for src, f := range feeds {
		src.mu.Lock()
		delete(src.feeds, f)
		src.mu.Unlock()
	}
}

// awaitReady waits for a publication that has only just begun.
func (s *Server) awaitReady(ctx context.Context) (*publication, error) {
	s.mu.Lock()
	p := s.current
	s.mu.Unlock()
	if p == nil {
		return nil, fail(http.StatusNotFound, "nobody publishes")
	}
	timer := time.NewTimer(readyTimeout)
	defer timer.Stop()
	select {
	case <-p.ready:
		return p, nil
	case <-timer.C:
	case <-p.x.done:
	case <-ctx.Done():
	}

	return nil, fail(http.StatusNotFound, "the publisher sends nothing")
}
