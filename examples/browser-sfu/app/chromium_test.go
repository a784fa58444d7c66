// SPDX-License-Identifier: MIT

//go:build browser

package app

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

// Decoded frames of the viewer, asked for directly: the page asks twice a second.
const decoding = `(async () => !!live?.pc && ((await statsOf(live.pc, (r) => r.type === 'inbound-rtp' && r.kind === 'video'))?.framesDecoded ?? 0) > 2)()`

const isLive = `$('state').textContent === 'live'`

// One page publishes, another one plays; the server dies and comes back.
func TestChromiumPublishAndView(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "-token-file", file, "-modem", "off")
	browser := openBrowser(t)
	from := headless.Tab(t, browser, strings.Replace(r.publish, "#", "?source=pattern#", 1))
	t.Logf("live after %v", headless.Wait(t, from, isLive))

	to := headless.Tab(t, browser, "about:blank")
	const limit = 3 * time.Second
	var took time.Duration
	for range 3 { // a busy machine
		at := time.Now()
		if err := chromedp.Do(to, chromedp.Navigate(r.view)); err != nil {
			t.Fatal(err)
		}
		headless.Wait(t, to, decoding)
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
	colour := headless.Eval[[]float64](t, to, `(() => {
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
	headless.Screenshot(t, to, "sfu-view.png")
	headless.Screenshot(t, from, "sfu-publish.png")
	fps := headless.Eval[float64](t, to, `charts.panels[1].data[0].slice(-5).reduce((a, v) => a + v / 5, 0)`)
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
	headless.Wait(t, to, `$('state').textContent !== 'live'`)
	t.Logf("after the server's death: live again after %v more", headless.Wait(t, to, isLive+` && `+`silent === 0`))
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
	from := headless.Tab(t, browser, strings.Replace(r.publish, "#", "?source=pattern#", 1))
	headless.Wait(t, from, isLive)
	to := headless.Tab(t, browser, r.view)
	headless.Wait(t, to, decoding)
	t.Logf("a picture %v after the program's start", time.Since(began))
	stop := headless.Record(t, to, "gateway-view.gif", 500*time.Millisecond)
	const cap = `(live.pc.getSenders().find((s) => s.track?.kind === 'video').getParameters().encodings[0].maxBitrate ?? 0)`
	high := 0.0
	for time.Since(began) < 8*time.Second {
		high = max(high, headless.Eval[float64](t, from, cap))
		time.Sleep(100 * time.Millisecond)
	}
	headless.Screenshot(t, to, "gateway-view.png")
	time.Sleep(time.Until(began.Add(10 * time.Second)))
	low := headless.Eval[float64](t, from, cap)
	t.Logf("the browser may encode %.0f kbit/s, then %.0f", high/1000, low/1000)
	if high < 800_000 || high > 6_000_000 {
		t.Errorf("on 3 Mbit/s the browser may encode %.0f kbit/s, want 800 to 6000", high/1000)
	}
	if low < 300_000 || low > 650_000 {
		t.Errorf("on 0.6 Mbit/s the browser may encode %.0f kbit/s, want 300 to 650", low/1000)
	}
	headless.Wait(t, to, isLive)
	time.Sleep(2 * time.Second) // for the charts
	stop()
	t.Logf("the viewer: %s", headless.Eval[string](t, to, `$('note').textContent + ', frozen for ' + playback.last.totalFreezesDuration + ' s'`))
}

// From the opening of both pages to a picture that has come over the emulated
// uplink.
func TestChromiumFirstPicture(t *testing.T) {
	browser := openBrowser(t)
	var took []time.Duration
	for range 3 {
		r := start(t)
		from, to := headless.Tab(t, browser, "about:blank"), headless.Tab(t, browser, "about:blank")
		at := time.Now()
		if err := chromedp.Do(from, chromedp.Navigate(strings.Replace(r.publish, "#", "?source=pattern#", 1))); err != nil {
			t.Fatal(err)
		}
		opened := time.Since(at)
		if err := chromedp.Do(to, chromedp.Navigate(r.view)); err != nil {
			t.Fatal(err)
		}
		headless.Wait(t, to, decoding)
		took = append(took, time.Since(at))
		t.Logf("a picture after %v; opening the first page took %v of it", took[len(took)-1], opened)
		t.Logf("publisher: %s", headless.Eval[string](t, from, `JSON.stringify(times)`))
		t.Logf("viewer: %s", headless.Eval[string](t, to, `JSON.stringify(times)`))
		if err := r.end(t); err != nil {
			t.Error(err)
		}
	}
	if m := median(took); m < 100*time.Millisecond || m > 3*time.Second {
		t.Errorf("a picture after %v, want less than 3 s", m)
	}
}

// The pages can be read, and fit, on a desk and on a phone, by day and by night:
// before anything, at work, and when the far end is gone.
func TestChromiumLooks(t *testing.T) {
	r := start(t)
	browser := openBrowser(t)
	from := headless.Tab(t, browser, r.publish)
	to := headless.Tab(t, browser, r.view)
	headless.Looks(t, from, "publish-idle")
	headless.Eval[any](t, from, "$('pattern').click()")
	headless.Wait(t, from, isLive)
	headless.Wait(t, to, isLive)
	headless.Looks(t, from, "publish-live")
	headless.Looks(t, to, "view-live")
	if err := r.end(t); err != nil {
		t.Error(err)
	}
	headless.Wait(t, to, `$('note').textContent.startsWith('no answer from the server')`)
	headless.Looks(t, to, "view-lost")
	headless.Looks(t, from, "publish-lost")
	wrong := start(t)
	stranger := headless.Tab(t, browser, strings.Split(wrong.publish, "#")[0]+"?source=pattern#wrong")
	headless.Wait(t, stranger, `$('state').textContent === 'refused' && $('note').textContent.includes('the program printed')`)
	time.Sleep(1500 * time.Millisecond) // longer than until another attempt
	if state := headless.Eval[string](t, stranger, `$('state').textContent`); state != "refused" || headless.Eval[bool](t, stranger, `media !== null || live !== null`) {
		t.Errorf("a wrong token: %s, and then tried again", state)
	}
	headless.Looks(t, stranger, "publish-wrong-token")
}
