// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without an encoder -video says how to get one; with one, what is wrong with the
// picture.
func TestFilm(t *testing.T) {
	if _, err := newEncoder(); err != nil {
		_, err := newFilm("pattern:640x360")
		if err == nil || !strings.Contains(err.Error(), "-tags codec") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}

		return
	}
	dir := t.TempDir()
	good := filepath.Join(dir, "good.y4m")
	data := append([]byte("YUV4MPEG2 W160 H90 F25:1\nFRAME\n"), bytes.Repeat([]byte{99}, 160*90*3/2)...)
	if err := os.WriteFile(good, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := newFilm(good); err != nil || f.fps != 25 {
		t.Errorf("%+v, %v", f, err)
	}
	for picture, want := range map[string]string{
		"pattern:640": "pattern:640x360", "pattern:640x360x2": "pattern:640x360", "pattern:9x9": "160 x 90",
		filepath.Join(dir, "none.y4m"): "no such file", write(t, "bad.y4m", "YUV4MPEG2 W3 H3\n"): "3 x 3",
	} {
		if _, err := newFilm(picture); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "-picture") {
			t.Errorf("%s: %v, want %s", picture, err, want)
		}
	}
}

// A call with a real encoder, without a page: its figures are those of a call.
func TestCallWithEncoder(t *testing.T) {
	if _, err := newEncoder(); err != nil {
		return // TestFilm has that
	}
	file := filepath.Join(t.TempDir(), "result.json")
	r := start(t.Context(), "-video", "-duration", "6s", "-http", "off", "-picture", "pattern:480x270", "-json", file)
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
		within(t, run.CC+" frames rendered", float64(run.FramesRendered)/run.DurationS, 15, 30.5, "a second")
		within(t, run.CC+" goodput", run.GoodputMbps, 0.2, 4, "Mbit/s")
		within(t, run.CC+" playout p50", run.PlayoutP50, 50, 300+1000*late(t, r), "ms")
	}
	if strings.Contains(r.out.String(), "no video") {
		t.Errorf("an encoder failed:\n%s", &r.out)
	}
}
