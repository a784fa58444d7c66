// SPDX-License-Identifier: MIT

package gcc

import "time"

// goog_cc: inter_arrival_delta, delay_based_bwe.
const (
	// groupLengthUs of sending or of arriving is a group, if it is more than
	// groupLeastUs of sending.
	//
	// Deviation: goog_cc has 5 ms of sending, behind a pacer that lets a frame go at
	// once, so that its groups are frames. Behind a pacer that spreads them, groups
	// of 5 ms leave the detector a seventh of the time, and it takes jitter and
	// frames that are larger than others for a queue. While a queue grows, what is
	// sent in 20 ms arrives over a long time: it is not waited for.
	groupLengthUs = 20_000
	groupLeastUs  = 5_000
	burstGapUs    = 5_000
	// maxBurstUs lets a group close while a saturated bottleneck delivers
	// packets faster than they were sent for as long as it likes.
	maxBurstUs       = 100_000
	clockJumpUs      = 3_000_000
	reorderedToReset = 3
	streamTimeout    = 2 * time.Second
)

// group is a run of packets that count as one for the delay detector.
type group struct {
	firstSentUs, lastSentUs    int64
	firstArrivalUs, completeUs int64
	at                         time.Time
	valid                      bool
}

// grouping turns packets into groups and consecutive groups into deltas.
type grouping struct {
	cur, prev group
	reordered int
}

// groupDelta is how far apart two consecutive groups were sent and arrived.
type groupDelta struct {
	sendUs, arrivalUs int64
}

// groupResult is what one packet did to the grouping.
type groupResult uint8

const (
	groupOpen  groupResult = iota // nothing to say yet
	groupDone                     // a delta is there
	groupReset                    // the remote clock moved; what came before is void
)

func (g *grouping) reset() { *g = grouping{} }

// add takes packets in order of arrival.
func (g *grouping) add(now time.Time, s sample) (groupDelta, groupResult) {
	if !g.cur.valid {
		g.open(now, s)

		return groupDelta{}, groupOpen
	}
	if s.sentUs < g.cur.firstSentUs {
		return groupDelta{}, groupOpen // a straggler of a group already closed
	}
	if !g.closes(s) {
		g.cur.lastSentUs = max(g.cur.lastSentUs, s.sentUs)
		g.cur.completeUs, g.cur.at = s.arrivalUs, now

		return groupDelta{}, groupOpen
	}

	if !g.prev.valid {
		g.prev = g.cur
		g.open(now, s)

		return groupDelta{}, groupOpen
	}

	d := groupDelta{
		sendUs:    g.cur.lastSentUs - g.prev.lastSentUs,
		arrivalUs: g.cur.completeUs - g.prev.completeUs,
	}
	if d.arrivalUs-g.cur.at.Sub(g.prev.at).Microseconds() >= clockJumpUs {
		return g.restart(now, s)
	}
	if d.arrivalUs < 0 {
		if g.reordered++; g.reordered >= reorderedToReset {
			return g.restart(now, s)
		}

		return groupDelta{}, groupOpen
	}

	g.reordered = 0
	g.prev = g.cur
	g.open(now, s)

	return d, groupDone
}

// restart begins anew with s.
func (g *grouping) restart(now time.Time, s sample) (groupDelta, groupResult) {
	g.reset()
	g.open(now, s)

	return groupDelta{}, groupReset
}

func (g *grouping) open(now time.Time, s sample) {
	g.cur = group{
		firstSentUs: s.sentUs, lastSentUs: s.sentUs,
		firstArrivalUs: s.arrivalUs, completeUs: s.arrivalUs,
		at: now, valid: true,
	}
}

// closes tells whether s belongs to the next group.
func (g *grouping) closes(s sample) bool {
	sent := s.sentUs - g.cur.firstSentUs

	return sent > groupLeastUs && !g.bursts(s) &&
		(sent > groupLengthUs || s.arrivalUs-g.cur.firstArrivalUs > groupLengthUs)
}

// bursts tells whether s came in one burst with the current group: queued
// behind it, so its own delay says nothing new.
func (g *grouping) bursts(s sample) bool {
	send := s.sentUs - g.cur.lastSentUs
	arrival := s.arrivalUs - g.cur.completeUs
	if send == 0 {
		return true
	}

	return arrival < send && arrival <= burstGapUs && s.arrivalUs-g.cur.firstArrivalUs < maxBurstUs
}
