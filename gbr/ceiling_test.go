// SPDX-License-Identifier: MIT

package gbr

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// A ceiling is gone when more arrives, or frames do faster, where nothing is
// narrow; beside others both are usual.
func TestCeilingGoes(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, tc := range []struct {
		name    string
		acked   int
		narrow  bool
		carries float64
		after   time.Duration
		gone    bool
	}{
		{"as before", 950_000, false, 1e6, time.Second, false},
		{"more arrives", 1_200_000, false, 0, time.Second, true},
		{"frames are faster", 950_000, false, 1.5e6, time.Second, true},
		{"a little faster", 950_000, false, 1.2e6, time.Second, false},
		{"faster, beside others", 950_000, true, 3e6, time.Second, false},
		{"long ago", 950_000, true, 0, 6 * time.Minute, true},
	} {
		var c ceiling
		c.found(now, 1_000_000, ceilingMargin)
		limits := c.limits(now.Add(tc.after), gcc.Estimate{BitrateBps: 950_000, AckedBps: tc.acked}, tc.narrow, tc.carries)
		if limits == tc.gone {
			t.Errorf("%s: limits growth %t", tc.name, limits)
		}
	}
}
