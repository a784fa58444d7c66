// SPDX-License-Identifier: MIT

//go:build browser && codec

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/browser/headless"
)

// playing is what getStats says of a video and its sound. Ahead is what the page
// makes of it, in ms.
type playing struct {
	Video struct {
		FramesDecoded, FrameWidth, FrameHeight, FreezeCount int
		TotalFreezesDuration                                float64
	}
	Audio struct {
		TotalSamplesReceived, ConcealedSamples, SilentConcealedSamples float64
		TotalAudioEnergy, TotalSamplesDuration                         float64
	}
	Ahead *float64
	Text  string
	Muted bool
}

// A browser plays the videos of a call beside its charts.
func TestVideoInChromium(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	r := start(t.Context(), "-video", "-duration", "20s", "-json", file)
	page := headless.Tab(t, headless.Start(t, map[string]any{"window-size": "1400,1500"}), r.out.wait(t, `Live page: (\S+)\n`))
	seen := map[string]playing{}
	headless.Wait(t, page, "Object.keys(tiles).length === 2")
	headless.Eval[any](t, page, "tiles.gbrcc.button.click()")
	for begin := time.Now(); time.Since(begin) < 15*time.Second; time.Sleep(200 * time.Millisecond) {
		text := headless.Eval[string](t, page, `JSON.stringify(Object.fromEntries(Object.values(tiles).map(t => [t.cc, {
			video: t.latest || {}, audio: t.heard || {}, ahead: t.ahead, text: t.text.textContent, muted: t.video.muted}])))`)
		if err := json.Unmarshal([]byte(text), &seen); err != nil {
			t.Fatal(err)
		}
		if time.Since(begin) > 10*time.Second && seen["gbrcc"].Video.FramesDecoded > 150 {
			break
		}
	}
	headless.Screenshot(t, page, "call-video.png")
	for _, cc := range []string{"gbrcc", "pion"} {
		p := seen[cc]
		t.Logf("%s: %+v", cc, p)
		if p := p.Video; p.FramesDecoded < 60 || p.FrameWidth < 160 || p.FrameWidth > 640 {
			t.Errorf("%s does not play: %+v\n%s", cc, p, &r.out)
		}
		// The square of the largest level of late, in the mean: of a beep of 0.28 for
		// 0.1 s, which is remembered for a little longer, and a hum of 0.03. What is
		// muted has none.
		power := [2]float64{0.008, 0.035}
		if p.Muted {
			power = [2]float64{}
		}
		within(t, cc+" power", p.Audio.TotalAudioEnergy/p.Audio.TotalSamplesDuration, power[0], power[1], "")
		within(t, cc+" concealed", p.Audio.ConcealedSamples/p.Audio.TotalSamplesReceived, 0, 0.05, "")
		if p.Ahead == nil {
			t.Errorf("%s: nobody knows whether sound and picture are in step", cc)

			continue
		}
		// What can be noticed: ITU-R BT.1359-1.
		within(t, cc+" sound ahead of the picture", *p.Ahead, -125, 45, "ms")
		if !strings.Contains(p.Text, ", sound ") {
			t.Errorf("%s: the page says %q", cc, p.Text)
		}
		if p.Muted == (cc == "gbrcc") {
			t.Errorf("%s: muted %v", cc, p.Muted)
		}
	}
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	runs := readResults(t, file, true)
	for _, run := range runs {
		within(t, run.CC+" goodput", run.GoodputMbps, 0.2, 7, "Mbit/s")
		within(t, run.CC+" frames rendered", float64(run.FramesRendered)/run.DurationS, 5, 30.5, "a second")
		within(t, run.CC+" playout p50", run.PlayoutP50, 40, 500, "ms")
	}
	t.Log("\n" + r.out.String())
}
