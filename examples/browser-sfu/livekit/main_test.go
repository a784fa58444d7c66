// SPDX-License-Identifier: MIT

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/app"
)

func TestFromEnvironment(t *testing.T) {
	tests := []struct {
		url, key, secret string
		want             string // its address, or what the error says
		ok               bool
	}{
		{"", "", "", "ws://127.0.0.1:7880", true},
		{"", "k", "s", "ws://127.0.0.1:7880", true},
		{"wss://sfu.example/", "k", "s", "wss://sfu.example", true},
		{"http://10.0.0.1:7880", "k", "s", "ws://10.0.0.1:7880", true},
		{"ws://10.0.0.1:7880", "", "", "LIVEKIT_API_KEY", false},
		{"", "k", "", "LIVEKIT_API_SECRET", false},
		{"10.0.0.1:7880", "k", "s", "LIVEKIT_URL", false},
		{"ftp://10.0.0.1", "k", "s", "LIVEKIT_URL", false},
		{"ws://", "k", "s", "LIVEKIT_URL", false},
	}
	for _, tt := range tests {
		t.Setenv("LIVEKIT_URL", tt.url)
		t.Setenv("LIVEKIT_API_KEY", tt.key)
		t.Setenv("LIVEKIT_API_SECRET", tt.secret)
		s, err := fromEnvironment("room")
		switch {
		case tt.ok && (err != nil || s.url != tt.want || s.key == "" || s.secret == ""):
			t.Errorf("%q: %+v %v, want %q", tt.url, s, err, tt.want)
		case !tt.ok && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%q: %v, want %q", tt.url, err, tt.want)
		}
	}
}

// The page may speak to the server, whatever path it is below.
func TestOrigins(t *testing.T) {
	s := server{url: "wss://sfu.example/below"}
	if got := strings.Join(s.origins(), " "); got != "wss://sfu.example https://sfu.example" {
		t.Error(got)
	}
}

// A server that is not there, or not one.
func TestJoinErrors(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	t.Setenv("LIVEKIT_API_KEY", "k")
	t.Setenv("LIVEKIT_API_SECRET", "s")
	for _, address := range []string{"ws://127.0.0.1:1", web.URL} {
		t.Setenv("LIVEKIT_URL", address)
		_, err := join(app.Way{Room: "room"})
		if err == nil || !strings.Contains(err.Error(), "LiveKit at ws://") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
