// SPDX-License-Identifier: MIT

package sim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// representative are what the golden file follows: enough of each class to see a
// change of any model, few enough to read the change.
func representative(t testing.TB) []sim.Scenario {
	t.Helper()
	s, err := sim.Select("const-3,const-8,step-8-2-8,step-3-1-3,synth-lte,backhaul-3,backhaul-3-late,telemetry-gap,telemetry-late," +
		"telemetry-none,applimited-1,const-8-nr-tdd,cell-lte-pf-70,handover-driving,rmcat-5.1-uplink,fairness-backhaul-2,stress-apps-cubic")
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func TestCatalogueIsWellFormed(t *testing.T) {
	var classes []string
	for _, c := range sim.Classes() {
		classes = append(classes, c.Name)
		if c.Doc == "" || strings.Contains(c.Doc, "\n") {
			t.Errorf("class %s: description %q", c.Name, c.Doc)
		}
	}
	if got, want := strings.Join(classes, " "), "const step trace cell handover backhaul rmcat telemetry applimited fairness stress"; got != want {
		t.Errorf("classes %q, want %q", got, want)
	}
	seen, used, last := map[string]bool{}, map[string]bool{}, 0
	for _, s := range sim.Catalogue() {
		at := slices.Index(classes, s.Class)
		switch {
		case seen[s.Name]:
			t.Errorf("%s: twice", s.Name)
		case s.Name != strings.ToLower(s.Name) || strings.ContainsAny(s.Name, " ,*?[\\") || s.Name == "all" || slices.Contains(classes, s.Name):
			t.Errorf("%q: not a name that can be selected", s.Name)
		case at < last:
			t.Errorf("%s: class %q, out of order", s.Name, s.Class)
		case s.Doc == "" || strings.Contains(s.Doc, "\n") || strings.HasSuffix(s.Doc, ".") || len(s.Doc) > 160:
			t.Errorf("%s: description %q", s.Name, s.Doc)
		case s.Duration < 60*time.Second || s.MinDuration > s.Duration || s.Warmup != 10*time.Second:
			t.Errorf("%s: %v long, %v at least, warm-up of %v", s.Name, s.Duration, s.MinDuration, s.Warmup)
		case (s.Trace == nil) == (s.Shared == nil):
			t.Errorf("%s: a trace and a cell, or neither", s.Name)
		}
		seen[s.Name], used[s.Class], last = true, true, max(at, last)
	}
	for _, c := range classes {
		if !used[c] {
			t.Errorf("class %s is empty", c)
		}
	}
}

// The cells of all scenarios are valid whatever the seed.
func TestCatalogueConfigs(t *testing.T) {
	start := time.Unix(1e9, 0)
	for _, s := range sim.Catalogue() {
		for seed := uint64(1); seed <= 5; seed++ {
			if s.Shared != nil {
				c := s.Shared(seed)
				c.Start = start
				if len(c.Phones) == 0 {
					c.Phones = []cell.PhoneConfig{{Config: s.Cell}}
				}
				if _, err := cell.NewShared(c); err != nil {
					t.Errorf("%s, seed %d: %v", s.Name, seed, err)
				}

				continue
			}
			c := s.Cell
			c.Start, c.Capacity = start, s.Trace(seed, s.Duration)
			if _, err := cell.New(c); err != nil {
				t.Errorf("%s, seed %d: %v", s.Name, seed, err)
			}
		}
	}
}

// Every scenario runs, from its first packet on.
func TestCatalogueRuns(t *testing.T) {
	for _, s := range sim.Catalogue() {
		s.Duration, s.Warmup = 12*time.Second, 2*time.Second
		for _, cc := range []string{"gcc", "gbrcc"} {
			r := run(t, s, cc, 1, sim.Options{})
			// 12 s are enough for pictures over anything.
			if s.From < 10*time.Second && (r.FramesRendered < 20 || r.GoodputMbps <= 0) {
				t.Errorf("%s, %s: %d frames, %.3f Mbit/s", s.Name, cc, r.FramesRendered, r.GoodputMbps)
			}
			plausible(t, s, r)
		}
	}
}

// plausible says what no sender can do: carry more than the radio does, of what
// may have waited when it began to count, and be faster than the way is long.
func plausible(t *testing.T, s sim.Scenario, r sim.Result) {
	t.Helper()
	counted := (s.Duration - s.Warmup).Seconds()
	if waited := r.CapacityMbps * min(r.UEQueueMax/1000, 2) / counted; r.GoodputMbps > r.CapacityMbps+waited {
		t.Errorf("%s, %s: %.3f Mbit/s on a radio of %.3f", s.Name, r.CC, r.GoodputMbps, r.CapacityMbps)
	}
	if way := float64(s.Cell.Path.Delay.Milliseconds()); r.FramesRendered > 0 && r.PlayoutP50 < way {
		t.Errorf("%s, %s: playout p50 of %.1f ms over a way of %.0f ms", s.Name, r.CC, r.PlayoutP50, way)
	}
}

// What scenarios say of their rates is so, whatever the seed.
func TestCatalogueRates(t *testing.T) {
	for name, band := range map[string][2]float64{
		"const-20":         {20, 20},
		"step-8-2-8":       {6.4, 6.6},
		"step-20-5-20":     {16, 16.5},
		"step-dip":         {7.8, 8},
		"step-ramp":        {6.4, 6.7},
		"step-sawtooth":    {4.7, 5},
		"synth-lte":        {6.2, 7.8},
		"synth-nr":         {30, 60},
		"synth-driving":    {3, 5},
		"synth-edge":       {0.4, 1.4},
		"rmcat-5.1-uplink": {1.2, 1.3},
	} {
		s := scenario(t, name, time.Minute)
		for seed := uint64(1); seed <= 5; seed++ {
			if name == "rmcat-5.1-uplink" {
				s.Duration = 100 * time.Second
			}
			got := float64(s.Trace(seed, s.Duration).MeanBps(0, s.Duration)) / 1e6
			if got < band[0]-0.001 || got > band[1]+0.001 {
				t.Errorf("%s, seed %d: %.2f Mbit/s, want %g to %g", name, seed, got, band[0], band[1])
			}
		}
	}
}

// What others use of a cell is about what its scenario says, without the
// measured call.
func TestLoadOfOthers(t *testing.T) {
	const d = 60 * time.Second
	for name, want := range map[string]float64{
		"cell-lte-fair-30": 0.3, "cell-lte-pf-70": 0.7, "cell-nr-fdd-fair-70": 0.7, "cell-lte-rr-100": 1,
		"cell-nr-tdd-fair-30": 0.3, "cell-nr-tdd-pf-70": 0.7,
	} {
		sum := 0.0
		for seed := uint64(1); seed <= 3; seed++ {
			c := scenario(t, name, d).Shared(seed)
			c.Start, c.Seed = time.Unix(1e9, 0), seed
			c.Phones = []cell.PhoneConfig{{}}
			s, err := cell.NewShared(c)
			if err != nil {
				t.Fatal(err)
			}
			s.Phone(0).Advance(c.Start.Add(d))
			l := s.Load()
			sum += float64(l.RBs) / float64(l.Of) / 3
		}
		within(t, name, sum, want, 0.1, "of the cell")
	}
}

// Seeds spread the instant of a step over a second, and begin a trace elsewhere.
func TestWhatSeedsChange(t *testing.T) {
	s := scenario(t, "step-20-5-20", time.Minute)
	var falls []float64
	for seed := uint64(1); seed <= 12; seed++ {
		tr := s.Trace(seed, s.Duration)
		ms := int64(0)
		for tr.MeanBps(time.Duration(ms)*time.Millisecond, time.Duration(ms+2)*time.Millisecond) > 15e6 {
			ms++
		}
		falls = append(falls, float64(ms)/1000)
	}
	within(t, "fall of seed 1", falls[0], 25, 0.002, "s")
	slices.Sort(falls)
	for i, f := range falls {
		within(t, "falls in order", f, 25+float64(i)/12, 0.13, "s")
	}

	recorded, err := cell.NewTrace("recorded", slices.Repeat([]int{100, 200, 300, 400, 500}, 20_000))
	if err != nil {
		t.Fatal(err)
	}
	for seed, want := range map[uint64][]int{1: {100, 200, 300}, 2: {100, 200, 300}} {
		tr := sim.FromTrace(recorded).Trace(seed, 30*time.Second)
		for i, w := range want {
			if got := tr.At(int64(i)); got != w {
				t.Errorf("seed %d, ms %d: %d bytes, want %d", seed, i, got, w)
			}
		}
	}
	// Half a trace of nothing: where it begins shows.
	half := make([]int, 100_000)
	for i := range 50_000 {
		half[50_000+i] = 1000
	}
	if recorded, err = cell.NewTrace("half", half); err != nil {
		t.Fatal(err)
	}
	begins := map[int]bool{}
	for seed := uint64(1); seed <= 8; seed++ {
		begins[sim.FromTrace(recorded).Trace(seed, 60*time.Second).MeanBps(0, 60*time.Second)] = true
	}
	if len(begins) < 6 {
		t.Errorf("8 seeds have %d different parts of a trace", len(begins))
	}
}

func TestSelect(t *testing.T) {
	all := sim.Catalogue()
	count := func(ok func(sim.Scenario) bool) int {
		n := 0
		for _, s := range all {
			if ok(s) {
				n++
			}
		}

		return n
	}
	class := func(name string) int { return count(func(s sim.Scenario) bool { return s.Class == name }) }
	for list, want := range map[string]int{
		"all": len(all), "const": class("const"), "const-3": 1, "const-3,const": class("const"), "const-3, step": 1 + class("step"),
		"step-*":         class("step"),
		"CELL-lte-*-?0":  8, // not 100
		"const-3,*-3":    count(func(s sim.Scenario) bool { return strings.HasSuffix(s.Name, "-3") }),
		"rmcat-5.[12]-*": 4,
	} {
		got, err := sim.Select(list)
		if err != nil || len(got) != want {
			t.Errorf("%q: %d scenarios, %v; want %d", list, len(got), err, want)
		}
	}
	for list, want := range map[string]string{
		"": "a class (const step", "nonesuch": "nonesuch", "const-3,,step": `""`, "moon-*": "moon-*", "[": "[", "synth": "did you mean synth-lte",
	} {
		if _, err := sim.Select(list); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want one line with %q", list, err, want)
		}
	}
}
