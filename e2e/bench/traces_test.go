// SPDX-License-Identifier: MIT

//go:build !race

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// Each kind of bad trace is one line that names the file, and nothing is run or
// left behind.
func TestBadTraces(t *testing.T) {
	good := "t_ms,ul_kbps\n0,2000\n1000,3000\n2000,2000\n"
	zipped := zip(t, strings.Repeat("1\n2\n3\n", 10_000))
	junk := make([]byte, 4096)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range junk {
		junk[i] = byte(rng.Uint32())
	}
	junk[0] = 0x7f
	mangled := slices.Clone(zipped)
	mangled[len(mangled)-6] ^= 0xff // its checksum
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":            {nil, "no data"},
		"blank":            {[]byte("\n\n \n"), "no data"},
		"header-only":      {[]byte("t_ms,ul_kbps\n"), "no data"},
		"unsorted":         {[]byte("5\n3\n"), "line 2"},
		"unsorted-csv":     {[]byte("t_ms,ul_kbps\n0,1\n200,1\n100,1\n"), "line 4"},
		"twice":            {[]byte("t_ms,ul_kbps\n0,1\n0,1\n"), "line 3"},
		"negative-time":    {[]byte("-1\n3\n"), "negative"},
		"negative-rate":    {[]byte("t_s,ul_mbps\n0,-2\n"), "negative"},
		"huge-gap":         {[]byte("1\n2\n3600000\n"), "an hour or more"},
		"huge-gap-csv":     {[]byte("t_s,ul_mbps\n0,2\n99999999999,2\n"), "an hour or more"},
		"not-a-number":     {[]byte("t_ms,ul_kbps\n0,NaN\n"), "not a number"},
		"text":             {[]byte("once upon a time\n"), "not a number"},
		"few-columns":      {[]byte("t_ms,ul_kbps\n0\n"), "too few"},
		"other-header":     {[]byte("time,rate\n0,1\n"), "header"},
		"all-zero":         {[]byte("t_ms,ul_kbps\n0,0\n1000,0\n"), "no capacity"},
		"no-limit-at-all":  {[]byte("t_ms,ul_kbps\n0,8039999\n"), "no data"},
		"units":            {[]byte("ms,bytes\n0,999999999\n"), "1 Gbit/s"},
		"binary":           {junk, "not a number"},
		"binary-zero":      {make([]byte, 4096), "not a number"},
		"gzip-cut":         {zipped[:len(zipped)/2], "cut short"},
		"gzip-header-only": {zipped[:10], "cut short"},
		"gzip-magic-only":  {zipped[:2], "gzip"},
		"gzip-mangled":     {mangled, "gzip"},
		"gzip-of-nothing":  {zip(t, ""), "no data"},
		"gzip-of-text":     {zip(t, "hello\n"), "line 1"},
		"gzip-twice":       {zip(t, string(zipped)), "not a number"},
		"gzip-bomb":        {zip(t, strings.Repeat("0", maxTraceFile+1)), "more than"},
		"leg#nr":           {[]byte(good), "no leg"},
	} {
		t.Run(name, func(t *testing.T) {
			base, leg, _ := strings.Cut(name, "#")
			path := file(t, base, c.data)
			if leg != "" {
				path += "#" + leg
			}
			out := filepath.Join(t.TempDir(), "out")
			printed, err := bench(t, "-trace", path, "-cc", "fixed", "-duration", "15s", "-out", out)
			if err == nil {
				t.Fatal("no error")
			}
			if msg := err.Error(); !strings.Contains(msg, c.want) || !strings.Contains(msg, base) || strings.ContainsAny(msg, "\n\r\x00") || len(msg) > 400 {
				t.Errorf("%q, want one line with %q and the file's name", msg, c.want)
			}
			if _, err := os.Stat(out); err == nil || printed != "" {
				t.Errorf("printed %q, folder: %v", printed, err)
			}
		})
	}
}

// A trace may be compressed, whatever its name.
func TestGzipTrace(t *testing.T) {
	text := "t_ms,ul_kbps\n0,2000\n30000,4000\n"
	var runs []sim.Result
	for _, data := range [][]byte{[]byte(text), zip(t, text)} {
		out, err := bench(t, "-trace", file(t, "x.csv", data), "-cc", "fixed", "-duration", "20s", "-json")
		if err != nil {
			t.Fatal(err)
		}
		var r sim.Result
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	if runs[0] != runs[1] || runs[0].GoodputMbps < 1 {
		t.Errorf("plain %+v\ngzip  %+v", runs[0], runs[1])
	}
}

// A step above 1 Gbit/s is no limit: it is left out, and the step before goes
// on. Zeros stay.
func TestNoLimit(t *testing.T) {
	for text, want := range map[string][]int{
		"t_ms,ul_kbps\n0,0\n1000,8000\n2000,8039999\n3000,4000\n": {0, 1000, 1000, 500},
		"t_s,ul_mbps\n0,0\n1,8\n2,1001\n":                         {0, 1000},
		"t_s,ul_mbps\r\n0,0\r\n1,8\r\n2,1001\r\n":                 {0, 1000},
		"t_s,ul_mbps\n0,8\n1,1000":                                {1000, 125_000},
	} {
		got, _, err := readTrace("x", file(t, "x", []byte(text)))
		if err != nil || got.Len() != time.Duration(len(want))*time.Second {
			t.Errorf("%q: %v long, %v; want %d s", text, got.Len(), err, len(want))

			continue
		}
		for i, w := range want {
			if n := got.At(int64(1000*i + 500)); n != w {
				t.Errorf("%q: %d bytes/ms in second %d, want %d", text, n, i, w)
			}
		}
	}
}

// The real traces are in the catalogue, each with the rate that it is known for.
func TestRecorded(t *testing.T) {
	dataset.File(t, "traces", "Verizon-LTE-short.up")
	all, sums, err := recorded()
	if err != nil {
		t.Fatal(err)
	}
	const korea = "korea_nsa_static_LGU_20220330_"
	want := map[string]float64{ // Mbit/s over the whole trace
		"Verizon-LTE-short": 5.96, "TMobile-LTE-short": 13.27, "ATT-LTE-driving-2016": 1.91,
		"alphartc_4G_3mbps_ul": 3.8, "alphartc_5G_12mbps_ul": 11.9,
		korea + "1354#nr": 3.5, korea + "1354#lte": 41.4, korea + "1354#both": 44.9,
		korea + "1334#nr": 33.9, korea + "1334#lte": 0.3, korea + "1334#both": 34.2,
		"umn_tmobile_SA_n71_walk_ul_1": 26.5, "umn_tmobile_NSA_walk_ul_1": 83.4,
	}
	for _, s := range all {
		tr := s.Trace(1, time.Minute)
		got := float64(tr.MeanBps(0, tr.Len())) / 1e6
		if w, ok := want[s.Name]; ok && (got < 0.95*w-0.05 || got > 1.05*w+0.05) {
			t.Errorf("%s: %.2f Mbit/s, want %g ± 5 %%", s.Name, got, w)
		}
		delete(want, s.Name)
		if s.Class != traceClass || sums[s.Name] == "" || strings.Contains(s.Doc, "\n") {
			t.Errorf("%+v", s)
		}
		for seed := uint64(1); seed <= 5; seed++ {
			c := s.Cell
			c.Start, c.Capacity = time.Unix(1e9, 0), s.Trace(seed, time.Minute)
			if _, err := cell.New(c); err != nil {
				t.Errorf("%s, seed %d: %v", s.Name, seed, err)
			}
		}
		s.Duration, s.Warmup = 12*time.Second, 2*time.Second
		for _, cc := range []string{"gcc", "gbrcc"} {
			if r, err := sim.Run(s, cc, 1, sim.Params{}, sim.Options{}); err != nil || r.FramesRendered < 20 {
				t.Errorf("%s, %s: %d frames, %v", s.Name, cc, r.FramesRendered, err)
			}
		}
	}
	for name := range want {
		t.Errorf("no %s", name)
	}
	out, err := bench(t, "-scenarios", "verizon*,trace", "-cc", "fixed", "-duration", "15s", "-json")
	if n := strings.Count(out, "\n"); err != nil || n != len(all)+4 {
		t.Errorf("%d runs of %d real and 4 made up traces, %v", n, len(all), err)
	}
}

// A trace that nobody knows is found, too; and one that is broken is said.
func TestOtherRecordings(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(dataset.EnvDir, dir)
	traces := filepath.Join(dir, "traces")
	if err := os.Mkdir(traces, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(traces, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.csv", "t_s,ul_mbps\n0,2\n")
	write("lte_real_ue_x.csv", "t_ms,total_bytes\n0,2\n")
	write("SOURCES.md", "# Sources\n")
	all, _, err := recorded()
	if err != nil || len(all) != 1 || all[0].Name != "mine" {
		t.Fatalf("%d traces, %v", len(all), err)
	}
	write("broken.up", "5\n4\n")
	for _, args := range [][]string{{"-list"}, {"-scenarios", "const-3", "-cc", "fixed"}} {
		if _, err := bench(t, args...); err == nil || !strings.Contains(err.Error(), "broken.up") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// Without the folder only the built-in traces are run, and one line says so.
func TestWithoutRecordings(t *testing.T) {
	t.Setenv(dataset.EnvDir, filepath.Join(t.TempDir(), "none"))
	for list, want := range map[string]int{"trace": 1, "synth-edge,const-1": 1, "const-1": 0} {
		var out, told bytes.Buffer
		if err := run(t.Context(), []string{"-scenarios", list, "-cc", "fixed", "-duration", "15s"}, &out, &told); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(told.String(), "\n"); n != want || want > 0 && !strings.Contains(told.String(), "only built-in traces") {
			t.Errorf("%s: told %q, want %d lines", list, told.String(), want)
		}
	}
	if _, err := bench(t, "-scenarios", "Verizon-LTE-short"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a trace that is not there: %v", err)
	}
}

// The list of what is built in, as users see it.
func TestListGolden(t *testing.T) {
	t.Setenv(dataset.EnvDir, filepath.Join(t.TempDir(), "none"))
	out, err := bench(t, "-list")
	if err != nil {
		t.Fatal(err)
	}
	// Algorithms and parameters are others' business.
	catalogue, _, _ := strings.Cut(out, "\nALGORITHM")
	golden.Assert(t, catalogue, "list.golden")
}

// -duration is the length of all runs but those that would show nothing.
func TestLengths(t *testing.T) {
	length := func(name string, d time.Duration) (time.Duration, string) {
		t.Helper()
		s, err := sim.Select(name)
		if err != nil {
			t.Fatal(err)
		}
		var told bytes.Buffer
		options{duration: d}.lengths(s, &told)

		return s[0].Duration, told.String()
	}
	for _, c := range []struct {
		name     string
		d, want  time.Duration
		mentions bool
	}{
		{"const-3", 0, time.Minute, false},
		{"const-3", 20 * time.Second, 20 * time.Second, false},
		{"rmcat-5.5-uplink", 0, 300 * time.Second, false},
		{"rmcat-5.5-uplink", time.Minute, 90 * time.Second, true},
		{"rmcat-5.5-uplink", 200 * time.Second, 200 * time.Second, false},
		{"rmcat-5.1-backhaul", 20 * time.Second, 100 * time.Second, true},
		{"applimited-2", time.Minute, 120 * time.Second, true},
	} {
		got, told := length(c.name, c.d)
		if got != c.want || strings.Contains(told, c.name) != c.mentions || strings.Count(told, "\n") > 1 {
			t.Errorf("%s, -duration %v: %v, want %v; told %q", c.name, c.d, got, c.want, told)
		}
	}
	_, told := length("rmcat", 20*time.Second)
	if strings.Count(told, "\n") != 1 || !strings.Contains(told, "more") {
		t.Errorf("told %q, want one line", told)
	}
}

// The clairvoyant's row is its run on the frontier: it is not had twice.
func TestOracleIsOnTheFrontier(t *testing.T) {
	s, err := sim.Select("step-3-1-3")
	if err != nil {
		t.Fatal(err)
	}
	s[0].Duration = 20 * time.Second
	j := options{cc: []string{"oracle"}, seeds: 1}.plan(s)[0]
	if !j.onFrontier() {
		t.Fatalf("%+v is not", j.variant)
	}
	first := frontierVariants()[0]
	own, err := sim.Run(s[0], "oracle", 1, sim.Params{}, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sim.Run(s[0], first.cc, 1, first.params, sim.Options{}); err != nil || got != own {
		t.Errorf("own %+v\nfrontier %+v, %v", own, got, err)
	}
}
