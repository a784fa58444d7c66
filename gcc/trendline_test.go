// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"testing"
)

// ramp feeds n groups sent every sendMs that arrive sendMs*(1+growth) apart.
func ramp(t *trendline, n int, sendMs, growth float64, at *float64) {
	for range n {
		*at += sendMs * (1 + growth)
		t.add(groupDelta{int64(sendMs * 1000), int64(math.Round(sendMs * (1 + growth) * 1000))}, int64(*at*1000))
	}
}

func TestTrendlineWaitsForItsWindow(t *testing.T) {
	var tl trendline
	at := 1e6
	ramp(&tl, trendWindow-1, 20, 0.1, &at)
	if tl.slope != 0 {
		t.Errorf("slope %v after 19 groups, want 0", tl.slope)
	}
	ramp(&tl, 1, 20, 0.1, &at)
	if tl.slope <= 0 {
		t.Errorf("slope %v after 20 groups of growing delay", tl.slope)
	}
}

func TestTrendlineSlope(t *testing.T) {
	for _, growth := range []float64{-0.2, -0.05, 0, 0.05, 0.3} {
		var tl trendline
		at := 0.0
		ramp(&tl, 200, 20, growth, &at)
		// Delay per arrival time once the smoothing has settled.
		want := growth / (1 + growth)
		if math.Abs(tl.slope-want) > 1e-6 {
			t.Errorf("growth %v: slope %v, want %v", growth, tl.slope, want)
		}
		if mod, wantMod := tl.modified(), 60*4*want; math.Abs(mod-wantMod) > 1e-3 {
			t.Errorf("growth %v: modified trend %v, want %v", growth, mod, wantMod)
		}
	}
}

func TestTrendlineModifiedCountsGroups(t *testing.T) {
	tl := trendline{slope: 0.5, deltas: 7}
	if got := tl.modified(); got != 7*0.5*4 {
		t.Errorf("modified %v, want 14", got)
	}
	tl.deltas = 1000
	if got := tl.modified(); got != 60*0.5*4 {
		t.Errorf("modified %v, want 120", got)
	}
}

func TestTrendlineKeepsSlopeWithoutSpread(t *testing.T) {
	tl := trendline{slope: 0.25}
	for range trendWindow {
		tl.add(groupDelta{5_000, 0}, 77)
	}
	if tl.slope != 0.25 {
		t.Errorf("slope %v after coinciding arrivals, want the previous 0.25", tl.slope)
	}
}
