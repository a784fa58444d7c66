// SPDX-License-Identifier: MIT

package media

import "time"

// maxTargets bounds what is remembered of targets that are not in force yet. A
// controller that changes its mind more often within Lag has the oldest of its
// changes forgotten.
const maxTargets = 1024

type timedTarget struct {
	at  time.Time
	bps int
}

// targets looks back at what was asked for.
type targets struct {
	lag  time.Duration
	list []timedTarget // newest last, at least one old enough to be in force
}

// add notes a target.
func (t *targets) add(now time.Time, bps int) {
	bps = min(max(bps, 0), maxRateBps)
	n := len(t.list)
	if n > 0 && t.list[n-1].bps == bps {
		return
	}
	if n > 0 && now.Before(t.list[n-1].at) {
		now = t.list[n-1].at
	}
	// Several within an instant are one; but the first ever is in force from
	// the start, and stays.
	if n > 1 && t.list[n-1].at.Equal(now) {
		t.list[n-1].bps = bps

		return
	}
	t.list = append(t.list, timedTarget{now, bps})
	drop := 0
	for drop+1 < len(t.list) && now.Sub(t.list[drop+1].at) > t.lag+time.Second {
		drop++
	}
	if len(t.list) == maxTargets {
		drop = max(drop, maxTargets/4)
	}
	// Not for every one: moving the rest costs.
	if drop > 64 {
		t.list = append(t.list[:0], t.list[drop:]...)
	}
}

// at is the rate that was asked for a lag ago, or the first one.
func (t *targets) at(now time.Time) int {
	at := now.Add(-t.lag)
	for i := len(t.list) - 1; i > 0; i-- {
		if !t.list[i].at.After(at) {
			return t.list[i].bps
		}
	}
	if len(t.list) == 0 {
		return 0
	}

	return t.list[0].bps
}

const (
	// reactionLatency is how long an encoder keeps a rate before it takes
	// another. RFC 8593 5.1 and table 1: tau_v.
	reactionLatency = 200 * time.Millisecond
	// abrupt is the relative change from which the reaction is a transient.
	// Deviation: RFC 8593 5.2 does not say when a change is abrupt.
	abrupt = 0.2
)

// reaction is an encoder that does not follow every change.
type reaction struct {
	bps   int
	since time.Time
}

// follow returns the rate in force, and whether this frame opens a transient.
func (r *reaction) follow(now time.Time, bps int) (rate int, transient bool) {
	switch {
	case r.since.IsZero():
		r.bps, r.since = bps, now
	case bps != r.bps && now.Sub(r.since) >= reactionLatency:
		change := float64(bps - r.bps)
		transient = max(change, -change) > abrupt*float64(r.bps)
		r.bps, r.since = bps, now
	}

	return r.bps, transient
}
