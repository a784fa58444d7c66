// SPDX-License-Identifier: MIT

package ratio

import (
	"os"
	"path/filepath"
	"testing"
)

// dataFile returns the path of a file of real data, which is not part of the
// module.
func dataFile(tb testing.TB, name ...string) string {
	tb.Helper()
	dir := os.Getenv("GBRCC_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(append([]string{dir}, name...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("GBRCC_REQUIRE_DATA") == "1" {
			tb.Fatalf("test data is required: %v", err)
		}
		tb.Skipf("test data is not there: %v", err)
	}

	return path
}

func newAssembler(tb testing.TB, cfg Config) *Assembler {
	tb.Helper()
	a, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}

	return a
}
