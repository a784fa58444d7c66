// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pion/interceptor/pkg/cc"
	piongcc "github.com/pion/interceptor/pkg/gcc"

	"github.com/gbrcc/gbrcc/e2e/sound"
	"github.com/gbrcc/gbrcc/interceptor"
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

// What is heard is a tone, or what the flag says; a microphone is for who has a
// camera, or wants one.
func TestAudio(t *testing.T) {
	if _, err := newOpus(); err != nil {
		return // TestFilm has that
	}
	for _, tt := range []struct {
		which, picture string
		want           string // an error, or what it is
	}{
		{"", "pattern:640x360", "tone"},
		{"", "x.y4m", "tone"},
		{"tone", "camera", "tone"},
		{"none", "camera", "none"},
		{"none", "pattern:640x360", "none"},
		{"voice", "pattern:640x360", "-sound voice: want tone, microphone or none"},
		{"", "camera", "microphone"},
		{"microphone", "x.y4m", "microphone"},
	} {
		a, err := newAudio(tt.which, tt.picture)
		got := "none"
		switch {
		case err != nil && strings.Contains(err.Error(), "-sound microphone: sound: no "):
			got = "microphone" // not here
		case err != nil:
			got = err.Error()
		case a != nil && a.microphone != nil:
			got = "microphone"
		case a != nil:
			got = "tone"
		}
		if got != tt.want {
			t.Errorf("-sound %q -picture %s: %s, want %s", tt.which, tt.picture, got, tt.want)
		}
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}
}

// Pictures get what sound leaves, of whatever estimator; sound gets its rate though
// there be less.
func TestShare(t *testing.T) {
	own, err := interceptor.NewEstimator(interceptor.WithBitrateBounds(minBps, startBps, maxBps))
	if err != nil {
		t.Fatal(err)
	}
	pion, err := piongcc.NewSendSideBWE(piongcc.SendSideBWEInitialBitrate(startBps))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []cc.BandwidthEstimator{own, pion} {
		for withSound, want := range map[bool]int64{false: startBps, true: int64(startBps - sound.LinkBps)} {
			s, err := newShare(e, withSound)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.pictures.Load(); got != want {
				t.Errorf("%T with sound %v: %d bit/s, want %d", e, withSound, got, want)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	target := &told{}
	s, err := newShare(target, true)
	if err != nil {
		t.Fatal(err)
	}
	for bps, want := range map[int]int64{1_000_000: int64(1_000_000 - sound.LinkBps), sound.LinkBps: 0, 10_000: 0} {
		target.f(bps)
		if got := s.pictures.Load(); got != want {
			t.Errorf("of %d: %d bit/s, want %d", bps, got, want)
		}
	}
}

// told is an estimator whose target the test says.
type told struct {
	cc.BandwidthEstimator
	f func(int)
}

func (t *told) GetTargetBitrate() int             { return startBps }
func (t *told) OnTargetBitrateChange(f func(int)) { t.f = f }

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
	runs := readResults(t, file, true)
	for _, run := range runs {
		within(t, run.CC+" frames rendered", float64(run.FramesRendered)/run.DurationS, 15, 30.5, "a second")
		within(t, run.CC+" goodput", run.GoodputMbps, 0.2, 4, "Mbit/s")
		if run.Sound == nil {
			t.Fatalf("no sound: %+v", run)
		}
		// A packet's 20 ms, 20 ms of the path, the radio's grants.
		within(t, run.CC+" sound p50", run.Sound.DelayP50, 40, 120+1000*late(t, r), "ms")
		within(t, run.CC+" sound p95", run.Sound.DelayP95, run.Sound.DelayP50, 300+1000*late(t, r), "ms")
		within(t, run.CC+" sound lost", run.Sound.LostRatio, 0, 0.02, "")
		within(t, run.CC+" playout p50", run.PlayoutP50, 50, 300+1000*late(t, r), "ms")
	}
	if strings.Contains(r.out.String(), ": no ") {
		t.Errorf("an encoder failed:\n%s", &r.out)
	}
}
