// SPDX-License-Identifier: MIT

package sim_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// recordings stand for real ones: a rising rate, and one that is mostly nothing.
func recordings(t *testing.T) ([]cell.Trace, []cell.Radio) {
	t.Helper()
	rising, sparse := make([]int, 50_000), make([]int, 90_000)
	for i := range rising {
		rising[i] = i / 40
	}
	for i := range sparse {
		if i%1000 < 300 {
			sparse[i] = 2000
		}
	}
	var all []cell.Trace
	for name, bytes := range map[string][]int{"rising": rising, "sparse": sparse} {
		tr, err := cell.NewTrace(name, bytes)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, tr); name == "rising" { // the order is ours, not the map's
			all[0], all[len(all)-1] = all[len(all)-1], all[0]
		}
	}

	return all, []cell.Radio{cell.LTEFDD, cell.NRFDD}
}

func heldOut(t *testing.T) []sim.Scenario {
	t.Helper()
	traces, radios := recordings(t)

	return append(sim.Random(), sim.FromRecordings(traces, radios)...)
}

// Every number makes one scenario that can be run whatever the seed, with a
// capacity that is worth a comparison, and no two the same.
func TestHeldOutIsInRange(t *testing.T) {
	const d = 60 * time.Second
	start := time.Unix(1e9, 0)
	docs, odd := map[string]bool{}, map[time.Duration]int{}
	for _, s := range heldOut(t) {
		if s.Name == "" || s.Class == "" || s.Number < 1 || s.Duration != d || s.Warmup != 10*time.Second || strings.Contains(s.Doc, "\n") || len(s.Doc) < 8 || len(s.Doc) > 160 {
			t.Errorf("%+v", s)
		}
		if docs[s.Class+s.Doc] {
			t.Errorf("%s is there twice: %s", s.Name, s.Doc)
		}
		docs[s.Class+s.Doc] = true
		if s.Number%2 == 0 && (s.Cell.BSRPeriod != 0 || s.Cell.BLER != 0 || s.TelemetryLink != 2*time.Millisecond || s.FeedbackEvery != 50*time.Millisecond) {
			t.Errorf("%s has not the usual conditions", s.Name)
		}
		odd[s.Cell.BSRPeriod]++
		for seed := uint64(1); seed <= 1 || seed <= 3 && s.Number <= 10; seed++ {
			if s.Shared != nil {
				c := s.Shared(seed)
				c.Start, c.Seed = start, seed
				if _, err := cell.NewShared(c); err != nil {
					t.Errorf("%s, seed %d: %v", s.Name, seed, err)
				}

				continue
			}
			c := s.Cell
			c.Start, c.Capacity = start, s.Trace(seed, d)
			if _, err := cell.New(c); err != nil {
				t.Errorf("%s, seed %d: %v", s.Name, seed, err)
			}
			least, most := 0.3, 40.0
			if s.Class == "random-recorded" {
				least = 0.2
			}
			if mbps := float64(c.Capacity.MeanBps(0, d)) / 1e6; mbps < least || mbps > most {
				t.Errorf("%s, seed %d: %.2f Mbit/s, want %g to %g: %s", s.Name, seed, mbps, least, most, s.Doc)
			}
		}
	}
	if n := len(docs); n != 4*sim.RandomNumbers {
		t.Errorf("%d scenarios, want %d", n, 4*sim.RandomNumbers)
	}
	for _, ms := range []int{5, 10, 20, 40} {
		if n := odd[time.Duration(ms)*time.Millisecond]; n < 20 || n > 110 {
			t.Errorf("%d scenarios with a report every %d ms, want 20 to 110 of 200", n, ms)
		}
	}
}

// The same number is the same for good: what was measured on it can be measured
// again.
func TestHeldOutIsDeterministic(t *testing.T) {
	a, b := heldOut(t), heldOut(t)
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Doc != b[i].Doc {
			t.Fatalf("%s: %s, the second time %s: %s", a[i].Name, a[i].Doc, b[i].Name, b[i].Doc)
		}
		if a[i].Number > 12 || a[i].Trace == nil {
			continue
		}
		x, y, z := a[i].Trace(3, time.Minute), b[i].Trace(3, time.Minute), a[i].Trace(4, time.Minute)
		same, other := true, a[i].Class == "random-backhaul"
		for ms := range int64(60_000) {
			same = same && x.At(ms) == y.At(ms)
			other = other || x.At(ms) != z.At(ms)
		}
		if !same || !other {
			t.Errorf("%s: the same again: %v, another one with another seed: %v", a[i].Name, same, other)
		}
	}
	// These are for good.
	for name, want := range map[string]string{
		"random-trace-17":    "nr-tdd-dddsu: 1.6 Mbit/s, jumping between 4 rates every 2.1 s, 2 gaps a minute of 251 ms",
		"random-cell-17":     "nr-fdd, 100 RBs, equal-split, 1 others; the phone at 119 m, fading with 0.0 dB",
		"random-backhaul-17": "6.1 Mbit/s, drifting with 3.0 dB over 8.2 s, 3 gaps a minute of 519 ms; 5.7 Mbit/s behind it with a queue of 504 kB",
	} {
		if got := scenario(t, name, time.Minute).Doc; got != want {
			t.Errorf("%s is %q, was %q", name, got, want)
		}
	}
}

// They come to who asks for them, and only then.
func TestHeldOutIsSelected(t *testing.T) {
	all := append(sim.Catalogue(), heldOut(t)...)
	for list, want := range map[string]int{
		"all": len(sim.Catalogue()), "random": 4 * sim.RandomFew, "random-cell": sim.RandomFew, "random-cell-17": 1, "Random-cell-17,random-cell-1[67]": 2,
		"random-*-3?": 40, "random-trace-*": sim.RandomNumbers, "const-3,*-3": 14,
	} {
		got, err := sim.SelectFrom(all, list)
		if list == "const-3,*-3" { // as many as there are without the held-out ones
			plain, _ := sim.SelectFrom(sim.Catalogue(), list)
			want = len(plain)
		}
		if err != nil || len(got) != want {
			t.Errorf("%q: %d scenarios, %v; want %d", list, len(got), err, want)
		}
	}
	for _, list := range []string{"random-cell-100", "random-moon", "random-"} {
		if _, err := sim.SelectFrom(all, list); err == nil || !strings.Contains(err.Error(), "random-cell") {
			t.Errorf("%q: %v, want what there is", list, err)
		}
	}
}

// A recording goes backwards as often as forwards.
func TestVariedRecordings(t *testing.T) {
	traces, radios := recordings(t)
	way := regexp.MustCompile(`^rising from [0-9.]+ % on (forwards|backwards), [0-9.]+ times`)
	ways := map[string]int{}
	for _, s := range sim.FromRecordings(traces, radios) {
		m := way.FindStringSubmatch(s.Doc)
		if m == nil {
			continue
		}
		ways[m[1]]++
		tr := s.Trace(1, 60*time.Second)
		up := 0
		for ms := int64(0); ms+2000 < 50_000; ms += 1000 {
			if tr.MeanBps(time.Duration(ms)*time.Millisecond, time.Duration(ms+1000)*time.Millisecond) < tr.MeanBps(time.Duration(ms+1000)*time.Millisecond, time.Duration(ms+2000)*time.Millisecond) {
				up++
			}
		}
		if want := map[string]bool{"forwards": true, "backwards": false}[m[1]]; (up > 24) != want {
			t.Errorf("%s (%s): it rises in %d of 48 s", s.Name, s.Doc, up)
		}
	}
	if ways["forwards"] < 10 || ways["backwards"] < 10 {
		t.Errorf("%v", ways)
	}
}

// They run, with all that is compared on them.
func TestHeldOutRuns(t *testing.T) {
	for _, s := range heldOut(t) {
		if s.Number > 3 {
			continue
		}
		s.Duration, s.Warmup = 12*time.Second, 2*time.Second
		for _, cc := range []string{"gcc", "gbrcc", "causal"} {
			r := run(t, s, cc, 2, sim.Options{})
			if r.CapacityMbps < 0.1 || r.CapacityMbps > 120 {
				t.Errorf("%s: capacity %.2f Mbit/s", s.Name, r.CapacityMbps)
			}
			plausible(t, s, r)
		}
	}
}
