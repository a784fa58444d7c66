// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
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
