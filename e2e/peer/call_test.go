// SPDX-License-Identifier: MIT

package peer

import (
	"context"
	"strings"
	"testing"
)

// What goes down with the call does not complain about the rest.
func TestLogEndsWithTheCall(t *testing.T) {
	var out strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := logWriter{ctx, &out}
	for _, text := range []string{"during", "after"} {
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%s: %d bytes, %v", text, n, err)
		}
		cancel()
	}
	if out.String() != "during" {
		t.Errorf("logged %q", out.String())
	}
}
