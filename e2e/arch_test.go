// SPDX-License-Identifier: MIT

package e2e

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the module's root, seen from this package.
const root = ".."

// arrow says which module-local packages a package's non-test files import.
type arrow struct {
	// to is what is imported, and nothing else; or, with anythingBut, what is
	// not imported.
	to          []string
	anythingBut bool
}

func (a arrow) allows(dir string) bool { return slices.Contains(a.to, dir) != a.anythingBut }

func (a arrow) String() string {
	switch to := strings.Join(a.to, ", "); {
	case a.anythingBut:
		return "anything but " + to
	case to == "":
		return "(std)"
	default:
		return to
	}
}

func to(dirs ...string) arrow { return arrow{to: dirs} }

// arrows is the map of README.md: a new package, or a new import between
// packages, is a decision and is made here and there.
var arrows = map[string]arrow{
	"qoe":                        to(),
	"gcc":                        to(),
	"gcc/pacing":                 to(),
	"gbr":                        to("gcc", "qoe"),
	"modemlink/diag":             to("modemlink/diag/rrc"),
	"modemlink/diag/rrc":         to(),
	"modemlink/ratio":            to("gbr", "modemlink/diag"),
	"modemlink/proto":            to(),
	"modemlink":                  to("gbr", "modemlink/proto"),
	"modemlink/source":           to("e2e/cell", "e2e/cell/live", "gbr", "modemlink/diag", "modemlink/ratio"),
	"modemlink/source/fakemodem": to("modemlink/diag"),
	"modemlink/agent":            to("gbr", "modemlink", "modemlink/source"),
	"modemlink/modemtest":        to("gbr", "modemlink"),
	"interceptor":                to("gbr", "gcc", "gcc/pacing"),
	"interceptor/dashboard":      to(),
	"interceptor/metrics":        to("interceptor"),
	"interceptor/pionbwe":        to("gbr", "gcc"),
	"e2e":                        to(),
	"e2e/browser":                to(),
	"e2e/browser/headless":       to(),
	"e2e/cell":                   to("modemlink/diag"),
	"e2e/cell/live":              to("e2e/cell"),
	"e2e/cell/ns3":               to("e2e/cell"),
	"e2e/dataset":                to(),
	"e2e/media":                  to(),
	"e2e/peer":                   to("qoe"),
	"e2e/phone":                  to("modemlink", "modemlink/source"),
	"e2e/sound":                  to(),
	"e2e/video":                  to(),
	"e2e/video/devices":          to("e2e/video"),
	"e2e/video/vp8":              to(),
	"e2e/webrtcv5":               to(),
	"e2e/sim":                    to("e2e/cell", "e2e/media", "e2e/tcp", "gbr", "gcc", "gcc/pacing", "modemlink/diag", "modemlink/ratio", "qoe"),
	"e2e/tcp":                    to(),
	"e2e/bench":                  to("e2e/bench/pionrun", "e2e/cell", "e2e/cell/ns3", "e2e/dataset", "e2e/sim", "gbr", "interceptor/dashboard", "qoe"),
	"e2e/bench/pionrun":          to("e2e/cell", "e2e/media", "e2e/peer", "e2e/sim", "gbr", "interceptor", "interceptor/pionbwe"),
	"examples/browser-sfu":       to("examples/browser-sfu/app"),
	"examples/browser-sfu/app": to("e2e/cell", "e2e/cell/live", "e2e/phone", "examples/browser-sfu/gateway", "examples/browser-sfu/sfu",
		"examples/command", "interceptor", "interceptor/dashboard", "modemlink"),
	"examples/browser-sfu/gateway": to("examples/browser-sfu/sfu", "interceptor"),
	"examples/browser-sfu/livekit": to("examples/browser-sfu/app", "examples/browser-sfu/gateway", "examples/browser-sfu/sfu", "interceptor"),
	"examples/browser-sfu/sfu":     to(),
	"examples/browser-sfu/sfutest": to(),
	"examples/command":             to("e2e/cell"),
	"examples/replay":              {to: []string{"e2e/bench"}, anythingBut: true},
	"examples/call":                {to: []string{"e2e/bench", "e2e/sim"}, anythingBut: true},
}

// pure packages take time as an argument and neither do IO, nor lock, nor start
// goroutines; .golangci.yml and the Makefile name the same ones.
var pure = []string{
	"qoe", "gcc", "gcc/pacing", "gbr", "modemlink/diag", "modemlink/diag/rrc", "modemlink/ratio", "e2e/cell",
	"e2e/media", "e2e/sim", "e2e/tcp",
}

// stdOnly packages import nothing of third parties: an application can take
// them alone.
var stdOnly = append(slices.Clone(pure), "interceptor/dashboard")

// notPure are import paths that a pure package may not use, nor anything below
// them.
var notPure = []string{
	"C", "context", "crypto/rand", "hash/maphash", "log", "net", "os", "os/exec", "plugin", "runtime", "sync",
	"syscall", "testing", "unsafe",
}

// notPureNames are what a pure package may not name of a package it may import.
var notPureNames = map[string][]string{
	"time": {
		"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc", "Local", "LoadLocation",
	},
	"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	// The functions that draw from the process-wide generator.
	"math/rand/v2": {
		"ExpFloat64", "Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N", "NormFloat64",
		"Perm", "Shuffle", "Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN",
	},
}

// under tells whether an import path is base or below it.
func under(p, base string) bool { return p == base || strings.HasPrefix(p, base+"/") }

// importsOf returns the import paths of a file.
func importsOf(f *ast.File) []string {
	ps := make([]string, len(f.Imports))
	for i, s := range f.Imports {
		ps[i], _ = strconv.Unquote(s.Path.Value)
	}

	return ps
}

// checkFile returns what is wrong with one file of the package at dir. Of test
// files only their source of randomness is looked at: they may import upwards.
func checkFile(mod, dir string, f *ast.File, test bool) []string {
	var bad []string
	for _, p := range importsOf(f) {
		if p == "math/rand" {
			bad = append(bad, "imports math/rand: use math/rand/v2 with an explicit seed")
		}
		if test {
			continue
		}
		local, isLocal := strings.CutPrefix(p, mod+"/")
		std := !strings.Contains(strings.SplitN(p, "/", 2)[0], ".")
		switch {
		case isLocal && !arrows[dir].allows(local):
			bad = append(bad, "imports "+local+" against the arrows")
		case !isLocal && !std && slices.Contains(stdOnly, dir):
			bad = append(bad, "imports "+p+", but only the standard library is allowed")
		}
		if i := slices.IndexFunc(notPure, func(b string) bool { return under(p, b) }); i >= 0 && slices.Contains(pure, dir) {
			bad = append(bad, "is pure but imports "+p)
		}
	}
	if !test && slices.Contains(pure, dir) {
		bad = append(bad, checkPure(f)...)
	}

	return bad
}

// checkPure returns what a file of a pure package may not name or do.
func checkPure(f *ast.File) []string {
	var bad []string
	names := map[string]string{} // how the file calls a package -> its import path
	for _, s := range f.Imports {
		p, _ := strconv.Unquote(s.Path.Value)
		if notPureNames[p] == nil {
			continue
		}
		switch {
		case s.Name == nil:
			names[defaultName(p)] = p
		case s.Name.Name == ".":
			bad = append(bad, "is pure but dot-imports "+p)
		default:
			names[s.Name.Name] = p
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(notPureNames[names[x.Name]], n.Sel.Name) {
				bad = append(bad, "is pure but uses "+names[x.Name]+"."+n.Sel.Name)
			}
		case *ast.CallExpr:
			if x, ok := n.Fun.(*ast.Ident); ok && (x.Name == "print" || x.Name == "println") {
				bad = append(bad, "is pure but calls "+x.Name)
			}
		case *ast.GoStmt:
			bad = append(bad, "is pure but starts a goroutine")
		case *ast.ChanType:
			bad = append(bad, "is pure but uses a channel")
		}

		return true
	})

	return bad
}

// defaultName is the name of a package of the standard library.
func defaultName(p string) string {
	if regexp.MustCompile(`^v[0-9]+$`).MatchString(path.Base(p)) {
		p = path.Dir(p)
	}

	return path.Base(p)
}

// unused returns the arrows from dir that no file makes use of.
func unused(mod, dir string, files []*ast.File) []string {
	var left []string
	if arrows[dir].anythingBut {
		return nil
	}
	for _, l := range arrows[dir].to {
		if !slices.ContainsFunc(files, func(f *ast.File) bool { return slices.Contains(importsOf(f), mod+"/"+l) }) {
			left = append(left, l)
		}
	}

	return left
}

// reach walks the module-local imports from a package, with the build
// constraints of ctx, and returns every import path on the way, mapped to the
// package that imports it.
func reach(ctx build.Context, moduleRoot, mod, from string) (map[string]string, error) {
	seen := map[string]string{}
	queue := []string{from}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		pkg, err := ctx.ImportDir(filepath.Join(moduleRoot, dir), 0)
		if err != nil {
			return nil, err
		}
		for _, p := range pkg.Imports {
			if _, ok := seen[p]; ok {
				continue
			}
			seen[p] = dir
			if l, ok := strings.CutPrefix(p, mod+"/"); ok {
				queue = append(queue, l)
			}
		}
	}

	return seen, nil
}

// offPhone returns what a build for a phone would take along but may not:
// Pion, and the simulator.
func offPhone(moduleRoot, mod, agent string) ([]string, error) {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "android", "arm64", false
	seen, err := reach(ctx, moduleRoot, mod, agent)
	if err != nil {
		return nil, err
	}
	var bad []string
	for _, p := range slices.Sorted(maps.Keys(seen)) {
		if under(p, "github.com/pion") || under(p, mod+"/e2e") {
			bad = append(bad, seen[p]+" imports "+p)
		}
	}

	return bad, nil
}

// parseArrows reads the fenced block "```arrows" of a Markdown text: lines of
// "package -> package, package". Remarks in brackets or parentheses are skipped.
func parseArrows(md string) (map[string]arrow, error) {
	_, block, ok := strings.Cut("\n"+md, "\n```arrows\n")
	if !ok {
		return nil, fmt.Errorf("no ```arrows block")
	}
	block, _, ok = strings.Cut(block, "```")
	if !ok {
		return nil, fmt.Errorf("the ```arrows block has no end")
	}
	m := map[string]arrow{}
	remark := regexp.MustCompile(`\([^)]*\)|\[[^\]]*\]`)
	for line := range strings.Lines(block) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		dir, right, ok := strings.Cut(remark.ReplaceAllString(line, ""), "->")
		dir = strings.TrimSpace(dir)
		if _, twice := m[dir]; !ok || twice {
			return nil, fmt.Errorf("bad or second arrow: %q", line)
		}
		var a arrow
		right, a.anythingBut = strings.CutPrefix(strings.TrimSpace(right), "anything but ")
		for _, s := range strings.Split(strings.ReplaceAll(right, " and ", ","), ",") {
			if s = strings.TrimSpace(s); s != "" {
				a.to = append(a.to, s)
			}
		}
		slices.Sort(a.to)
		m[dir] = a
	}

	return m, nil
}

func TestArrows(t *testing.T) {
	mod := modulePath(t)
	pkgs := packages(t)
	for _, dir := range slices.Sorted(maps.Keys(pkgs)) {
		files := pkgs[dir]
		t.Run(dir, func(t *testing.T) {
			if _, ok := arrows[dir]; !ok {
				t.Fatalf("%s is not in the arrows map", dir)
			}
			var code []*ast.File
			for name, f := range files {
				test := strings.HasSuffix(name, "_test.go")
				for _, bad := range checkFile(mod, dir, f, test) {
					t.Errorf("%s %s", name, bad)
				}
				if !test {
					code = append(code, f)
				}
			}
			for _, l := range unused(mod, dir, code) {
				t.Errorf("nothing in %s imports %s: take the arrow out of the map", dir, l)
			}
		})
	}
}

// What a pure package imports is pure, or the purity would be on paper only.
func TestPureIsClosed(t *testing.T) {
	for _, dir := range pure {
		for _, l := range arrows[dir].to {
			if !slices.Contains(pure, l) {
				t.Errorf("%s is pure but may import %s, which is not", dir, l)
			}
		}
	}
}

func TestPhoneBuild(t *testing.T) {
	const agent = "modemlink/agent"
	if _, err := os.Stat(filepath.Join(root, agent)); err != nil {
		t.Fatal(err)
	}
	bad, err := offPhone(root, modulePath(t), agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bad {
		t.Errorf("in the phone's build %s", b)
	}
}

func TestReadmeArrows(t *testing.T) {
	md, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseArrows(string(md))
	if err != nil {
		t.Errorf("README.md: %v", err)
	}
	if want := sorted(arrows); !reflect.DeepEqual(got, want) {
		t.Errorf("README.md has another map than arch_test.go. This one:\n\n%s", render(want))
	}
}

// sorted returns the map with every arrow's targets in order.
func sorted(m map[string]arrow) map[string]arrow {
	m = maps.Clone(m)
	for dir, a := range m {
		a.to = slices.Sorted(slices.Values(a.to))
		m[dir] = a
	}

	return m
}

// render prints the map as README.md wants it.
func render(m map[string]arrow) string {
	var b strings.Builder
	b.WriteString("```arrows\n")
	for _, dir := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%-21s -> %s\n", dir, m[dir])
	}
	b.WriteString("```\n")

	return b.String()
}

func modulePath(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^module\s+(\S+)`).FindSubmatch(text)
	if m == nil {
		t.Fatal("go.mod names no module")
	}

	return string(m[1])
}

// walk calls fn for every file of the project, with its path from the root.
func walk(t *testing.T, fn func(name string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (p == filepath.Join(root, "out") || strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci"):
			return fs.SkipDir
		case d.Type().IsRegular():
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			fn(filepath.ToSlash(rel))
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// packages parses every Go file of the project, whatever its build constraints:
// folder -> file name -> file.
func packages(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	pkgs := map[string]map[string]*ast.File{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || slices.Contains(strings.Split(name, "/"), "testdata") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", name, err)

			return
		}
		dir := path.Dir(name)
		if pkgs[dir] == nil {
			pkgs[dir] = map[string]*ast.File{}
		}
		pkgs[dir][name] = f
	})
	if len(pkgs) < 5 {
		t.Fatalf("found %d packages: is this the module's root?", len(pkgs))
	}

	return pkgs
}
