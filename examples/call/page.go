// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gbrcc/gbrcc/examples/command"
	"github.com/gbrcc/gbrcc/interceptor/dashboard"
)

//go:embed watch
var watchFiles embed.FS

// watchPolicy is of the page with the videos; that of the charts has its own.
const watchPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"media-src 'self' blob: mediastream:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page is the live view; a nil page shows nothing.
type page struct {
	board   *dashboard.Dashboard
	viewers *viewers // nil without -video
	server  *http.Server
	url     string
	done    chan struct{}
}

// colours per estimator, the same on every chart.
func colour(cc string) dashboard.Color {
	switch cc {
	case "gbrcc":
		return dashboard.Blue
	case "pion":
		return dashboard.Orange
	case "seed":
		return dashboard.Green
	default:
		return dashboard.Purple
	}
}

// newPage listens at once, so that a busy port is known before the call.
func newPage(o options) (*page, error) {
	if o.http == "off" {
		return nil, nil //nolint:nilnil // a nil page is the documented "off"
	}
	ln, err := net.Listen("tcp", o.http)
	if err != nil {
		return nil, fmt.Errorf("-http: %w (choose another address, or off)", err)
	}
	series := func(what string) []dashboard.Series {
		var s []dashboard.Series
		for _, cc := range o.cc {
			s = append(s, dashboard.Series{Key: cc + "." + what, Label: cc, Color: colour(cc)})
		}

		return s
	}
	rates := append([]dashboard.Series{{Key: "capacity", Label: "capacity", Color: dashboard.Grey, Fill: true}}, series("target")...)
	panels := []dashboard.Panel{
		{Title: "Encoder target and radio capacity", Unit: "Mbit/s", Series: rates},
		{Title: "Playout latency, capture to screen", Unit: "ms", Series: series("playout")},
		{Title: "Longest wait in the phone", Unit: "ms", Series: series("queue")},
	}
	var ratios []dashboard.Series
	for _, cc := range o.cc {
		if wantsTelemetry(cc) {
			ratios = append(ratios, dashboard.Series{Key: cc + ".ratio", Label: cc, Color: colour(cc)})
		}
	}
	if ratios != nil {
		panels = append(panels, dashboard.Panel{Title: "GBR: bytes granted / bytes reported, low when the radio is full", Series: ratios, Max: 1})
	}
	board, err := dashboard.New("Video call over an emulated LTE uplink: "+o.traceName, panels)
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	p := &page{board: board, url: command.URL(ln.Addr()), done: make(chan struct{})}
	p.server = &http.Server{Handler: board.Handler(), ReadHeaderTimeout: 5 * time.Second}
	if o.film != nil {
		if p.viewers, err = newViewers(o.cc, o.film.audio != nil); err != nil {
			return nil, errors.Join(err, ln.Close())
		}
		p.server.Handler = p.watch(o.cc, o.film.audio != nil)
	}
	go func() {
		defer close(p.done)
		// It ends with close, which is the only way for it to end.
		_ = p.server.Serve(ln)
	}()

	return p, nil
}

// watch is the page with the videos above the charts.
func (p *page) watch(cc []string, withSound bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/charts/", http.StripPrefix("/charts", p.board.Handler()))
	mux.Handle("POST /play/{cc}", p.viewers)
	mine := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", watchPolicy)
			w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
			w.Header().Set("Referrer-Policy", "no-referrer")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Cache-Control", "no-cache")
			h.ServeHTTP(w, r)
		})
	}
	mux.Handle("GET /{$}", mine(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, watchFiles, "watch/watch.html")
	})))
	mux.Handle("GET /watch/", mine(http.FileServerFS(watchFiles)))
	mux.Handle("GET /videos", mine(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		type tile struct {
			CC    string          `json:"cc"`
			Color dashboard.Color `json:"color"`
			Sound bool            `json:"sound"`
		}
		var tiles []tile
		for _, name := range cc {
			tiles = append(tiles, tile{name, colour(name), withSound})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(tiles) // a browser that is gone
	})))

	return mux
}

func (p *page) push(at time.Time, l *leg, s state) {
	if p == nil {
		return
	}
	v := map[string]float64{
		"capacity":        float64(s.link.CapacityBps) / 1e6,
		l.cc + ".target":  float64(s.targetBps) / 1e6,
		l.cc + ".playout": ms(s.stats.PlayoutLast),
		l.cc + ".queue":   ms(s.queue),
		l.cc + ".ratio":   s.ratio,
	}
	p.board.Push(at, v)
	p.board.SetStatus(l.cc, s.mode)
}

func (p *page) event(text string) {
	if p != nil {
		p.board.Event(time.Now(), text)
	}
}

func (p *page) summary(results []result) {
	if p == nil {
		return
	}
	var rows [][]string
	for _, r := range results {
		row := r.row()
		row[0] = r.CC // the page knows its colour
		for i, cell := range row {
			if cell == "-" {
				row[i] = "" // or the page takes the column for words
			}
		}
		rows = append(rows, row)
	}
	p.board.SetSummary(columns(results), rows)
}

func (p *page) close() {
	if p == nil {
		return
	}
	p.board.Close()
	if p.viewers != nil {
		p.viewers.close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		_ = p.server.Close()
	}
	<-p.done
}
