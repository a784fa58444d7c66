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
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/gbrcc/gbrcc/e2e/browser/headless"
)

//go:embed page.html
var receiverPage string

// openPage starts a browser with a page of ours. It ends with the test.
func openPage(t *testing.T, page string) context.Context {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	}))
	t.Cleanup(server.Close)
	ctx := headless.Start(t, map[string]any{"window-size": "1400,1300"})
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
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
