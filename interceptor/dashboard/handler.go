// SPDX-License-Identifier: MIT

package dashboard

import (
	"embed"
	"io/fs"
	"net/http"
	"time"
)

//go:embed assets
var assets embed.FS

// Assets is what the page is made of, uPlot among it, for pages that are written
// into a file.
func Assets() fs.FS {
	sub, err := fs.Sub(assets, "assets")
	if err != nil {
		return assets // only for an invalid name, which that is not
	}

	return sub
}

const (
	updateEvery = 100 * time.Millisecond
	// A comment line now and then keeps proxies from closing a quiet stream
	// and finds out that a page is gone.
	aliveEvery = 15 * time.Second
	// A page that does not take an update for this long is given up; it
	// reconnects by itself when it is back.
	writeTimeout = 5 * time.Second

	contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)

// Handler serves the page at /, what it is made of below /assets/ and the
// updates at /events. The page's links are relative: mount it elsewhere with
// [http.StripPrefix], with a path that ends in a slash.
func (d *Dashboard) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, assets, "assets/page.html")
	})
	mux.HandleFunc("GET /assets/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := "assets/" + r.PathValue("name")
		if _, err := fs.Stat(assets, name); err != nil {
			http.NotFound(w, r)

			return
		}
		http.ServeFileFS(w, r, assets, name)
	})
	mux.HandleFunc("GET /events", d.serveEvents)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		// Another build of the application may have another page.
		h.Set("Cache-Control", "no-cache")
		if s := r.Header.Get("Sec-Fetch-Site"); s == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			http.Error(w, "dashboard: request of another site", http.StatusForbidden)

			return
		}
		mux.ServeHTTP(w, r)
	})
}

// serveEvents is one page's stream of server-sent events.
func (d *Dashboard) serveEvents(w http.ResponseWriter, r *http.Request) {
	d.enter()
	defer d.leave()
	c := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")

	tick := time.NewTicker(updateEvery)
	defer tick.Stop()
	var (
		page  view
		buf   []byte
		wrote time.Time
	)
	for {
		buf = buf[:0]
		if d.update(&page) {
			var err error
			if buf, err = page.appendJSON(append(buf, "data: "...), d.panels, len(d.index)); err != nil {
				return
			}
			buf = append(buf, "\n\n"...)
		} else if time.Since(wrote) > aliveEvery {
			buf = append(buf, ":\n\n"...)
		}
		if len(buf) > 0 {
			wrote = time.Now()
			// Not every ResponseWriter has deadlines; then the server's hold.
			_ = c.SetWriteDeadline(wrote.Add(writeTimeout))
			if _, err := w.Write(buf); err != nil {
				return
			}
			if err := c.Flush(); err != nil {
				return
			}
		}
		if page.finished {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-d.done:
		case <-tick.C:
		}
	}
}

func (d *Dashboard) enter() {
	d.mu.Lock()
	d.streams++
	d.mu.Unlock()
}

// leave wakes Close with the last stream that Close found. Streams that begin
// after it are not waited for.
func (d *Dashboard) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams--
	if d.closed && d.streams == 0 {
		select {
		case <-d.drained:
		default:
			close(d.drained)
		}
	}
}
