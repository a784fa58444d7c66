// SPDX-License-Identifier: MIT

package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
)

// Scenarios are put together from changes; each of them reaches the run.
func TestBuild(t *testing.T) {
	fixed := Flow{CC: "fixed", Limits: &Limits{MaxBps: 300_000}}
	at := func(f Flow, where Place) Flow {
		f.Where = where

		return f
	}
	crowded := base("crowded", "test", "everything at once", lasting(20*time.Second),
		inCell(cell.SharedConfig{RBs: 25}), oneWay(10*time.Millisecond), rates(150_000, 300_000, 1_500_000),
		radio(func(c *cell.Config) { c.BSRPeriod = 10 * time.Millisecond }),
		path(func(p *cell.PathConfig) { p.JitterMax = 2 * time.Millisecond }),
		behind(cell.PathConfig{RateBps: 5_000_000}), wayBack(cell.PathConfig{RateBps: 2_000_000}),
		filming(func(c *media.Config) { c.FPS = 15 }), speaking(20_000),
		beside(at(fixed, SamePhone), at(fixed, OwnPhone), Flow{CC: ShortTCP}), times(2, at(fixed, OwnPhone)),
		agent(20*time.Millisecond, 0, 0))
	r, err := Run(crowded, "gbrcc", 1, Params{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Flows != 6 || r.FramesSent < 140 || r.FramesSent > 151 {
		t.Errorf("%d flows, %d frames", r.Flows, r.FramesSent)
	}
	if got := strings.Count(r.FlowGoodputs, "=0.28"); got != 4 {
		t.Errorf("%d flows of 288 kbit/s in %q", got, r.FlowGoodputs)
	}
	if r.GoodputMbps < 1 || r.GoodputMbps > 1.5 || r.RTTP50 < 40 || r.RTTP50 > 120 {
		t.Errorf("%.2f Mbit/s, RTT %.0f ms", r.GoodputMbps, r.RTTP50)
	}

	plain := base("plain", "test", "a radio", steps(cell.Step{Bps: 1_000_000, For: time.Second}))
	if got := plain.Trace(1, time.Minute).MeanBps(0, time.Minute); got != 1_000_000 || plain.Shared != nil {
		t.Errorf("a radio of %d bit/s", got)
	}
}
