// SPDX-License-Identifier: MIT

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The integration in the README is the example that compiles and runs.
func TestReadmeExample(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}

		return string(data)
	}
	parts := strings.Split(read("interceptor/example_test.go"), "\t// README\n")
	if len(parts) != 3 {
		t.Fatalf("%d marks in the example, want 2", len(parts)-1)
	}
	want := strings.TrimSpace(strings.ReplaceAll("\n"+parts[1], "\n\t", "\n"))
	_, block, ok := strings.Cut(read("README.md"), "```go\n")
	block, _, ok2 := strings.Cut(block, "```")
	if !ok || !ok2 {
		t.Fatal("no Go block in README.md")
	}
	if got := strings.TrimSpace(block); got != want {
		t.Errorf("README.md shows\n%s\n\nthe example is\n%s", got, want)
	}
}
