// SPDX-License-Identifier: MIT

package vp8

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// codecModel is a codec whose frames halve every so many quantizer steps.
type codecModel struct {
	bytes, perStep, noise float64
	rng                   *rand.Rand
}

func (m codecModel) size(q int, key bool) int {
	v := m.bytes * math.Exp(-m.perStep*float64(q)+m.noise*m.rng.NormFloat64())
	if key {
		v *= 6
	}

	return int(v)
}

func control() *rateControl { return &rateControl{minQ: 2, maxQ: 56, keyPercent: 300} }

// drive runs frames at a mean size and returns their sizes.
func drive(r *rateControl, m codecModel, frames int, mean float64, key bool) []int {
	var out []int
	for range frames {
		size := 0
		if want, ok := r.want(mean, key); ok {
			q := r.quantizer(want, key)
			size = m.size(q, key)
			r.encoded(size, q, key, mean)
			key = false
		}
		out = append(out, size)
	}

	return out
}

func mean(v []int) float64 {
	sum := 0
	for _, x := range v {
		sum += x
	}

	return float64(sum) / float64(len(v))
}

// Sizes follow the rate within frames, whatever the codec's slope is, and the
// mean over a second is that of the rate.
func TestRateControlFollows(t *testing.T) {
	for _, perStep := range []float64{0.06, 0.085, 0.12} {
		m := codecModel{60_000, perStep, 0.1, rand.New(rand.NewPCG(1, 1))}
		r := control()
		r.resized(640 * 360)
		drive(r, m, 60, 1250, true)
		for _, bytes := range []float64{8000, 2500, 20_000, 3000} {
			got := drive(r, m, 60, bytes, false)
			within(t, "frames 3 to 9 after a step", mean(got[3:9])/bytes, 0.85, 1.2, "of the rate")
			within(t, "the second after that", mean(got[9:39])/bytes, 0.95, 1.05, "of the rate")
		}
		// A key frame is larger, which is paid back.
		got := drive(r, m, 30, 5000, true)
		within(t, "key frame", float64(got[0])/5000, 1.5, 6, "of the mean")
		within(t, "second with a key frame", mean(got)/5000, 0.93, 1.1, "of the rate")
	}
}

func within(t *testing.T, what string, got, low, high float64, unit string) {
	t.Helper()
	if !(got >= low && got <= high) {
		t.Errorf("%s %.3g %s, want %.3g to %.3g", what, got, unit, low, high)
	}
}

// Where the coarsest quantizer is too fine frames are left out, and when the rate
// is back nothing is held against it.
func TestRateControlLeavesOut(t *testing.T) {
	m := codecModel{400_000, 0.085, 0.05, rand.New(rand.NewPCG(1, 1))}
	least := m.bytes * math.Exp(-0.085*56)
	r := control()
	r.resized(1280 * 720)
	got := drive(r, m, 300, least/4, true)
	out := 0
	for _, s := range got[60:] {
		if s == 0 {
			out++
		}
	}
	within(t, "left out", float64(out)/240, 0.7, 0.8, "")
	within(t, "rate", mean(got[60:])/(least/4), 0.9, 1.1, "of the target")
	got = drive(r, m, 30, 4*least, false)
	within(t, "second after the rate is back", mean(got)/(4*least), 0.9, 1.05, "of the target")
}

// What is known of a video is known of it in another size.
func TestRateControlResized(t *testing.T) {
	m := codecModel{200_000, 0.085, 0, rand.New(rand.NewPCG(1, 1))}
	r := control()
	r.resized(1280 * 720)
	drive(r, m, 60, 8000, true)
	r.resized(640 * 360)
	m.bytes /= 4
	want, _ := r.want(3000, true)
	q := r.quantizer(want, true)
	within(t, "key frame of the new size", float64(m.size(q, true))/want, 0.9, 1.1, "of its share")
}

// How steeply sizes fall is learned from the video, by an encoder that tells of
// every frame how large the picture is.
func TestRateControlLearnsThePower(t *testing.T) {
	for _, power := range []float64{0.8, 1.3, 2.3} {
		r := control()
		rng := rand.New(rand.NewPCG(1, 1))
		jumped := 0.0
		for n := range 600 {
			bytes := []float64{5000, 15_000}[n/10%2]
			r.resized(1280 * 720)
			want, ok := r.want(bytes, n == 0)
			if !ok {
				continue
			}
			q := r.quantizer(want, n == 0)
			size := 8000 * math.Exp(-power*(step(q)-math.Log(30))+0.02*rng.NormFloat64())
			if n == 0 {
				size *= 3
			}
			r.encoded(int(size), q, n == 0, bytes)
			if n >= 300 && n%20 == 10 {
				jumped = max(jumped, size/want, want/size)
			}
		}
		within(t, "learned", r.falls()/power, 0.88, 1.12, "of the power")
		within(t, "frames at a step up", jumped, 1, 1.25, "of what was wanted, or the other way")
	}
}

// A picture that stands still for a frame is cheap, and the next one is not: that
// one must not get the finer quantizer of a cheap video.
func TestRateControlIsNotFooledByAStandstill(t *testing.T) {
	for _, cheap := range []float64{0.5, 0.2} {
		m := codecModel{60_000, 0.085, 0.02, rand.New(rand.NewPCG(1, 1))}
		r := control()
		r.resized(640 * 360)
		drive(r, m, 60, 5000, true)
		worst := 0.0
		for range 20 {
			still := m
			still.bytes *= cheap
			drive(r, still, 1, 5000, false)
			got := drive(r, m, 29, 5000, false)
			worst = max(worst, float64(slices.Max(got))/5000)
			within(t, "rate", (mean(got)*29+cheap*5000)/30/5000, 0.93, 1.05, "of the target")
		}
		within(t, "largest frame", worst, 1, 1.45, "of the mean")
	}
}

// A key frame has to be coarse for its share. What follows it refines the picture
// step by step: a fine frame after a coarse one has all to do that the coarse one
// did not.
func TestRateControlRefinesAfterAKeyFrame(t *testing.T) {
	r := &rateControl{minQ: 2, maxQ: 56, keyPercent: 150}
	r.resized(640 * 360)
	reference := 0
	size := func(q int, key bool) int {
		v := 60_000 * math.Exp(-0.085*float64(q))
		switch {
		case key:
			v *= 6
		case q < reference:
			v *= 1 + 0.15*float64(reference-q)
		}
		reference = q

		return int(v)
	}
	const bytes = 5000
	key, largest, worst, sum := true, 0.0, 0.0, 0
	for n := range 300 {
		want, ok := r.want(bytes, key)
		if !ok {
			t.Fatal("left out")
		}
		q := r.quantizer(want, key)
		got := size(q, key)
		r.encoded(got, q, key, bytes)
		switch {
		case n < 60: // the video is not known yet
		case key:
			largest, sum = max(largest, float64(got)/bytes), sum+got
		default:
			worst, sum = max(worst, float64(got)/bytes), sum+got
		}
		key = (n+1)%60 == 0
	}
	within(t, "largest key frame", largest, 1.3, 1.9, "of the mean")
	within(t, "largest of the others", worst, 1, 1.4, "of the mean")
	within(t, "rate", float64(sum)/240/bytes, 0.95, 1.05, "of the target")
}

// The steps rise, and a step leads back to its quantizer.
func TestSteps(t *testing.T) {
	for q := range acSteps {
		if got := nearest(step(q)); got != q || q > 0 && acSteps[q] <= acSteps[q-1] {
			t.Errorf("quantizer %d: step %v, back to %d", q, acSteps[q], got)
		}
	}
	if nearest(math.Inf(-1)) != 0 || nearest(math.Inf(1)) != 63 {
		t.Error("not bounded")
	}
}
