// SPDX-License-Identifier: MIT

package ratio

import "time"

const (
	// sumSpan is how far back the sums of a sample reach.
	sumSpan = 30
	// correctable is how long after it was told a window is told anew.
	correctable = 200 * time.Millisecond
	// maxTold is how many windows are kept for both: 200 ms of windows of 1.6
	// ms; windows of less end earlier.
	maxTold = 128
)

// told is a window with a report as it was told, and what of the other radio
// was added.
type told struct {
	sample
	at     time.Time
	toldAt int64
	sfn    int
	joined join
	// dirty: grants came late; corrected: it was told anew.
	dirty, corrected bool
}

// history is the last windows of one radio, in the order of their ends.
type history struct {
	last   [maxTold]told
	n, pos int
	dirty  bool
}

// back returns the entry i before the newest one.
func (h *history) back(i int) *told { return &h.last[(h.pos-1-i+2*maxTold)%maxTold] }

func (h *history) add(t told) {
	h.last[h.pos] = t
	h.pos = (h.pos + 1) % maxTold
	h.n = min(h.n+1, maxTold)
}

// sums adds up the windows that end in the span before end and at end.
func (h *history) sums(end int64) (granted, reported int) {
	for i := range h.n {
		t := h.back(i)
		if t.end <= end-sumSpan {
			break
		}
		if t.end <= end {
			granted += t.granted
			reported += t.high
		}
	}

	return granted, reported
}

// late marks the windows that a late grant belongs to.
func (h *history) late(now, tti int64, part int) {
	h.mark(now, func(t *told) bool {
		return tti <= t.to && (tti > t.start || tti == t.start && part > t.part)
	})
}

// lateOther is the same for a grant of the other radio.
func (h *history) lateOther(now, tti int64) {
	h.mark(now, func(t *told) bool {
		return t.joined.ok && tti > t.joined.from && tti <= t.joined.to
	})
}

func (h *history) mark(now int64, has func(*told) bool) {
	for i := range h.n {
		t := h.back(i)
		if now-t.toldAt > micros(correctable) {
			break
		}
		if !t.corrected && has(t) {
			t.dirty, h.dirty = true, true
		}
	}
}
