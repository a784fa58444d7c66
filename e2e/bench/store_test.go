// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// files reads a folder: name -> text.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		m[e.Name()] = string(text)
	}

	return m
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs: %d bytes, want %d", name, len(got[name]), len(want[name]))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

func readRows(t *testing.T, dir string) map[key]record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, resultsName))
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable()
	if err := tab.parse(text[:bytes.LastIndexByte(text, '\n')+1]); err != nil {
		t.Fatal(err)
	}

	return tab.rows
}

// afterLines cancels when a file has n lines.
func afterLines(ctx context.Context, cancel func(), path string, n int) {
	defer cancel()
	for ctx.Err() == nil {
		text, _ := os.ReadFile(path)
		if bytes.Count(text, []byte("\n")) >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Interrupted and gone on with, a benchmark leaves the same bytes as one that
// was left alone, and runs nothing twice.
func TestResume(t *testing.T) {
	args := []string{"-scenarios", "const-3,step-3-1-3", "-cc", "seed,gcc", "-sweep", "beta=10,50", "-seeds", "2", "-duration", "15s"}
	whole := t.TempDir()
	printed, err := bench(t, append(args, "-out", whole)...)
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, whole)

	broken := t.TempDir()
	args = append(args, "-out", broken)
	path := filepath.Join(broken, resultsName)
	ctx, cancel := context.WithCancel(t.Context())
	go afterLines(ctx, cancel, path, 5)
	err = run(ctx, args, io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "of 12 runs: the same command goes on") {
		t.Fatalf("interrupted: %v", err)
	}
	kept := readRows(t, broken)
	if len(kept) < 4 || len(kept) > 11 {
		t.Fatalf("%d runs kept, want those that were done", len(kept))
	}
	for name := range files(t, broken) {
		if name == "report.html" || name == "table.md" {
			t.Errorf("%s of an unfinished benchmark", name)
		}
	}
	// What a killed process may leave: a piece of a row.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("const-3,const,gbr"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := bench(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, files(t, broken), want)
	if again != printed {
		t.Error("the table on stdout differs")
	}
	// With all there, nothing is run: a forged figure stays.
	rows := readRows(t, broken)
	forge(t, path, "const-3", "scenario-x")
	if _, err := bench(t, args...); err != nil {
		t.Fatal(err)
	}
	if n := len(readRows(t, broken)); n != len(rows)+6 {
		t.Errorf("%d rows, want the %d and the 6 under another name", n, len(rows))
	}
}

func forge(t *testing.T, path, old, now string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(old), []byte(now)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// More seeds add to what is there, and fewer take nothing away.
func TestMoreSeeds(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-scenarios", "const-3", "-cc", "fixed", "-duration", "15s", "-out", dir, "-json"}
	lines := func(seeds string) []string {
		out, err := bench(t, append(args, "-seeds", seeds)...)
		if err != nil {
			t.Fatal(err)
		}

		return strings.Split(strings.TrimSpace(out), "\n")
	}
	one := lines("1")
	forge(t, filepath.Join(dir, resultsName), ",1.9", ",1.1") // the goodput of seed 1, to know it again
	three := lines("3")
	if len(one) != 1 || len(three) != 3 || three[0] == one[0] || !strings.Contains(three[0], ":1.1") {
		t.Errorf("%d and %d lines, the first %s", len(one), len(three), three[0])
	}
	if two := lines("2"); len(two) != 2 || two[1] != three[1] {
		t.Errorf("%d lines of 2 seeds", len(two))
	}
	if n := len(readRows(t, dir)); n != 3 {
		t.Errorf("%d rows are left of 3", n)
	}
}

// A folder of something else is refused in one line, and left as it is.
func TestForeignFolder(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "two.csv")
	if err := os.WriteFile(trace, []byte("t_ms,ul_kbps\n0,2000\n30000,2000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-trace", trace, "-cc", "fixed", "-duration", "15s", "-out"}
	good := t.TempDir()
	if _, err := bench(t, append(slices.Clone(args), good)...); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(dir string)
		want   string
	}{
		"other code":    {func(dir string) { forge(t, filepath.Join(dir, versionName), `"code": "`, `"code": "x`) }, "other code"},
		"other format":  {func(dir string) { forge(t, filepath.Join(dir, versionName), `"format": 1`, `"format": 0`) }, "other code"},
		"no version":    {func(dir string) { _ = os.Remove(filepath.Join(dir, versionName)) }, "another folder"},
		"bad version":   {func(dir string) { forge(t, filepath.Join(dir, versionName), `{`, `[`) }, versionName},
		"other columns": {func(dir string) { forge(t, filepath.Join(dir, resultsName), "goodput_mbps", "speed") }, "columns"},
		"short row":     {func(dir string) { forge(t, filepath.Join(dir, resultsName), "two.csv,trace,", "two.csv,") }, "row 2"},
		"bad number":    {func(dir string) { forge(t, filepath.Join(dir, resultsName), "fixed,1,15,", "fixed,one,15,") }, "row 2"},
		"bad frontier":  {func(dir string) { forge(t, filepath.Join(dir, frontierName), "oracle,1,15,", "oracle,one,15,") }, frontierName},
		"other trace":   {func(dir string) { forge(t, filepath.Join(dir, versionName), `"two.csv": "`, `"two.csv": "x`) }, "another trace"},
		"a folder": {func(dir string) {
			_ = os.Remove(filepath.Join(dir, resultsName))
			_ = os.Mkdir(filepath.Join(dir, resultsName), 0o700)
		}, resultsName},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
				t.Fatal(err)
			}
			c.change(dir)
			var before map[string]string
			if name != "a folder" {
				before = files(t, dir)
			}
			out, err := bench(t, append(slices.Clone(args), dir)...)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "-out") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line with %q", err, c.want)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
			if before != nil && !maps.Equal(files(t, dir), before) {
				t.Error("the folder was changed")
			}
		})
	}
}

// A folder that cannot be written is found out before anything is run.
func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		dir = "/proc/1" // root may write wherever writing is possible
	} else if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err := bench(t, "-seeds", "1000", "-out", dir)
	if err == nil || !strings.Contains(err.Error(), "-out") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line", err)
	}
	if took := time.Since(start); took > time.Minute { // the runs would take days
		t.Errorf("found out after %v", took)
	}
}

// fullDisk takes room bytes and no more.
type fullDisk struct {
	bytes.Buffer
	room int
}

func (f *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), f.room-f.Len())
	_, _ = f.Buffer.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}

	return n, nil
}

func (f *fullDisk) Truncate(size int64) error {
	f.Buffer.Truncate(int(size))

	return nil
}

func (*fullDisk) Close() error { return nil }

// On a full disk what is written stays whole, and the error says so.
func TestFullDisk(t *testing.T) {
	disk := &fullDisk{room: 450}
	tab := newTable()
	tab.file = disk
	var err error
	kept := 0
	for err == nil && kept < 100 {
		err = tab.add(record{Result: sim.Result{Scenario: "const-3", Seed: uint64(kept)}})
		kept++
	}
	kept-- // the last one is not
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "-out") {
		t.Errorf("%v, want no space", err)
	}
	if kept < 2 || bytes.Count(disk.Bytes(), []byte("\n")) != kept || !bytes.HasSuffix(disk.Bytes(), []byte("\n")) {
		t.Errorf("%d rows kept:\n%s", kept, disk.Bytes())
	}
}

// A row read back is the row that was written, to the bit.
func TestRowsRoundTrip(t *testing.T) {
	r := record{Params: "beta=10 pacing=2"}
	v := reflect.ValueOf(&r.Result).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("a,\"b\" " + v.Type().Field(i).Name)
		case reflect.Float64:
			f.SetFloat(1 / float64(i+3))
		case reflect.Int:
			f.SetInt(int64(i))
		default:
			f.SetUint(1<<63 + uint64(i))
		}
	}
	var b bytes.Buffer
	if err := writeCSV(&b, []record{r}); err != nil {
		t.Fatal(err)
	}
	tab := newTable()
	if err := tab.parse(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if got := tab.rows[r.key()]; got != r {
		t.Errorf("%+v\nwant\n%+v", got, r)
	}
}

// When a file of the end cannot be put in place, what was run is kept, nothing
// is left lying about, and the same command goes on once there is room.
func TestFilesCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-scenarios", "const-1", "-cc", "fixed,gcc", "-duration", "15s", "-out", dir}
	inTheWay := filepath.Join(dir, "table.md")
	if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := bench(t, args...)
	if err == nil || !strings.Contains(err.Error(), "2 runs are kept") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line that says what is kept", err)
	}
	rows := readRows(t, dir)
	if len(rows) != 2 {
		t.Errorf("%d runs kept, want 2", len(rows))
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	for name := range files(t, dir) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s is left", name)
		}
	}
	if _, err := bench(t, args...); err != nil {
		t.Fatal(err)
	}
	if again := readRows(t, dir); !maps.Equal(again, rows) {
		t.Errorf("runs were had again: %v, before %v", again, rows)
	}
}
