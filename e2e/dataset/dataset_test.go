// SPDX-License-Identifier: MIT

package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// verdict records how a test was ended.
type verdict struct{ skipped, failed string }

func (*verdict) Helper()                     {}
func (v *verdict) Skipf(f string, a ...any)  { v.skipped = fmt.Sprintf(f, a...) }
func (v *verdict) Fatalf(f string, a ...any) { v.failed = fmt.Sprintf(f, a...) }
func (v *verdict) is(skipped, failed bool) bool {
	return (v.skipped != "") == skipped && (v.failed != "") == failed
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir, require, file string
		skipped, failed    bool
	}{
		{dir: dir, file: "here"},
		{dir: dir, file: "there", skipped: true},
		{dir: dir, require: "1", file: "there", failed: true},
		{dir: filepath.Join(dir, "no"), file: "here", skipped: true},
		{dir: filepath.Join(dir, "no"), require: "1", file: "here", failed: true},
		{dir: filepath.Join(dir, "here"), require: "1", file: "here", failed: true},
	} {
		t.Setenv(EnvDir, tt.dir)
		t.Setenv(EnvRequire, tt.require)
		var v verdict
		if got := File(&v, tt.file); !v.is(tt.skipped, tt.failed) {
			t.Errorf("%+v: %q, %+v", tt, got, v)
		}
	}
}

// Outside of a module, with nothing said, there is no folder to look in.
func TestDirOutsideOfAModule(t *testing.T) {
	t.Setenv(EnvDir, "")
	t.Chdir(t.TempDir())
	if dir, err := Dir(); !errors.Is(err, ErrMissing) {
		t.Errorf("%q, %v; want ErrMissing", dir, err)
	}
}

// In a module the folder is beside it, wherever one stands in it.
func TestDirBesideTheModule(t *testing.T) {
	t.Setenv(EnvDir, "")
	top := t.TempDir()
	deep := filepath.Join(top, "module", "a", "b")
	data := filepath.Join(top, "shared", "data")
	for _, d := range []string{deep, data} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "module", "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	got, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	if same(t, got) != same(t, data) {
		t.Errorf("%s, want %s", got, data)
	}
}

func same(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}

	return p
}
