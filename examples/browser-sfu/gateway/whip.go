// SPDX-License-Identifier: MIT

package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pion/webrtc/v4"
)

const (
	maxAnswer    = 256 << 10
	leaveTimeout = 2 * time.Second
)

// whip is a session of RFC 9725.
type whip struct{ session, token string }

// join publishes a connection whose tracks are there.
func join(ctx context.Context, pc *webrtc.PeerConnection, endpoint, token string) (*whip, error) {
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		return nil, err
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		return nil, err
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(pc.LocalDescription().SDP))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/sdp")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusCreated {
		return nil, fmt.Errorf("%s: %.200q", resp.Status, strings.TrimSpace(string(b)))
	}
	location, err := resp.Location()
	if err != nil {
		return nil, err
	}
	// A token goes to no other host than the one it was given for.
	if asked, err := url.Parse(endpoint); err != nil || asked.Host != location.Host {
		return nil, fmt.Errorf("the session is on another host, %s", location.Host)
	}
	w := &whip{location.String(), token}
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(b)}); err != nil {
		w.leave()

		return nil, err
	}

	return w, nil
}

// leave ends the session; a server that is gone has ended it already.
func (w *whip) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, w.session, http.NoBody)
	if err != nil {
		return
	}
	if w.token != "" {
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	if resp, err := http.DefaultClient.Do(r); err == nil {
		_ = resp.Body.Close()
	}
}
