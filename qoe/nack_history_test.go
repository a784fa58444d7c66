// SPDX-License-Identifier: MIT

package qoe

import (
	"testing"
	"time"
)

func TestNACKAddOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames int
		rtt    time.Duration
		after  time.Duration
		want   time.Duration
	}{
		{"no frame", 0, 100 * ms, 0, 0},
		{"two frames", 2, 100 * ms, 0, 0},
		{"three frames", 3, 100 * ms, 0, 90 * ms},
		{"more frames", 30, 100 * ms, 0, 90 * ms},
		{"no round trip known", 3, 0, 0, 0},
		{"at the cap", 3, 222223 * time.Microsecond, 0, 200 * ms},
		{"a long round trip", 3, 2 * time.Second, 0, 200 * ms},
		{"a minute later", 3, 100 * ms, time.Minute, 90 * ms},
		{"forgotten", 3, 100 * ms, time.Minute + time.Microsecond, 0},
	} {
		var h nackHistory
		h.rtt.update(c.rtt)
		for range c.frames {
			h.onFrame(time.Second)
		}
		if got := h.addOn(time.Second + c.after); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	// Once forgotten, it takes three again.
	var h nackHistory
	h.rtt.update(100 * ms)
	for range 3 {
		h.onFrame(0)
	}
	h.addOn(2 * time.Minute)
	h.onFrame(2 * time.Minute)
	if got := h.addOn(2 * time.Minute); got != 0 {
		t.Errorf("add-on %v of one frame", got)
	}
}

func TestRTTFilter(t *testing.T) {
	feed := func(f *rttFilter, n int, rtt time.Duration) {
		for range n {
			f.update(rtt)
		}
	}
	var f rttFilter
	feed(&f, 10, 0) // nothing is known yet
	feed(&f, 1, -ms)
	if f.max != 0 || f.samples != 0 {
		t.Errorf("%+v after no sample", f)
	}
	feed(&f, 40, 100*ms)
	feed(&f, 4, 300*ms)
	if f.max != 300*ms || f.avg != 100*ms {
		t.Errorf("four samples of 300 ms: max %v, avg %v; want 300 ms, 100 ms", f.max, f.avg)
	}
	feed(&f, 1, 300*ms)
	if f.max != 300*ms || f.avg != 300*ms {
		t.Errorf("five samples are a jump: max %v, avg %v", f.max, f.avg)
	}
	f = rttFilter{}
	feed(&f, 40, 300*ms)
	feed(&f, 4, 50*ms)
	if f.max != 300*ms {
		t.Errorf("max %v before the jump down is sure", f.max)
	}
	feed(&f, 1, 50*ms)
	if f.max != 50*ms {
		t.Errorf("max %v after a jump down to 50 ms", f.max)
	}
	feed(&f, 10, time.Hour)
	if f.max != 3*time.Second {
		t.Errorf("max %v, want 3 s", f.max)
	}
}

// A single long round trip is forgotten when the average stays low.
func TestRTTFilterDrift(t *testing.T) {
	var f rttFilter
	for range 40 {
		f.update(100 * ms)
	}
	f.update(400 * ms)
	if f.max != 400*ms {
		t.Fatalf("max %v", f.max)
	}
	for range 4 {
		f.update(100 * ms)
	}
	if f.max != 400*ms {
		t.Errorf("max %v after four samples", f.max)
	}
	f.update(100 * ms)
	if f.max != 100*ms {
		t.Errorf("max %v after five samples, want 100 ms", f.max)
	}
}

// The maximum is forgotten if it is more than 3.5 sd above the average.
func TestRTTFilterDriftThreshold(t *testing.T) {
	for _, c := range []struct {
		above time.Duration
		want  time.Duration
	}{{30 * ms, 130 * ms}, {40 * ms, 100 * ms}} {
		f := rttFilter{seen: true, samples: 35, avg: 100 * ms, max: 100*ms + c.above, variance: 100}
		for range 5 { // sd from 10 to 9 ms
			f.update(100 * ms)
		}
		if f.max != c.want {
			t.Errorf("%v above the average: max %v, want %v", c.above, f.max, c.want)
		}
	}
}
