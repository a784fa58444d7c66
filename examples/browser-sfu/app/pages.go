// SPDX-License-Identifier: MIT

package app

import (
	"embed"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/interceptor/dashboard"
)

//go:embed pages page.html
var pages embed.FS

// The token is in the fragment of a page's address: no request carries it, no
// referrer either, and no script but ours runs there.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"media-src 'self' blob: mediastream:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self' "

// content is what a site shows beside its own pages.
type content struct {
	connect string       // other origins that pages may speak to, with spaces between
	far     http.Handler // what the view of another SFU loads, below /far/; nil: none
	scripts []string     // of that view
}

// look is what a page has of its own. Up is the way to the root.
type look struct {
	Title, Up string
	Publish   bool
	Scripts   []string
}

// handler serves the pages beside the endpoints.
func handler(endpoints http.Handler, show content) http.Handler {
	mux := http.NewServeMux()
	layout := template.Must(template.ParseFS(pages, "page.html"))
	page := func(l look) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_ = layout.Execute(w, l) // a browser that is gone
		}
	}
	mux.Handle("GET /{$}", http.RedirectHandler("/view", http.StatusSeeOther))
	mux.HandleFunc("GET /view", page(look{Title: "View", Scripts: []string{"pages/playback.js", "pages/view.js"}}))
	mux.HandleFunc("GET /publish", page(look{Title: "Publish", Publish: true, Scripts: []string{"pages/publish.js"}}))
	// uPlot and the look of the dashboard, then what is ours.
	charts := http.FileServerFS(dashboard.Assets())
	own, err := fs.Sub(pages, "pages")
	if err != nil {
		own = pages // only for an invalid name, which that is not
	}
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", charts))
	mux.Handle("GET /pages/", http.StripPrefix("/pages/", http.FileServerFS(own)))
	if show.far != nil {
		mux.HandleFunc("GET /far/{$}", page(look{Title: "View", Up: "../", Scripts: append([]string{"../pages/playback.js"}, show.scripts...)}))
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
