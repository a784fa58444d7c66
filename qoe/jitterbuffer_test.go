// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// frame n of a 30 fps source.
func captured(n int) time.Duration { return time.Duration(n) * time.Second / 30 }

func TestConstantDelay(t *testing.T) {
	j := NewJitterBuffer(JitterBufferConfig{Epoch: epoch()})
	if _, ok := j.Latency(); ok {
		t.Error("a latency before the first frame")
	}
	for n := range 100 {
		arrival := epoch().Add(captured(n) + 50*ms)
		render, ok := j.OnFrame(arrival, captured(n), true)
		if !ok || render.Sub(arrival) != 10*ms {
			t.Fatalf("frame %d: rendered %v after arrival, %v; want 10 ms", n, render.Sub(arrival), ok)
		}
	}
	if got, ok := j.Latency(); !ok || got != 60*ms {
		t.Errorf("latency %v, %v; want 60 ms", got, ok)
	}
	if got := j.Delay(); got != 50*ms {
		t.Errorf("delay %v, want 50 ms", got)
	}
}

func TestLateFrameRaisesTheDelayWhichDecays(t *testing.T) {
	j := NewJitterBuffer(JitterBufferConfig{Epoch: epoch()})
	latency := func(n int, network time.Duration) float64 {
		t.Helper()
		if _, ok := j.OnFrame(epoch().Add(captured(n)+network), captured(n), true); !ok {
			t.Fatalf("frame %d is not shown", n)
		}
		l, _ := j.Latency()

		return float64(l) / float64(ms)
	}
	for n := range 10 {
		latency(n, 20*ms)
	}
	within(t, "latency of the late frame", latency(10, 120*ms), 130, 1e-6, "ms")
	within(t, "the next", latency(11, 20*ms), 130, 1e-6, "ms")
	within(t, "one later", latency(12, 20*ms), 129, 1e-6, "ms")
	within(t, "two later", latency(13, 20*ms), 128.01, 1e-6, "ms")
	for n := 14; n < 112; n++ {
		latency(n, 20*ms)
	}
	// 100 frames after the jump, 100 ms * 0.99^100 are left.
	within(t, "100 later", latency(112, 20*ms), 30+100*math.Pow(0.99, 101), 0.5, "ms")
	// Late again, but less than what is left: no jump.
	d := j.Delay()
	latency(113, 40*ms)
	if j.Delay() >= d {
		t.Errorf("a frame in time raised the delay from %v to %v", d, j.Delay())
	}
}

func TestSkippedFrames(t *testing.T) {
	j := NewJitterBuffer(JitterBufferConfig{Epoch: epoch()})
	at := func(n int) time.Time { return epoch().Add(captured(n) + 20*ms) }
	j.OnFrame(at(0), captured(0), true)
	before := j.Delay()
	if _, ok := j.OnFrame(time.Time{}, captured(1), false); ok {
		t.Error("an incomplete frame is shown")
	}
	if _, ok := j.OnFrame(at(2), captured(2), true); !ok {
		t.Error("the frame after a lost one is not shown")
	}
	if _, ok := j.OnFrame(at(5), captured(1), true); ok {
		t.Error("a frame older than the last one is shown")
	}
	if _, ok := j.OnFrame(at(5), captured(2), true); ok {
		t.Error("a frame is shown twice")
	}
	if j.Delay() != before {
		t.Errorf("skipped frames moved the delay from %v to %v", before, j.Delay())
	}
	want := JitterBufferStats{Rendered: 2, Incomplete: 1, Late: 2}
	if got := j.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A frame completed by a retransmission after its successor holds that one.
func TestFramesStayInOrder(t *testing.T) {
	j := NewJitterBuffer(JitterBufferConfig{})
	a, _ := j.OnFrame(epoch().Add(300*ms), captured(1), true)
	b, ok := j.OnFrame(epoch().Add(100*ms), captured(2), true)
	if !ok || b.Before(a) {
		t.Errorf("frame 2 at %v, before frame 1 at %v (%v)", b, a, ok)
	}
}

func TestClockJumps(t *testing.T) {
	for _, c := range []struct {
		name     string
		jump     time.Duration
		restarts int
	}{
		{"an hour ahead", time.Hour, 1},
		{"an hour back", -time.Hour, 1},
		{"all the way ahead", math.MaxInt64 / 2, 1},
		{"all the way back", math.MinInt64 / 2, 1},
		{"none", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := NewJitterBuffer(JitterBufferConfig{})
			for n := range 20 {
				capture := captured(n)
				if n >= 10 {
					capture += c.jump
				}
				arrival := epoch().Add(captured(n))
				render, ok := j.OnFrame(arrival, capture, true)
				if !ok || render.Sub(arrival) != 10*ms {
					t.Fatalf("frame %d: shown %v after arrival, %v", n, render.Sub(arrival), ok)
				}
			}
			if got := j.Stats().Restarts; got != c.restarts {
				t.Errorf("%d restarts, want %d", got, c.restarts)
			}
		})
	}
}

// After an outage longer than MaxDelay frames are shown when they come, and the
// delay afterwards is MaxDelay at most.
func TestMaxDelay(t *testing.T) {
	j := NewJitterBuffer(JitterBufferConfig{MaxDelay: time.Second})
	j.OnFrame(epoch(), captured(0), true)
	late := epoch().Add(5 * time.Second)
	if render, ok := j.OnFrame(late, captured(1), true); !ok || render.Sub(late) != 10*ms {
		t.Errorf("shown %v after arrival, %v", render.Sub(late), ok)
	}
	if got := j.Delay(); got != time.Second {
		t.Errorf("delay %v, want 1 s", got)
	}
	if j.Stats().Restarts != 0 {
		t.Error("an outage counts as a jump of the clock")
	}
}

func TestJitterBufferConfig(t *testing.T) {
	def := *NewJitterBuffer(JitterBufferConfig{})
	for _, cfg := range []JitterBufferConfig{
		{RenderDelay: -1, Decay: -1, MaxDelay: -1},
		{Decay: 1.01},
		{Decay: math.NaN()},
	} {
		if got := *NewJitterBuffer(cfg); got != def {
			t.Errorf("%+v is not replaced by defaults: %+v", cfg, got)
		}
	}
	if got := NewJitterBuffer(JitterBufferConfig{RenderDelay: 1, Decay: 1, MaxDelay: 3}).cfg; got != (JitterBufferConfig{RenderDelay: 1, Decay: 1, MaxDelay: 3}) {
		t.Errorf("valid values are changed: %+v", got)
	}
}

// Properties over random networks: in order, never before arrival, latency
// bounded by the worst frame, and the clock offset cancels exactly.
func TestJitterBufferProperties(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 9))
		offset := time.Duration(rng.Int64()) / 4 * time.Duration(1-2*rng.IntN(2))
		known := NewJitterBuffer(JitterBufferConfig{Epoch: epoch()})
		unknown := NewJitterBuffer(JitterBufferConfig{})
		var last time.Time
		best, worst := time.Duration(math.MaxInt64), time.Duration(0)
		queue := 20 * ms
		for n := range 1000 {
			queue = max(5*ms, queue+time.Duration(rng.Int64N(int64(20*ms)))-10*ms)
			network := queue
			if rng.IntN(50) == 0 {
				network += time.Duration(rng.Int64N(int64(time.Second)))
			}
			complete := rng.IntN(20) > 0
			arrival := epoch().Add(captured(n) + network)
			render, ok := known.OnFrame(arrival, captured(n), complete)
			render2, ok2 := unknown.OnFrame(arrival, captured(n)+offset, complete)
			if ok != ok2 || !render.Equal(render2) {
				t.Fatalf("seed %d frame %d: %v with, %v without the epoch; offset %v", seed, n, render, render2, offset)
			}
			if ok != complete {
				t.Fatalf("seed %d frame %d: complete %v, shown %v", seed, n, complete, ok)
			}
			if !ok {
				continue
			}
			best, worst = min(best, network), max(worst, network)
			if render.Before(last) || render.Before(arrival.Add(10*ms)) {
				t.Fatalf("seed %d frame %d: shown at %v, before %v or its arrival %v", seed, n, render, last, arrival)
			}
			last = render
			l, _ := known.Latency()
			if want := render.Sub(epoch().Add(captured(n))); l != want {
				t.Fatalf("seed %d frame %d: latency %v, want %v", seed, n, l, want)
			}
			if l > worst+10*ms {
				t.Fatalf("seed %d frame %d: latency %v, worst network delay %v", seed, n, l, worst)
			}
			if rel, _ := unknown.Latency(); rel != l-best {
				t.Fatalf("seed %d frame %d: relative latency %v, want %v - %v", seed, n, rel, l, best)
			}
		}
	}
}

// FuzzReceiver drives buffer, detector and report with arbitrary frames.
func FuzzReceiver(f *testing.F) {
	f.Add([]byte{0, 0, 60, 0, 90, 0, 2, 80, 1, 1, 60, 3, 40, 100, 0, 60, 60, 4, 0, 0})
	f.Add([]byte{0, 250, 1, 0, 1, 250, 0, 128, 255, 0, 255, 128, 5, 99, 99, 0, 1, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		// A signed exponential argument: 0 .. about 2^62.
		arg := func(b byte) time.Duration {
			v := time.Duration(math.Exp2(float64(b&0x7f) / 2.05))
			if b >= 0x80 {
				return -v
			}

			return v
		}
		j := NewJitterBuffer(JitterBufferConfig{})
		var freezes FreezeDetector
		var r Report
		arrival, capture := epoch(), time.Duration(0)
		var last time.Time
		frames := 0
		for len(ops) >= 3 {
			op := ops[0] % 8
			if frames > 0 || op != 7 {
				arrival = arrival.Add(arg(ops[1]))
			}
			capture += arg(ops[2]) // may wrap
			ops = ops[3:]
			switch op {
			case 4:
				freezes.OnPause()
				r.OnPause()
			case 5:
				r.Discard()
			case 6:
				r.Merge(&Report{})
				r.Close(arrival)
			default:
				render, ok := j.OnFrame(arrival, capture, op != 3)
				if !ok {
					r.OnSkipped()

					continue
				}
				frames++
				if render.Before(last) {
					t.Fatalf("shown at %v, before the last frame at %v", render, last)
				}
				if op == 3 {
					t.Fatal("an incomplete frame is shown")
				}
				if wait := render.Sub(arrival); wait < 10*ms {
					t.Fatalf("shown %v after arrival", wait)
				}
				last = render
				freezes.OnFrameRendered(render)
				latency, ok := j.Latency()
				if !ok {
					t.Fatal("no latency after a frame")
				}
				r.OnFrame(render, latency)
			}
			st := freezes.Stats()
			if st.Frozen < 0 || st.Frozen > st.Playback || st.Paused < 0 || st.Count > st.Frames || st.Frames != frames {
				t.Fatalf("%+v after %d frames", st, frames)
			}
			if r := st.Ratio(); !(r >= 0 && r <= 1) {
				t.Fatalf("ratio %v", r)
			}
			if _, err := r.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkJitterBuffer(b *testing.B) {
	j := NewJitterBuffer(JitterBufferConfig{})
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		network := time.Duration(n*7919%100) * ms
		j.OnFrame(epoch().Add(captured(n)+network), captured(n), true)
	}
}

func TestSaturation(t *testing.T) {
	const lowest, highest = time.Duration(math.MinInt64), time.Duration(math.MaxInt64)
	for _, c := range []struct{ got, want time.Duration }{
		{plus(1, 2), 3},
		{plus(highest, 1), highest},
		{plus(lowest, -1), lowest},
		{plus(lowest, lowest), lowest},
		{plus(highest, lowest), -1},
		{minus(1, 2), -1},
		{minus(highest, -1), highest},
		{minus(0, lowest), highest},
		{minus(lowest, 1), lowest},
		{minus(lowest, lowest), 0},
		{minus(-1, lowest), highest},
	} {
		if c.got != c.want {
			t.Errorf("%d, want %d", c.got, c.want)
		}
	}
}
