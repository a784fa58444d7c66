// SPDX-License-Identifier: MIT

package main

import (
	"crypto/rand"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"time"

	"github.com/livekit/protocol/auth"
)

//go:embed page
var page embed.FS

// tokenLife is how long a viewer has to use its token; LiveKit renews that of one
// who has joined.
const tokenLife = 10 * time.Minute

// viewerFiles serves the scripts of the viewers' page and, at /token, what lets it into
// the room to look on and nothing else. Every viewer gets a name of its own: LiveKit sends away
// who has the name of a newcomer.
func viewerFiles(s server) http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		files = page // only for an invalid name, which that is not
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /token", func(w http.ResponseWriter, _ *http.Request) {
		token, err := s.viewerToken()
		if err != nil {
			http.Error(w, "no token", http.StatusInternalServerError)

			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(map[string]string{"url": s.url, "token": token})
	})

	return mux
}

func (s server) viewerToken() (string, error) {
	no, yes := false, true
	grant := &auth.VideoGrant{RoomJoin: true, Room: s.room, CanPublish: &no, CanPublishData: &no, CanSubscribe: &yes}

	return auth.NewAccessToken(s.key, s.secret).SetVideoGrant(grant).
		SetIdentity("viewer-" + rand.Text()).SetValidFor(tokenLife).ToJWT()
}
