// SPDX-License-Identifier: MIT

package sim_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// What the references are told of the link is what the link then does.
func TestReferencesKnowTheLink(t *testing.T) {
	late := scenario(t, "const-8", 40*time.Second)
	late.Cell.Path.Rate = []cell.Step{{Bps: 6_000_000, For: 15 * time.Second}, {Bps: 1_500_000, For: 10 * time.Second}, {Bps: 4_000_000}}
	outage := scenario(t, "const-3", 40*time.Second)
	outage.Cell.Outages = []cell.Outage{{At: 20 * time.Second, For: 2 * time.Second}}
	handover := scenario(t, "const-8", 40*time.Second)
	handover.Cell.Handovers = []cell.Handover{
		{At: 15 * time.Second, Interruption: 50 * time.Millisecond, RateFactor: 0.25, KeepQueue: true},
		{At: 30 * time.Second, Interruption: 50 * time.Millisecond, RateFactor: 1, KeepQueue: true},
	}
	shared := scenario(t, "const-8", 40*time.Second)
	shared.Backhaul = &cell.PathConfig{Rate: []cell.Step{{Bps: 6_000_000, For: 20 * time.Second}, {Bps: 2_000_000}}, Delay: 10 * time.Millisecond}
	for _, c := range []struct {
		name           string
		sc             sim.Scenario
		goodput, queue float64
	}{
		{"path steps", late, (5*5.7 + 10*1.4 + 15*3.8) / 30, 45},
		{"outage", outage, 2.4 * 28 / 30, 45},
		{"handover", handover, (15*1.55 + 15*6.6) / 30, 45},
		{"shared backhaul", shared, (10*5.7 + 20*1.9) / 30, 45},
	} {
		for _, cc := range []string{"oracle", "causal"} {
			r := run(t, c.sc, cc, 1, sim.Options{})
			within(t, c.name+": goodput of "+cc, r.GoodputMbps, c.goodput, 0.15*c.goodput, "Mbit/s")
			within(t, c.name+": queue p95 of "+cc, r.SenderQueueP95, c.queue, 12, "ms")
			within(t, c.name+": playout p50 of "+cc, r.PlayoutP50, 100, 20, "ms")
		}
	}
}
