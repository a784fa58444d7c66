// SPDX-License-Identifier: MIT

package dashboard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

func serve(t *testing.T, d *Dashboard) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(d.Handler())
	t.Cleanup(func() {
		d.Close()
		s.Close()
	})

	return s
}

func get(t *testing.T, s *httptest.Server, path string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	r, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // nothing to do about it
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}

	return r, string(b)
}

// stream is a page's end of /events.
type stream struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Scanner
}

func connect(t *testing.T, s *httptest.Server) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() }) //nolint:errcheck // nothing to do about it
	if ct := r.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Fatalf("content type %q", ct)
	}
	in := bufio.NewScanner(r.Body)
	in.Buffer(nil, 10<<20)

	return &stream{t, r.Body, in}
}

// next returns the next update; it is not ok at the stream's end.
func (s *stream) next() (message, bool) {
	s.t.Helper()
	for s.in.Scan() {
		if data, ok := strings.CutPrefix(s.in.Text(), "data: "); ok {
			return decode(s.t, []byte(data)), true
		}
	}
	if err := s.in.Err(); err != nil {
		s.t.Fatal(err)
	}

	return message{}, false
}

func TestPageIsWhole(t *testing.T) {
	s := serve(t, two(t))
	r, page := get(t, s, "/")
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("page: %s, %s", r.Status, r.Header.Get("Content-Type"))
	}
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) != 5 {
		t.Errorf("%d links in the page, want 5", len(links))
	}
	types := map[string]string{"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
	for _, l := range links {
		// Relative, so that the page can be mounted anywhere.
		if !strings.HasPrefix(l[1], "assets/") {
			t.Errorf("link to %q, want one below assets/", l[1])
		}
		r, text := get(t, s, "/"+l[1])
		// nosniff makes browsers refuse scripts and styles of another type.
		want := types[l[1][strings.LastIndex(l[1], ".")+1:]]
		if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), want) {
			t.Errorf("%s: %s, %s, want %s", l[1], r.Status, r.Header.Get("Content-Type"), want)
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s may be sniffed", l[1])
		}
		elsewhere := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9-]+\.[a-z]`)
		for _, u := range elsewhere.FindAllString(text, -1) {
			// A comment in uPlot, the name space of SVG.
			if u != "https://github.c" && u != "http://www.w" {
				t.Errorf("%s names %s", l[1], u)
			}
		}
	}
}

func TestPolicy(t *testing.T) {
	s := serve(t, two(t))
	r, _ := get(t, s, "/")
	policy := r.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q, want none by default and nothing unsafe", policy)
	}
	if o := r.Header.Get("Access-Control-Allow-Origin"); o != "" {
		t.Errorf("other origins are let in: %q", o)
	}
	for _, tt := range []struct {
		path, site, mode string
		want             int
	}{
		{"/", "", "", http.StatusOK},
		{"/", "cross-site", "navigate", http.StatusOK}, // a link to the page
		{"/assets/page.js", "same-origin", "no-cors", http.StatusOK},
		{"/assets/page.js", "cross-site", "no-cors", http.StatusForbidden},
		{"/events", "cross-site", "cors", http.StatusForbidden},
		{"/assets/none", "", "", http.StatusNotFound},
		{"/assets/", "", "", http.StatusNotFound},
		{"/assets/..%2fhandler.go", "", "", http.StatusNotFound},
		{"/nothing", "", "", http.StatusNotFound},
	} {
		if r, _ := get(t, s, tt.path, "Sec-Fetch-Site", tt.site, "Sec-Fetch-Mode", tt.mode); r.StatusCode != tt.want {
			t.Errorf("%s from %q by %q: %s, want %d", tt.path, tt.site, tt.mode, r.Status, tt.want)
		}
	}
	req := httptest.NewRequest(http.MethodPost, "/events", nil)
	w := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(w, req)
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d, want %d", w.Code, http.StatusMethodNotAllowed)
	}
}

func TestMountedBelow(t *testing.T) {
	d := two(t)
	h := http.StripPrefix("/call", d.Handler())
	for _, path := range []string{"/call/", "/call/assets/page.js"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d, want 200", path, w.Code)
		}
	}
}

func TestStream(t *testing.T) {
	d := two(t)
	s := serve(t, d)
	d.Push(at(0), map[string]float64{"a.x": 1})
	first := connect(t, s)
	if m, ok := first.next(); !ok || m.Page == nil || len(m.T) != 1 {
		t.Fatalf("on connecting: %+v", m)
	}
	d.Push(at(1), map[string]float64{"a.x": 2})
	if m, ok := first.next(); !ok || m.Page != nil || !reflect.DeepEqual(m.T, []float64{1}) {
		t.Fatalf("after one Push: %+v", m)
	}
	second := connect(t, s)
	if m, ok := second.next(); !ok || m.Page == nil || len(m.T) != 2 {
		t.Fatalf("on connecting late: %+v", m)
	}
	d.Event(at(2), "end")
	d.Close()
	for name, s := range map[string]*stream{"first": first, "second": second, "third": connect(t, s)} {
		var last message
		marks := 0
		for m, ok := s.next(); ok; m, ok = s.next() {
			last = m
			marks += len(m.Marks)
		}
		if !last.Finished || marks != 1 {
			t.Errorf("%s page: finished %v with %d marks, want true and 1", name, last.Finished, marks)
		}
	}
}

// A page that stops reading fills its socket; neither Push nor Close may notice.
func TestDeafPage(t *testing.T) {
	d := two(t)
	s := serve(t, d)
	var dialer net.Dialer
	c, err := dialer.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // nothing to do about it
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	if _, err := fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	var worst time.Duration
	text := strings.Repeat("x", 64<<10)
	for i := range 400 {
		began := time.Now()
		d.Push(at(float64(i)), map[string]float64{"a.x": 1})
		d.Event(at(float64(i)), text)
		worst = max(worst, time.Since(began))
		if i%100 == 99 {
			time.Sleep(2 * updateEvery)
		}
	}
	if worst > time.Second {
		t.Errorf("Push took %v behind a deaf page", worst)
	}
	began := time.Now()
	d.Close()
	// The page is still blocked in its write, so this is the wait for it.
	if took := time.Since(began); took < closeWait/2 || took > 3*closeWait {
		t.Errorf("Close took %v, want about %v", took, closeWait)
	}
}

func TestGonePage(t *testing.T) {
	d := two(t)
	s := serve(t, d)
	page := connect(t, s)
	page.next()
	page.body.Close() //nolint:errcheck // that is the test
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		d.mu.Lock()
		n := d.streams
		d.mu.Unlock()
		if n == 0 {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("the stream of a page that is gone goes on")
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	d := two(t, WithHistory(50))
	s := serve(t, d)
	var wg sync.WaitGroup
	for _, key := range []string{"a", "b"} {
		wg.Go(func() {
			for i := range 2000 {
				d.Push(at(float64(i)/1000), map[string]float64{key + ".x": float64(i)})
				d.SetStatus(key, fmt.Sprint(i))
				if i%100 == 0 {
					d.Event(at(float64(i)/1000), key)
					d.SetSummary([]string{"cc"}, [][]string{{key}})
				}
			}
		})
	}
	pages := []*stream{connect(t, s), connect(t, s)}
	wg.Wait()
	d.Close()
	for _, p := range pages {
		finished := false
		for m, ok := p.next(); ok; m, ok = p.next() {
			finished = m.Finished
		}
		if !finished {
			t.Error("a page did not hear the end")
		}
	}
}

func TestNoticeNamesTheVersion(t *testing.T) {
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	script, err := assets.ReadFile("assets/uPlot.iife.min.js")
	if err != nil {
		t.Fatal(err)
	}
	v := regexp.MustCompile(`uPlot \(v([0-9.]+)\)`).FindSubmatch(script)
	if v == nil || !strings.Contains(string(notice), "uPlot "+string(v[1])) {
		t.Errorf("NOTICE does not name the version in the script: %q", v)
	}
}
