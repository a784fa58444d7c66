// SPDX-License-Identifier: MIT

package media

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

func t0() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func mustNew(t testing.TB, cfg Config) *Source {
	t.Helper()
	if cfg.Start.IsZero() {
		cfg.Start = t0()
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func within(t *testing.T, what string, got, want, tolerance float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.4g %s, want %.4g ± %.3g", what, got, unit, want, tolerance)
	}
}

// capturer is a Source or an Audio.
type capturer interface {
	NextTimeout() time.Time
	Capture(now time.Time, b Budget) (Frame, bool)
}

var (
	_ capturer = (*Source)(nil)
	_ capturer = (*Audio)(nil)
)

// take captures what is due before an instant; before each frame at is called.
func take(t testing.TB, c capturer, until time.Time, at func(now time.Time)) []Frame {
	t.Helper()
	var fs []Frame
	for now := c.NextTimeout(); now.Before(until); now = c.NextTimeout() {
		if at != nil {
			at(now)
		}
		f, ok := c.Capture(now, Budget{})
		if !ok || f.Size < 1 || !f.Capture.Equal(now) || !c.NextTimeout().After(now) {
			t.Fatalf("%v: %+v %v, next %v", now, f, ok, c.NextTimeout())
		}
		fs = append(fs, f)
	}

	return fs
}

// link is what a frame takes with headers, bytes.
func link(f Frame) int { return f.Size + (f.Size+1199)/1200*50 }

func linkBps(fs []Frame, d time.Duration) float64 {
	sum := 0
	for _, f := range fs {
		sum += link(f)
	}

	return float64(sum) * 8 / d.Seconds()
}

func seconds(s float64) time.Time { return t0().Add(time.Duration(s * float64(time.Second))) }

func TestNewRefuses(t *testing.T) {
	for _, cfg := range []Config{
		{Kind: 9},
		{Model: 7},
		{FPS: -1},
		{FPS: 1000},
		{Lag: time.Hour},
		{Noise: -0.1},
		{Noise: math.NaN()},
		{CapBps: -1},
		{PayloadBytes: -1},
		{HeaderBytes: -1},
		{KeyFrameScale: 0.5},
		{KeyFrameScale: math.NaN()},
		{PageBytes: -1},
		{PageEvery: -1},
		{Muted: []Window{{0, 1}}},
		{Layers: DefaultLayers()},
		{Kind: Mute, Muted: []Window{{2, 1}}},
		{Kind: Mute, Muted: []Window{{0, 5}, {4, 8}}},
		{Kind: Simulcast, Layers: []Layer{}},
		{Kind: Simulcast, Layers: []Layer{{MinBps: 5, TargetBps: 4, MaxBps: 6}}},
		{Kind: Simulcast, Layers: make([]Layer, 5)},
	} {
		if _, err := New(cfg); !errors.Is(err, ErrConfig) || !strings.HasPrefix(err.Error(), "media: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("New(%+v): %v", cfg, err)
		}
	}
	for _, cfg := range []AudioConfig{{Bps: 1}, {Bps: 1e6}, {Interval: 1}, {Interval: time.Second}} {
		if _, err := NewAudio(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("NewAudio(%+v): %v", cfg, err)
		}
	}
}

// Headers included, because that is what the estimator of a link counts.
func TestCameraMeanRate(t *testing.T) {
	for _, model := range []Model{Lognormal, RFC8593} {
		for _, fps := range []int{30, 60} {
			for _, bps := range []int{200_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000} {
				sum := 0.0
				for seed := range uint64(3) {
					s := mustNew(t, Config{Seed: seed, Model: model, FPS: fps, Noise: 0.15})
					s.OnTarget(t0(), bps)
					sum += linkBps(take(t, s, seconds(10), nil), 10*time.Second) / 3
				}
				within(t, fmt.Sprintf("%v, %d fps, target %d: mean rate", model, fps, bps), sum, float64(bps), 0.03*float64(bps), "bit/s")
			}
		}
	}
}

func TestStepIsFollowed(t *testing.T) {
	for _, lag := range []time.Duration{-1, 20 * time.Millisecond, 100 * time.Millisecond} {
		s := mustNew(t, Config{Lag: lag})
		s.OnTarget(t0(), 4_000_000)
		take(t, s, seconds(1), nil)
		s.OnTarget(seconds(1), 1_000_000)
		fs := take(t, s, seconds(2), nil)
		reaction := time.Duration(-1)
		for _, f := range fs {
			switch size := link(f); {
			case size <= 4_200 && reaction < 0:
				reaction = f.Capture.Sub(seconds(1))
			case size > 4_200 && reaction >= 0:
				t.Errorf("lag %v: %d bytes after the step was followed", lag, size)
			}
		}
		most := max(lag, 0) + 2*time.Second/30
		if reaction < max(lag, 0) || reaction > most {
			t.Errorf("lag %v: followed after %v, want %v to %v", lag, reaction, max(lag, 0), most)
		}
	}
}

func TestKeyFrame(t *testing.T) {
	for _, scale := range []float64{1.5, 4, 5, 6, 12} {
		s := mustNew(t, Config{KeyFrameScale: scale})
		s.OnTarget(t0(), 1_200_000)
		take(t, s, seconds(1), nil)
		s.OnKeyFrameRequest(seconds(1))
		fs := take(t, s, seconds(3), nil)
		what := fmt.Sprintf("scale %v: ", scale)
		if !fs[0].Key {
			t.Error(what + "the next frame is not a key frame")
		}
		within(t, what+"key frame", float64(link(fs[0])), 5000*scale, 55, "bytes")
		for i, f := range fs[1:] {
			if size := link(f); f.Key || size > 5000 || size < 1190 || i > 25 && size < 4950 {
				t.Errorf("%sframe %d after it: %+v", what, i+1, f)
			}
		}
		within(t, what+"mean rate of 2 s", linkBps(fs, 2*time.Second), 1_200_000, 10_000, "bit/s")
	}
}

// Ten losses of the same frame are one.
func TestKeyFrameRequestsAreLimited(t *testing.T) {
	s := mustNew(t, Config{})
	s.OnTarget(t0(), 1_200_000)
	keys := 0
	for _, f := range take(t, s, seconds(3), s.OnKeyFrameRequest) {
		if f.Key {
			keys++
		}
	}
	within(t, "key frames in 3 s", float64(keys), 10, 0, "frames")
}

func TestSkippedFrameIsTakenBack(t *testing.T) {
	s := mustNew(t, Config{})
	s.OnTarget(t0(), 1_200_000)
	take(t, s, seconds(1), nil)
	s.OnKeyFrameRequest(seconds(1))
	for i := range 5 {
		now := s.NextTimeout()
		f, _ := s.Capture(now, Budget{})
		if !f.Key || f.Size < 20_000 || f.Size > 24_100 {
			t.Errorf("frame %d: %+v, want the key frame, and not larger", i, f)
		}
		s.OnSkipped(now)
		s.OnSkipped(now)
	}
	// Nothing left: nothing to pay.
	s.key = keyNone
	f, _ := s.Capture(s.NextTimeout(), Budget{})
	within(t, "the next frame", float64(link(f)), 5000, 50, "bytes")
}

func TestBudgetIsObeyed(t *testing.T) {
	for k := Camera; k <= Simulcast; k++ {
		s := mustNew(t, Config{Kind: k, Noise: 0.15})
		s.OnTarget(t0(), 1_000_000)
		obeyed := 0
		for i := range 600 {
			now := s.NextTimeout()
			if i%50 == 0 {
				s.OnKeyFrameRequest(now)
			}
			bytes := 100 + i*10
			f, _ := s.Capture(now, Budget{bytes, true})
			if f.Size > bytes || k == Camera && f.Size != bytes || f.Key != (i%50 == 0 || f.Key && k >= Mute) {
				t.Fatalf("%v: %+v, want %d bytes", k, f, bytes)
			}
			if f.Size == bytes {
				obeyed++
			}
		}
		if obeyed < 10 {
			t.Errorf("%v: %d frames as large as allowed", k, obeyed)
		}
	}
}

func TestAppLimited(t *testing.T) {
	s := mustNew(t, Config{Kind: AppLimited, Noise: 0.15, Seed: 3, CapBps: 2_000_000})
	s.OnTarget(t0(), 8_000_000)
	fs := take(t, s, seconds(120), nil)
	within(t, "mean rate", linkBps(fs, 2*time.Minute)/1e6, 1.3, 0.3, "Mbit/s")
	low, high := 9.0, 0.0
	for i := 0; i+15 <= len(fs); i += 15 {
		r := linkBps(fs[i:i+15], 500*time.Millisecond) / 1e6
		low, high = min(low, r), max(high, r)
	}
	within(t, "lowest 500 ms", low, 0.65, 0.15, "Mbit/s")
	within(t, "highest 500 ms", high, 2, 0.2, "Mbit/s")
}

func TestScreenShare(t *testing.T) {
	s := mustNew(t, Config{Kind: ScreenShare, Noise: 0.15, Seed: 1})
	s.OnTarget(t0(), 2_000_000)
	fs := take(t, s, seconds(120), nil)
	within(t, "frame rate", float64(len(fs))/120, 10, 0.4, "fps")
	small, large, bytes := 0, 0, 0
	for i, f := range fs {
		if f.Size < 3_000 {
			small++
		}
		if f.Size > 60_000 {
			large++
		}
		bytes += f.Size
		if i == 0 {
			continue
		}
		if d := f.Capture.Sub(fs[i-1].Capture); d < time.Second/15 || d > time.Second*2/15 {
			t.Errorf("frame %d after %v", i, d)
		}
	}
	within(t, "small frames", float64(small)/float64(len(fs)), 0.9, 0.08, "of all")
	within(t, "large frames", float64(large), 20, 12, "in 2 min")
	within(t, "pages' bytes", float64(bytes)/1e6, 24*0.113+0.7, 1.2, "MB")

	// A page that does not fit is sent nevertheless, later.
	slow := mustNew(t, Config{Kind: ScreenShare, Seed: 1, PageEvery: time.Hour})
	slow.OnTarget(t0(), 500_000)
	slow.Capture(t0(), Budget{})
	done := 0.0
	for _, f := range take(t, slow, seconds(20), nil) {
		if slow.screen.unsent == 0 && done == 0 {
			done = f.Capture.Sub(t0()).Seconds()
		}
	}
	if page := slow.screen.page; slow.screen.unsent != 0 || page < 30_000 {
		t.Errorf("%v of %v bytes unsent after 20 s", slow.screen.unsent, page)
	}
	// Refreshed when somebody joins.
	slow.OnKeyFrameRequest(seconds(20))
	f, _ := slow.Capture(slow.NextTimeout(), Budget{})
	if !f.Key || f.Size < 25_000 || slow.screen.unsent == 0 {
		t.Errorf("%+v, want a key frame of 31 kB", f)
	}
}

func TestMute(t *testing.T) {
	s := mustNew(t, Config{Kind: Mute, Muted: []Window{{time.Second, 2 * time.Second}, {2 * time.Second, 2500 * time.Millisecond}, {3 * time.Second, 3010 * time.Millisecond}}})
	s.OnTarget(t0(), 1_200_000)
	var keys []int64
	for _, f := range take(t, s, seconds(4), nil) {
		at := f.Capture.Sub(t0())
		if at >= time.Second && at < 2500*time.Millisecond {
			t.Errorf("a frame at %v", at)
		}
		if f.Key {
			keys = append(keys, at.Milliseconds())
			if at > 0 && f.Size < 20_000 {
				t.Errorf("%+v: not the size of a key frame", f)
			}
		}
	}
	if fmt.Sprint(keys) != "[0 2533 3033]" {
		t.Errorf("key frames at %v ms", keys)
	}
	s = mustNew(t, Config{Kind: Mute, Muted: []Window{{0, time.Second}}})
	if d := s.NextTimeout().Sub(t0()); d < time.Second || d > 1034*time.Millisecond {
		t.Errorf("muted from the start: first frame at %v", d)
	}
}

func TestSimulcast(t *testing.T) {
	s := mustNew(t, Config{Kind: Simulcast})
	for _, step := range []struct{ bps, layer, rate int }{
		{100_000, 0, 100_000},
		{300_000, 0, 200_000}, // 150 for the lowest leaves less than 180
		{340_000, 1, 340_000},
		{320_000, 1, 320_000}, // it stays down to 300
		{290_000, 0, 200_000},
		{2_000_000, 2, 2_000_000},
		{9_000_000, 2, 3_150_000},
	} {
		from := s.NextTimeout()
		s.OnTarget(from, step.bps)
		take(t, s, from.Add(500*time.Millisecond), nil) // lag, key frame, payback
		from = s.NextTimeout()
		fs := take(t, s, from.Add(2*time.Second), nil)
		for _, f := range fs {
			if f.Layer != step.layer || f.Key {
				t.Fatalf("at %d bit/s: %+v, want layer %d", step.bps, f, step.layer)
			}
		}
		within(t, fmt.Sprintf("rate at %d", step.bps), linkBps(fs, 2*time.Second), float64(step.rate), 0.02*float64(step.rate), "bit/s")
	}
}

func TestSimulcastSwitchCostsAKeyFrame(t *testing.T) {
	s := mustNew(t, Config{Kind: Simulcast})
	s.OnTarget(t0(), 1_200_000) // 150 + 500 + 550 does not carry the third
	take(t, s, seconds(1), nil)
	for i, bps := range []int{2_000_000, 400_000} {
		s.OnTarget(seconds(float64(1+i)), bps)
		var key []Frame
		for _, f := range take(t, s, seconds(float64(2+i)), nil) {
			if f.Key {
				key = append(key, f)
			}
		}
		if len(key) != 1 || key[0].Layer != 2-i {
			t.Fatalf("to %d bit/s: key frames %+v, want one", bps, key)
		}
		// Only what is new is large: 1350 of 2000, 250 of 400 kbit/s.
		frame := float64(bps) / 240
		share := []float64{1.35 / 2, 0.25 / 0.4}[i]
		within(t, "size of the switch", float64(link(key[0])), frame*(1+4*share), 60, "bytes")
	}
}

func TestRFC8593(t *testing.T) {
	s := mustNew(t, Config{Model: RFC8593})
	s.OnTarget(t0(), 500_000)
	take(t, s, seconds(2), nil)
	s.OnTarget(seconds(2), 1_000_000)
	fs := take(t, s, seconds(40), nil)
	for link(fs[0]) < 6000 && fs[0].Capture.Before(seconds(2.1)) {
		fs = fs[1:] // within the lag
	}
	// The frame that opens the transient is 13.5 kB at 1 Mbit/s.
	within(t, "first frame of the transient", float64(link(fs[0]))*4170/13500, 4170, 0.6*4170, "bytes")
	sum := 0.0
	for _, f := range fs[:8] {
		sum += float64(link(f))
	}
	within(t, "transient", sum, 8*4170, 0.3*8*4170, "bytes")
	if largest := fs[0].Size; fs[1].Size > largest/2 || fs[2].Size > largest/2 {
		t.Errorf("%d, %d, %d bytes: no burst", fs[0].Size, fs[1].Size, fs[2].Size)
	}
	// Steady state: the mean absolute deviation of a Laplacian is its scale.
	var size, interval float64
	for i, f := range fs[100:] {
		size += math.Abs(float64(link(f))/4167-1) / float64(len(fs)-100)
		interval += math.Abs(float64(f.Capture.Sub(fs[99+i].Capture))/(float64(time.Second)/30)-1) / float64(len(fs)-100)
	}
	within(t, "deviation of sizes", size, 0.15, 0.015, "of the mean")
	within(t, "deviation of intervals", interval, 0.15, 0.015, "of the mean")

	// Two changes within tau_v: the second one waits.
	s = mustNew(t, Config{Model: RFC8593})
	s.OnTarget(t0(), 1_000_000)
	take(t, s, seconds(1), nil)
	s.OnTarget(seconds(1), 1_100_000)
	take(t, s, seconds(1.06), nil)
	s.OnTarget(seconds(1.06), 4_000_000)
	for _, f := range take(t, s, seconds(1.2), nil) {
		if s.reaction.bps != 1_100_000 {
			t.Errorf("%v: rate %d", f.Capture.Sub(t0()), s.reaction.bps)
		}
	}
	take(t, s, seconds(1.3), nil)
	within(t, "rate after tau_v", float64(s.reaction.bps), 4_000_000, 0, "bit/s")
}

func TestAudio(t *testing.T) {
	a, err := NewAudio(AudioConfig{Start: t0()})
	if err != nil {
		t.Fatal(err)
	}
	fs := take(t, a, seconds(10), nil)
	within(t, "packets", float64(len(fs)), 500, 0, "in 10 s")
	for _, f := range fs {
		if f.Size != 80 || !f.Audio || f.Key {
			t.Fatalf("%+v", f)
		}
	}
	if a, err = NewAudio(AudioConfig{Start: t0(), DTX: true, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	fs = take(t, a, seconds(300), nil)
	// Spurts are 39 % of the time, the coded begin of each pause about 6 %.
	within(t, "share with DTX", float64(len(fs))/15_000, 0.47, 0.06, "of all packets")
	longest := time.Duration(0)
	for i := range fs[1:] {
		longest = max(longest, fs[i+1].Capture.Sub(fs[i].Capture))
	}
	within(t, "longest gap", longest.Seconds(), 0.4, 0, "s")
}

// Ten seconds of every kind with the same targets: rises at 3 s, falls at 6 s, a
// key frame is asked for at 8 s.
func TestGolden(t *testing.T) {
	var b strings.Builder
	cfgs := []Config{
		{Kind: Camera},
		{Kind: Camera, FPS: 60, StartLarge: true},
		{Kind: Camera, Model: RFC8593},
		{Kind: AppLimited},
		{Kind: ScreenShare},
		{Kind: Mute, Muted: []Window{{4 * time.Second, 5 * time.Second}}},
		{Kind: Simulcast},
	}
	for _, cfg := range cfgs {
		cfg.Noise, cfg.Seed = 0.15, 1
		s := mustNew(t, cfg)
		fmt.Fprintf(&b, "%v, %v\n%6s %6s %8s %7s %5s %5s  %s\n", cfg.Kind, cfg.Model, "ms", "frames", "kbit/s", "largest", "keys", "layer", "first sizes, x10 bytes")
		s.OnTarget(t0(), 500_000)
		for part := range 20 {
			from := seconds(float64(part) / 2)
			switch part {
			case 6:
				s.OnTarget(from, 2_500_000)
			case 12:
				s.OnTarget(from, 300_000)
			case 16:
				s.OnKeyFrameRequest(from)
			}
			row(&b, part*500, take(t, s, from.Add(500*time.Millisecond), nil))
		}
	}
	for _, dtx := range []bool{false, true} {
		a, err := NewAudio(AudioConfig{Start: t0(), Seed: 1, DTX: dtx})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "audio, DTX %v\n", dtx)
		for part := range 10 {
			row(&b, part*500, take(t, a, seconds(float64(part+1)/2), nil))
		}
	}
	golden.Assert(t, b.String(), "kinds.golden")
}

func row(b *strings.Builder, ms int, fs []Frame) {
	largest, keys, layer := 0, 0, 0
	for _, f := range fs {
		largest = max(largest, f.Size)
		layer = max(layer, f.Layer)
		if f.Key {
			keys++
		}
	}
	fmt.Fprintf(b, "%6d %6d %8.0f %7d %5d %5d ", ms, len(fs), linkBps(fs, 500*time.Millisecond)/1000, largest, keys, layer)
	for _, f := range fs[:min(len(fs), 8)] {
		fmt.Fprintf(b, " %d", (f.Size+5)/10)
	}
	b.WriteByte('\n')
}

func TestNothingAllocates(t *testing.T) {
	for k := Camera; k <= Simulcast; k++ {
		s := mustNew(t, Config{Kind: k, Noise: 0.15})
		bps := 0
		step := func() {
			now := s.NextTimeout()
			bps += 1000
			s.OnTarget(now, bps)
			s.Capture(now, Budget{})
			s.OnSkipped(now)
		}
		for range 3000 {
			step()
		}
		if n := testing.AllocsPerRun(1000, step); n != 0 {
			t.Errorf("%v: %v allocations a frame", k, n)
		}
	}
	a, err := NewAudio(AudioConfig{DTX: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() { a.Capture(a.NextTimeout(), Budget{}) }); n != 0 {
		t.Errorf("audio: %v allocations a packet", n)
	}
}

func BenchmarkCapture(b *testing.B) {
	s := mustNew(b, Config{Noise: 0.15})
	s.OnTarget(t0(), 5_000_000)
	b.ReportAllocs()
	for b.Loop() {
		now := s.NextTimeout()
		s.OnTarget(now, 5_000_000+int(now.UnixNano()%1000))
		s.Capture(now, Budget{})
	}
}
