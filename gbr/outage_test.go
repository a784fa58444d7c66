// SPDX-License-Identifier: MIT

package gbr_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// After an outage the radio is expected to carry a part of what it did, and soon
// what it does.
func TestOutage(t *testing.T) {
	for _, c := range []struct {
		name            string
		gap             time.Duration
		after           int // bytes a TTI
		without         gbr.Ingredient
		soon, later     float64 // of 8 Mbit/s
		soonTol, latTol float64
	}{
		{"as before", 300 * time.Millisecond, 1000, 0, 0.6, 1, 0.15, 0.1},
		{"half", 300 * time.Millisecond, 500, 0, 0.45, 0.5, 0.05, 0.05},
		{"a fifth", 300 * time.Millisecond, 200, 0, 0.3, 0.2, 0.1, 0.05},
		{"not remembered", 300 * time.Millisecond, 1000, gbr.Outages, 0.1, 0.85, 0.1, 0.1},
		{"short gap", 40 * time.Millisecond, 1000, 0, 0.15, 0.9, 0.1, 0.12},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRadio(t, 1000)
			if err := r.e.Reconfigure(r.now, nil, gbr.Config{MaxBps: 20_000_000, Without: c.without}); err != nil {
				t.Fatal(err)
			}
			r.frame = 30_000
			r.run(3*time.Second, false)
			r.perTTI = 0
			r.run(c.gap, false)
			r.perTTI = c.after
			r.run(8*time.Millisecond, false)
			within(t, "8 ms after", gbr.CapacityBps(r.e)/8e6, c.soon, c.soonTol, "of before")
			r.run(100*time.Millisecond, false)
			within(t, "108 ms after", gbr.CapacityBps(r.e)/8e6, c.later, c.latTol, "of before")
		})
	}
}
