// SPDX-License-Identifier: MIT

package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pion/webrtc/v4"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What a WHIP server may do wrong.
func TestJoinErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header string
		body   string
		want   string
	}{
		{"refused", 401, "", "wrong token\n", "wrong token"},
		{"no session", 201, "", "v=0", "Location"},
		{"another host", 201, "http://other.example/1", "v=0", "another host"},
		{"no answer", 201, "/1", "hello", "sdp"},
	}
	for _, tt := range tests {
		var left bool
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				t.Errorf("%s: %s without the token", tt.name, r.Method)
			}
			if r.Method == http.MethodDelete {
				left = true

				return
			}
			if tt.header != "" {
				w.Header().Set("Location", tt.header)
			}
			w.WriteHeader(tt.status)
			fmt.Fprint(w, tt.body)
		}))
		pc, err := webrtc.NewPeerConnection(webrtc.Configuration{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = pc.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo); err != nil {
			t.Fatal(err)
		}
		_, err = join(t.Context(), pc, server.URL+"/whip", "secret")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if opened := tt.name == "no answer"; left != opened {
			t.Errorf("%s: session left behind: %v", tt.name, opened)
		}
		_ = pc.GracefulClose()
		http.DefaultClient.CloseIdleConnections()
		server.Close()
	}
}
