// SPDX-License-Identifier: MIT

package sfu

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"
)

// maxPublishers are there at the same time while one replaces another.
const maxPublishers = 4

// session is one PeerConnection and its URL.
type session struct {
	id, etag, ufrag string
	role            role
	pc              *webrtc.PeerConnection
	candidates      atomic.Int64

	connected, done, gone chan struct{}
	onceUp, onceEnd       sync.Once
	// Set before the session lives.
	onUp, onGone func()
}

// end begins the end, from any goroutine.
func (x *session) end() { x.onceEnd.Do(func() { close(x.done) }) }

// open makes a session if there is room for it. It lives from start on.
func (s *Server) open(kind role, o offer) (*session, error) {
	api := s.inbound
	if kind == viewer {
		api = s.outbound
	}
	x := &session{
		id: newID(), etag: `"` + newID() + `"`, ufrag: o.ufrag, role: kind,
		connected: make(chan struct{}), done: make(chan struct{}), gone: make(chan struct{}),
		onUp: func() {}, onGone: func() {},
	}
	x.candidates.Store(int64(o.candidates))
	s.mu.Lock()
	defer s.mu.Unlock()
	publishers := len(s.sessions) - s.viewers
	switch {
	case s.closed:
		return nil, fail(http.StatusServiceUnavailable, "the server is closing")
	case kind == viewer && s.viewers >= s.cfg.MaxViewers:
		return nil, fail(http.StatusServiceUnavailable, "%d viewers are here already", s.viewers)
	case kind == publisher && publishers >= maxPublishers:
		return nil, fail(http.StatusServiceUnavailable, "%d publishers are connecting already", publishers)
	}
	var err error
	if x.pc, err = api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return nil, err
	}
	x.pc.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		s.log.Debug("connection", "role", kind.endpoint(), "state", state.String())
		switch state {
		case webrtc.PeerConnectionStateConnected:
			x.onceUp.Do(func() { close(x.connected) })
		case webrtc.PeerConnectionStateFailed, webrtc.PeerConnectionStateClosed:
			x.end()
		default:
		}
	})
	s.sessions[x.id] = x
	if kind == viewer {
		s.viewers++
		s.past.ViewersTotal++
	} else {
		s.past.PublishersTotal++
	}
	s.wg.Add(1)

	return x, nil
}

// start lets a session live until its end, and cleans up after it.
func (s *Server) start(x *session) {
	go func() {
		defer s.wg.Done()
		defer close(x.gone)
		timer := time.NewTimer(connectTimeout)
		select {
		case <-x.connected:
			x.onUp()
			<-x.done
		case <-timer.C:
			s.log.Info("not connected in time", "role", x.role.endpoint())
		case <-x.done:
		}
		timer.Stop()
		x.end()
		// Its errors are those of a far end that is gone.
		_ = x.pc.GracefulClose()
		s.mu.Lock()
		delete(s.sessions, x.id)
		if x.role == viewer {
			s.viewers--
		}
		s.mu.Unlock()
		x.onGone()
	}()
}

// answer negotiates; candidates of this side are all in the answer.
func (x *session) answer(ctx context.Context, o offer) (string, error) {
	if err := x.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: o.sdp}); err != nil {
		return "", fail(http.StatusBadRequest, "the offer is not acceptable: %v", err)
	}
	a, err := x.pc.CreateAnswer(nil)
	if err != nil {
		return "", fail(http.StatusBadRequest, "the offer cannot be answered: %v", err)
	}
	gathered := webrtc.GatheringCompletePromise(x.pc)
	if err := x.pc.SetLocalDescription(a); err != nil {
		return "", fail(http.StatusBadRequest, "the offer cannot be answered: %v", err)
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", fail(http.StatusRequestTimeout, "the client has gone")
	case <-x.done:
		return "", fail(http.StatusServiceUnavailable, "the session has ended")
	}

	return x.pc.LocalDescription().SDP, nil
}
