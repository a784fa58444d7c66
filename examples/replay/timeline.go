// SPDX-License-Identifier: MIT

package main

import "time"

const (
	// maxPause is the longest pause between log packets that is believed: a
	// capture may sleep, but the modem's clock also leaps by decades when the
	// network tells it the time.
	maxPause = 6 * time.Hour
	// maxDisorder is how far log codes overtake each other. More is a clock
	// that was set back, or files put together.
	maxDisorder = 2 * time.Second
)

// timeline is the clock of a capture. It has no time of arrival, so the log time
// stands for it, without the leaps.
type timeline struct {
	// start is the first log time, now where the replay is.
	start, now time.Time
	// last is the log time that belongs to now, zero before the first.
	last time.Time
	// leaps counts those that were taken out.
	leaps int
}

// at goes on to a packet's log time, which is zero in some packets, and returns
// now.
func (t *timeline) at(logged time.Time) time.Time {
	if t.start.IsZero() {
		if t.start = logged; logged.IsZero() {
			t.start = time.Unix(0, 0).UTC()
		}
		t.now = t.start
	}
	gap := logged.Sub(t.last)
	switch {
	case logged.IsZero():
	case t.last.IsZero():
		t.last = logged
	case gap > maxPause, gap < -maxDisorder:
		t.leaps++
		t.last = logged
	case gap > 0:
		t.now = t.now.Add(gap)
		t.last = logged
	}

	return t.now
}
