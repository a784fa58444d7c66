// SPDX-License-Identifier: MIT

package e2e

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/interceptor"
)

// A report right after padding is about the RTX stream, and Pion reads no RTCP
// about that: with Pion's buffers the first probes of a call have no result. With
// those of our factory they have.
func TestPlugReportsAboutPadding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		buffers     bool
		start, slop float64 // of the estimate after a second, Mbit/s
	}{
		{"Pion's buffers", false, 0.6, 0.3},
		{"the factory's buffers", true, 2.2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				link := newPlugLink(t, cell.Config{Seed: 3, Capacity: cell.Constant(6_000_000)})
				defer func() {
					if err := link.Close(); err != nil {
						t.Error(err)
					}
				}()
				c := newPlugCall(t, plugConfig{link: link, pionBuffers: !tt.buffers})
				c.add("camera", streamConfig{bps: func() int { return min(600_000, c.estimator.GetTargetBitrate()) }})
				c.negotiate(nil)
				time.Sleep(time.Second)
				stats := c.estimator.GetStats()
				if n, _ := stats[interceptor.StatPaddingSent].(int64); n == 0 {
					t.Error("no padding: nothing is tested")
				}
				within(t, "estimate after a second", float64(c.estimator.GetTargetBitrate())/1e6, tt.start, tt.slop, "Mbit/s")
				c.close()
				for _, w := range c.warnings.all() {
					t.Error(w)
				}
			})
		})
	}
}
