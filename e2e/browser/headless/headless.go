// SPDX-License-Identifier: MIT

//go:build browser

package headless

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Start starts a browser that reaches nothing but this machine and ends with the
// test. flags are Chromium's, besides and over the usual ones. Without a browser
// the test fails, and says how to get one.
func Start(t testing.TB, flags map[string]any) context.Context {
	t.Helper()
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(executable(t)), chromedp.UserDataDir(t.TempDir())}
	all := map[string]any{
		"headless": "new", "disable-gpu": true, "disable-quic": true, "no-first-run": true,
		// A container has no user namespaces for the sandbox and little shared
		// memory; the only pages are ours.
		"no-sandbox": true, "disable-dev-shm-usage": true,
		"disable-background-networking": true, "disable-component-update": true, "disable-sync": true,
		"disable-background-timer-throttling": true, "disable-renderer-backgrounding": true,
		"disable-backgrounding-occluded-windows": true,
		"autoplay-policy":                        "no-user-gesture-required",
		"disable-features":                       "WebRtcHideLocalIpsWithMdns",
		"allow-loopback-in-peer-connection":      true,
		// Nothing leaves this machine.
		"host-resolver-rules": "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
	}
	maps.Copy(all, flags)
	for name, value := range all {
		options = append(options, chromedp.Flag(name, value))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	// It starts with the first action; tabs before it would start their own.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}

	return ctx
}

func executable(t testing.TB) string {
	t.Helper()
	// The wrapper that Debian has in the path adds flags of its own.
	names := []string{"/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome"}
	if name := os.Getenv("GBRCC_CHROMIUM"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no Chromium (looked for %s): apt-get install chromium, or set GBRCC_CHROMIUM to its path", strings.Join(names, ", "))

	return ""
}
