// SPDX-License-Identifier: MIT

package pionrun

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// TestMain lets the pool's workers be this test binary.
func TestMain(m *testing.M) {
	if IsWorker() {
		Main()
	}
	os.Exit(m.Run())
}

func scenario(t testing.TB, name string, d time.Duration) sim.Scenario {
	t.Helper()
	s, err := sim.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(s) != 1 {
		t.Fatalf("%d scenarios for %q", len(s), name)
	}
	s[0].Duration = d

	return s[0]
}

func within(t *testing.T, what string, got, want, tolerance float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.4g %s, want %.4g ± %.4g", what, got, unit, want, tolerance)
	}
}
