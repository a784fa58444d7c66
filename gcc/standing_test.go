// SPDX-License-Identifier: MIT

package gcc

import (
	"testing"
	"time"
)

func TestStanding(t *testing.T) {
	for _, tt := range []struct {
		name  string
		delay func(t time.Duration) time.Duration
		want  []time.Duration // when it cuts
	}{
		{"short", func(time.Duration) time.Duration { return 199 * time.Millisecond }, nil},
		{"long for 1 s", func(t time.Duration) time.Duration {
			if t < 1000*time.Millisecond {
				return 200 * time.Millisecond
			}

			return 0
		}, nil},
		{"long", func(time.Duration) time.Duration { return 200 * time.Millisecond }, []time.Duration{time.Second, 6 * time.Second}},
		{"with a gap", func(t time.Duration) time.Duration {
			if t == 500*time.Millisecond {
				return 0
			}

			return 300 * time.Millisecond
		}, []time.Duration{1550 * time.Millisecond, 6550 * time.Millisecond}},
	} {
		var s standing
		s.update(t0, 5_000_000)
		var cuts []time.Duration
		for d := time.Duration(0); d < 8*time.Second; d += 50 * time.Millisecond {
			now := t0.Add(time.Millisecond + d)
			s.update(now, 5_000_000+tt.delay(d).Microseconds())
			if s.full(now) {
				cuts = append(cuts, d)
			}
		}
		if len(cuts) != len(tt.want) || len(cuts) > 0 && (cuts[0] != tt.want[0] || cuts[1] != tt.want[1]) {
			t.Errorf("%s: cuts at %v, want %v", tt.name, cuts, tt.want)
		}
	}

	// A path that is longer from now on is not full for ever.
	var s standing
	s.update(t0, 0)
	n := 0
	for d := time.Duration(0); d < 60*time.Second; d += 50 * time.Millisecond {
		now := t0.Add(d + 1)
		s.update(now, 500_000)
		if s.full(now) {
			n++
		}
	}
	band(t, "cuts of a path that became longer", float64(n), 2, 4, "")
	s.reset()
	s.update(t0.Add(time.Hour), -1e9)
	if s.full(t0.Add(2 * time.Hour)) {
		t.Error("full after a step of the clock")
	}
}
