// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfutest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is the program in the background.
type running struct {
	publish, view string
	out           sfutest.Terminal
	cancel        context.CancelFunc
	done          chan error
}

var printed = regexp.MustCompile(`^publish (http://\S+/publish#\S+)\nview (http://\S+/view)\n$`)

func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{cancel: cancel, done: make(chan error, 1)}
	t.Cleanup(cancel)
	go func() { r.done <- Run(ctx, nil, args, &r.out, io.Discard) }()
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if m := printed.FindStringSubmatch(r.out.String()); m != nil {
			r.publish, r.view = m[1], m[2]

			return r
		}
		if time.Now().After(end) {
			t.Fatalf("printed %q", &r.out)
		}
	}
}

func (r *running) end(t *testing.T) error {
	t.Helper()
	r.cancel()
	select {
	case err := <-r.done:
		return err
	case <-time.After(15 * time.Second):
		t.Fatal("it hangs")

		return nil
	}
}

func get(t *testing.T, url, host string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}

	return resp.StatusCode, resp.Header, string(b)
}

func TestPages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	r := start(t, "-json", file)
	base := strings.TrimSuffix(r.view, "view")
	defer http.DefaultClient.CloseIdleConnections()
	if !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Errorf("not on loopback: %s", base)
	}
	reference := regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	for _, page := range []string{"view", "publish"} {
		status, header, text := get(t, base+page, "")
		if status != http.StatusOK || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d %v", page, status, header)
		}
		names := reference.FindAllStringSubmatch(text, -1)
		if len(names) < 5 {
			t.Errorf("%s refers to %v", page, names)
		}
		for _, m := range names {
			if status, _, _ := get(t, base+m[1], ""); status != http.StatusOK {
				t.Errorf("%s: %s: %d", page, m[1], status)
			}
		}
		if status, _, _ := get(t, base+page, "evil.example"); status != http.StatusForbidden {
			t.Errorf("%s under another name: %d", page, status)
		}
	}
	if status, _, _ := get(t, base+"whip", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("GET of an endpoint: %d", status)
	}
	if status, _, _ := get(t, base+"other", ""); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
	if err := r.end(t); err != nil {
		t.Errorf("interrupted, as it is meant to be: %v", err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"duration_s", "publishers_total", "viewers_total", "packets_in", "packets_out", "dropped"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no %s in %s", key, data)
		}
	}
}

func TestDuration(t *testing.T) {
	r := start(t, "-duration", "200ms")
	select {
	case err := <-r.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("it does not end")
	}
	file := filepath.Join(t.TempDir(), "result.json")
	r = start(t, "-duration", "1h", "-json", file)
	if err := r.end(t); !errors.Is(err, context.Canceled) {
		t.Errorf("cut off: %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a result of a run that was cut off: %v", err)
	}
}

func TestTokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("s3cret/+\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "-token-file", file)
	if !strings.HasSuffix(r.publish, "#s3cret%2F+") {
		t.Error(r.publish)
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}

// What is left out of a trace is said, as examples/call does.
func TestTraceWithoutLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "open.csv")
	if err := os.WriteFile(file, []byte("t_ms,ul_kbps\n0,2000\n1000,8000000\n2000,2000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var told sfutest.Terminal
	if err := Run(t.Context(), nil, []string{"-trace", file, "-duration", "10ms"}, io.Discard, &told); err != nil {
		t.Fatal(err)
	}
	if want := "browser-sfu: -trace " + file + ": 1 steps above 1 Gbit/s mean no limit and are left out\n"; told.String() != want {
		t.Errorf("told %q, want %q", &told, want)
	}
}

func TestBadInput(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // nothing to do about it
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"x"}, "unexpected argument"},
		{[]string{"-nosuchflag"}, "not defined"},
		{[]string{"-duration", "-1s"}, "-duration"},
		{[]string{"-viewers", "0"}, "-viewers"},
		{[]string{"-listen", "here"}, "-listen: want HOST:PORT"},
		{[]string{"-listen", taken.Addr().String()}, "address already in use"},
		{[]string{"-json", dir}, "not a plain file"},
		{[]string{"-json", filepath.Join(dir, "no", "file")}, "-json: cannot make a file"},
		{[]string{"-token-file", filepath.Join(dir, "no")}, "-token-file"},
		{[]string{"-token-file", empty}, "want one word"},
		{[]string{"-sfu", "other"}, "want embedded, livekit or a WHIP URL"},
		{[]string{"-sfu", "livekit", "-modem", "off"}, "leave out -modem off"},
		{[]string{"-sfu", "livekit", "-room", ""}, "-room"},
		{[]string{"-sfu", "livekit", "-sfu-token-file", token}, "LIVEKIT_API_KEY"},
		{[]string{"-sfu", "http://127.0.0.1:1/whip", "-modem", "off"}, "leave out -modem off"},
		{[]string{"-sfu-token-file", empty}, "-sfu-token-file"},
		{[]string{"-modem", "mine"}, "-modem: want sim, off or a pairing URL"},
		{[]string{"-modem", "off", "-trace", empty}, "only the emulated uplink"},
		{[]string{"-trace", empty}, "-trace"},
		{[]string{"-trace", filepath.Join(dir, "no")}, "no such file"},
		{[]string{"-origin", "example.org"}, "SCHEME://HOST"},
	}
	for _, tt := range tests {
		err := Run(t.Context(), nil, tt.args, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".browser-sfu-*")); err != nil || left != nil {
		t.Errorf("left behind: %v %v", left, err)
	}
}
