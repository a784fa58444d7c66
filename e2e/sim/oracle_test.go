// SPDX-License-Identifier: MIT

package sim_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// The clairvoyant fills a constant link when it sees three frames ahead, and
// never lets a queue grow beyond its horizon and the grant loop.
func TestOracleFrontier(t *testing.T) {
	last := sim.Result{}
	for _, c := range []struct {
		horizon     time.Duration
		utilization float64
		queue       float64 // ms, p95
	}{
		{33 * time.Millisecond, 0.79, 45},
		{50 * time.Millisecond, 0.94, 52},
		{100 * time.Millisecond, 0.945, 103},
	} {
		r, err := sim.Run(scenario(t, "const-3", 40*time.Second), "oracle", 1, sim.Params{Horizon: c.horizon}, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// 4 % of the link are packet headers and 2 % RLC and MAC headers.
		within(t, "utilization at "+c.horizon.String(), r.Utilization, c.utilization, 0.03, "")
		within(t, "queue at "+c.horizon.String(), r.SenderQueueP95, c.queue, 6, "ms")
		if r.FreezeCount != 0 {
			t.Errorf("%v: %d freezes", c.horizon, r.FreezeCount)
		}
		if r.GoodputMbps < last.GoodputMbps-0.01 {
			t.Errorf("%v: %.2f Mbit/s, less than with a shorter horizon", c.horizon, r.GoodputMbps)
		}
		last = r
	}
}

func TestInterpolation(t *testing.T) {
	frontier := []sim.Result{
		{GoodputMbps: 2, PlayoutP50: 80, PlayoutP95: 90},
		{GoodputMbps: 4, PlayoutP50: 120},
		{GoodputMbps: 4, PlayoutP50: 150},
	}
	for _, c := range []struct{ goodput, want float64 }{{1, 80}, {2, 80}, {3, 100}, {3.5, 110}, {4, 120}, {5, 150}} {
		r := sim.Result{GoodputMbps: c.goodput}
		r.SetOracle(frontier)
		within(t, "median latency of the frontier", r.OraclePlayoutAtGoodput, c.want, 0.001, "ms")
		if r.OracleGoodput != 2 || r.OraclePlayoutP95 != 90 {
			t.Errorf("reference %+v is not the shortest horizon", r)
		}
	}
}
