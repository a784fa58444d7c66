// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// viewer is a browser on the live page.
type viewer struct {
	done chan struct{}
	err  error // after done

	mu       sync.Mutex
	title    string
	keys     []string // of all lines, in order
	rows     int      // updates of the lines
	lastT    float64
	seen     map[string]int // key: values that were there
	marks    []string
	status   map[string]string
	summary  [][]string
	finished bool
}

// update is one message of the page's stream.
type update struct {
	Page *struct {
		Title  string
		Panels []struct {
			Series []struct {
				Key string
				Col int
			}
		}
	}
	T        []float64
	V        [][]any
	Marks    []struct{ Text string }
	Status   []struct{ Key, Text string }
	Summary  *struct{ Rows [][]string }
	Finished bool
}

// watchPage gets the page and follows its stream until it ends.
func watchPage(t *testing.T, url string) *viewer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	t.Cleanup(cancel)
	transport := &http.Transport{DisableKeepAlives: true}
	get := func(path string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", req.URL, resp.Status)
		}

		return resp
	}
	page := get("")
	html, err := io.ReadAll(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = page.Body.Close() // it was read
	if !strings.Contains(string(html), `src="assets/page.js"`) {
		t.Errorf("this is not the page:\n%s", html)
	}
	stream := get("events")
	v := &viewer{done: make(chan struct{}), seen: map[string]int{}, status: map[string]string{}}
	go func() {
		defer close(v.done)
		defer stream.Body.Close() //nolint:errcheck // it was read
		lines := bufio.NewScanner(stream.Body)
		lines.Buffer(nil, 10<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if v.err = v.take([]byte(data)); v.err != nil {
					return
				}
			}
		}
		v.err = lines.Err()
	}()

	return v
}

func (v *viewer) take(data []byte) error {
	var u update
	if err := json.Unmarshal(data, &u); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if u.Page != nil {
		v.title, v.keys = u.Page.Title, nil
		for _, p := range u.Page.Panels {
			for _, s := range p.Series {
				v.keys = append(v.keys, s.Key)
			}
		}
	}
	v.rows += len(u.T)
	if len(u.T) > 0 {
		v.lastT = u.T[len(u.T)-1]
	}
	for c, column := range u.V {
		for _, value := range column {
			if _, ok := value.(float64); ok {
				v.seen[v.keys[c]]++
			}
		}
	}
	for _, m := range u.Marks {
		v.marks = append(v.marks, m.Text)
	}
	for _, s := range u.Status {
		v.status[s.Key] = s.Text
	}
	if u.Summary != nil {
		v.summary = u.Summary.Rows
	}
	v.finished = u.Finished

	return nil
}

// wait waits until something was seen.
func (v *viewer) wait(t *testing.T, what func(*viewer) bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		v.mu.Lock()
		ok := what(v)
		v.mu.Unlock()
		if ok {
			return
		}
	}
	t.Fatal("the page does not live")
}

// end waits for the stream's end.
func (v *viewer) end(t *testing.T) {
	t.Helper()
	select {
	case <-v.done:
	case <-time.After(5 * time.Second):
		t.Fatal("the page's stream does not end")
	}
	if v.err != nil {
		t.Error("the page's stream:", v.err)
	}
}

// check looks at the lines of a call of 5 s.
func (v *viewer) check(t *testing.T, ccs []string) {
	t.Helper()
	want := []string{"capacity"}
	for _, what := range []string{"target", "playout", "queue"} {
		for _, cc := range ccs {
			want = append(want, cc+"."+what)
		}
	}
	for _, cc := range ccs {
		if wantsTelemetry(cc) {
			want = append(want, cc+".ratio")
		}
	}
	if !slices.Equal(v.keys, want) {
		t.Errorf("lines %v, want %v", v.keys, want)
	}
	if !strings.Contains(v.title, "built-in synthetic LTE cell") {
		t.Errorf("title %q", v.title)
	}
	within(t, "time on the page", v.lastT, 4.7, 6.5, "s")
	for _, key := range want {
		// Ten a second; the ratio comes with the telemetry.
		within(t, "values of "+key, float64(v.seen[key]), 30, 52*float64(len(ccs)), "")
	}
}
