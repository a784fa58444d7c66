// SPDX-License-Identifier: MIT

package gateway

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// A dip of the target that empties the phone's queue is over before a browser has
// obeyed; a lower radio, a lower path and a dip that stays are told.
func TestDip(t *testing.T) {
	const mbps = 1_000_000
	target := func(radio, outer float64) gbr.Target {
		return gbr.Target{PacingBps: int(2.5 * radio * mbps), Outer: gcc.Estimate{BitrateBps: int(outer * mbps)}}
	}
	begin := time.Unix(100, 0)
	tests := []struct {
		name   string
		at     time.Duration
		bps    float64
		target gbr.Target
		want   float64
	}{
		{"steady", 0, 2.7, target(3, 4), 2.7},
		{"the radio falls, the queue is emptied", 10 * time.Millisecond, 0.1, target(0.6, 4), 0.48},
		{"still", 200 * time.Millisecond, 0.1, target(0.6, 4), 0.48},
		{"over", 250 * time.Millisecond, 0.54, target(0.6, 4), 0.54},
		{"again", time.Second, 0.1, target(0.6, 4), 0.48},
		{"and for long", 1301 * time.Millisecond, 0.1, target(0.6, 4), 0.1},
		{"over again", 2 * time.Second, 2.7, target(3, 4), 2.7},
		{"the path is narrower than the radio", 3 * time.Second, 0.8, target(3, 0.8), 0.8},
		{"no telemetry: paced by the path", 4 * time.Second, 0.5, target(0.5, 0.5), 0.5},
	}
	var d dip
	for _, tt := range tests {
		if got := d.fill(begin.Add(tt.at), int(tt.bps*mbps), tt.target); got != int(tt.want*mbps) {
			t.Errorf("%s: %d, want %.2f Mbit/s", tt.name, got, tt.want)
		}
	}
}
