// SPDX-License-Identifier: MIT

package cell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

// synths are the generators beside SynthLTE.
func synths() map[string]func(uint64, time.Duration) Trace {
	return map[string]func(uint64, time.Duration) Trace{"synth-nr": SynthNR, "synth-driving": SynthDriving, "synth-edge": SynthEdge}
}

// shape is what a trace looks like: Mbit/s, and gaps of 30 ms and more.
type shape struct {
	mean, low, high, peak float64 // of 500 ms; the peak of 5 ms
	gaps                  int
	longest               int64 // ms
}

func shapeOf(tr Trace) (s shape) {
	n := tr.Len().Milliseconds()
	mbps := func(from, ms int64) float64 {
		return float64(tr.MeanBps(time.Duration(from)*tti, time.Duration(from+ms)*tti)) / 1e6
	}
	s.mean, s.low = mbps(0, n), 1e9
	for i := int64(0); i+500 <= n; i += 500 {
		s.low, s.high = min(s.low, mbps(i, 500)), max(s.high, mbps(i, 500))
	}
	for i := int64(0); i+5 <= n; i += 5 {
		s.peak = max(s.peak, mbps(i, 5))
	}
	gap := int64(0)
	for i := range n {
		if tr.At(i) == 0 {
			gap++
			continue
		}
		if gap >= 30 {
			s.gaps++
		}
		s.longest, gap = max(s.longest, gap), 0
	}
	return s
}

func TestSynths(t *testing.T) {
	for seed := range uint64(10) {
		nr := shapeOf(SynthNR(seed, 2*time.Minute))
		within(t, "NR: mean", nr.mean, 45, 15.1, "Mbit/s")
		within(t, "NR: lowest 500 ms", nr.low, 8, 8, "Mbit/s")
		within(t, "NR: highest 500 ms", nr.high, 105, 26, "Mbit/s")
		within(t, "NR: highest 5 ms", nr.peak, 120, 11, "Mbit/s")
		if nr.gaps != 0 || nr.longest != 2 {
			t.Errorf("NR %d: %+v, want no gap but those of the pattern, 2 ms", seed, nr)
		}
		drive := shapeOf(SynthDriving(seed, 5*time.Minute))
		within(t, "driving: mean", drive.mean, 4, 1.01, "Mbit/s")
		within(t, "driving: lowest 500 ms", drive.low, 0.15, 0.15, "Mbit/s")
		within(t, "driving: highest 500 ms", drive.high, 16, 4.1, "Mbit/s")
		within(t, "driving: gaps", float64(drive.gaps)/5, 9, 3.5, "a minute")
		within(t, "driving: longest gap", float64(drive.longest), 600, 250, "ms")
		edge := shapeOf(SynthEdge(seed, 2*time.Minute))
		within(t, "edge: mean", edge.mean, 0.9, 0.4, "Mbit/s")
		within(t, "edge: lowest 500 ms", edge.low, 0.35, 0.06, "Mbit/s")
		within(t, "edge: highest 500 ms", edge.high, 1.75, 0.26, "Mbit/s")
		if edge.longest > 0 {
			t.Errorf("edge %d: a gap of %d ms", seed, edge.longest)
		}
	}
}

func TestSynthsAreGoodCells(t *testing.T) {
	for name, make := range synths() {
		if tr := make(1, -time.Second); tr.Len() != 0 {
			t.Errorf("%s: a trace of negative length", name)
		}
		tr := make(3, 20*time.Second)
		if tr.Name != name || tr.Len() != 20*time.Second {
			t.Errorf("%q, %v long", tr.Name, tr.Len())
		}
		again, other := make(3, 20*time.Second), make(4, 20*time.Second)
		same := true
		for i := range int64(20_000) {
			if tr.At(i) != again.At(i) {
				t.Fatalf("%s: the same seed gives two traces", name)
			}
			same = same && tr.At(i) == other.At(i)
		}
		if same {
			t.Errorf("%s: two seeds give the same trace", name)
		}
		c := mustNew(t, Config{Capacity: tr, ExtendedBSR: true})
		bytes := 0
		saturate(c, 0, 20_000, 300_000, func(_ int, out Output) {
			for _, d := range out.Delivered {
				bytes += d.Size
			}
		})
		within(t, name+": utilisation", float64(bytes)*8/20/float64(tr.MeanBps(0, 20*time.Second)), 0.95, 0.05, "of the trace")
	}
}

func TestSynthGolden(t *testing.T) {
	var b strings.Builder
	b.WriteString("seed 1: kbit/s in each of 20 seconds; gaps of 30 ms and more, the longest in ms\n")
	for _, name := range []string{"synth-nr", "synth-driving", "synth-edge"} {
		tr := synths()[name](1, 20*time.Second)
		fmt.Fprintf(&b, "%-13s:", name)
		for i := range 20 {
			fmt.Fprintf(&b, " %d", tr.MeanBps(time.Duration(i)*time.Second, time.Duration(i+1)*time.Second)/1000)
		}
		s := shapeOf(tr)
		fmt.Fprintf(&b, "; %d, %d\n", s.gaps, s.longest)
	}
	golden.Assert(t, b.String(), "synth_more.golden")
}
