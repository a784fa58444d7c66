// SPDX-License-Identifier: MIT

package gbr_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// skips runs a radio that carries 2500 bytes a TTI and then so many, under frames
// that obey the target of 20 ms before, and tells which of the next ten are to be
// left out: F for one that is sent, - for one that is not.
func skips(t *testing.T, after int, without gbr.Ingredient) (frames string) {
	t.Helper()
	r := newRadio(t, 2500)
	if err := r.e.Reconfigure(r.now, nil, gbr.Config{MaxBps: 20_000_000, Without: without}); err != nil {
		t.Fatal(err)
	}
	next := 30_000
	for n := range 100 {
		skip := r.e.SkipFrame(r.now)
		r.frame = next
		if n >= 90 {
			frames += map[bool]string{true: "-", false: "F"}[skip]
		} else if skip {
			t.Fatalf("frame %d of a steady radio is to be left out", n)
		}
		if skip {
			r.frame = 0
		}
		r.run(13*time.Millisecond, false)
		next = r.e.Target().BitrateBps / 8000 * 33
		if n == 90 { // when the next one's rate has been told
			r.perTTI = after
		}
		r.frame = 0
		r.run(20*time.Millisecond, false)
		if n == 89 && next < 60_000 {
			t.Fatalf("frames of %d bytes on a radio of 20 Mbit/s", next)
		}
	}

	return frames
}

// After a fall to a quarter one frame is too large to be sent; after a small one,
// or a rise, none is.
func TestSkipFrame(t *testing.T) {
	for _, c := range []struct {
		after   int
		without gbr.Ingredient
		want    string
	}{
		{625, 0, "F-FFFFFFFF"},
		{2000, 0, "FFFFFFFFFF"},
		{2500, 0, "FFFFFFFFFF"},
		{5000, 0, "FFFFFFFFFF"},
		{625, gbr.Skipping, "FFFFFFFFFF"},
	} {
		if got := skips(t, c.after, c.without); got != c.want {
			t.Errorf("from 2500 to %d bytes a TTI without %v: %s, want %s", c.after, c.without, got, c.want)
		}
	}
}

// Nobody is told to leave out frames while telemetry does not tell.
func TestSkipFrameNeedsTelemetry(t *testing.T) {
	e := newEstimator(t, &scripted{rate: 1_000_000}, nil)
	if e.SkipFrame(epoch) {
		t.Error("at the start")
	}
	r := newRadio(t, 500)
	r.run(2*time.Second, false)
	if r.e.SkipFrame(r.now.Add(time.Second)) {
		t.Error("a second after the last telemetry")
	}
	seed := newEstimator(t, &scripted{rate: 1_000_000}, func(c *gbr.Config) { c.Algorithm = gbr.Seed })
	if seed.SkipFrame(epoch) {
		t.Error("seed")
	}
}
