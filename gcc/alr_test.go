// SPDX-License-Identifier: MIT

package gcc

import (
	"testing"
	"time"
)

func TestALR(t *testing.T) {
	// After 5 s at a share of the estimate: limited or not.
	for _, tt := range []struct {
		share float64
		from  bool
		want  bool
	}{
		{0.3, false, true},
		{0.7, false, true},
		{0.85, false, false},
		{1, false, false},
		{0.83, true, true}, // overspent by 150 ms of 400 in 5 s: the stop level is 0.6
		{0.83, false, false},
		{1.2, true, false},
	} {
		var a alr
		a.setEstimate(1_000_000)
		a.active = tt.from
		for i := range 500 { // each 10 ms
			a.onSent(t0.Add(time.Duration(i)*10*time.Millisecond), int(tt.share*1250))
		}
		if a.active != tt.want {
			t.Errorf("share %v from %v: limited %v, want %v (level %.2f)", tt.share, tt.from, a.active, tt.want, a.budget/400_000)
		}
	}
}

func TestALRAfterPause(t *testing.T) {
	var a alr
	a.setEstimate(1_000_000)
	a.onSent(t0, 1200)
	a.onSent(t0.Add(2*time.Second), 1200)
	if !a.active {
		t.Error("a pause of 2 s is not limited")
	}
}
