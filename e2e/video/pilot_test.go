// SPDX-License-Identifier: MIT

package video

import (
	"context"
	"errors"
	"image"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a codec that notes what it is told.
type fake struct {
	resizes bool
	took    time.Duration // of each frame
	size    int
	fail    error

	built, closed, keys int
	rates, budgets      []int
	at                  []time.Duration
}

func (f *fake) Resizable() bool { return f.resizes }
func (f *fake) Build(int, int, float64) (Encoder, error) {
	f.built++

	return f, nil
}

func (f *fake) Encode(_ *image.YCbCr, o Order) ([]byte, error) {
	time.Sleep(f.took)
	f.rates, f.budgets, f.at = append(f.rates, o.Bps), append(f.budgets, o.Budget), append(f.at, o.At)
	if o.Key {
		f.keys++
	}

	return make([]byte, f.size), f.fail
}
func (f *fake) Close() error { f.closed++; return nil }

// still is a source of one grey picture.
type still struct{ img *image.YCbCr }

func newStill(w, h int) still {
	return still{image.NewYCbCr(image.Rect(0, 0, w, h), image.YCbCrSubsampleRatio420)}
}
func (s still) Size() (int, int)                  { return s.img.Rect.Dx(), s.img.Rect.Dy() }
func (s still) Picture(int) (*image.YCbCr, error) { return s.img, nil }

func step(t *testing.T, p *Pilot, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := p.Step(n, time.Duration(n)*time.Second/30); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPilotObeys(t *testing.T) {
	for _, resizes := range []bool{true, false} {
		f := &fake{resizes: resizes, size: 1000}
		target, budget := 3_000_000, -1
		var frames []Frame
		p, err := New(Config{
			Builder: f, Source: newStill(1280, 720), MaxBps: 2_000_000, Target: func() int { return target },
			Budget: func() (int, bool) { return budget, budget >= 0 },
			Write:  func(fr Frame) error { frames = append(frames, fr); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		step(t, p, 0, 5)
		if len(frames) != 5 || !frames[0].Key || frames[1].Key || f.keys != 1 || frames[4].Height != 720 {
			t.Errorf("%d frames, %d key frames, %d lines", len(frames), f.keys, frames[len(frames)-1].Height)
		}
		// 2 Mbit/s are 8333 bytes a frame, 7 packets of them.
		within(t, "rate of the encoder", float64(f.rates[len(f.rates)-1]), 1.90e6, 1.93e6, "bit/s")
		if f.budgets[4] != -1 {
			t.Errorf("a budget of %d, want none", f.budgets[4])
		}
		budget = 3000
		step(t, p, 5, 6)
		within(t, "budget", float64(f.budgets[5]), 2840, 2860, "bytes")
		budget = 0
		step(t, p, 6, 7)
		if len(frames) != 6 || p.Stats().SkippedByBudget != 1 {
			t.Errorf("%d frames, want none with a budget of 0", len(frames)-6)
		}
		budget = -1

		p.Skip(true)
		step(t, p, 7, 16)
		if len(frames) != 6 {
			t.Errorf("%d frames when it was told to skip", len(frames)-6)
		}
		p.Skip(false)
		p.KeyFrame()
		step(t, p, 16, 18)
		if len(frames) != 8 || !frames[6].Key || frames[7].Key || frames[6].Number != 16 {
			t.Errorf("after the pause: %+v", frames[6:])
		}

		target = 120_000 // a quarter of the size, every other frame, after 0.4 s
		step(t, p, 18, 60)
		st := p.Stats()
		if st.Height != 180 || st.Resizes != 1 || st.SkippedByAdvice != 9 || st.Captured != 60 {
			t.Errorf("at 120 kbit/s: %+v", st)
		}
		within(t, "left out of 30", float64(st.SkippedByRate), 14, 15, "")
		if k := slices.IndexFunc(frames, func(f Frame) bool { return f.Height == 180 }); !frames[k].Key || frames[k+1].Key {
			t.Errorf("the new size does not begin with a key frame: %+v", frames[k])
		}
		within(t, "rate at half the frame rate", float64(f.rates[len(f.rates)-1]), 100e3, 115e3, "bit/s")
		want := 2
		if resizes {
			want = 1
		}
		if f.built != want || f.closed != want-1 {
			t.Errorf("resizable %v: built %d, closed %d, want %d", resizes, f.built, f.closed, want)
		}
		if err := p.Close(); err != nil || f.closed != want {
			t.Errorf("close: %v, %d closed", err, f.closed)
		}
	}
}

// A frame that its sender would rather not have is not encoded, and is asked for
// once each: not when it is left out anyway.
func TestPilotLeavesOutWhatIsNotWanted(t *testing.T) {
	f := &fake{size: 1000}
	asked := 0
	p, err := New(Config{
		Builder: f, Source: newStill(320, 180), Target: func() int { return 1_000_000 }, Write: func(Frame) error { return nil },
		Leave: func() bool { asked++; return asked%3 == 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	step(t, p, 0, 9)
	p.Skip(true)
	step(t, p, 9, 12)
	if st := p.Stats(); asked != 9 || st.Encoded != 6 || st.SkippedByAdvice != 6 || len(f.rates) != 6 {
		t.Errorf("asked %d times, want 9; %+v", asked, st)
	}
}

// What pacer and estimator call never waits for the encoder; it acts on it with
// the next frame.
func TestPilotDoesNotBlockControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{size: 100, took: 20 * ms}
		written := 0
		p, err := New(Config{Builder: f, Source: newStill(320, 180), Target: func() int { return 1_000_000 }, Write: func(Frame) error { written++; return nil }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx, time.Now()) }()
		time.Sleep(5 * ms) // in mid frame
		before := time.Now()
		p.Skip(true)
		p.KeyFrame()
		_ = p.Stats()
		if took := time.Since(before); took != 0 {
			t.Errorf("took %v", took)
		}
		time.Sleep(time.Second)
		p.Skip(false)
		time.Sleep(50 * ms)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		within(t, "frames", float64(written), 2, 3, "")
		if f.keys != 2 {
			t.Errorf("%d key frames, want the first and that asked for", f.keys)
		}
	})
}

// A slow encoder makes fewer frames, not late ones.
func TestPilotLeavesOutWhenLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{size: 100, took: 100 * ms}
		var worst time.Duration
		start := time.Now()
		p, err := New(Config{Builder: f, Source: newStill(320, 180), Target: func() int { return 1_000_000 }, Write: func(fr Frame) error {
			worst = max(worst, fr.Captured-time.Duration(fr.Number)*time.Second/30)

			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := p.Run(ctx, start); err != nil {
			t.Error(err)
		}
		within(t, "frames in 10 s", float64(p.Stats().Encoded), 95, 110, "")
		within(t, "captured late by", worst.Seconds()*1000, 0, 34, "ms")
	})
}

func TestPilotErrors(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("no error")
	}
	broken := errors.New("broken")
	f := &fake{size: 100, fail: broken}
	p, err := New(Config{Builder: f, Source: newStill(320, 180), Target: func() int { return 1e6 }, Write: func(Frame) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Step(0, 0); !errors.Is(err, broken) {
		t.Errorf("encoder: %v", err)
	}
	f.fail = nil
	p.cfg.Write = func(Frame) error { return broken }
	if err := p.Step(1, 0); !errors.Is(err, broken) {
		t.Errorf("write: %v", err)
	}
	// What the encoder left out was wanted all the same.
	p.cfg.Write = func(Frame) error { return nil }
	f.size, f.keys = 0, 0
	p.KeyFrame()
	step(t, p, 2, 4)
	if f.keys != 2 || p.Stats().SkippedByEncoder != 2 {
		t.Errorf("%d requests for a key frame, %d left out, want 2 of each", f.keys, p.Stats().SkippedByEncoder)
	}
}
