// SPDX-License-Identifier: MIT

package e2e

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fileName is a file of the package itself, as its comment names it; a star stands
// for anything.
var fileName = regexp.MustCompile(`(^|[\s:,;(])([a-z0-9_*]+\.go)\b`)

// checkMap returns which files a package comment that maps them leaves out, and
// which of those it names are not there, nor among the others, which it may name. A
// comment that names less than half of the files is no map.
func checkMap(comment string, files, others []string) (missing, gone []string) {
	var names []string
	for _, m := range fileName.FindAllStringSubmatch(comment, -1) {
		names = append(names, m[2])
	}
	for _, f := range files {
		if !slices.ContainsFunc(names, func(n string) bool { ok, err := path.Match(n, f); return ok && err == nil }) {
			missing = append(missing, f)
		}
	}
	if 2*len(missing) > len(files) {
		return nil, nil
	}
	files = slices.Concat(files, others)
	for _, n := range names {
		if !slices.ContainsFunc(files, func(f string) bool { ok, err := path.Match(n, f); return ok && err == nil }) {
			gone = append(gone, n)
		}
	}

	return missing, gone
}

// Who looks for the room of a change starts from the map.
func TestMaps(t *testing.T) {
	maps := 0
	for dir, files := range packages(t) {
		var names, others []string
		comment := ""
		for name, f := range files {
			base := path.Base(name)
			if f.Doc != nil && !strings.HasSuffix(base, "_test.go") {
				comment = f.Doc.Text()
			}
			if base == "doc.go" || base == "main.go" || strings.HasSuffix(base, "_test.go") || ast.IsGenerated(f) {
				others = append(others, base)
			} else {
				names = append(names, base)
			}
		}
		slices.Sort(names)
		missing, gone := checkMap(comment, names, others)
		if len(missing) > 0 {
			t.Errorf("%s: the package comment does not name %s", dir, strings.Join(missing, ", "))
		}
		if len(gone) > 0 {
			t.Errorf("%s: the package comment names %s, which are not there", dir, strings.Join(gone, ", "))
		}
		if len(names) > 2 && len(missing) == 0 && fileName.MatchString(comment) {
			maps++
		}
	}
	if maps < 20 {
		t.Errorf("%d packages with a map, want at least 20: is the check still one?", maps)
	}
}

func TestCheckMap(t *testing.T) {
	files := []string{"a.go", "b.go", "nr_x.go", "nr_y.go"}
	for _, c := range []struct{ comment, missing, gone string }{
		{"\ta.go b.go  two\n\tnr_*.go  more", "", ""},
		{"\ta.go b.go: two; nr_x.go", "nr_y.go", ""},
		{"\ta.go b.go (nr_*.go), c.go", "", "c.go"},
		{"\ta.go b.go nr_*.go ../other/d.go", "", ""},
		{"\ta.go b.go nr_*.go, held by a_test.go, not b_test.go", "", "b_test.go"},
		{"see a.go", "", ""},
		{"", "", ""},
	} {
		missing, gone := checkMap(c.comment, files, []string{"a_test.go"})
		if m, g := strings.Join(missing, " "), strings.Join(gone, " "); m != c.missing || g != c.gone {
			t.Errorf("%q: missing %q, gone %q; want %q, %q", c.comment, m, g, c.missing, c.gone)
		}
	}
}
