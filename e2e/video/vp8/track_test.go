// SPDX-License-Identifier: MIT

//go:build codec

package vp8

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pion/mediadevices/pkg/codec/openh264"
	"golang.org/x/sys/unix"

	"github.com/gbrcc/gbrcc/e2e/video"
	"github.com/gbrcc/gbrcc/e2e/video/devices"
)

const (
	fps    = 30
	second = fps
	// phases of a course are as long as this.
	phase = 7 * second
)

// course is what an encoder has to follow.
var course = []int{300_000, 2_000_000, 500_000}

// candidate is an encoder to choose from.
type candidate struct {
	name    string
	builder func(t *testing.T) video.Builder
}

func ours() video.Builder { return devices.Encoder(&Builder{}, true) }

func candidates() []candidate {
	return []candidate{
		{"libvpx VP8", func(*testing.T) video.Builder { return ours() }},
		{"openh264, leaves out", func(t *testing.T) video.Builder {
			p, err := openh264.NewParams()
			if err != nil {
				t.Fatal(err)
			}
			p.IntraPeriod, p.MultipleThreadIdc, p.SliceMode = 3000, 1, openh264.SMSingleSlice

			return devices.Encoder(&p, false)
		}},
	}
}

// trial is one run of an encoder through the course.
type trial struct {
	up, down float64 // seconds until the target is followed; NaN: never
	error    float64 // rms of the rate over a third of a second, settled, relative
	skipped  float64 // frames, relative
	largest  float64 // frame in settled phases, of the mean one, key frames not counted
	cpu      float64 // ms a frame
}

// settle is after how many frames the rate over every following second, up to
// the end of the phase, is within 10 % of the target; NaN for never.
func settle(link []int, target int) float64 {
	want := float64(target) / 8
	for i := len(link) - second; i >= 0; i-- {
		sum := 0
		for _, b := range link[i : i+second] {
			sum += b
		}
		if math.Abs(float64(sum)/want-1) > 0.10 {
			if i == len(link)-second {
				return math.NaN()
			}

			return float64(i+1) / fps
		}
	}

	return 0
}

// cpuTime is this thread's.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}

	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// run sends an encoder through the course, in no time. The pattern begins at
// another place for each seed.
func run(t *testing.T, b video.Builder, src video.Source, seed int) trial {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	link, keys := make([]int, phase*len(course)), make([]bool, phase*len(course))
	first, target := 12*seed, 0
	p, err := video.New(video.Config{
		Builder: b, Source: src, FPS: fps, Target: func() int { return target },
		Write: func(f video.Frame) error {
			packets := (len(f.Data) + video.PacketBytes - 1) / video.PacketBytes
			link[f.Number-first], keys[f.Number-first] = len(f.Data)+packets*video.Overhead, f.Key

			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	began := cpuTime(t)
	for n := range link {
		target = course[n/phase]
		if err := p.Step(first+n, time.Duration(n)*time.Second/fps); err != nil {
			t.Fatal(err)
		}
	}
	st := p.Stats()
	out := trial{
		up: settle(link[phase:2*phase], course[1]), down: settle(link[2*phase:], course[2]),
		skipped: float64(st.SkippedByEncoder) / float64(st.Captured),
		cpu:     (cpuTime(t) - began).Seconds() * 1000 / float64(st.Captured),
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	n := 0
	for k, bps := range course {
		settled := link[k*phase+4*second : (k+1)*phase]
		for i := 0; i+10 <= len(settled); i += 10 {
			sum := 0
			for j, b := range settled[i : i+10] {
				sum += b
				if !keys[k*phase+4*second+i+j] {
					out.largest = max(out.largest, float64(b)/(float64(bps)/8/fps))
				}
			}
			off := float64(sum)/(float64(bps)/8/3) - 1
			out.error += off * off
			n++
		}
	}
	out.error = math.Sqrt(out.error / float64(n))

	return out
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	for i := range v {
		if math.IsNaN(v[i]) {
			v[i] = math.Inf(1) // never is late
		}
	}
	slices.Sort(v)

	return v[len(v)/2]
}

// over is the median of a figure of all runs.
func over(runs []trial, of func(trial) float64) float64 {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = of(r)
	}

	return median(v)
}

func pattern(t *testing.T, w, h int) *video.Pattern {
	t.Helper()
	p, err := video.NewPattern(w, h, 1)
	if err != nil {
		t.Fatal(err)
	}

	return p
}

// Which encoder follows a target best: 720p30, 300, 2000 and 500 kbit/s for 7 s
// each, medians of 5 runs. The table is left behind as encoders.md.
func TestEncoders(t *testing.T) {
	src := pattern(t, 1280, 720)
	var table strings.Builder
	table.WriteString("| encoder, 720p30 | up, s | down, s | error over 1/3 s, % | left out, % | largest frame / mean | CPU, ms a frame |\n|---|---|---|---|---|---|---|\n")
	var figures []trial
	for _, c := range candidates() {
		var runs []trial
		for seed := range 5 {
			runs = append(runs, run(t, c.builder(t), src, seed))
		}
		m := trial{
			up:      over(runs, func(r trial) float64 { return r.up }),
			down:    over(runs, func(r trial) float64 { return r.down }),
			error:   over(runs, func(r trial) float64 { return r.error }),
			skipped: over(runs, func(r trial) float64 { return r.skipped }),
			largest: over(runs, func(r trial) float64 { return r.largest }),
			cpu:     over(runs, func(r trial) float64 { return r.cpu }),
		}
		figures = append(figures, m)
		fmt.Fprintf(&table, "| %s | %.2f | %.2f | %.1f | %.1f | %.1f | %.1f |\n",
			c.name, m.up, m.down, 100*m.error, 100*m.skipped, m.largest, m.cpu)
	}
	t.Log("\n" + table.String())
	leave(t, "encoders.md", table.String())
	best := figures[0]
	within(t, "time to follow upwards", best.up, 0, 1.4, "s")
	within(t, "time to follow downwards", best.down, 0, 0.9, "s")
	within(t, "error over 1/3 s", 100*best.error, 0.5, 10, "%")
	within(t, "left out", 100*best.skipped, 0, 5, "%")
	within(t, "largest frame", best.largest, 1, 1.6, "of the mean")
}

// Frames have about the bytes of their budgets, which change by the frame.
func TestBudget(t *testing.T) {
	src := pattern(t, 640, 360)
	const frames = 20 * second
	rng := rand.New(rand.NewPCG(1, 2))
	var budgets, sizes []float64
	budget := 0
	p, err := video.New(video.Config{
		Builder: ours(), Source: src, FPS: fps, FixedSize: true, Target: func() int { return 1_500_000 },
		Budget: func() (int, bool) {
			budget = int(1_500_000 / 8 / fps * (0.3 + 0.7*rng.Float64()))

			return budget, true
		},
		Write: func(f video.Frame) error {
			if f.Number > 2*second {
				packets := (len(f.Data) + video.PacketBytes - 1) / video.PacketBytes
				budgets = append(budgets, float64(budget))
				sizes = append(sizes, float64(len(f.Data)+packets*video.Overhead))
			}

			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range frames {
		if err := p.Step(n, time.Duration(n)*time.Second/fps); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	var ratios []float64
	for i, s := range sizes {
		ratios = append(ratios, s/budgets[i])
	}
	slices.Sort(ratios)
	at := func(q float64) float64 { return ratios[int(q*float64(len(ratios)))] }
	r := correlation(budgets, sizes)
	t.Logf("%d frames: size / budget p5 %.2f, p50 %.2f, p95 %.2f; correlation %.2f", len(sizes), at(0.05), at(0.5), at(0.95), r)
	leave(t, "budget.md", fmt.Sprintf("Budgets of 0.3 to 1.0 of 1.5 Mbit/s at 360p30: size / budget p5 %.2f, p50 %.2f, p95 %.2f; correlation %.2f\n",
		at(0.05), at(0.5), at(0.95), r))
	within(t, "median of size / budget", at(0.5), 0.85, 1.15, "")
	within(t, "p95 of size / budget", at(0.95), 1, 1.25, "")
	within(t, "correlation of size and budget", r, 0.85, 1, "")
}

func correlation(a, b []float64) float64 {
	var sa, sb, saa, sbb, sab float64
	n := float64(len(a))
	for i := range a {
		sa += a[i]
		sb += b[i]
		saa += a[i] * a[i]
		sbb += b[i] * b[i]
		sab += a[i] * b[i]
	}

	return (n*sab - sa*sb) / math.Sqrt((n*saa-sa*sa)*(n*sbb-sb*sb))
}

// leave writes something to be looked at.
func leave(t *testing.T, name, text string) {
	t.Helper()
	dir := os.Getenv("GBRCC_ARTIFACTS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "out", "video")
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}
