// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/bench/pionrun"
)

// TestMain is main where that is a worker's.
func TestMain(m *testing.M) {
	if pionrun.IsWorker() {
		pionrun.Main()
	}
	os.Exit(m.Run())
}

// The rows of the real stack have the same keys as all others, and the
// clairvoyant beside them.
func TestStackRows(t *testing.T) {
	out, err := bench(t, "-json", "-scenarios", "const-3", "-cc", "gcc,pion,pion-leaky,gbrcc-pion", "-seeds", "2", "-duration", "15s")
	if err != nil {
		t.Fatal(err)
	}
	var ccs []string
	for l := range strings.Lines(out) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		for _, k := range keys() {
			if _, ok := m[k]; !ok {
				t.Errorf("no %s in %s", k, l)
			}
		}
		if len(m) != len(keys()) {
			t.Errorf("%d keys, want %d", len(m), len(keys()))
		}
		for _, k := range []string{"goodput_mbps", "playout_ms_p50", "ue_queue_ms_p50", "rtt_ms_p50", "frames_rendered", "oracle_goodput_mbps"} {
			if m[k].(float64) <= 0 {
				t.Errorf("%s is %v in %s", k, m[k], l)
			}
		}
		if m["capacity_mbps"].(float64) != 3 || m["frames_sent"].(float64) != 150 {
			t.Errorf("another run: %s", l)
		}
		ccs = append(ccs, m["cc"].(string))
	}
	if want := []string{"gcc", "pion", "pion-leaky", "gbrcc-pion", "gcc", "pion", "pion-leaky", "gbrcc-pion"}; !slices.Equal(ccs, want) {
		t.Errorf("rows %v, want %v", ccs, want)
	}
}

// They are kept, gone on with, swept and reported like the others.
func TestStackKept(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(t.TempDir(), "two.csv")
	if err := os.WriteFile(trace, []byte("t_ms,ul_kbps\n0,2000\n30000,2000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-trace", trace, "-cc", "pion,gbrcc-pion", "-sweep", "safety=0.8,0.9", "-duration", "15s", "-out", dir, "-seeds"}
	if _, err := bench(t, append(args, "1")...); err != nil {
		t.Fatal(err)
	}
	one := readRows(t, dir)
	if len(one) != 3 {
		t.Fatalf("%d rows, want pion and two of gbrcc-pion", len(one))
	}
	page, data := parseReport(t, dir)
	if len(data.Time) != 1 || len(data.Time[0].Lines) != 3 || len(data.Time[0].Lines[0].Target) != 150 || data.Time[0].Capacity[0] != 2000 {
		t.Errorf("the plots over time: %+v", data.Time)
	}
	if len(data.Curves) != 1 || !strings.Contains(page, "differ a little") {
		t.Errorf("%d curves in the report, or not said that the rows differ", len(data.Curves))
	}
	if _, err := bench(t, append(args, "2")...); err != nil {
		t.Fatal(err)
	}
	two := readRows(t, dir)
	for k, r := range one {
		if two[k] != r {
			t.Errorf("%+v was run again", k)
		}
	}
	if len(two) != 6 {
		t.Errorf("%d rows of 2 seeds, want 6", len(two))
	}
}

// What the rows do not run on is said, and left out; it is an error for whoever
// asks for nothing else.
func TestStackClasses(t *testing.T) {
	var out, notes bytes.Buffer
	args := []string{"-scenarios", "const-3,applimited-1", "-cc", "fixed,pion", "-duration", "15s", "-json"}
	if err := run(t.Context(), args, &out, &notes); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 3 || strings.Count(out.String(), `"cc":"pion"`) != 1 {
		t.Errorf("%d rows:\n%s", n, out.String())
	}
	if want := "bench: pion not run on applimited-1"; !strings.Contains(notes.String(), want) {
		t.Errorf("%q, want %q", notes.String(), want)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-scenarios", "applimited,telemetry", "-cc", "gcc,pion-leaky"}, "const step trace backhaul rmcat"},
		{[]string{"-scenarios", "const-3", "-cc", "pion,pions"}, "gbrcc-pion"},
		{[]string{"-scenarios", "const-3", "-cc", "pion,pion-leaky", "-set", "safety=1"}, "no algorithm"},
		{[]string{"-scenarios", "const-3", "-cc", "gbrcc-pion", "-set", "safety=-1"}, "Safety"},
	} {
		if _, err := bench(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want one line with %q", c.args, err, c.want)
		}
	}
	// The report has holes where nothing was run.
	dir := t.TempDir()
	if _, err := bench(t, "-scenarios", "applimited-1,const-3", "-cc", "pion,gbrcc-pion,fixed", "-sweep", "safety=0.8,0.9", "-duration", "15s", "-out", dir); err != nil {
		t.Fatal(err)
	}
	if _, data := parseReport(t, dir); len(data.Curves) != 1 || len(data.Time) != 2 || len(data.Time[0].Capacity) != 150 {
		t.Errorf("curves %d, times %d", len(data.Curves), len(data.Time))
	}
}

// An interrupt ends a run of the stack at once, and keeps what is done.
func TestStackInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go afterLines(ctx, cancel, filepath.Join(dir, frontierName), 5) // the clairvoyant's runs come first
	args := []string{"-scenarios", "const-8", "-cc", "pion", "-duration", "60s", "-out", dir}
	began := time.Now()
	err := run(ctx, args, io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "after 0 of 1 runs: the same command goes on") {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
