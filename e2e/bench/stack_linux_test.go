// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// workers are the child processes of this one that have worked for so many ticks
// of 10 ms.
func workers(t *testing.T, ticks int) []*os.Process {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []*os.Process
	for _, s := range stats {
		text, err := os.ReadFile(s)
		if err != nil {
			continue // it has ended
		}
		// proc(5): "pid (name) state ppid", utime is number 14. The name may
		// have anything in it.
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(f) < 12 || f[1] != strconv.Itoa(os.Getpid()) || f[0] == "Z" {
			continue
		}
		if used, err := strconv.Atoi(f[11]); err != nil || used < ticks {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(s)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}

	return out
}

// A worker that dies in the middle of a run costs that run, which is said and
// tried again by the same command, and no other.
func TestStackWorkerKilled(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-scenarios", "const-8,const-3", "-cc", "pion", "-duration", "60s", "-out", dir, "-json"}
	killed := make(chan error, 1)
	go func() {
		for range 10_000 {
			time.Sleep(10 * time.Millisecond)
			// It has got its job, and is not done with it.
			if ws := workers(t, 20); len(ws) > 0 {
				killed <- ws[0].Kill()

				return
			}
		}
		killed <- fmt.Errorf("no worker seen")
	}()
	var out bytes.Buffer
	err := run(t.Context(), args, &out, io.Discard)
	if kerr := <-killed; kerr != nil {
		t.Fatal(kerr)
	}
	if err == nil || !strings.Contains(err.Error(), "1 of 2 runs failed, the first: const-") || !strings.Contains(err.Error(), "killed") {
		t.Errorf("%v", err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want a run and a failure:\n%s", len(lines), out.String())
	}
	var f failure
	if err := json.Unmarshal([]byte(lines[1]), &f); err != nil || f.CC != "pion" || f.Seed != 1 || f.DurationS != 60 || !strings.Contains(f.Error, "killed") {
		t.Errorf("%+v, %v", f, err)
	}
	page, _ := parseReport(t, dir)
	table, err := os.ReadFile(filepath.Join(dir, "table.md"))
	if err != nil || !strings.Contains(string(table), "Failed: "+f.Scenario) || !strings.Contains(page, "Failed") {
		t.Errorf("not in table.md or the report: %v\n%s", err, table)
	}
	if n := len(readRows(t, dir)); n != 1 {
		t.Errorf("%d rows kept", n)
	}
	if _, err := bench(t, args...); err != nil {
		t.Error(err)
	}
	if n := len(readRows(t, dir)); n != 2 {
		t.Errorf("%d rows in the end", n)
	}
	if ws := workers(t, 0); len(ws) > 0 {
		t.Errorf("%d workers are left", len(ws))
	}
}
