// SPDX-License-Identifier: MIT

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The integration in the README is the example that compiles and runs, imports and
// all.
func TestReadmeExample(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}

		return string(data)
	}
	_, want, ok := strings.Cut(read("interceptor/readme_test.go"), "package interceptor_test\n\n")
	if !ok {
		t.Fatal("no package clause in the example")
	}
	want = strings.TrimSpace(want)
	_, block, ok := strings.Cut(read("README.md"), "```go\n")
	block, rest, ok2 := strings.Cut(block, "```")
	if !ok || !ok2 || strings.Contains(rest, "```go\n") {
		t.Fatal("README.md has no Go block, or one that is not compiled")
	}
	if got := strings.TrimSpace(block); got != want {
		t.Errorf("README.md shows\n%s\n\nthe example is\n%s", got, want)
	}
}
