// SPDX-License-Identifier: MIT

//go:build browser

package headless

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// faint is what of a page cannot be read well, or does not fit: text with less than 4.5
// between it and what is behind it (WCAG 2.1, 1.4.3; 3 where it is large or a button
// that does nothing now), and what makes the page wider than its window.
const faint = `(() => {
	const parse = (c) => {
		const m = c.match(/rgba?\(([^)]+)\)/);
		return m ? m[1].split(/[ ,/]+/).map(Number) : [0, 0, 0, 0];
	};
	const light = ([r, g, b]) => {
		const f = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
	};
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if ((c[3] ?? 1) > 0.9) return c;
		}
		return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
	};
	const bad = new Set();
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		const e = n.parentElement, text = n.textContent.trim();
		if (!text || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(e.tagName) || !e.checkVisibility()) continue;
		const style = getComputedStyle(e);
		const [a, b] = [light(parse(style.color)), light(behind(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		const want = parseFloat(style.fontSize) >= 24 || e.disabled ? 3 : 4.5;
		if (ratio < want) bad.add(text.slice(0, 30) + ': contrast ' + ratio.toFixed(1));
	}
	const wide = document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
	if (wide > 0) bad.add('wider than its window by ' + wide + ' px');
	return [...bad].join('; ');
})()`

// Looks takes pictures of a page on a desk and on a phone, by day and by night, and
// complains of what cannot be read.
func Looks(t testing.TB, page context.Context, name string) {
	t.Helper()
	for _, window := range []struct {
		name          string
		width, height int64
		options       []chromedp.EmulateViewportOption
	}{{"desk", 1400, 900, nil}, {"phone", 390, 844, []chromedp.EmulateViewportOption{chromedp.EmulateMobile}}} {
		for _, scheme := range []string{"light", "dark"} {
			err := chromedp.Do(page, chromedp.EmulateViewport(window.width, window.height, window.options...), chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
				_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				})

				return err
			}))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(700 * time.Millisecond) // the next row of charts
			Screenshot(t, page, strings.Join([]string{name, window.name, scheme}, "-")+".png")
			if bad := Eval[string](t, page, faint); bad != "" {
				t.Errorf("%s on a %s, %s: %s", name, window.name, scheme, bad)
			}
		}
	}
	if err := chromedp.Do(page, chromedp.EmulateReset()); err != nil {
		t.Error(err)
	}
}
