// SPDX-License-Identifier: MIT

package sfu

import (
	"context"
	"sync"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
)

// pionAttributes is what Pion's Read returns beside the bytes.
type pionAttributes = pion.Attributes

// view answers a viewer.
func (s *Server) view(ctx context.Context, o offer) (*session, string, error) {
	p, err := s.awaitReady(ctx)
	if err != nil {
		return nil, "", err
	}
	p.mu.Lock()
	sources := append([]*source(nil), p.sources...)
	p.mu.Unlock()
	for _, src := range sources {
		if err := o.plays(src.kind, src.codec.MimeType); err != nil {
			return nil, "", err
		}
	}
	x, err := s.open(viewer, o)
	if err != nil {
		return nil, "", err
	}
	feeds := map[*source]*feed{}
	var wg sync.WaitGroup
	x.onUp = func() {
		for _, f := range feeds {
			wg.Go(f.run)
		}
		if !p.attach(x, feeds) {
			x.end()

			return
		}
		p.requestKeyFrame(time.Now())
	}
	x.onGone = func() {
		p.detach(x, feeds)
		wg.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, f := range feeds {
			s.past.addFeed(f)
		}
	}
	answer := ""
	for _, src := range sources {
		if o.codecs[src.kind] == nil {
			continue
		}
		if feeds[src], err = p.feed(x, src); err != nil {
			break
		}
	}
	s.start(x)
	if err == nil {
		answer, err = x.answer(ctx, o)
	}
	if err != nil {
		x.end()

		return nil, "", err
	}

	return x, answer, nil
}

// feed adds a source to a viewer's connection.
func (p *publication) feed(x *session, src *source) (*feed, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(src.codec, src.kind, "live")
	if err != nil {
		return nil, err
	}
	sender, err := x.pc.AddTrack(track)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			packets, _, err := sender.ReadRTCP()
			if err != nil {
				return
			}
			for _, packet := range packets {
				switch packet.(type) {
				case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
					p.requestKeyFrame(time.Now())
				}
			}
		}
	}()

	return newFeed(track.WriteRTP, src.key, x.done), nil
}
