// SPDX-License-Identifier: MIT

package ratio

import (
	"testing"
)

func newAssembler(tb testing.TB, cfg Config) *Assembler {
	tb.Helper()
	a, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}

	return a
}
