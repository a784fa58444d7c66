// SPDX-License-Identifier: MIT

//go:build !race

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// What takes many simulated minutes: with the race detector it takes as many of the
// clock, and the workers, of whom it could tell, are those of the short runs.

func TestReport(t *testing.T) {
	dir := t.TempDir()
	if _, err := bench(t, "-scenarios", "step-3-1-3,synth-lte", "-cc", "gbrcc,gcc,oracle", "-seeds", "2", "-duration", "20s", "-out", dir); err != nil {
		t.Fatal(err)
	}
	page, data := parseReport(t, dir)
	for _, want := range []string{
		"go run ./e2e/bench -scenarios step-3-1-3,synth-lte -cc gbrcc,gcc,oracle -seeds 2 -duration 20s<", codeVersion(),
		"Worst cases first", "3 algorithms, 2 scenarios, 2 seeds of 20 s each",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(page, dir) || strings.Contains(page, `id="sweeps"`) {
		t.Error("the page names its folder, or has sweeps")
	}
	if len(data.Time) != 2 || len(data.Scatter) != 2 || len(data.Curves) != 0 {
		t.Fatalf("%d plots over time, %d scatters, %d curves", len(data.Time), len(data.Scatter), len(data.Curves))
	}
	for i, c := range data.Time {
		if len(c.Lines) != 3 || len(c.Capacity) != 200 {
			t.Fatalf("%s: %d lines over %d intervals", c.ID, len(c.Lines), len(c.Capacity))
		}
		for _, l := range c.Lines {
			if len(l.Target) != 200 || len(l.Queue) != 200 || len(l.Playout) != 200 {
				t.Errorf("%s, %s: %d, %d, %d values, want 200", c.ID, l.Name, len(l.Target), len(l.Queue), len(l.Playout))
			}
		}
		if l := c.Lines[0]; l.Name != "gbrcc" || l.Color != "blue" || l.Target[199] < 200 || l.Playout[150] == nil || *l.Playout[150] < 50 {
			t.Errorf("%s: %+v", c.ID, l)
		}
		s := data.Scatter[i]
		if len(s.Frontier) == 0 || len(s.Points) != 3 || s.Points[0].Y[1] <= 0 || s.Points[0].X[1] <= 50 {
			t.Errorf("%+v", s)
		}
		for k := 1; k < len(s.Frontier); k++ {
			if s.Frontier[k][0] <= s.Frontier[k-1][0] || s.Frontier[k][1] <= s.Frontier[k-1][1] {
				t.Errorf("%s: frontier %v", s.ID, s.Frontier)
			}
		}
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-scenarios", "const-3", "-duration", "15s", "-out", dir}
	out, err := bench(t, append(args, "-cc", "seed,gcc,fixed", "-sweep", "target_ms=10,40", "-sweep", "beta=50,10", "-sweep", "fixed_kbps=1500,500,1000", "-set", "headroom=2")...)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); len(f) > 8 && f[0] == "const-3" {
			labels = append(labels, strings.Join(f[1:5], " "))
		}
	}
	want := []string{
		"seed beta=50 target_ms=10 headroom=2", "seed beta=10 target_ms=10 headroom=2",
		"seed beta=50 target_ms=40 headroom=2", "seed beta=10 target_ms=40 headroom=2",
		"gcc", "fixed fixed_kbps=1500", "fixed fixed_kbps=500", "fixed fixed_kbps=1000",
	}
	if !slices.EqualFunc(labels, want, strings.HasPrefix) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(labels, "\n"), strings.Join(want, "\n"))
	}
	page, data := parseReport(t, dir)
	// Of the grid, and of fixed's one key over the classes.
	if n := strings.Count(page, `class="heat"`); n != 4+4 {
		t.Errorf("%d heat maps, want 8", n)
	}
	// The sweep over fixed is in the order of its values.
	if len(data.Curves) != 1 || !slices.Equal(data.Curves[0].Values, []float64{500, 1000, 1500}) {
		t.Fatalf("curves %+v", data.Curves)
	}
	for i, y := range data.Curves[0].Panels[0].Lines[0].Y {
		if want := 0.475 * float64(i+1); y[1] < want-0.05 || y[1] > want+0.05 {
			t.Errorf("goodput %.2f of a fixed rate, want %.2f ± 0.05", y[1], want)
		}
	}
	// Different parameters make different runs: a target of 40 ms is later.
	rows := readRows(t, dir)
	at := func(params string) record { return rows[key{"const-3", "seed", params, 1, 15}] }
	// In the phone: what the viewer adds is the same or more.
	if a, b := at("beta=10 target_ms=10 headroom=2").UEQueueP95, at("beta=10 target_ms=40 headroom=2").UEQueueP95; a <= 0 || b < a+5 || b > a+100 {
		t.Errorf("phone queue p95 %.0f and %.0f ms, want the second 5 to 100 ms longer", a, b)
	}
}

// Many variants share the colours of their algorithms, and have no names in the
// plots.
func TestCrowd(t *testing.T) {
	headroom, err := paramByKey("headroom")
	if err != nil {
		t.Fatal(err)
	}
	o := options{cc: []string{"gbrcc", "seed", "tomorrow"}, sweeps: []sweep{{headroom, []float64{1, 2, 3, 4}}}}
	var vs []variant
	for _, cc := range o.cc {
		vs = append(vs, o.variants(cc)...)
	}
	want := []string{"blue", "blue", "blue", "blue", "purple", "purple", "purple", "purple", "pink", "pink", "pink", "pink"}
	if got := colors(vs, true); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	seen := map[string]bool{}
	for _, c := range colors(vs[:8], false) {
		if seen[c] {
			t.Errorf("%s twice", c)
		}
		seen[c] = true
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "go run ./e2e/bench"},
		{[]string{"-seeds", "5", "-json", "-out", "x y", "--out=z", "-cc=gcc"}, "go run ./e2e/bench -seeds 5 -cc=gcc"},
		{[]string{"-trace", "my file's.csv"}, `go run ./e2e/bench -trace 'my file'\''s.csv'`},
	} {
		if got := command(c.args); got != c.want {
			t.Errorf("%q: %s, want %s", c.args, got, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&b)
	if p.w != nil {
		t.Error("a buffer is taken for a terminal")
	}
	p.w, p.now = &b, func() time.Time { return now }
	step := func(d time.Duration, do func()) string {
		b.Reset()
		now = now.Add(d)
		do()

		return b.String()
	}
	j := job{seed: 3, variant: variant{cc: "gbrcc", label: "beta=10"}, scenario: &sim.Scenario{Name: "const-3", Duration: time.Minute}}
	todo := slices.Repeat([]job{j}, 38)
	// Two that cost twice as much: of 42 minutes of work one is done within 4 s.
	todo = append(todo, job{scenario: &sim.Scenario{Duration: time.Minute, Flows: make([]sim.Flow, 1)}}, job{scenario: &sim.Scenario{Duration: 2 * time.Minute}})
	for _, c := range []struct {
		got, want string
	}{
		{step(0, func() { p.begin(10, todo) }), "10 of 50 runs are there already\n"},
		{step(time.Second, func() { p.running(j) }), "\r\033[K10/50 runs  const-3, gbrcc beta=10, seed 3"},
		{step(3*time.Second, func() { p.finished(j) }), "\r\033[K11/50 runs  0.2/s  2m44s left  const-3, gbrcc beta=10, seed 3"},
		{step(time.Millisecond, func() { p.finished(j) }), ""},
		{step(time.Minute, p.end), "\r\033[K"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
