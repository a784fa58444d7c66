// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"testing"
)

// at drives the detector with a modified trend of mod; 60 deltas stand behind
// it, so the slope is mod/240.
func at(o *overuse, mod, sendMs, arrivalMs float64) {
	tl := trendline{deltas: 60, slope: mod / 240}
	o.update(&tl, int64(sendMs*1000), int64(arrivalMs*1000))
}

func TestOveruseNeedsTimeCountAndSlope(t *testing.T) {
	type step struct {
		mod, sendMs float64
		want        Usage
	}
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"a single group is never enough", []step{{20, 100, UsageNormal}}},
		{"second group, above 10 ms", []step{{20, 6, UsageNormal}, {21, 7.1, UsageOver}}},
		{"half of the first: exactly 10 ms is not above", []step{{20, 6, UsageNormal}, {21, 7, UsageNormal}, {22, 1, UsageOver}}},
		{"falling slope waits", []step{{25, 20, UsageNormal}, {24, 20, UsageNormal}, {24.5, 20, UsageOver}}},
		{"back to normal restarts the timer", []step{{20, 20, UsageNormal}, {0, 20, UsageNormal}, {20, 20, UsageNormal}, {21, 20, UsageOver}}},
		{"overuse stays while above", []step{{20, 20, UsageNormal}, {21, 20, UsageOver}, {20, 20, UsageOver}, {5, 20, UsageNormal}}},
		{"underuse is immediate", []step{{-20, 1, UsageUnder}, {-5, 1, UsageNormal}}},
		{"overuse to underuse", []step{{20, 20, UsageNormal}, {21, 20, UsageOver}, {-30, 20, UsageUnder}}},
	} {
		o := newOveruse(12.5)
		for i, s := range tt.steps {
			// Arrivals at one instant: the threshold does not move.
			at(&o, s.mod, s.sendMs, 0)
			if o.usage != s.want {
				t.Errorf("%s: step %d: %v, want %v", tt.name, i, o.usage, s.want)
			}
		}
	}
}

func TestOveruseFirstDeltaIsNormal(t *testing.T) {
	o := newOveruse(12.5)
	o.usage = UsageOver
	tl := trendline{deltas: 1, slope: 100}
	o.update(&tl, 20_000, 0)
	if o.usage != UsageNormal {
		t.Errorf("usage %v after one delta, want normal", o.usage)
	}
}

func TestThresholdAdaptation(t *testing.T) {
	for _, tt := range []struct {
		name      string
		start     float64
		mod, dtMs float64
		want      float64
	}{
		{"down", 12.5, 2.5, 10, 12.5 - 0.039*10*10},
		{"down, sign does not matter", 12.5, -2.5, 10, 12.5 - 0.039*10*10},
		{"up", 12.5, 22.5, 10, 12.5 + 0.0087*10*10},
		{"at the threshold nothing moves", 12.5, 12.5, 50, 12.5},
		{"15 above still counts", 12.5, 27.5, 10, 12.5 + 0.0087*15*10},
		{"more is a spike", 12.5, 27.6, 10, 12.5},
		{"at most 100 ms", 100, 99, 5_000, 100 - 0.039*100},
		{"not below 6", 12.5, 0, 100, 6},
		{"not above 600", 599, 613, 100, 600},
		{"a clock that steps back adapts nothing", 12.5, 2.5, -500, 12.5},
	} {
		o := newOveruse(tt.start)
		at(&o, tt.start, 5, 1_000) // starts the clock and changes nothing
		at(&o, tt.mod, 5, 1_000+tt.dtMs)
		if math.Abs(o.threshold-tt.want) > 1e-9 {
			t.Errorf("%s: threshold %v, want %v", tt.name, o.threshold, tt.want)
		}
	}
}

func TestOveruseRestartKeepsThreshold(t *testing.T) {
	o := newOveruse(12.5)
	at(&o, 20, 20, 0)
	at(&o, 21, 20, 20)
	th := o.threshold
	o.restart()
	if o.usage != UsageNormal || o.threshold != th || th == 12.5 {
		t.Errorf("usage %v, threshold %v (was %v)", o.usage, o.threshold, th)
	}
}
