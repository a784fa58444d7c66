// SPDX-License-Identifier: MIT

package gcc

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAckedRateNeedsTenPackets(t *testing.T) {
	var a ackedRate
	for i := range int64(9) {
		a.add(sample{i * 10_000, i * 10_000, 1200, 0})
	}
	if r, ok := a.bps(); ok {
		t.Errorf("rate %v after 9 packets", r)
	}
	a.add(sample{90_000, 90_000, 1200, 0})
	r, ok := a.bps()
	if !ok {
		t.Fatal("no rate after 10 packets")
	}
	band(t, "rate", r, 960_000, 960_000, "bit/s")
}

func TestAckedRateSteady(t *testing.T) {
	for _, us := range []int64{400, 1_000, 5_000, 30_000, 240_000} {
		var a ackedRate
		for i := range int64(2_000) {
			a.add(sample{i * us, 5e9 + i*us, 1200, 0})
		}
		r, _ := a.bps()
		want := 1200 * 8e6 / float64(us)
		band(t, "rate", r, want*0.999, want*1.001, "bit/s")
	}
}

// Frames leave in one instant and arrive at the link's rate: what counts is
// the source's 1 Mbit/s, not the link's 10.
func TestAckedRateBurstyFrames(t *testing.T) {
	var a ackedRate
	const frameUs, perFrame, size = 33_333, 4, 1042 // 1.0 Mbit/s
	for f := range int64(300) {
		for p := range int64(perFrame) {
			a.add(sample{f * frameUs, f*frameUs + 25_000 + p*size*8/10, size, 0})
			if f < 60 {
				continue
			}
			r, ok := a.bps()
			if !ok {
				t.Fatal("no rate")
			}
			band(t, "rate", r, 0.93e6, 1.08e6, "bit/s")
		}
	}
}

// One pause of the network followed by the whole backlog is neither a fall nor
// a rise.
func TestAckedRateDelaySpike(t *testing.T) {
	var a ackedRate
	for i := range int64(400) { // 1200 B each 10 ms
		arrival := i * 10_000
		if i >= 300 && i < 340 {
			arrival = 3_400_000 + (i-300)*500
		}
		a.add(sample{i * 10_000, arrival, 1200, 0})
		if i < 150 {
			continue
		}
		r, _ := a.bps()
		band(t, "rate", r, 0.93e6, 1.03e6, "bit/s")
	}
}

// A queue that fills: the rate is what arrives.
func TestAckedRateBottleneck(t *testing.T) {
	var a ackedRate
	for i := range int64(1_000) {
		a.add(sample{i * 2_000, i * 6_000, 1200, 0})
	}
	r, _ := a.bps()
	band(t, "rate", r, 1.59e6, 1.61e6, "bit/s")
}

func TestAckedRateReordering(t *testing.T) {
	// A single packet of long ago must not stretch the sending span.
	var a ackedRate
	for i := range int64(300) {
		a.add(sample{i * 10_000, i*10_000 + 20_000, 1200, 0})
	}
	a.add(sample{100_000, 3_030_000, 1200, 0})
	r, _ := a.bps()
	band(t, "rate", r, 0.93e6, 1.0e6, "bit/s")

	// A remote clock that steps back by more than a second starts anew.
	a.add(sample{3_000_000, 1_000_000, 1200, 0})
	if _, ok := a.bps(); ok || a.n != 0 {
		t.Errorf("%d packets kept over a step of the clock", a.n)
	}
}

// Insertion in any order gives what sorting gives.
func TestAckedRateOrderOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	for range 50 {
		var in []sample
		for i := range int64(200) {
			in = append(in, sample{i * 3_000, i*3_000 + rng.Int64N(40_000), 200 + rng.IntN(1000), 0})
		}
		var a, b ackedRate
		for _, s := range in {
			a.add(s)
		}
		slices.SortStableFunc(in, func(x, y sample) int { return int(x.arrivalUs - y.arrivalUs) })
		for _, s := range in {
			b.add(s)
		}
		ra, _ := a.bps()
		rb, _ := b.bps()
		band(t, "rate", ra, rb*0.999, rb*1.001, "bit/s")
	}
}

// naiveAcked is bps by going through the window.
func naiveAcked(a *ackedRate) (rate float64, ok bool) {
	if a.n < ackedRequired {
		return 0, false
	}
	first := a.at(0)
	var bytes, largest, second, sentBytes, from, to int64
	var lastSize, inOrder int
	prev := first.arrivalUs
	for i := range a.n {
		p := a.at(i)
		bytes += int64(p.size)
		if gap := p.arrivalUs - prev; gap > largest {
			largest, second = gap, largest
		} else if gap > second {
			second = gap
		}
		prev = p.arrivalUs
		if a.discarded && p.sentUs < a.discardedUs {
			continue
		}
		if inOrder == 0 || p.sentUs > to {
			to, lastSize = p.sentUs, p.size
		}
		if inOrder == 0 || p.sentUs < from {
			from = p.sentUs
		}
		sentBytes += int64(p.size)
		inOrder++
	}
	rate = bps(bytes-int64(first.size), prev-first.arrivalUs-largest+second)
	if inOrder >= ackedRequired {
		rate = min(rate, bps(sentBytes-int64(lastSize), to-from))
	}

	return rate, true
}

// What is kept while packets come and go is what the whole window says, with any
// order, bursts, gaps and jumps of the clock.
func TestAckedRateAgainstNaive(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var a ackedRate
		var sent, arrival int64
		for range 3000 {
			if rng.IntN(4) > 0 { // else a burst
				sent += rng.Int64N(1 << rng.IntN(16))
			}
			arrival = max(arrival, sent) + rng.Int64N(1<<rng.IntN(14))
			s := sample{sent, arrival, rng.IntN(1500), 0}
			switch rng.IntN(100 + int(seed)*20) {
			case 0:
				s.arrivalUs -= rng.Int64N(100_000) // overtook others
			case 1:
				s.sentUs -= rng.Int64N(100_000) // sent again
			case 2:
				arrival += rng.Int64N(3_000_000)
			case 3:
				s.arrivalUs -= 2_000_000
			}
			a.add(s)
			if rng.IntN(5) > 0 {
				continue
			}
			got, ok := a.bps()
			if want, wantOK := naiveAcked(&a); got != want || ok != wantOK {
				t.Fatalf("seed %d: %v, %v, want %v, %v", seed, got, ok, want, wantOK)
			}
		}
	}
}
