// SPDX-License-Identifier: MIT

//go:build livekit

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfutest"
)

// What the tests need, from .ci/livekit: the server, and a network of our own with
// an address that is not one of loopback.
func need(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: run make test-livekit", name)
	}

	return v
}

const (
	testKey    = "key"
	testSecret = "a secret of 32 characters or more"
)

// process starts something that lives until kill or the end of the test.
func process(t *testing.T, name string, args ...string) (kill func()) {
	t.Helper()
	var out sfutest.Terminal
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			s := out.String()
			t.Logf("%s said: ...%s", filepath.Base(name), s[max(0, len(s)-3000):])
		}
	})

	return kill
}

// node starts a LiveKit server, of a cluster if there is a Redis, and waits until
// it answers. It returns the address for LIVEKIT_URL and what kills it.
func node(t *testing.T, port int, redis string) (string, func()) {
	t.Helper()
	address := need(t, "GBRCC_LIVEKIT_ADDRESS")
	config := fmt.Sprintf(`
port: %d
bind_addresses: ["127.0.0.1"]
keys: {%s: %q}
logging: {level: info}
room: {departure_timeout: 2}
rtc: {udp_port: %d, tcp_port: %d, node_ip: %s, use_external_ip: false, stun_servers: ["%s:3478"]}
`, port, testKey, testSecret, port+1, port+2, address, address)
	if redis != "" {
		config += fmt.Sprintf("redis: {address: %q}\n", redis)
	}
	kill := process(t, need(t, "GBRCC_LIVEKIT"), "--config-body", config, "--node-ip", address)
	at := fmt.Sprintf("127.0.0.1:%d", port)
	eventually(t, "the server answers", func() bool {
		r, err := http.Get("http://" + at + "/")
		if err != nil {
			return false
		}
		_ = r.Body.Close()

		return r.StatusCode == http.StatusOK
	})

	return "ws://" + at, kill
}

func redisServer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("no redis-server: run make test-livekit, or apt-get install redis-server")
	}
	const at = "127.0.0.1:6390"
	process(t, path, "--port", "6390", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	eventually(t, "Redis answers", func() bool {
		c, err := net.Dial("tcp", at)
		if err != nil {
			return false
		}
		_ = c.Close()

		return true
	})

	return at
}

func eventually(t *testing.T, what string, f func() bool) time.Duration {
	t.Helper()
	const limit = 30 * time.Second
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if f() {
			return time.Since(begin)
		}
		if time.Since(begin) > limit {
			t.Fatalf("not in %v: %s", limit, what)
		}
	}
}
