// SPDX-License-Identifier: MIT

package gbr

import "time"

const (
	// lowsOf is how often a least value must have been seen to count, lowsSlot how
	// far apart: what is wrong about one frame's packets is wrong about all of them,
	// and in some of the reports after it.
	lowsOf, lowsSlot = 3, 100 * time.Millisecond
)

// lows is the least of what was seen in three slots of time: what comes only once
// is an error. Packets that the modem did not tell of in time seem to leave with
// those after them, and so to arrive sooner than they can.
type lows struct {
	n    int
	v    [lowsOf]time.Duration
	slot [lowsOf]int64
}

func (l *lows) add(now time.Time, d time.Duration) {
	slot := now.UnixNano() / int64(lowsSlot)
	most := 0
	for i := range l.n {
		if l.slot[i] == slot {
			l.v[i] = min(l.v[i], d)

			return
		}
		if l.v[i] > l.v[most] {
			most = i
		}
	}
	switch {
	case l.n < lowsOf:
		l.v[l.n], l.slot[l.n] = d, slot
		l.n++
	case d < l.v[most]:
		l.v[most], l.slot[most] = d, slot
	}
}

// least is the highest of the lowest.
func (l *lows) least() time.Duration {
	d := l.v[0]
	for _, v := range l.v[1:max(l.n, 1)] {
		d = max(d, v)
	}

	return d
}
