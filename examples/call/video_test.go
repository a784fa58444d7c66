// SPDX-License-Identifier: MIT

//go:build browser && codec

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/browser/headless"
)

// inbound is what getStats says of a video.
type inbound struct {
	FramesDecoded, FrameWidth, FrameHeight, FreezeCount int
	TotalFreezesDuration                                float64
}

// A browser plays the videos of a call beside its charts.
func TestVideoInChromium(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	r := start(t.Context(), "-video", "-duration", "20s", "-json", file)
	page := headless.Tab(t, headless.Start(t, map[string]any{"window-size": "1400,1500"}), r.out.wait(t, `Live page: (\S+)\n`))
	playing := map[string]inbound{}
	for begin := time.Now(); time.Since(begin) < 15*time.Second; time.Sleep(200 * time.Millisecond) {
		text := headless.Eval[string](t, page, "JSON.stringify(Object.fromEntries(Object.values(tiles).map(t => [t.cc, t.latest || {}])))")
		if err := json.Unmarshal([]byte(text), &playing); err != nil {
			t.Fatal(err)
		}
		if time.Since(begin) > 10*time.Second && playing["gbrcc"].FramesDecoded > 150 {
			break
		}
	}
	headless.Screenshot(t, page, "call-video.png")
	for _, cc := range []string{"gbrcc", "pion"} {
		if p := playing[cc]; p.FramesDecoded < 60 || p.FrameWidth < 160 || p.FrameWidth > 640 {
			t.Errorf("%s does not play: %+v\n%s", cc, p, &r.out)
		}
	}
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	checkKeys(t, data)
	var got struct{ Runs []result }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, run := range got.Runs {
		within(t, run.CC+" goodput", run.GoodputMbps, 0.2, 7, "Mbit/s")
		within(t, run.CC+" frames rendered", float64(run.FramesRendered)/run.DurationS, 5, 30.5, "a second")
		within(t, run.CC+" playout p50", run.PlayoutP50, 40, 500, "ms")
	}
	t.Log("\n" + r.out.String())
}
