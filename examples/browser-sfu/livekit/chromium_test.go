// SPDX-License-Identifier: MIT

//go:build livekit

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/browser/headless"
)

// One page publishes, LiveKit forwards, two others play; the server dies and comes
// back.
func TestChromium(t *testing.T) {
	address, kill := node(t, 7880, "")
	r := start(t, address)
	browser := headless.Start(t, map[string]any{
		"use-fake-device-for-media-stream": true, "use-fake-ui-for-media-stream": true, "window-size": "1400,800",
	})
	from := headless.Tab(t, browser, r.publish+"publish?source=pattern#"+r.token)
	headless.Wait(t, from, `$('state').textContent === 'live'`)
	const decoding = `playback.last?.framesDecoded > 2`
	to := headless.Tab(t, browser, r.view)
	t.Logf("picture after %v", headless.Wait(t, to, decoding))
	// Viewers do not take each other's place.
	other := headless.Tab(t, browser, r.view)
	headless.Wait(t, other, decoding)
	time.Sleep(3 * time.Second) // for charts to look at
	headless.Screenshot(t, to, "livekit-view.png")
	if !headless.Eval[bool](t, to, `$('state').textContent === 'live' && playback.last.framesDecoded > 30`) {
		t.Errorf("the first viewer: %s", headless.Eval[string](t, to, `document.body.innerText`))
	}
	if text := headless.Eval[string](t, to, `$('note').textContent`); !strings.Contains(text, "×") {
		t.Errorf("the page says %q", text)
	}

	kill()
	const fps = `(charts.panels[1].data[0].at(-1) ?? 0)`
	headless.Wait(t, to, `$('state').textContent !== 'live' && !`+fps)
	node(t, 7880, "")
	// The SDK and the page wait longer after each failure.
	took := eventually(t, "live again", func() bool {
		return headless.Eval[bool](t, to, `$('state').textContent === 'live' && `+fps+` > 5`)
	})
	t.Logf("live again %v after the server was back", took)
}
