// SPDX-License-Identifier: MIT

package e2e

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// machinePaths are written in two halves, or this file would find itself.
var machinePaths = []string{"/ho" + "me/", "/ro" + "ot/", "/wo" + "rk/"}

const licenceLine = "// SPDX-License-Identifier: MIT\n\n"

// packageComments returns the files with a package comment. Generated files do
// not count: their generators write one as they like.
func packageComments(files map[string]*ast.File) []string {
	var with []string
	for name, f := range files {
		if f.Doc != nil && !ast.IsGenerated(f) && !strings.HasSuffix(name, "_test.go") {
			with = append(with, path.Base(name))
		}
	}
	slices.Sort(with)

	return with
}

// checkWords returns what is wrong with a file's text.
func checkWords(name string, text []byte) []string {
	// Checksums are random enough to spell anything.
	if bytes.IndexByte(text, 0) >= 0 || name == "go.sum" {
		return nil
	}
	var bad []string
	for i, line := range bytes.Split(text, []byte("\n")) {
		for _, p := range machinePaths {
			if bytes.Contains(line, []byte(p)) {
				bad = append(bad, fmt.Sprintf("line %d names a path of one machine: %s", i+1, p))
			}
		}
	}
	generated := bytes.Contains(text, []byte("\n// Code generated ")) || bytes.HasPrefix(text, []byte("// Code generated "))
	if strings.HasSuffix(name, ".go") && !generated && !bytes.HasPrefix(text, []byte(licenceLine)) {
		bad = append(bad, "does not open with the licence line and a blank one")
	}

	return bad
}

func TestPackageComments(t *testing.T) {
	for dir, files := range packages(t) {
		if with := packageComments(files); len(with) != 1 {
			t.Errorf("%s: package comment in %q, want exactly one", dir, with)
		}
	}
}

func TestWords(t *testing.T) {
	walk(t, func(name string) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
		}
		for _, bad := range checkWords(name, text) {
			t.Errorf("%s: %s", name, bad)
		}
	})
}
