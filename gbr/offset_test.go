// SPDX-License-Identifier: MIT

package gbr

import (
	"math/rand/v2"
	"testing"
)

// reporter is a phone that is told of as if its clock were ahead, and latency µs
// after it was.
type reporter struct {
	o              offset
	rng            *rand.Rand
	now            int64
	sent           [1 << 17]int64 // bytes sent by ms
	total          int64
	equal          bool // frames of one size
	ahead, latency int64
	jumps          int

	told, backlog, granted int64
}

// run sends frames, which the phone gets rid of at 1000 bytes a ms, and reports
// every 5 ms.
func (r *reporter) run(ms int) {
	for range ms {
		r.now += 1000
		m := r.now / 1000
		if m%33 == 0 {
			n := 16
			if !r.equal {
				n = 4 + r.rng.IntN(28)
			}
			for range n {
				r.o.onSent(r.now, 1000)
				r.total += 1000
			}
		}
		r.sent[m] = r.total
		// What happened latency ago is told now.
		at := m - r.latency/1000
		if at < 1 {
			continue
		}
		r.backlog += r.sent[at] - r.sent[at-1]
		g := min(r.backlog, 1000)
		r.backlog -= g
		r.granted += g
		if m%5 != 0 {
			continue
		}
		stamp := at*1000 + r.ahead
		if r.o.heard(r.now, stamp) {
			r.jumps++
		}
		r.o.onReport(&twinReport{at: stamp, low: r.backlog, high: r.backlog}, r.granted-r.told)
		r.told = r.granted
	}
}

// The offset is found wherever the modem's clock stands and however late it is
// told, whether frames differ or not, and found again when the clock is set.
func TestOffset(t *testing.T) {
	for _, equal := range []bool{false, true} {
		for _, ahead := range []int64{-3_600_000_000, -200_000, -33_000, 0, 1_000, 50_000, 99_000, 500_000, 7_200_000_000} {
			for _, latency := range []int64{2_000, 9_000, 14_000, 120_000} {
				if equal && latency > 16_000 {
					continue // a frame less looks as good
				}
				for _, step := range []int64{60_000, -100_000, 20_000, 3_000_000, -5_000_000, -15_000} {
					r := &reporter{rng: rand.New(rand.NewPCG(1, 2)), now: 1_000_000, ahead: ahead, latency: latency, equal: equal}
					check := func(what string) {
						t.Helper()
						if off := r.o.best - float64(r.ahead); !(off > -2500 && off < 2500) || !r.o.known() {
							t.Errorf("%s, equal frames %v, clock ahead by %d ms, then %d more, latency %d ms: off by %.1f ms, known %v",
								what, equal, ahead/1000, step/1000, latency/1000, off/1000, r.o.known())
						}
					}
					r.run(2000)
					check("before")
					r.ahead += step
					r.run(8000)
					check("after")
				}
			}
		}
	}
}

// Who is told by another one knows the clock from the first telemetry on, among
// frames of which it cannot tell by itself which is which; who is told what is not
// true finds out; and who knows is told nothing.
func TestOffsetIsTold(t *testing.T) {
	const ahead, latency = 50_000, 9_000
	for _, c := range []struct {
		name  string
		told  int64 // µs off
		late  bool  // after it has found it
		ms    int
		equal bool
	}{
		{name: "rightly", ms: 60, equal: true},
		{name: "rightly, and for long", ms: 20_000, equal: true},
		{name: "wrongly", told: 20_000, ms: 8000},
		{name: "of another phone", told: 90_000_000, ms: 3000},
		{name: "late", told: 33_000, late: true, ms: 60, equal: true},
	} {
		r := &reporter{rng: rand.New(rand.NewPCG(1, 2)), now: 1_000_000, ahead: ahead, latency: latency, equal: c.equal}
		if c.late {
			r.run(3000)
		}
		r.o.tell(ahead + c.told)
		r.run(c.ms)
		if off := r.o.best - ahead; !(off > -2500 && off < 2500) || !r.o.known() {
			t.Errorf("told %s: off by %.1f ms, known %v", c.name, off/1000, r.o.known())
		}
	}
	r := &reporter{rng: rand.New(rand.NewPCG(1, 2)), now: 1_000_000, ahead: ahead, latency: latency, equal: true}
	r.run(60)
	if r.o.known() {
		t.Error("it knows without being told: the first case tests nothing")
	}
}

// What is told too late to be steered by is recognised as that, whatever frames
// differ, and never taken for something else. (Frames of one size at equal distances
// fit with any shift of that distance: nobody can tell.)
func TestOffsetOfOldNews(t *testing.T) {
	for _, latency := range []int64{300_000, 500_000, 1_000_000, 1_400_000} {
		for seed := uint64(1); seed <= 10; seed++ {
			r := &reporter{rng: rand.New(rand.NewPCG(seed, 2)), now: 1_000_000, latency: latency, equal: false}
			known := 0
			for range 80 {
				r.run(100)
				if r.o.known() {
					known++
				}
			}
			if known > 0 {
				t.Errorf("latency %d ms, seed %d: the offset is known for %d of 80 tenths of a second", latency/1000, seed, known)
			}
		}
	}
}
