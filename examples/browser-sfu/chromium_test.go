// SPDX-License-Identifier: MIT

//go:build browser

package main

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/gbrcc/gbrcc/e2e/browser/headless"
)

// openBrowser starts one a browser with a camera.
func openBrowser(t *testing.T) context.Context {
	t.Helper()

	return headless.Start(t, map[string]any{
		"use-fake-device-for-media-stream": true, "use-fake-ui-for-media-stream": true, "window-size": "1400,800",
	})
}

// tab opens a page.
func tab(t *testing.T, browser context.Context, address string) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}

	return ctx
}

func eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}

	return v
}

// wait returns how long a page took for something to be so.
func wait(t *testing.T, ctx context.Context, js string) time.Duration {
	t.Helper()
	const limit = 15 * time.Second
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if eval[bool](t, ctx, js) {
			return time.Since(begin)
		}
		if time.Since(begin) > limit {
			t.Fatalf("not in %v: %s; the page says %q", limit, js,
				eval[string](t, ctx, `$('state').textContent + ': ' + $('note').textContent`))
		}
	}
}

// screenshot leaves something to look at.
func screenshot(t *testing.T, page context.Context, name string) {
	t.Helper()
	dir := os.Getenv("GBRCC_ARTIFACTS")
	if dir == "" {
		dir = filepath.Join("..", "..", "out", "browser")
	}
	b, err := chromedp.Run(page, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Decoded frames of the viewer, asked for directly: the page asks twice a second.
const decoding = `(async () => live?.pc && ((await statsOf(live.pc, (r) => r.type === 'inbound-rtp' && r.kind === 'video'))?.framesDecoded ?? 0) > 2)()`

const isLive = `$('state').textContent === 'live'`

// One page publishes, another one plays; the server dies and comes back.
func TestChromiumPublishAndView(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "-token-file", file, "-modem", "off")
	browser := openBrowser(t)
	from := tab(t, browser, strings.Replace(r.publish, "#", "?source=pattern#", 1))
	t.Logf("live after %v", wait(t, from, isLive))

	to := tab(t, browser, "about:blank")
	const limit = 3 * time.Second
	var took time.Duration
	for range 3 { // a busy machine
		at := time.Now()
		if err := chromedp.Do(to, chromedp.Navigate(r.view)); err != nil {
			t.Fatal(err)
		}
		wait(t, to, decoding)
		took = time.Since(at)
		t.Logf("picture after %v", took)
		if took < limit {
			break
		}
	}
	if took >= limit {
		t.Errorf("first picture after %v, want less than %v", took, limit)
	}
	time.Sleep(3 * time.Second) // for charts to look at
	// The middle of the first bar of the pattern, as it was decoded.
	colour := eval[[]float64](t, to, `(() => {
		const c = document.createElement('canvas');
		c.width = c.height = 1;
		const g = c.getContext('2d'), v = $('video');
		g.drawImage(v, v.videoWidth / 14, v.videoHeight / 3, 1, 1, 0, 0, 1, 1);
		return [...g.getImageData(0, 0, 1, 1).data];
	})()`)
	// 191, or 204 where the browser takes limited range for full: VP8 does not say.
	// Both are grey; the next bar has no blue.
	for _, c := range colour[:3] {
		if c < 179 || c > 216 || math.Abs(c-colour[0]) > 12 {
			t.Errorf("the first bar is %v, want a grey of 191 or 204", colour[:3])

			break
		}
	}
	screenshot(t, to, "sfu-view.png")
	screenshot(t, from, "sfu-publish.png")
	fps := eval[float64](t, to, `charts.panels[1].data[0].slice(-5).reduce((a, v) => a + v / 5, 0)`)
	if fps < 10 || fps > 35 {
		t.Errorf("%.0f frames decoded a second, want 10 to 35", fps)
	}

	u, err := url.Parse(r.view)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	start(t, "-token-file", file, "-modem", "off", "-listen", u.Host)
	wait(t, to, `$('state').textContent !== 'live'`)
	t.Logf("after the server's death: live again after %v more", wait(t, to, isLive+` && `+`silent === 0`))
}

// The same over the emulated uplink: the browser encodes what the gateway tells
// it to.
func TestChromiumGateway(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "step.csv")
	// 3 Mbit/s for 9 s, then 0.6.
	csv := "t_ms,ul_kbps\n"
	for ms := 0; ms < 60_000; ms += 100 {
		if ms < 9_000 {
			csv += fmt.Sprintf("%d,3000\n", ms)
		} else {
			csv += fmt.Sprintf("%d,600\n", ms)
		}
	}
	if err := os.WriteFile(trace, []byte(csv), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "-trace", trace)
	began := time.Now()
	browser := openBrowser(t)
	from := tab(t, browser, strings.Replace(r.publish, "#", "?source=pattern#", 1))
	wait(t, from, isLive)
	to := tab(t, browser, r.view)
	wait(t, to, decoding)
	t.Logf("a picture %v after the program's start", time.Since(began))
	const cap = `(live.pc.getSenders().find((s) => s.track?.kind === 'video').getParameters().encodings[0].maxBitrate ?? 0)`
	high := 0.0
	for time.Since(began) < 8*time.Second {
		high = max(high, eval[float64](t, from, cap))
		time.Sleep(100 * time.Millisecond)
	}
	screenshot(t, to, "gateway-view.png")
	time.Sleep(time.Until(began.Add(10 * time.Second)))
	low := eval[float64](t, from, cap)
	t.Logf("the browser may encode %.0f kbit/s, then %.0f", high/1000, low/1000)
	if high < 800_000 || high > 6_000_000 {
		t.Errorf("on 3 Mbit/s the browser may encode %.0f kbit/s, want 800 to 6000", high/1000)
	}
	if low < 100_000 || low > 650_000 {
		t.Errorf("on 0.6 Mbit/s the browser may encode %.0f kbit/s, want 100 to 650", low/1000)
	}
	wait(t, to, isLive)
}
