// SPDX-License-Identifier: MIT

package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
)

// A radio that comes to carry less than the least rate, or than the least frames:
// those come fewer, not ever later. Without the advice to leave some out the last
// ones at the least rate are seconds late.
func TestSlowerThanTheLeastRate(t *testing.T) {
	for _, alg := range []string{"gbrcc", "gbrcc-budget"} {
		for _, kbps := range []int{40, 60, 80, 95} {
			t.Run(fmt.Sprint(alg, " ", kbps), func(t *testing.T) {
				t.Parallel()
				sc := scenario(t, "const-1", 40*time.Second)
				sc.Trace = func(uint64, time.Duration) cell.Trace {
					return cell.Steps(cell.Step{For: 8 * time.Second, Bps: 1_000_000}, cell.Step{For: time.Minute, Bps: kbps * 1000})
				}
				res := slow(t, sc, alg, sim.Params{})
				// What waits at the fall from 1 Mbit/s takes a second or so at 40 kbit/s:
				// 0.81 to 1.08 s over eight seeds.
				if res.PlayoutP95 < 100 || res.PlayoutP95 > 1300 {
					t.Errorf("playout p95 %.0f ms, want 100 to 1300", res.PlayoutP95)
				}
				// A third of it is headers, of frames of 100 bytes.
				if used := res.GoodputMbps * 1000 / float64(kbps); used < 0.5 || used > 0.9 {
					t.Errorf("%.2f of the radio used, want 0.5 to 0.9", used)
				}
				if alg != "gbrcc" {
					return // its frames are as small as they can be
				}
				all := slow(t, sc, alg, sim.Params{GBR: gbr.Config{Without: gbr.Skipping}})
				if all.PlayoutP95 < 4*res.PlayoutP95 {
					t.Errorf("playout p95 %.0f ms with all frames: then none need be left out", all.PlayoutP95)
				}
			})
		}
	}
}

func slow(t *testing.T, sc sim.Scenario, alg string, p sim.Params) sim.Result {
	t.Helper()
	res, err := sim.Run(sc, alg, 1, p, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: playout p50 %.0f, p95 %.0f ms, goodput %.3f Mbit/s, %d frames", alg, res.PlayoutP50, res.PlayoutP95, res.GoodputMbps, res.FramesRendered)

	return res
}
