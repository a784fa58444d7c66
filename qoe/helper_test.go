// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"testing"
	"time"
)

const ms = time.Millisecond

// epoch is an arbitrary instant, not on a whole millisecond.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 123_456, time.UTC) }

func within(t *testing.T, what string, got, want, tolerance float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) { // NaN fails
		t.Errorf("%s = %.6g %s, want %.6g +- %.3g", what, got, unit, want, tolerance)
	}
}
