// SPDX-License-Identifier: MIT

package cell

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

// t0 is when the cells of the tests start.
func t0() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// at is ms milliseconds after t0.
func at(ms int) time.Time { return t0().Add(time.Duration(ms) * time.Millisecond) }

func within(t *testing.T, what string, got, want, tol float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.4g %s, want %.4g ± %.4g", what, got, unit, want, tol)
	}
}

func mustNew(t testing.TB, cfg Config) *Cell {
	t.Helper()
	if cfg.Start.IsZero() {
		cfg.Start = t0()
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// readTrace reads a real trace; see SOURCES.md beside them.
func readTrace(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(dataset.File(t, "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
