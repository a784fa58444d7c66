// SPDX-License-Identifier: MIT

// Package headless starts headless Chromium for tests, with nothing but this
// machine within reach.
package headless

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// executables in the order in which they are tried; the wrapper that Debian has
// in the path adds flags of its own.
func executables() []string {
	if name := os.Getenv("GBRCC_CHROMIUM"); name != "" {
		return []string{name}
	}

	return []string{"/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome"}
}

func executable(t testing.TB) string {
	t.Helper()
	for _, name := range executables() {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no Chromium (looked for %s): apt-get install chromium, or set GBRCC_CHROMIUM to its path", strings.Join(executables(), ", "))

	return ""
}

// Open starts a browser with a page; it ends with the test. Flags are Chromium's,
// without dashes, beside those that a test needs.
func Open(t testing.TB, url string, flags map[string]any) context.Context {
	t.Helper()
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(executable(t)), chromedp.UserDataDir(t.TempDir())}
	for _, set := range []map[string]any{{
		"headless": "new", "disable-gpu": true, "disable-quic": true, "no-first-run": true,
		// A container has no user namespaces for the sandbox and little shared
		// memory; the only page is ours.
		"no-sandbox": true, "disable-dev-shm-usage": true,
		"disable-background-networking": true, "disable-component-update": true, "disable-sync": true,
		"disable-background-timer-throttling": true, "disable-renderer-backgrounding": true,
		"disable-backgrounding-occluded-windows": true,
		"autoplay-policy":                        "no-user-gesture-required",
		"disable-features":                       "WebRtcHideLocalIpsWithMdns",
		"allow-loopback-in-peer-connection":      true,
		// Nothing leaves this machine.
		"host-resolver-rules": "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"window-size":         "1400,1300",
	}, flags} {
		for name, value := range set {
			options = append(options, chromedp.Flag(name, value))
		}
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}

	return ctx
}

// Call evaluates a function of the page with JSON arguments and waits for it, a
// minute at most.
func Call[T any](ctx context.Context, name string, args ...any) (T, error) {
	js := name + "("
	for i, a := range args {
		b, err := json.Marshal(a)
		if err != nil {
			var none T

			return none, err
		}
		if i > 0 {
			js += ", "
		}
		js += string(b)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	return chromedp.Run(ctx, chromedp.Evaluate[T](js+")", chromedp.EvalAwaitPromise))
}

// Screenshot leaves a picture of the whole page in a folder's file.
func Screenshot(t testing.TB, ctx context.Context, path string) {
	t.Helper()
	b, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Errorf("screenshot: %v", err)
	}
}
