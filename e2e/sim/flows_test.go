// SPDX-License-Identifier: MIT

package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// backhaul is 4 Mbit/s behind radios of 8.
func backhaul(t testing.TB, d time.Duration, flows ...sim.Flow) sim.Scenario {
	t.Helper()
	sc := scenario(t, "const-8", d)
	sc.Backhaul = &cell.PathConfig{RateBps: 4_000_000, QueueBytes: 150_000}
	sc.Flows = flows

	return sc
}

// sharedCell is an LTE cell of about 6 Mbit/s.
func sharedCell(t testing.TB, d time.Duration, flows ...sim.Flow) sim.Scenario {
	t.Helper()
	sc := scenario(t, "const-8", d)
	sc.Trace = nil
	sc.Shared = func(uint64) cell.SharedConfig { return cell.SharedConfig{RBs: 12} }
	sc.Flows = flows

	return sc
}

// Equal flows share alike wherever they meet.
func TestEqualFlowsShare(t *testing.T) {
	const d = 90 * time.Second
	for _, c := range []struct {
		name string
		sc   sim.Scenario
		sum  float64 // Mbit/s
	}{
		{"backhaul", backhaul(t, d, sim.Flow{Where: sim.OwnRadio}), 3.5},
		{"one phone", func() sim.Scenario {
			sc := scenario(t, "const-3", d)
			sc.Flows = []sim.Flow{{}}

			return sc
		}(), 2.3},
	} {
		for _, cc := range []string{"gcc", "fixed", "causal", "oracle"} {
			r := run(t, c.sc, cc, 1, sim.Options{})
			if r.Flows != 2 {
				t.Fatalf("%d flows", r.Flows)
			}
			fair, jain := 0.35, 0.15
			if cc == "gcc" {
				fair, jain = 0.6, 0.3 // who finds the path by probes first has more for minutes, see below
			}
			within(t, c.name+", "+cc+": Jain's index", r.JainIndex, 1, jain, "")
			within(t, c.name+", "+cc+": share of fair", r.FairShare, 1, fair, "")
			if cc != "fixed" {
				within(t, c.name+", "+cc+": sum", 2*r.GoodputMbps/r.FairShare, c.sum, 0.25*c.sum, "Mbit/s")
			}
		}
	}
}

// Two flows with GCC, one of which has found the path first, come to equal shares
// as slowly as libwebrtc's AIMD has it: a cut leaves 0.85 of the difference, and
// additive growth brings the next one some 15 s later at 2 Mbit/s, so that it
// halves in a minute (gcc: TestAIMDSharesInMinutes). Over 90 s the first one has up
// to 1.5 of its share, over 300 s 0.91 to 1.13, over 900 s 0.96 to 1.06.
func TestGCCFlowsComeToEqualShares(t *testing.T) {
	const d = 5 * time.Minute
	phone := scenario(t, "const-3", d)
	phone.Flows = []sim.Flow{{}}
	for name, sc := range map[string]sim.Scenario{"backhaul": backhaul(t, d, sim.Flow{Where: sim.OwnRadio}), "one phone": phone} {
		for seed := uint64(1); seed <= 3; seed++ {
			r := run(t, sc, "gcc", seed, sim.Options{})
			within(t, fmt.Sprintf("%s, seed %d: share of fair", name, seed), r.FairShare, 1, 0.2, "")
			within(t, fmt.Sprintf("%s, seed %d: Jain's index", name, seed), r.JainIndex, 1, 0.05, "")
		}
	}
}

// The phones of one cell are granted their shares of it, and a reference knows
// them.
func TestPhonesOfOneCell(t *testing.T) {
	alone := run(t, sharedCell(t, 40*time.Second), "oracle", 1, sim.Options{})
	both := run(t, sharedCell(t, 40*time.Second, sim.Flow{Where: sim.OwnPhone}), "oracle", 1, sim.Options{})
	within(t, "one of two against one alone", both.GoodputMbps/alone.GoodputMbps, 0.42, 0.08, "x")
	within(t, "Jain's index of two clairvoyants", both.JainIndex, 1, 0.05, "")
	within(t, "capacity of one alone that is used", alone.Utilization, 0.8, 0.15, "")
	for _, cc := range []string{"gbrcc", "gcc"} {
		r := run(t, sharedCell(t, 40*time.Second, sim.Flow{Where: sim.OwnPhone, CC: "fixed", Limits: &sim.Limits{MaxBps: 500_000}}), cc, 1, sim.Options{})
		within(t, cc+": the other one", goodputs(t, r)[1], 0.48, 0.03, "Mbit/s")
		if r.CapacityMbps <= r.GoodputMbps || r.CapacityMbps > alone.CapacityMbps {
			t.Errorf("%s: capacity %.2f Mbit/s with a goodput of %.2f, of %.2f alone", cc, r.CapacityMbps, r.GoodputMbps, alone.CapacityMbps)
		}
	}
}

// goodputs are those of the flows.
func goodputs(t *testing.T, r sim.Result) []float64 {
	t.Helper()
	var all []float64
	for f := range strings.FieldsSeq(r.FlowGoodputs) {
		_, v, ok := strings.Cut(f, "=")
		if !ok {
			t.Fatalf("flows %q", r.FlowGoodputs)
		}
		all = append(all, number(t, v))
	}

	return all
}

// TCP fills what is left, a media flow is not starved, and the queue is TCP's.
func TestAgainstTCP(t *testing.T) {
	r := run(t, backhaul(t, 60*time.Second, sim.Flow{CC: sim.Cubic, Where: sim.OwnRadio}), "fixed", 1, sim.Options{})
	g := goodputs(t, r)
	within(t, "fixed", g[0], 1.9, 0.15, "Mbit/s")
	within(t, "CUBIC", g[1], 1.8, 0.3, "Mbit/s")
	alone := run(t, backhaul(t, 60*time.Second), "fixed", 1, sim.Options{})
	if r.RTTP50 < alone.RTTP50+100 {
		t.Errorf("RTT %.0f ms beside TCP, %.0f without", r.RTTP50, alone.RTTP50)
	}
	if !strings.HasPrefix(r.FlowGoodputs, "main=") || !strings.Contains(r.FlowGoodputs, " cubic-1=") {
		t.Errorf("flows %q", r.FlowGoodputs)
	}

	r = run(t, backhaul(t, 60*time.Second, slices.Repeat([]sim.Flow{{CC: sim.ShortTCP, Where: sim.OwnRadio}}, 10)...), "fixed", 1, sim.Options{})
	sum := 0.0
	for _, v := range goodputs(t, r)[1:] {
		sum += v
	}
	// 40 kB every 10 s and a bit.
	within(t, "ten short transfers", sum, 0.3, 0.1, "Mbit/s")
}

// A flow is there when it says so.
func TestFromToPauses(t *testing.T) {
	sc := backhaul(t, 60*time.Second,
		sim.Flow{Name: "late", CC: "fixed", Where: sim.OwnRadio, From: 20 * time.Second, To: 40 * time.Second},
		sim.Flow{Name: "paused", CC: "fixed", Where: sim.OwnRadio, Pauses: []sim.Span{{From: 20 * time.Second, To: 45 * time.Second}}},
		sim.Flow{Name: "bulk", CC: sim.Cubic, From: 50 * time.Second, To: 55 * time.Second})
	sc.Backhaul = nil
	g := goodputs(t, run(t, sc, "fixed", 1, sim.Options{}))
	// The upload leaves a queue behind, of 1.2 s.
	for i, want := range []float64{1.92, 1.92, 1.92 / 2, 5.5 * 5 / 6.2} {
		within(t, "flow", g[i], want, 0.1*want, "Mbit/s")
	}
}

// A reference has its share beside whoever fills the queue, and no queue of its
// own beside its likes, wherever they meet.
func TestReferencesBesideOthers(t *testing.T) {
	for _, cc := range []string{"causal", "oracle"} {
		for _, c := range []struct {
			name          string
			want, playout float64 // Mbit/s, ms
		}{
			{"rmcat-5.6-uplink", 0.93, 540},
			{"rmcat-5.6-backhaul", 0.93, 540},
			{"fairness-backhaul-cubic", 1.9, 450},
			{"fairness-phone-2", 1.9, 97},
			{"fairness-phone-gcc", 1.9, 90},
			{"rmcat-5.5-uplink", 0.76, 70},
			{"rmcat-5.7-uplink", 0.8, 120},
		} {
			sc := scenario(t, c.name, 40*time.Second)
			for i := range sc.Flows {
				sc.Flows[i].From /= 4 // all are there when it counts
			}
			r := run(t, sc, cc, 1, sim.Options{})
			within(t, c.name+", "+cc+": goodput", r.GoodputMbps, c.want, 0.1*c.want, "Mbit/s")
			within(t, c.name+", "+cc+": playout p50", r.PlayoutP50, c.playout, max(20, 0.25*c.playout), "ms")
		}
	}
}

// Who is fair is told of those who were there to share: not of one that comes
// after the end, is hardly there, or has only short transfers.
func TestFairnessIsOfThoseWhoWereThere(t *testing.T) {
	sc := backhaul(t, 40*time.Second,
		sim.Flow{CC: "fixed", Where: sim.OwnRadio},
		sim.Flow{Name: "never", CC: "fixed", Where: sim.OwnRadio, From: 50 * time.Second},
		sim.Flow{Name: "brief", CC: "fixed", Where: sim.OwnRadio, From: 36 * time.Second},
		sim.Flow{CC: sim.ShortTCP, Where: sim.OwnRadio})
	sc.Backhaul = nil
	r := run(t, sc, "fixed", 1, sim.Options{})
	within(t, "flows", float64(r.Flows), 5, 0, "")
	within(t, "Jain's index", r.JainIndex, 1, 0.001, "")
	within(t, "fair share", r.FairShare, 1, 0.02, "")
}

// A flow that leaves a queue behind had no more than the bottleneck gave.
func TestRateOfWhoLeft(t *testing.T) {
	sc := scenario(t, "const-3", 40*time.Second)
	sc.Trace = func(uint64, time.Duration) cell.Trace { return cell.Constant(1_000_000) }
	sc.Cell.BufferBytes = 3_000_000
	sc.Limits.MaxBps = 100_000
	sc.Flows = []sim.Flow{{CC: "fixed", Limits: &sim.Limits{MaxBps: 2_000_000}, To: 11 * time.Second}}
	got := goodputs(t, run(t, sc, "fixed", 1, sim.Options{}))[1]
	within(t, "flow of 2 Mbit/s on a radio of 1", got, 0.9, 0.1, "Mbit/s")
}

// Who comes and goes leaves the cell to the others, and the clairvoyant knows.
func TestOracleKnowsWhoIsThere(t *testing.T) {
	goodput := func(flows ...sim.Flow) float64 {
		r, err := sim.Run(sharedCell(t, 30*time.Second, flows...), "oracle", 1, sim.Params{Horizon: 50 * time.Millisecond}, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}

		return r.GoodputMbps
	}
	alone, always := goodput(), goodput(sim.Flow{Where: sim.OwnPhone})
	half := goodput(sim.Flow{Where: sim.OwnPhone, To: 20 * time.Second})
	within(t, "half of the time with another one", half, (alone+always)/2, 0.06*alone, "Mbit/s")
	paused := goodput(sim.Flow{Where: sim.OwnPhone, Pauses: []sim.Span{{From: 10 * time.Second, To: 20 * time.Second}}})
	within(t, "beside one that pauses", paused, (alone+always)/2, 0.06*alone, "Mbit/s")
	for i := range 6 {
		never := sim.Flow{Where: sim.OwnPhone, From: time.Hour}
		if got := goodput(slices.Repeat([]sim.Flow{never}, i)...); i > 0 && got < 0.97*alone {
			t.Errorf("%d phones that never come: %.2f Mbit/s, alone %.2f", i, got, alone)
		}
	}
	small := goodput(sim.Flow{Where: sim.OwnPhone, Limits: &sim.Limits{MaxBps: 500_000}})
	within(t, "beside one of 0.5 Mbit/s", small, alone-0.5, 0.3, "Mbit/s")
}

// What is foreseen once serves all runs, and changes none.
func TestForesight(t *testing.T) {
	for _, flows := range [][]sim.Flow{nil, {{Where: sim.OwnPhone, From: 5 * time.Second}}} {
		sc := sharedCell(t, 20*time.Second, flows...)
		ahead, err := sim.Foresee(sc, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, cc := range []string{"oracle", "causal", "gcc"} {
			want, got := run(t, sc, cc, 3, sim.Options{}), run(t, sc, cc, 3, sim.Options{Foresight: ahead})
			if want != got {
				t.Errorf("%s beside %d:\nwithout %+v\nwith    %+v", cc, len(flows), want, got)
			}
		}
	}
	if ahead, err := sim.Foresee(scenario(t, "const-3", 20*time.Second), 1); err != nil || ahead != nil {
		t.Errorf("of a radio alone: %v, %v", ahead, err)
	}
}

// Media the other way takes room on the way back, where the feedback is, and
// its feedback goes up.
func TestReverse(t *testing.T) {
	sc := scenario(t, "const-3", 40*time.Second)
	sc.Return = cell.PathConfig{RateBps: 1_000_000, QueueBytes: 40_000}
	alone := run(t, sc, "gcc", 1, sim.Options{})
	sc.Flows = []sim.Flow{{Name: "back", CC: "gcc", Reverse: true}}
	r := run(t, sc, "gcc", 1, sim.Options{})
	within(t, "flows that compete", float64(r.Flows), 1, 0, "")
	if !strings.Contains(r.FlowGoodputs, " <-back=") {
		t.Fatalf("flows %q", r.FlowGoodputs)
	}
	within(t, "the other way", goodputs(t, r)[1], 0.75, 0.2, "Mbit/s")
	within(t, "goodput beside it", r.GoodputMbps, alone.GoodputMbps, 0.3*alone.GoodputMbps, "Mbit/s")
	if r == alone {
		t.Error("it makes no difference")
	}
}

// A flow with a longer way has it both ways: TCP gets less of a bottleneck.
func TestFlowDelay(t *testing.T) {
	sc := backhaul(t, 90*time.Second, sim.Flow{CC: sim.Cubic, Where: sim.OwnRadio}, sim.Flow{CC: sim.Cubic, Where: sim.OwnRadio, Delay: 150 * time.Millisecond})
	sc.Limits.MaxBps = 100_000
	g := goodputs(t, run(t, sc, "fixed", 1, sim.Options{}))
	within(t, "near against far", g[1]/g[2], 2, 0.9, "x")
}

// Speech goes beside the picture and does not count as one.
func TestAudio(t *testing.T) {
	sc := scenario(t, "const-8", 40*time.Second)
	want := run(t, sc, "fixed", 1, sim.Options{})
	sc.Audio = &media.AudioConfig{Bps: 32_000}
	r := run(t, sc, "fixed", 1, sim.Options{})
	within(t, "speech", r.GoodputMbps-want.GoodputMbps, 0.032, 0.001, "Mbit/s")
	within(t, "frames", float64(r.FramesRendered), float64(want.FramesRendered), 1, "")
	within(t, "playout p50", r.PlayoutP50, want.PlayoutP50, 2, "ms")
}

func TestBadFlows(t *testing.T) {
	for name, change := range map[string]func(*sim.Scenario){
		"no such algorithm": func(s *sim.Scenario) { s.Flows = []sim.Flow{{CC: "nonesuch"}} },
		"no shared cell":    func(s *sim.Scenario) { s.Flows = []sim.Flow{{Where: sim.OwnPhone}} },
		"no such place":     func(s *sim.Scenario) { s.Flows = []sim.Flow{{Where: 9}} },
		"cell elsewhere":    func(s *sim.Scenario) { s.Flows = []sim.Flow{{Cell: &cell.Config{}}} },
		"backwards":         func(s *sim.Scenario) { s.Flows = []sim.Flow{{From: 2, To: 1}} },
		"source":            func(s *sim.Scenario) { s.Source.FPS = -1 },
		"backhaul":          func(s *sim.Scenario) { s.Backhaul = &cell.PathConfig{Loss: 2} },
		"way back":          func(s *sim.Scenario) { s.Return.Loss = -1 },
		"feedback":          func(s *sim.Scenario) { s.FeedbackEvery = 0 },
	} {
		sc := scenario(t, "const-3", 20*time.Second)
		change(&sc)
		if _, err := sim.Run(sc, "gcc", 1, sim.Params{}, sim.Options{}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkFlows is a minute of several.
func BenchmarkFlows(b *testing.B) {
	for _, c := range []struct {
		name string
		sc   sim.Scenario
	}{
		{"backhaul-3", backhaul(b, time.Minute, sim.Flow{Where: sim.OwnRadio}, sim.Flow{Where: sim.OwnRadio, CC: sim.Cubic})},
		{"cell-4", sharedCell(b, time.Minute, slices.Repeat([]sim.Flow{{Where: sim.OwnPhone}}, 3)...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run(b, c.sc, "gbrcc", 1, sim.Options{})
			}
		})
	}
}
