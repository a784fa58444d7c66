// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"testing"
	"time"
)

// sawtooth is the input of libwebrtc's jitter_estimator_unittest: delays of
// -5..5 times an amplitude in ms, and sizes that follow them.
type sawtooth struct {
	e         jitterEstimator
	now       time.Duration
	n         int
	amplitude int
}

func newSawtooth(amplitude int) *sawtooth {
	return &sawtooth{e: newJitterEstimator(), amplitude: amplitude}
}

func (s *sawtooth) delayMs() int { return (s.n%11 - 5) * s.amplitude }

func (s *sawtooth) size() int { return 1000 + s.delayMs()/5 }

func (s *sawtooth) step(gap time.Duration) {
	s.e.update(s.now, time.Duration(s.delayMs())*ms, s.size())
	s.now += gap
	s.n++
}

func (s *sawtooth) run(frames, fps int) {
	for range frames {
		s.step((time.Second / time.Duration(fps)).Truncate(time.Microsecond))
	}
}

func (s *sawtooth) ms() float64 { return s.e.delay(s.now).Seconds() * 1000 }

func TestJitterOfSawtooth(t *testing.T) {
	s := newSawtooth(10)
	s.run(60*30, 30)
	// The value that libwebrtc's own test pins.
	if got := roundMs(s.e.delay(s.now)); got != 54 {
		t.Errorf("jitter of the sawtooth %d ms, want 54", got)
	}
	steady := s.ms()
	for _, c := range []struct {
		name           string
		delayMs, bytes int
		low, high      float64 // of the steady jitter
	}{
		{"a frame like the others", 0, 1000, 0.99, 1.01},
		{"a frame of 2 times the size", s.delayMs(), 2 * s.size(), 1.0001, 2},
		{"a frame of 10 times the size", s.delayMs(), 10 * s.size(), 1.25, 100},
		{"a congested frame counts as noise", -10 * s.delayMs(), s.size() / 10, 1.0001, 2},
	} {
		c1 := *s
		c1.e.update(s.now, time.Duration(c.delayMs)*ms, c.bytes)
		if got := c1.ms() / steady; got < c.low || got > c.high {
			t.Errorf("%s: %.4f of the steady jitter, want %v..%v", c.name, got, c.low, c.high)
		}
	}
}

// At 5 fps and below there is no jitter delay, at 10 fps there is all of it.
func TestJitterScalesWithFrameRate(t *testing.T) {
	for _, c := range []struct {
		gap  time.Duration
		want float64 // ms
	}{
		{300 * ms, 0},
		{200 * ms, 0},
		{160 * ms, 0.25 * 11}, // 6.25 fps
		{125 * ms, 0.6 * 11},  // 8 fps
		{100 * ms, 11},
		{33 * ms, 11},
	} {
		e := newJitterEstimator()
		now := time.Duration(0)
		for range 100 {
			e.update(now, 0, 1000)
			now += c.gap
		}
		// Without jitter: 1 ms threshold, 10 ms system, nothing for sizes
		// once the initial ones are forgotten.
		within(t, c.gap.String(), e.delay(now).Seconds()*1000, c.want, 0.02, "ms")
	}
	// Not known yet: no scaling.
	e := newJitterEstimator()
	e.update(0, 0, 500)
	e.update(10*ms, 0, 500)
	within(t, "two frames", e.delay(time.Second).Seconds()*1000, 11, 0.001, "ms")
}

func TestNoiseThreshold(t *testing.T) {
	for _, c := range []struct{ variance, want float64 }{
		{1, 1},
		{100, 1},             // 2.33*10 - 30 < 1
		{13.3 * 13.3, 1},     // 30.99 - 30
		{14 * 14, 2.62},      // 32.62 - 30
		{100 * 100, 203},     // 233 - 30
		{1000 * 1000, 2300.}, // 2330 - 30
	} {
		e := newJitterEstimator()
		e.noiseVar = c.variance
		within(t, "threshold", e.noiseThreshold(), c.want, 1e-9, "ms")
	}
}

// steadyEstimator has seen frames of 1000 B without jitter.
func steadyEstimator() jitterEstimator {
	e := newJitterEstimator()
	for n := range 400 {
		e.update(time.Duration(n)*33*ms, 0, 1000)
	}

	return e
}

func TestOutlierRules(t *testing.T) {
	for _, c := range []struct {
		name              string
		variationMs, size int
		slope, noise      bool // moves
	}{
		{"an ordinary frame", 1, 1100, true, true},
		// 15 sd are out of reach of a clamped sample with a fresh filter, see below.
		{"a late frame of ordinary size", 500, 1000, true, true},
		// A quarter of the largest frame smaller than the one before.
		{"right behind a large frame", -3, 700, false, true},
		{"not quite so", -3, 800, true, true},
		{"of unknown size", 500, 0, false, false},
	} {
		e := steadyEstimator()
		before := e
		e.update(400*33*ms, time.Duration(c.variationMs)*ms, c.size)
		if got := e.filter != before.filter; got != c.slope {
			t.Errorf("%s: filter moved %v, want %v", c.name, got, c.slope)
		}
		if got := e.noiseSamples != before.noiseSamples || e.noiseAvg != before.noiseAvg; got != c.noise {
			t.Errorf("%s: noise moved %v, want %v", c.name, got, c.noise)
		}
	}
}

// A deviation of 15 sd is refused, and counts as one of 15 sd in the noise,
// unless the frame is an outlier by its size.
func TestSizeOutlierRescuesDelayOutlier(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int
		refuse bool
	}{
		{"ordinary size", 1000, true},
		{"large", 5000, false},
	} {
		e := steadyEstimator()
		e.filter.slope, e.filter.offset = 1e-6, 100 // far from what comes
		before := e
		sd := math.Sqrt(e.noiseVar)
		e.update(400*33*ms, 0, c.size)
		if got := e.filter == before.filter; got != c.refuse {
			t.Errorf("%s: refused %v, want %v", c.name, got, c.refuse)
		}
		alpha := 399.0 / 400
		alpha = math.Pow(alpha, 30*0.033)
		deviation := -100.0
		if c.refuse {
			deviation = -15 * sd
		}
		within(t, c.name+": noise", e.noiseAvg, alpha*before.noiseAvg+(1-alpha)*deviation, 0.01, "ms")
	}
}

// One sample counts as at most 3.5 sd + 0.5 ms.
func TestDelayClamp(t *testing.T) {
	for _, variationMs := range []int{-4, 4, -10_000, 10_000} {
		a, b := steadyEstimator(), steadyEstimator()
		a.update(400*33*ms, time.Duration(variationMs)*ms, 1000)
		b.update(400*33*ms, time.Duration(min(max(variationMs, -4), 4))*ms, 1000)
		if a.noiseAvg != b.noiseAvg || a.filter != b.filter {
			t.Errorf("%d ms is not clamped to 4 ms at a noise of 1 ms", variationMs)
		}
	}
}

// The filter finds the rate of a link: 10 ms for each 1000 B.
func TestFilterFindsSlope(t *testing.T) {
	f := newVariationFilter()
	last := 0.0
	for n := range 2000 {
		size := 1000 + 3000*float64(n%7)
		f.update((size-last)*0.01, size-last, 19000, 4)
		last = size
	}
	within(t, "slope", f.slope*1000, 10, 0.2, "ms/kB")
	within(t, "offset", f.offset, 0, 0.2, "ms")
	// Bigger frames sooner: no negative slope.
	for range 2000 {
		f.update(-10, 5000, 19000, 4)
	}
	if f.slope != minSlope {
		t.Errorf("slope %v, want the least %v", f.slope, minSlope)
	}
	before := f
	f.update(1, 1, 0.5, 1)
	f.update(1, 1, 100, 0)
	if f != before {
		t.Error("updated with an impossible size or variance")
	}
}

// The quirk: noise enters as a standard deviation.
func TestFilterNoiseIsNotSquared(t *testing.T) {
	f := newVariationFilter()
	f.update(10, 0, 1000, 100*100)
	// K = P / (P + 301*100), P = 100 + 1e-10.
	within(t, "offset", f.offset, 10*100/(100+301*100.0), 1e-6, "ms")
}

func TestDelayVariation(t *testing.T) {
	var v delayVariation
	for i, c := range []struct {
		rtp  uint32
		at   time.Duration
		want time.Duration
		ok   bool
	}{
		{4294967295 - 2999, 0, 0, true},
		{0, 40 * ms, 40*ms - 33333*time.Microsecond, true}, // wraps
		{0, 50 * ms, 0, false},                             // again
		{4294967000, 60 * ms, 0, false},                    // older
		{3000, 60 * ms, -13333 * time.Microsecond, true},   // since the last good one
	} {
		got, ok := v.next(c.rtp, c.at)
		if got != c.want || ok != c.ok {
			t.Errorf("frame %d: %v, %v, want %v, %v", i, got, ok, c.want, c.ok)
		}
	}
}

func TestRoundMs(t *testing.T) {
	for _, c := range []struct {
		us   int64
		want int64
	}{{0, 0}, {499, 0}, {500, 1}, {1499, 1}, {-500, 0}, {-501, -1}, {-1500, -1}, {-1501, -2}, {7500, 8}} {
		if got := roundMs(time.Duration(c.us) * time.Microsecond); got != c.want {
			t.Errorf("%d us are %d ms, want %d", c.us, got, c.want)
		}
	}
}
