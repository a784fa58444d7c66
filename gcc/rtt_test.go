// SPDX-License-Identifier: MIT

package gcc

import (
	"testing"
	"time"
)

func TestRTTWithoutWaiting(t *testing.T) {
	var r rtt
	// Sent at 0 and 40 ms, one way 25 ms, the report leaves with the last one
	// and takes 30 ms: the first waited 40 ms.
	r.update(t0.Add(95*time.Millisecond), t0, []sample{{0, 1e9 + 25_000, 1, 0}, {40_000, 1e9 + 65_000, 1, 0}})
	if r.latest != 55*time.Millisecond || r.min() != 55*time.Millisecond {
		t.Errorf("rtt %v, min %v, want 55ms", r.latest, r.min())
	}
}

func TestRTTIgnoresTheImpossible(t *testing.T) {
	var r rtt
	r.update(t0, t0, nil)
	r.update(t0, t0, []sample{{50_000, 0, 1, 0}}) // sent in the future
	if r.latest != 0 || r.min() != 0 {
		t.Errorf("rtt %v, min %v, want unknown", r.latest, r.min())
	}
}

func TestRTTMinForgets(t *testing.T) {
	var r rtt
	for i := range 400 {
		now := t0.Add(time.Duration(i) * 100 * time.Millisecond)
		ms := int64(80)
		if i < 10 {
			ms = 50
		}
		r.update(now, t0, []sample{{now.Sub(t0).Microseconds() - ms*1000, 0, 1, 0}})
		want := 80 * time.Millisecond
		if i < 200 {
			want = 50 * time.Millisecond
		}
		if r.min() != want {
			t.Fatalf("%d: min %v, want %v", i, r.min(), want)
		}
	}
}
