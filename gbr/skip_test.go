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

// slowed runs a radio that comes to carry so many bytes a TTI, of which the least
// rate asks 50, for ten seconds, and returns the frames that are left out of the
// last five, how many in a row at the most, and what then waits.
func slowed(t *testing.T, perTTI int, without gbr.Ingredient) (out float64, inRow, waits int) {
	t.Helper()
	r := newRadio(t, 250)
	if err := r.e.Reconfigure(r.now, nil, gbr.Config{MinBps: 400_000, Without: without}); err != nil {
		t.Fatal(err)
	}
	r.frame = 5000
	r.run(2*time.Second, false)
	r.perTTI = perTTI
	const frames, counted = 300, 150
	row := 0
	for n := range frames {
		r.frame = 1650 // 50 bytes a TTI
		if r.e.SkipFrame(r.now) {
			r.frame = 0
			row++
			if n >= frames-counted {
				out++
			}
		} else {
			row = 0
		}
		inRow = max(inRow, row)
		r.run(33*time.Millisecond, false)
	}

	return out / counted, inRow, r.bytes
}

// On a radio that carries less than the least rate there are fewer frames, as many
// fewer as it carries less: the queue stays that of some frames.
func TestSkipBelowTheLeastRate(t *testing.T) {
	for _, perTTI := range []int{45, 30, 20} {
		carried := perTTI - 5 // without headers
		want := 1 - float64(carried)/50
		out, inRow, waits := slowed(t, perTTI, 0)
		if ms := waits / carried; out < want-0.1 || out > want+0.1 || inRow < 1 || inRow > 3 || ms > 350 {
			t.Errorf("%d bytes a TTI: %.2f of the frames left out, want %.2f; %d in a row, want 1 to 3; %d ms wait, want at most 350", perTTI, out, want, inRow, ms)
		}
		if _, _, all := slowed(t, perTTI, gbr.Skipping); all < 3*waits {
			t.Errorf("%d bytes a TTI: %d bytes wait with all frames, %d without some", perTTI, all, waits)
		}
	}
	// An outage is no rate, and whatever waits will be gone in a moment.
	if _, inRow, _ := slowed(t, 0, 0); inRow > 1 {
		t.Errorf("%d frames in a row left out in an outage, want 1 at most", inRow)
	}
}
