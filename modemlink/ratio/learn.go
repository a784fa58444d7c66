// SPDX-License-Identifier: MIT

package ratio

// voters is how many of the last observations a learned value rests on, values
// the range of what is observed.
const voters, values = 64, 64

// votes counts the last observations of a small number, 0..63.
type votes struct {
	last   [voters]uint8
	counts [values]uint8
	n, pos int
}

func (v *votes) add(x int64) {
	if v.n == voters {
		v.counts[v.last[v.pos]]--
	} else {
		v.n++
	}
	v.last[v.pos] = uint8(x)
	v.counts[x]++
	v.pos = (v.pos + 1) % voters
}

// smallest returns the smallest value with at least least votes and a share of
// at least 1/part.
func (v *votes) smallest(least, part int) (int64, bool) {
	for x, n := range v.counts {
		if int(n) >= least && int(n)*part >= v.n {
			return int64(x), true
		}
	}

	return 0, false
}

// mode returns the most frequent value, the smaller of two.
func (v *votes) mode(least int) (int64, bool) {
	best := 0
	for x, n := range v.counts {
		if n > v.counts[best] {
			best = x
		}
	}

	return int64(best), int(v.counts[best]) >= least
}

// timers are the values of periodicBSR-Timer in ms, TS 38.331 BSR-Config, and
// but for the first TS 36.331 MAC-MainConfig.
func timers() [15]int64 {
	return [...]int64{1, 5, 10, 16, 20, 32, 40, 64, 80, 128, 160, 320, 640, 1280, 2560}
}

// timerAtMost returns the index of the longest timer not above a spacing, -1
// below the shortest. The timer lets a BSR go with the first transmission after
// it ran out, so a spacing is the timer plus a wait for a grant.
func timerAtMost(ms int64, nr bool) int64 {
	best := int64(-1)
	for i, t := range timers() {
		if t <= ms && (nr || i > 0) {
			best = int64(i)
		}
	}

	return best
}
