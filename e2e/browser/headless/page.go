// SPDX-License-Identifier: MIT

//go:build browser

package headless

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Tab opens a page in a tab that ends with the test.
func Tab(t testing.TB, browser context.Context, address string) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}

	return ctx
}

// Eval is the value of an expression in a page, or that of its promise.
func Eval[T any](t testing.TB, page context.Context, js string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(page, 30*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}

	return v
}

// Call evaluates a function of a page with JSON arguments and waits for it, a
// minute at most.
func Call[T any](page context.Context, name string, args ...any) (T, error) {
	var js strings.Builder
	js.WriteString(name + "(")
	for i, a := range args {
		b, err := json.Marshal(a)
		if err != nil {
			var none T

			return none, err
		}
		if i > 0 {
			js.WriteString(", ")
		}
		js.Write(b)
	}
	js.WriteString(")")
	ctx, cancel := context.WithTimeout(page, time.Minute)
	defer cancel()

	return chromedp.Run(ctx, chromedp.Evaluate[T](js.String(), chromedp.EvalAwaitPromise))
}

// Wait returns how long a page took for something to be so. It gives up after a
// quarter of a minute, with what the page shows.
func Wait(t testing.TB, page context.Context, js string) time.Duration {
	t.Helper()
	const limit = 15 * time.Second
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if Eval[bool](t, page, js) {
			return time.Since(begin)
		}
		if time.Since(begin) > limit {
			t.Fatalf("not in %v: %s; the page says %.300q", limit, js, Eval[string](t, page, `document.body.innerText`))
		}
	}
}

// Screenshot leaves something to look at: name in $GBRCC_ARTIFACTS, or in
// out/browser of the module.
func Screenshot(t testing.TB, page context.Context, name string) {
	t.Helper()
	b, err := chromedp.Run(page, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	Artifact(t, name, b)
}

// Artifact writes a file to be looked at, where Screenshot does.
func Artifact(t testing.TB, name string, data []byte) {
	t.Helper()
	dir := os.Getenv("GBRCC_ARTIFACTS")
	if dir == "" {
		dir = filepath.Join(moduleRoot(t), "out", "browser")
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// moduleRoot is where the folder of the tests is in.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
	}

	return dir
}
