// SPDX-License-Identifier: MIT

package cell

import (
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Radio is an air interface: the length of a slot, which slots go up, and how
// long a report takes to become a grant.
type Radio uint8

// Radios. The lags are what ReportTTIs and GrantTTIs are without being set.
const (
	// LTEFDD has TTIs of 1 ms, reports known 4 later, grants 4 later still,
	// HARQ 8 later. TS 36.213 8.
	LTEFDD Radio = iota
	// NRFDD has slots of 1 ms (15 kHz), reports known 3 later, k2 of 3, and
	// asynchronous HARQ: a block is sent again as soon as it can be granted.
	NRFDD
	// NRTDD has slots of 0.5 ms (30 kHz) in the pattern DDDSU: one of five
	// goes up. Reports are known 4 slots later, k2 is at least 4.
	NRTDD
	// NRTDD7D1S2U is the same with the pattern DDDDDDDSUU of 5 ms.
	NRTDD7D1S2U
)

// String is the radio's name.
func (r Radio) String() string {
	switch r {
	case LTEFDD:
		return "lte-fdd"
	case NRFDD:
		return "nr-fdd"
	case NRTDD:
		return "nr-tdd-dddsu"
	case NRTDD7D1S2U:
		return "nr-tdd-7d1s2u"
	default:
		return "unknown radio"
	}
}

// traits are what sets radios apart.
type traits struct {
	rat     diag.RAT
	mu      uint8  // slots of 1 ms / 2^mu
	pattern string // D, S and U; F is a slot of FDD, which takes both ways
	report  int    // default lags, slots
	grant   int
	// lookback is how many slots old a grant may be that the station deducts
	// from a report.
	lookback int64
	maxTB    int
	// maxLag bounds both lags. LTE: the scheduler must know whether the TTI
	// that it grants is taken by a retransmission.
	maxLag int
	// leastRBs is the smallest allocation: schedulers of LTE keep to 3, NR
	// has no need to.
	leastRBs int
}

func (r Radio) traits() (traits, bool) {
	switch r {
	case LTEFDD:
		return traits{rat: diag.LTE, pattern: "F", report: 4, grant: 4, lookback: 60, maxTB: lteMaxTB, maxLag: harqRTT - 1, leastRBs: 3}, true
	case NRFDD:
		return traits{rat: diag.NR, pattern: "F", report: 3, grant: 3, lookback: 60, maxTB: nrMaxTB, maxLag: nrMaxLag, leastRBs: 1}, true
	case NRTDD:
		return traits{rat: diag.NR, mu: 1, pattern: "DDDSU", report: 4, grant: 4, lookback: 100, maxTB: nrMaxTB, maxLag: nrMaxLag, leastRBs: 1}, true
	case NRTDD7D1S2U:
		return traits{rat: diag.NR, mu: 1, pattern: "DDDDDDDSUU", report: 4, grant: 4, lookback: 100, maxTB: nrMaxTB, maxLag: nrMaxLag, leastRBs: 1}, true
	default:
		return traits{}, false
	}
}

const (
	// lteMaxTB is the largest block that B139 and B064 can show.
	lteMaxTB = 1<<16 - 1
	// nrMaxTB is more than four layers of 100 MHz carry in a slot.
	nrMaxTB  = 1<<18 - 1
	nrMaxLag = 20
)

// frame is the time grid of a radio. Slot k begins k slot lengths after the
// start; for LTE it is the TTI.
type frame struct {
	traits
	slot time.Duration
	n    int64 // slots in the pattern
	ups  int64 // of which go up
	// By place in the pattern: the number of uplink slots up to here, how many
	// slots ago the last one was, and how far ahead those are that are granted
	// here.
	upTo, gap []int64
	targets   [][]int64
}

// newFrame lays out a radio whose grants come at least k2 slots ahead.
func newFrame(r Radio, k2 int64) *frame {
	t, _ := r.traits()
	f := &frame{
		traits: t, slot: tti >> t.mu, n: int64(len(t.pattern)),
		upTo: make([]int64, len(t.pattern)), gap: make([]int64, len(t.pattern)), targets: make([][]int64, len(t.pattern)),
	}
	for i := range f.n {
		if f.up(i) {
			f.ups++
		}
		f.upTo[i] = f.ups
		f.gap[i] = 1
		for f.gap[i] < f.n && !f.up(i-f.gap[i]+f.n) {
			f.gap[i]++
		}
	}
	for air := 16 * f.n; air < 17*f.n; air++ {
		if !f.up(air) {
			continue
		}
		k := air - k2
		for f.pattern[k%f.n] == 'U' { // nothing goes down here
			k--
		}
		f.targets[k%f.n] = append(f.targets[k%f.n], air-k)
	}
	return f
}

// up says whether slot k, not negative, goes up.
func (f *frame) up(k int64) bool {
	c := f.pattern[k%f.n]
	return c == 'U' || c == 'F'
}

// since is how many slots ago the uplink slot before k was.
func (f *frame) since(k int64) int64 { return f.gap[k%f.n] }

// chance is the first uplink slot that can be granted in slot k or later.
func (f *frame) chance(k int64) int64 {
	best := int64(-1)
	for d := k; d < k+f.n; d++ {
		for _, ahead := range f.targets[d%f.n] {
			if best < 0 || d+ahead < best {
				best = d + ahead
			}
		}
	}
	return best
}

// after is the uplink slot after slot k.
func (f *frame) after(k int64) int64 {
	for k++; !f.up(k); {
		k++
	}
	return k
}

// share is the time, in µs since the start, of whose capacity uplink slot k
// has the benefit: the pattern's time in as many parts as it has such slots.
func (f *frame) share(k int64) (from, to int64) {
	period := f.n * f.micros()
	j := f.upTo[k%f.n]
	begin := k / f.n * period
	return begin + period*(j-1)/f.ups, begin + period*j/f.ups
}

// micros is the length of a slot.
func (f *frame) micros() int64 { return f.slot.Microseconds() }

// slots is the number of slots in a time.
func (f *frame) slots(d time.Duration) int64 { return int64(d / f.slot) }

// wrap is after how many slots frame numbers start anew.
func (f *frame) wrap() int64 { return ttiWrap << f.mu }

// turn makes an offset of the slot number from one in TTIs: any on LTE, whole
// frames on NR, so that the pattern begins with a frame.
func (f *frame) turn(ttis int64) int64 {
	if f.rat == diag.LTE {
		return ttis
	}
	return ttis / 10 * 10 << f.mu
}
