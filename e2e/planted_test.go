// SPDX-License-Identifier: MIT

package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func parse(t *testing.T, src string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}

	return f
}

// Every rule is shown to bite: a planted violation and, where a rule could be
// too strict, a use that must pass.
func TestPlantedCode(t *testing.T) {
	const mod = "example.org/m"
	tests := []struct {
		name, dir, src string
		want           string // part of the only complaint; empty for none
		test           bool
	}{
		{name: "arrow upwards", dir: "gcc", src: `import _ "example.org/m/gbr"`, want: "imports gbr against the arrows"},
		{name: "arrow aside", dir: "interceptor", src: `import _ "example.org/m/modemlink"`, want: "against the arrows"},
		{name: "arrow to a package below", dir: "gbr", src: `import _ "example.org/m/gcc/pacing"`, want: "against the arrows"},
		{name: "arrow along the map", dir: "gbr", src: `import _ "example.org/m/gcc"`},
		{name: "anything but, denied", dir: "examples/call", src: `import _ "example.org/m/e2e/sim"`, want: "against the arrows"},
		{name: "anything but, allowed", dir: "examples/call", src: `import _ "example.org/m/e2e/cell/live"`},
		{name: "another module of like name", dir: "interceptor", src: `import _ "example.org/m2/gbr"`},
		{name: "arrow of a test file", dir: "gcc", src: `import _ "example.org/m/e2e/sim"`, test: true},

		{name: "third party in std only", dir: "interceptor/dashboard", src: `import _ "github.com/pion/rtp"`, want: "only the standard library"},
		{name: "Pion in a pure package", dir: "gbr", src: `import _ "github.com/pion/interceptor/pkg/cc"`, want: "only the standard library"},
		{name: "third party in a shell", dir: "interceptor", src: `import _ "github.com/pion/rtp"`},

		{name: "net", dir: "gbr", src: `import _ "net"`, want: "imports net"},
		{name: "net/http", dir: "gbr", src: `import _ "net/http"`, want: "imports net/http"},
		{name: "sync/atomic", dir: "qoe", src: `import _ "sync/atomic"`, want: "imports sync/atomic"},
		{name: "os/exec", dir: "modemlink/diag", src: `import _ "os/exec"`, want: "imports os/exec"},
		{name: "log/slog", dir: "e2e/sim", src: `import _ "log/slog"`, want: "imports log/slog"},
		{name: "crypto/rand", dir: "e2e/cell", src: `import _ "crypto/rand"`, want: "imports crypto/rand"},
		{name: "context", dir: "gcc/pacing", src: `import _ "context"`, want: "imports context"},
		{name: "linkname needs unsafe", dir: "gcc", src: `import _ "unsafe"`, want: "imports unsafe"},
		{name: "net in a shell", dir: "e2e/cell/live", src: `import _ "net"`},
		{name: "prefix of a word only", dir: "gcc", src: `import _ "logic"`},

		{name: "math/rand", dir: "interceptor", src: `import _ "math/rand"`, want: "math/rand/v2"},
		{name: "math/rand in a test", dir: "interceptor", src: `import _ "math/rand"`, want: "math/rand/v2", test: true},
		{name: "process-wide generator", dir: "e2e/sim", src: "import \"math/rand/v2\"\nvar x = rand.IntN(3)", want: "math/rand/v2.IntN"},
		{name: "seeded generator", dir: "e2e/sim", src: "import \"math/rand/v2\"\nvar x = rand.New(rand.NewPCG(1, 0)).IntN(3)"},

		{name: "clock", dir: "gbr", src: "import \"time\"\nvar x = time.Now()", want: "time.Now"},
		{name: "clock as a value", dir: "gbr", src: "import \"time\"\nvar now = time.Now", want: "time.Now"},
		{name: "clock under an alias", dir: "gbr", src: "import clk \"time\"\nfunc f() { clk.Sleep(1) }", want: "time.Sleep"},
		{name: "clock by dot import", dir: "gbr", src: "import . \"time\"\nvar x = Now()", want: "dot-imports time"},
		{name: "clock in a shell", dir: "interceptor", src: "import \"time\"\nvar x = time.Now()"},
		{name: "clock in a test", dir: "gbr", src: "import \"time\"\nvar x = time.Now()", test: true},
		{name: "time as a type", dir: "gbr", src: "import \"time\"\nfunc f(now time.Time) time.Time { return now.Add(time.Second) }"},
		{name: "a type's own Now", dir: "gbr", src: "type c struct{}\nfunc (c) Now() int { return 0 }\nvar x = c{}.Now()"},

		{name: "goroutine", dir: "gcc", src: "func f() { go f() }", want: "goroutine"},
		{name: "goroutine in a closure", dir: "gcc", src: "var f = func() { go func() {}() }", want: "goroutine"},
		{name: "channel", dir: "gcc", src: "func f(c chan int) { }", want: "channel"},
		{name: "stdout", dir: "qoe", src: "import \"fmt\"\nfunc f() { fmt.Println() }", want: "fmt.Println"},
		{name: "stderr", dir: "qoe", src: "func f() { println() }", want: "println"},
		{name: "errors", dir: "qoe", src: "import \"fmt\"\nvar err = fmt.Errorf(\"x\")"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := checkFile(mod, tt.dir, parse(t, "package x\n"+tt.src), tt.test)
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("complains: %q", got)
			case tt.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, tt.want) }):
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlantedUnusedArrow(t *testing.T) {
	files := []*ast.File{parse(t, "package gbr\nimport _ \"example.org/m/gcc\"")}
	if got := unused("example.org/m", "gbr", files); !slices.Equal(got, []string{"qoe"}) {
		t.Errorf("unused arrows of gbr: %q, want qoe", got)
	}
}

func TestPlantedReadme(t *testing.T) {
	good := "# x\n\n" + render(sorted(arrows))
	if got, err := parseArrows(good); err != nil || !reflect.DeepEqual(got, sorted(arrows)) {
		t.Fatalf("a README with the map: %v, %v", got, err)
	}
	got, err := parseArrows("```arrows\na  ->  c,b [plus d]\n\nt -> (tests only)\nx -> anything but b and a\n```\n")
	want := map[string]arrow{"a": to("b", "c"), "t": {}, "x": {to: []string{"a", "b"}, anythingBut: true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for name, md := range map[string]string{
		"no block":    "# x\n",
		"no end":      "```arrows\na -> b\n",
		"no arrow":    "```arrows\na b\n```\n",
		"given twice": "```arrows\na -> b\na -> c\n```\n",
	} {
		if m, err := parseArrows(md); err == nil {
			t.Errorf("%s: read as %v", name, m)
		}
	}
	for name, change := range map[string][2]string{
		"an arrow more": {"gcc/pacing            -> (std)", "gcc/pacing            -> qoe"},
		"an arrow less": {"gbr                   -> gcc, qoe", "gbr                   -> gcc"},
	} {
		md := strings.Replace(good, change[0], change[1], 1)
		if m, err := parseArrows(md); md == good || err != nil || reflect.DeepEqual(m, sorted(arrows)) {
			t.Errorf("%s is not seen: %v", name, err)
		}
	}
}

func TestPlantedPhone(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"agent/main.go":      "package main\nimport _ \"example.org/m/source\"",
		"source/source.go":   "package source\nimport _ \"example.org/m/deep\"",
		"source/sim.go":      "//go:build !android\n\npackage source\nimport _ \"example.org/m/e2e/cell\"",
		"source/x_linux.go":  "package source\nimport _ \"github.com/pion/linux\"", // GOOS=android implies the linux tag
		"source/x_test.go":   "package source\nimport _ \"github.com/pion/test\"",
		"source/x_darwin.go": "package source\nimport _ \"github.com/pion/darwin\"",
		"deep/deep.go":       "package deep\nimport _ \"github.com/pion/rtp\"",
		"e2e/cell/cell.go":   "package cell",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := offPhone(dir, "example.org/m", "agent")
	want := []string{"source imports github.com/pion/linux", "deep imports github.com/pion/rtp"}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestPlantedWords(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		want             int
	}{
		{"clean", "a.go", licenceLine + "package a\n", 0},
		{"no licence line", "a.go", "package a\n", 1},
		{"no blank line", "a.go", "// SPDX-License-Identifier: MIT\npackage a\n", 1},
		{"generated", "a.pb.go", "// Code generated by x. DO NOT EDIT.\n\npackage a\n", 0},
		{"generated, below a comment", "a.pb.go", "// x\n\n// Code generated by x. DO NOT EDIT.\n\npackage a\n", 0},
		{"a path in Go", "a.go", licenceLine + "package a // see " + machinePaths[0] + "me\n", 1},
		{"a path in prose", "a.md", "cd " + machinePaths[1] + "x\n" + machinePaths[2] + "y\n", 2},
		{"binary", "a.bin", "\x00" + machinePaths[0], 0},
	} {
		if got := checkWords(tt.file, []byte(tt.text)); len(got) != tt.want {
			t.Errorf("%s: got %q, want %d complaints", tt.name, got, tt.want)
		}
	}
}

func TestPlantedPackageComments(t *testing.T) {
	doc, none := parse(t, "// Package x is.\npackage x"), parse(t, "package x")
	gen := parse(t, "// Code generated by x. DO NOT EDIT.\n\n// Package x is.\npackage x")
	for _, tt := range []struct {
		name  string
		files map[string]*ast.File
		want  []string
	}{
		{"one", map[string]*ast.File{"x/doc.go": doc, "x/b.go": none}, []string{"doc.go"}},
		{"none", map[string]*ast.File{"x/b.go": none}, nil},
		{"two", map[string]*ast.File{"x/doc.go": doc, "x/b.go": doc}, []string{"b.go", "doc.go"}},
		{"of a test", map[string]*ast.File{"x/b_test.go": doc}, nil},
		{"generated", map[string]*ast.File{"x/doc.go": doc, "x/b.pb.go": gen}, []string{"doc.go"}},
	} {
		if got := packageComments(tt.files); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
