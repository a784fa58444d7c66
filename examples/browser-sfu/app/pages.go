// SPDX-License-Identifier: MIT

package app

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/interceptor/dashboard"
)

//go:embed pages
var pages embed.FS

// The token is in the fragment of a page's address: no request carries it, no
// referrer either, and no script but ours runs there.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"media-src 'self' blob: mediastream:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self' "

// content is what a site shows beside its own pages.
type content struct {
	connect string       // other origins that pages may speak to, with spaces between
	far     http.Handler // pages of another SFU, below /far/; nil: none
}

// handler serves the pages beside the endpoints.
func handler(endpoints http.Handler, show content) http.Handler {
	mux := http.NewServeMux()
	page := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, pages, "pages/"+name+".html") }
	}
	mux.Handle("GET /{$}", http.RedirectHandler("/view", http.StatusSeeOther))
	mux.HandleFunc("GET /view", page("view"))
	mux.HandleFunc("GET /publish", page("publish"))
	// uPlot and the look of the dashboard, then what is ours.
	charts := http.FileServerFS(dashboard.Assets())
	own, err := fs.Sub(pages, "pages")
	if err != nil {
		own = pages // only for an invalid name, which that is not
	}
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", charts))
	mux.Handle("GET /pages/", http.StripPrefix("/pages/", http.FileServerFS(own)))
	if show.far != nil {
		mux.Handle("GET /far/", http.StripPrefix("/far", show.far))
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.Path) >= 5 && (r.URL.Path[:5] == "/whip" || r.URL.Path[:5] == "/whep") {
			endpoints.ServeHTTP(w, r)

			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy+show.connect)
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache")
		if !sfu.LocalHost(r) {
			http.Error(w, "this name is not this server", http.StatusForbidden)

			return
		}
		mux.ServeHTTP(w, r)
	})
}
