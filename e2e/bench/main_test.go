// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

func keys() []string {
	return strings.Fields(`scenario class cc seed duration_s capacity_mbps goodput_mbps utilization
		playout_ms_p50 playout_ms_p95 playout_ms_p99 ue_queue_ms_p50 ue_queue_ms_p95 ue_queue_ms_max
		sender_queue_ms_p50 sender_queue_ms_p95 sender_queue_ms_max rtt_ms_p50 rtt_ms_p95
		freeze_count freeze_ratio frames_sent frames_rendered loss_ratio key_frame_requests target_mbps_mean target_cv target_moves_per_s rise_s samples
		flows flow_goodputs_mbps jain_index fair_share
		oracle_goodput_mbps oracle_playout_ms_p50 oracle_playout_ms_p95 oracle_playout_ms_at_goodput params`)
}

func bench(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(t.Context(), args, &out, io.Discard)

	return out.String(), err
}

// -json prints one object a line for each run, with the documented keys, and
// the same again for the same seeds.
func TestJSON(t *testing.T) {
	args := []string{"-json", "-scenarios", "const-3,step-3-1-3", "-cc", "gbrcc,oracle", "-seeds", "2", "-duration", "20s"}
	out, err := bench(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 8 {
		t.Fatalf("%d lines, want 8", len(lines))
	}
	for _, l := range lines {
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
		if m["oracle_goodput_mbps"].(float64) <= 0 {
			t.Errorf("no clairvoyant in %s", l)
		}
	}
	again, err := bench(t, args...)
	if err != nil || again != out {
		t.Errorf("the second time: %v, equal: %v", err, again == out)
	}
}

func TestFilesAndTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	out, err := bench(t, "-scenarios", "const-3", "-cc", "gcc,gbrcc", "-duration", "20s", "-out", dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"goodput", "const-3", "gbrcc", "gcc"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in the table:\n%s", want, out)
		}
	}
	f, err := os.Open(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 3 || !slices.Equal(rows[0], keysInOrder(t)) {
		t.Errorf("results.csv: %v, %d rows, header %v", err, len(rows), rows[0])
	}
	md, err := os.ReadFile(filepath.Join(dir, "table.md"))
	if err != nil || strings.Count(string(md), "\n") != 4 {
		t.Errorf("table.md: %v\n%s", err, md)
	}
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"classes.md", "frontier.csv", "report.html", "results.csv", "table.md", "version.json"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v in the folder, %v; want %v", names, err, want)
	}
}

// keysInOrder is the order of the CSV: that of the struct.
func keysInOrder(t *testing.T) []string {
	t.Helper()
	k, _, err := flatten(record{})
	if err != nil {
		t.Fatal(err)
	}
	sorted, want := slices.Sorted(slices.Values(k)), slices.Sorted(slices.Values(keys()))
	if !slices.Equal(sorted, want) {
		t.Fatalf("keys %v, want %v", sorted, want)
	}

	return k
}

func TestTraceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.csv")
	if err := os.WriteFile(path, []byte("t_ms,ul_kbps\n0,2000\n30000,2000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := bench(t, "-trace", path, "-cc", "fixed", "-set", "fixed_kbps=1000", "-duration", "20s", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var r sim.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Scenario != "two.csv" || r.CapacityMbps < 1.9 || r.CapacityMbps > 2.1 || r.GoodputMbps < 0.9 || r.GoodputMbps > 1 {
		t.Errorf("%+v", r)
	}
}

// A trace begins where it is told to, and seed 1 with it.
func TestTraceFrom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fall.csv")
	if err := os.WriteFile(path, []byte("t_ms,ul_kbps\n0,8000\n30000,2000\n60000,2000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// 10 s of it are not counted.
	for from, mbps := range map[string]float64{"0s": 8, "10s": 8, "20s": 2, "30s": 2} {
		out, err := bench(t, "-trace", path, "-trace-from", from, "-cc", "fixed", "-set", "fixed_kbps=500", "-duration", "19s", "-json")
		if err != nil {
			t.Fatal(err)
		}
		var r sim.Result
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.CapacityMbps < mbps-0.1 || r.CapacityMbps > mbps+0.1 || from != "0s" && r.Scenario != "fall.csv@"+from {
			t.Errorf("from %s: scenario %s of %.2f Mbit/s, want %.1f ± 0.1", from, r.Scenario, r.CapacityMbps, mbps)
		}
	}
}

func TestTraceLeg(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.csv")
	// 800 bytes in 20 TTIs of 20 ms are 6.4 Mbit/s, 1000 bytes in 8 slots 3.2.
	if err := os.WriteFile(path, []byte("t_ms,nr_tbs,lte_tbs\n0,1000,800\n20,1000,800\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for suffix, mbps := range map[string]float64{"": 9.6, "#nr": 3.2, "#lte": 6.4} {
		out, err := bench(t, "-trace", path+suffix, "-cc", "fixed", "-set", "fixed_kbps=500", "-duration", "15s", "-json")
		if err != nil {
			t.Fatal(err)
		}
		var r sim.Result
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.Scenario != "two.csv"+suffix || r.CapacityMbps < mbps-0.1 || r.CapacityMbps > mbps+0.1 {
			t.Errorf("%q: scenario %s of %.2f Mbit/s, want %.1f ± 0.1", suffix, r.Scenario, r.CapacityMbps, mbps)
		}
	}
}

func TestList(t *testing.T) {
	out, err := bench(t, "-list")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(sim.Algorithms(), "synth-lte", "backhaul", "beta", "horizon_ms") {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in the list", want)
		}
	}
}

// Each bad input gives an error of one line that names what is wrong.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte("hello\nworld\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-nonesuch"}, "-nonesuch"},
		{[]string{"extra"}, "extra"},
		{[]string{"-cc", "tcp"}, "tcp"},
		{[]string{"-cc", ""}, "unknown algorithm"},
		{[]string{"-scenarios", "moon"}, "moon"},
		{[]string{"-seeds", "0"}, "-seeds"},
		{[]string{"-seeds", "many"}, "many"},
		{[]string{"-duration", "5s"}, "-duration"},
		{[]string{"-set", "beta"}, "key=value"},
		{[]string{"-set", "beta=steep"}, "steep"},
		{[]string{"-set", "gamma=1"}, "gamma"},
		{[]string{"-set", "beta=-5", "-scenarios", "const-3", "-cc", "seed"}, "Beta"},
		{[]string{"-set", "beta=1,2"}, "-sweep"},
		{[]string{"-set", "beta=NaN"}, "NaN"},
		{[]string{"-set", "beta=1e300"}, "1e300"},
		{[]string{"-set", "beta=5", "-set", "beta=6"}, "twice"},
		{[]string{"-set", "beta=5", "-cc", "gcc"}, "no algorithm"},
		{[]string{"-sweep", "beta"}, "key=value"},
		{[]string{"-sweep", "beta="}, "not a number"},
		{[]string{"-sweep", "beta=1,,2"}, "not a number"},
		{[]string{"-sweep", "beta=1,2,1"}, "twice"},
		{[]string{"-sweep", "gamma=1,2"}, "target_ms"},
		{[]string{"-sweep", "beta=1,2", "-sweep", "beta=3"}, "twice"},
		{[]string{"-sweep", "beta=1,2", "-set", "beta=3"}, "twice"},
		{[]string{"-set", "without=salt"}, "hold-back"},
		{[]string{"-sweep", "without=path,path"}, "twice"},
		{[]string{"-set", "without=each"}, "-sweep"},
		{[]string{"-set", "bsr_table=umts"}, "nr-short"},
		{[]string{"-set", "bsr_ms=0.5", "-scenarios", "const-3", "-cc", "gbrcc"}, "whole milliseconds"},
		{[]string{"-set", "bsr_ms=5", "-cc", "gcc"}, "no algorithm"},
		{[]string{"-sweep", "horizon_ms=33,50", "-cc", "gbrcc"}, "no algorithm"},
		{[]string{"-sweep", "beta=10,-5", "-cc", "seed"}, "beta=-5"},
		{[]string{"-trace", filepath.Join(dir, "missing")}, "missing"},
		{[]string{"-trace", junk}, "line 1"},
		{[]string{"-trace", dir}, dir},
		{[]string{"-trace", short, "-trace-from", "2s"}, "3ms long"},
		{[]string{"-trace-from", "2s"}, "-trace"},
		{[]string{"-trace", short, "-trace-from", "-2s"}, "-trace-from"},
		{[]string{"-scenarios", "random-cell-100"}, "random-cell"},
		{[]string{"-scenarios", "const-3", "-cc", "fixed", "-duration", "15s", "-out", filepath.Join(junk, "x")}, "-out"},
	} {
		out, err := bench(t, c.args...)
		if err == nil {
			t.Errorf("%v: no error", c.args)

			continue
		}
		if msg := err.Error(); !strings.Contains(msg, c.want) || strings.Contains(msg, "\n") {
			t.Errorf("%v: %q, want one line with %q", c.args, msg, c.want)
		}
		if out != "" {
			t.Errorf("%v: printed %q", c.args, out)
		}
	}
	if _, err := bench(t, "-h"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, []string{"-seeds", "100"}, &out, io.Discard); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("%v, printed %d bytes", err, out.Len())
	}
}
