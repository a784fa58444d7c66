// SPDX-License-Identifier: MIT

//go:build browser

package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

//go:embed page.html
var receiverPage string

// executables in the order in which they are tried; the wrapper that Debian has
// in the path adds flags of its own.
var executables = []string{"/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome"}

func executable(t *testing.T) string {
	t.Helper()
	names := executables
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

// openPage starts a browser with a page of ours. It ends with the test.
func openPage(t *testing.T, page string) context.Context {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	}))
	t.Cleanup(server.Close)
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(executable(t)),
		chromedp.UserDataDir(t.TempDir()),
	}
	for name, value := range map[string]any{
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
	} {
		options = append(options, chromedp.Flag(name, value))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL)); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}

	return ctx
}

// call evaluates a function of the page with JSON arguments and waits for it.
func call[T any](ctx context.Context, name string, args ...any) (T, error) {
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
