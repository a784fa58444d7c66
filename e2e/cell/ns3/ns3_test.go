// SPDX-License-Identifier: MIT

package ns3

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/golden"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

func reference(t testing.TB) fs.FS {
	t.Helper()
	return os.DirFS(filepath.Dir(dataset.File(t, "ns3", "README.md")))
}

// Our cell does what the reference does, in every set-up.
func TestCompare(t *testing.T) {
	list, err := Compare(reference(t))
	if err != nil {
		t.Fatal(err)
	}
	regimes := map[Regime]int{}
	for _, r := range list {
		regimes[r.Regime]++
		for _, m := range r.Misses {
			t.Errorf("%s: %s", r.Run, m)
		}
	}
	if regimes[Below] < 40 || regimes[Near] < 3 || regimes[Over] < 10 {
		t.Errorf("runs by regime: %v", regimes)
	}
	golden.Assert(t, Table(list), "ns3.golden")
}

// Computed by us from the reference's raw files, the figures are those of its
// summary.
func TestStatsAreTheReferencesOwn(t *testing.T) {
	fsys := reference(t)
	lte, err := readSummary(fsys, "lte/summary.csv", lteColumns())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b4_dcfair_0", "b4_dcfair_6", "b4_dcfair_8", "b4_dcfair_10", "bg_pf_0", "bg_pf_8"} {
		same(t, fsys, lteSetup(name), lte[name])
	}
	nr, err := readSummary(fsys, "nr/nr_summary.csv", nrColumns())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"self_15", "bg_L5_4", "bg_L5_8"} {
		same(t, fsys, nrSetup(name), nr[name])
	}
}

func same(t *testing.T, fsys fs.FS, s setup, want Stats) {
	t.Helper()
	r, err := readRun(fsys, s.base, warmupMs)
	if err != nil {
		t.Fatal(err)
	}
	got := s.stats(r, warmupMs, s.lengthMs)
	more := func(s Stats) []figure {
		return append(s.figures(), figure{"load", s.Load, 0, ""}, figure{"rate", s.Rate, 0, " Mbit/s"}, figure{"rate of all", s.RateAll, 0, " Mbit/s"})
	}
	ours := more(got)
	for i, f := range more(want) {
		if f.value == 0 {
			continue // NR's summary does not have it
		}
		if v := ours[i].value; !(math.Abs(v-f.value) <= 0.003*f.value) {
			t.Errorf("%s: %s %.4g%s, the summary has %.4g", s.name, f.name, v, f.unit, f.value)
		}
	}
}

func TestPercentile(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	for p, want := range map[float64]float64{0: 1, 50: 2.5, 100: 4, 75: 3.25} {
		if got := percentile(v, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("percentile %v of %v: %v, want %v", p, v, got, want)
		}
	}
	if !math.IsNaN(percentile(nil, 50)) || !math.IsNaN(mean(nil)) {
		t.Error("figures of nothing")
	}
}

// What is wrong with the reference's files is an error.
func TestBrokenReference(t *testing.T) {
	if _, err := Compare(os.DirFS(t.TempDir())); err == nil {
		t.Error("no files, no error")
	}
	dir := t.TempDir()
	for _, text := range []string{"", "run,eta_mean\nb4_dcfair_0,x\n", "run,eta_mean\nb4_dcfair_0,1,2\n", "run,eta_mean\nb4_dcfair_0,1\n"} {
		if err := os.MkdirAll(filepath.Join(dir, "lte"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "lte", "summary.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Compare(os.DirFS(dir)); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}
