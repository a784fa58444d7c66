// SPDX-License-Identifier: MIT

//go:build livekit

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/app"
	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfutest"
)

// running is the program in the background.
type running struct {
	publish, token, view string
	end                  func() error
}

var printed = regexp.MustCompile(`(?m)^publish (http://\S+/)publish#(\S+)\nview (http://\S+/far/)$`)

// start runs the program of this module.
func start(t *testing.T, url string, args ...string) *running {
	t.Helper()
	t.Setenv("LIVEKIT_URL", url)
	t.Setenv("LIVEKIT_API_KEY", testKey)
	t.Setenv("LIVEKIT_API_SECRET", testSecret)
	ctx, cancel := context.WithCancel(context.Background())
	out, done := &sfutest.Terminal{}, make(chan error, 1)
	args = append([]string{"-sfu", "livekit"}, args...)
	go func() { done <- app.Run(ctx, &app.Module{Join: join}, args, out, out) }()

	return await(t, out, cancel, done)
}

func await(t *testing.T, out *sfutest.Terminal, cancel func(), done chan error) *running {
	t.Helper()
	r := &running{end: func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			return errors.New("it hangs")
		}
	}}
	t.Cleanup(cancel)
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if m := printed.FindStringSubmatch(out.String()); m != nil {
			r.publish, r.view = m[1], m[3]
			r.token, _ = url.PathUnescape(m[2])

			return r
		}
		select {
		case err := <-done:
			t.Fatalf("it ended: %v: %s", err, out)
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("it printed %q", out)
		}
	}
}

func at(url string) server { return server{url, testKey, testSecret, "gbrcc"} }

// step writes a trace: 3 Mbit/s for a time, then 0.6.
func step(t *testing.T, after time.Duration) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("t_ms,ul_kbps\n")
	for ms := 0; ms < 120_000; ms += 100 {
		kbps := 3000
		if ms >= int(after.Milliseconds()) {
			kbps = 600
		}
		fmt.Fprintf(&b, "%d,%d\n", ms, kbps)
	}
	file := filepath.Join(t.TempDir(), "step.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}

	return file
}

// A publisher over the emulated uplink to a viewer: pictures arrive, the publisher
// is told what the radio carries, and both connect again when the server has died.
func TestLiveKit(t *testing.T) {
	address, kill := node(t, 7880, "")
	const until = 12 * time.Second
	began := time.Now()
	r := start(t, address, "-trace", step(t, until), "-v")
	c := newCamera(t, r.publish+"whip", r.token)
	v := newScreen(t, at(address))
	took := eventually(t, "pictures", func() bool { return v.packets.Load() > 30 && v.keys.Load() > 0 })
	t.Logf("pictures %v after the viewer came", took)

	time.Sleep(time.Until(began.Add(until - 4*time.Second)))
	high := v.mbps(3 * time.Second)
	told := c.bps.Load()
	time.Sleep(time.Until(began.Add(until + 3*time.Second)))
	low := v.mbps(5 * time.Second)
	t.Logf("on 3 Mbit/s %.2f Mbit/s arrive, and the publisher may send %.2f; on 0.6 it is %.2f", high, float64(told)/1e6, low)
	if high < 1.5 || high > 3 {
		t.Errorf("on 3 Mbit/s %.2f Mbit/s arrive, want 1.5 to 3", high)
	}
	if low < 0.2 || low > 0.6 {
		t.Errorf("on 0.6 Mbit/s %.2f Mbit/s arrive, want 0.2 to 0.6", low)
	}

	kill()
	time.Sleep(time.Second)
	node(t, 7880, "")
	v = newScreen(t, at(address))
	took = eventually(t, "pictures after the server's death", func() bool { return v.packets.Load() > 30 && v.keys.Load() > 0 })
	t.Logf("pictures again %v after the server was back", took)
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// Two servers with one Redis: the publisher comes to one, the viewer to the other.
func TestCluster(t *testing.T) {
	redis := redisServer(t)
	one, _ := node(t, 7880, redis)
	other, _ := node(t, 7890, redis)
	r := start(t, one)
	newCamera(t, r.publish+"whip", r.token)
	v := newScreen(t, at(other))
	eventually(t, "pictures through the other server", func() bool { return v.packets.Load() > 30 && v.keys.Load() > 0 })
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// LiveKit has a WHIP endpoint too: the gateway speaks to a server that is not ours.
func TestWHIP(t *testing.T) {
	address, _ := node(t, 7880, "")
	s := at(address)
	token, err := publisherToken(s)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	out, done := &sfutest.Terminal{}, make(chan error, 1)
	// Media is not to leave by loopback: the server is not there.
	args := []string{"-sfu", s.http() + "/whip/v1", "-sfu-token-file", file, "-v"}
	go func() { done <- app.Run(ctx, nil, args, out, out) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	var m []string
	eventually(t, "the addresses", func() bool {
		m = regexp.MustCompile(`publish (http://\S+/)publish#(\S+)`).FindStringSubmatch(out.String())

		return m != nil
	})
	newCamera(t, m[1]+"whip", m[2])
	v := newScreen(t, s)
	defer func() {
		if t.Failed() {
			t.Log(out)
		}
	}()
	eventually(t, "pictures", func() bool { return v.packets.Load() > 30 && v.keys.Load() > 0 })
}

// The program of the main module finds, builds and runs this one.
func TestTakesOver(t *testing.T) {
	address, _ := node(t, 7880, "")
	program := need(t, "GBRCC_BROWSER_SFU")
	root := need(t, "GBRCC_ROOT")
	dir := t.TempDir()
	run := func(args ...string) (*exec.Cmd, *sfutest.Terminal) {
		c := exec.Command(program, append([]string{"-sfu", "livekit"}, args...)...)
		c.Dir = root
		c.Env = append(os.Environ(), "LIVEKIT_URL="+address, "LIVEKIT_API_KEY="+testKey, "LIVEKIT_API_SECRET="+testSecret)
		out := &sfutest.Terminal{}
		c.Stdout, c.Stderr = out, out

		return c, out
	}
	result := filepath.Join(dir, "result.json")
	c, out := run("-json", result)
	done := make(chan error, 1)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { done <- c.Wait() }()
	r := await(t, out, func() { _ = c.Process.Signal(os.Interrupt) }, done)
	newCamera(t, r.publish+"whip", r.token)
	v := newScreen(t, at(address))
	eventually(t, "pictures", func() bool { return v.packets.Load() > 30 })
	page, err := http.Get(r.view)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(page.Body)
	_ = page.Body.Close()
	if err != nil || !strings.Contains(string(text), "livekit-client") {
		t.Errorf("the view is %.100q %v", text, err)
	}
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, address) {
		t.Errorf("the page may not speak to %s: %s", address, policy)
	}
	if err := r.end(); err != nil {
		t.Errorf("interrupted: %v: %s", err, out)
	}
	if _, err := os.Stat(result); err != nil {
		t.Error(err)
	}

	// What goes wrong there goes wrong here, with one line.
	c, out = run()
	c.Env = append(c.Env, "LIVEKIT_API_SECRET=wrong")
	err = c.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("wrong secret: %v", err)
	}
	if n := strings.Count(out.String(), "browser-sfu: LiveKit at"); n != 1 {
		t.Errorf("wrong secret: %s", out)
	}
}
