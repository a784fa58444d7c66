// SPDX-License-Identifier: MIT

package sim

import "time"

const (
	// climbWindow is over what time a rate must have arrived, climbShare how much
	// of the radio's.
	climbWindow = 200 * time.Millisecond
	climbShare  = 0.9
)

// climb watches how soon a call makes use of a radio that has become faster.
type climb struct {
	from   instant // of the leap; never for none
	bytes  int64   // that are enough, within a window
	window []climbed
	head   int
	sum    int64
	done   instant // never: not yet
}

type climbed struct {
	at   instant
	size int32
}

func newClimb(w *world) climb {
	c := climb{from: never, done: never}
	if r := w.sc.Rise; r.Bps > 0 {
		c.from = instant(r.At + shift(w.seed))
		c.bytes = int64(climbShare * float64(r.Bps) / 8 * climbWindow.Seconds())
	}

	return c
}

// onArrival takes a packet with when it was queued, and its bytes on the link.
func (c *climb) onArrival(at, queued instant, size int32) {
	if queued < c.from || c.done != never {
		return
	}
	c.window = append(c.window, climbed{at, size})
	c.sum += int64(size)
	for c.window[c.head].at <= at-instant(climbWindow) {
		c.sum -= int64(c.window[c.head].size)
		c.head++
	}
	if c.sum >= c.bytes {
		c.done = at
	}
}

// seconds is the figure.
func (c *climb) seconds(w *world) float64 {
	if c.from == never {
		return 0
	}

	return max(0, time.Duration(min(c.done, instant(w.sc.Duration))-c.from).Seconds())
}
