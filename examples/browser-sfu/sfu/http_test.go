// SPDX-License-Identifier: MIT

package sfu

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfutest"
)

// sending and receiving are offers of a medium.
func sending(t *testing.T) string {
	t.Helper()
	pc := peer(t)
	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}, "video", "cam")
	if err == nil {
		_, err = pc.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly})
	}
	if err != nil {
		t.Fatal(err)
	}

	return sfutest.Offer(t, pc)
}

func receiving(t *testing.T) string {
	t.Helper()
	pc := peer(t)
	if _, err := pc.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}); err != nil {
		t.Fatal(err)
	}

	return sfutest.Offer(t, pc)
}

func TestErrors(t *testing.T) {
	s, url := start(t)
	send, receive := sending(t), receiving(t)
	bearer := []string{"Authorization", "Bearer " + token}
	tests := []struct {
		name               string
		method, path       string
		contentType, offer string
		header             []string
		status             int
		text               string
	}{
		{"no token", "POST", "/whip", typeSDP, send, nil, 401, "token"},
		{"wrong token", "POST", "/whip", typeSDP, send, []string{"Authorization", "Bearer x"}, 401, "token"},
		{"wrong scheme", "POST", "/whip", typeSDP, send, []string{"Authorization", "Basic " + token}, 401, "token"},
		{"wrong type", "POST", "/whip", "text/plain", send, bearer, 415, "application/sdp"},
		{"no type", "POST", "/whep", "", receive, nil, 415, "application/sdp"},
		{"empty", "POST", "/whip", typeSDP, "", bearer, 400, "no audio"},
		{"malformed", "POST", "/whip", typeSDP, "hello", bearer, 400, "malformed SDP"},
		{"cut off", "POST", "/whip", typeSDP, send[:len(send)/3], bearer, 400, ""},
		{"too big", "POST", "/whip", typeSDP, send + strings.Repeat("a=x\r\n", maxOffer/5), bearer, 413, "65536"},
		{"wrong direction", "POST", "/whip", typeSDP, receive, bearer, 400, "sendonly"},
		{"wrong direction of a viewer", "POST", "/whep", typeSDP, send, nil, 400, "recvonly"},
		{"no medium", "POST", "/whip", typeSDP, "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n", bearer, 400, "no audio"},
		{"no WebRTC", "POST", "/whip", typeSDP, strings.ReplaceAll(send, "fingerprint", "thumbprint"), bearer, 400, "fingerprint"},
		{"no codec", "POST", "/whip", typeSDP, strings.NewReplacer("VP8/", "VP7/", "H264/", "H263/").Replace(send), bearer, 406, "VP8"},
		{"bad ICE", "POST", "/whip", typeSDP, strings.ReplaceAll(send, "a=fingerprint:sha-256 ", "a=fingerprint:"), bearer, 400, "offer"},
		{"nobody publishes", "POST", "/whep", typeSDP, receive, nil, 404, "nobody publishes"},
		{"GET", "GET", "/whip", "", "", bearer, 405, ""},
		{"PUT", "PUT", "/whep", typeSDP, receive, nil, 405, ""},
		{"no session", "DELETE", "/whip/x", "", "", bearer, 404, "no such session"},
		{"DELETE without token", "DELETE", "/whip/x", "", "", nil, 401, "token"},
		{"no session to patch", "PATCH", "/whep/x", typeTrickle, "a=mid:0\r\n", nil, 404, "no such session"},
		{"other page", "POST", "/whip", typeSDP, send, append([]string{"Origin", "https://evil.example"}, bearer...), 403, "evil.example"},
		{"other name", "POST", "/whep", typeSDP, receive, []string{"Host", "evil.example"}, 403, "evil.example"},
		{"preflight of another page", "OPTIONS", "/whip", "", "", []string{"Origin", "https://evil.example"}, 403, "origin"},
		{"other path", "GET", "/", "", "", nil, 404, ""},
	}
	for _, tt := range tests {
		a, err := ask(t.Context(), tt.method, url+tt.path, tt.contentType, tt.offer, tt.header...)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)

			continue
		}
		if a.status != tt.status || !strings.Contains(a.body, tt.text) || strings.Count(a.body, "\n") > 1 {
			t.Errorf("%s: %d %q, want %d %q", tt.name, a.status, a.body, tt.status, tt.text)
		}
		if strings.Contains(a.body, token) {
			t.Errorf("%s: the token is in the answer", tt.name)
		}
		if a.status == 401 && a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: no WWW-Authenticate", tt.name)
		}
	}
	eventually(t, "no session left", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()

		return len(s.sessions) == 0 && s.viewers == 0
	})
}

func TestCORS(t *testing.T) {
	const friend = "https://friend.example"
	_, url := start(t, func(c *Config) { c.Origins = []string{friend} })
	for _, origin := range []string{friend, url} {
		a, err := ask(t.Context(), "OPTIONS", url+"/whip", "", "", "Origin", origin)
		if err != nil || a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != origin {
			t.Errorf("%s: %v %v", origin, a, err)
		}
		if !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Authorization") || a.header.Get("Vary") != "Origin" {
			t.Errorf("%s: %v", origin, a.header)
		}
	}
	a, err := ask(t.Context(), "POST", url+"/whip", typeSDP, sending(t), "Origin", friend, "Authorization", "bearer "+token)
	if err != nil || a.status != http.StatusCreated || !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "Location") {
		t.Errorf("%v %v", a, err)
	}
	if _, ok := a.header["Set-Cookie"]; ok || a.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("credentials: none are needed")
	}
}

func TestTrickle(t *testing.T) {
	s, url := start(t)
	newCamera(t, url)
	eventually(t, "a publisher", publishing(s))
	v := newScreen(t, url)
	const good = "a=mid:0\r\na=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host\r\na=end-of-candidates\r\n"
	tests := []struct {
		name, body, match, contentType string
		status                         int
	}{
		{"good", good, v.etag, typeTrickle, 204},
		{"end of candidates", "a=end-of-candidates\r\n", v.etag, typeTrickle, 204},
		{"hidden address", "a=mid:0\r\na=candidate:1 1 udp 2130706431 x.local 9 typ host\r\n", v.etag, typeTrickle, 204},
		{"other type", good, v.etag, typeSDP, 415},
		{"no If-Match", good, "", typeTrickle, 428},
		{"old If-Match", good, `"x"`, typeTrickle, 412},
		{"restart", good, "*", typeTrickle, 422},
		{"other ufrag", "a=ice-ufrag:other\r\n" + good, v.etag, typeTrickle, 422},
		{"empty", "", v.etag, typeTrickle, 400},
		{"malformed", "candidate\r\n", v.etag, typeTrickle, 400},
		{"malformed candidate", "a=mid:0\r\na=candidate:1 1\r\n", v.etag, typeTrickle, 400},
		{"too big", good + strings.Repeat("a=x\r\n", maxTrickle/5), v.etag, typeTrickle, 413},
		{"too many", strings.Repeat("a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n", maxCandidates+1), v.etag, typeTrickle, 400},
		{"too many in all", strings.Repeat("a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n", maxCandidates), v.etag, typeTrickle, 400},
	}
	for _, tt := range tests {
		a, err := ask(t.Context(), "PATCH", v.session, tt.contentType, tt.body, "If-Match", tt.match)
		if err != nil || a.status != tt.status {
			t.Errorf("%s: %d %q %v, want %d", tt.name, a.status, a.body, err, tt.status)
		}
	}
	eventually(t, "pictures all the same", func() bool { return v.frames.Load() > 5 })
}

// Many at once: some get in, the others are told why not, nothing is left.
func TestConcurrentPosts(t *testing.T) {
	s, url := start(t, func(c *Config) { c.MaxViewers = 10 })
	newCamera(t, url)
	eventually(t, "a publisher", publishing(s))
	v := newScreen(t, url)
	send, receive := sending(t), receiving(t)
	var mu sync.Mutex
	got := map[string]map[int]int{}
	var wg sync.WaitGroup
	post := func(name, path, body, bearer string) {
		wg.Go(func() {
			a, err := ask(t.Context(), "POST", url+path, typeSDP, body, "Authorization", "Bearer "+bearer)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if got[name] == nil {
				got[name] = map[int]int{}
			}
			got[name][a.status]++
		})
	}
	for range 25 {
		post("viewers", "/whep", receive, "")
		post("publishers", "/whip", send, token)
		post("strangers", "/whip", send, "x")
		post("nonsense", "/whep", "v=0", "")
	}
	wg.Wait()
	if g := got["viewers"]; g[201] != 9 || g[503] != 16 {
		t.Errorf("viewers: %v", g)
	}
	if g := got["publishers"]; g[201] < 1 || g[201]+g[503] != 25 {
		t.Errorf("publishers: %v", g)
	}
	if got["strangers"][401] != 25 || got["nonsense"][400] != 25 {
		t.Errorf("strangers %v, nonsense %v", got["strangers"], got["nonsense"])
	}
	// Those who do not connect take nothing from those who have.
	n := v.frames.Load()
	eventually(t, "more pictures", func() bool { return v.frames.Load() > n+10 })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if len(s.sessions) != 0 {
		t.Errorf("%d sessions after Close", len(s.sessions))
	}
	a, err := ask(t.Context(), "POST", url+"/whip", typeSDP, send, "Authorization", "Bearer "+token)
	if err != nil || a.status != http.StatusServiceUnavailable {
		t.Errorf("after Close: %v %v", a, err)
	}
}
