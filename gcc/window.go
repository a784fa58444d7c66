// SPDX-License-Identifier: MIT

package gcc

import "time"

// goog_cc: goog_cc_network_control, congestion_window_pushback_controller,
// experiments/rate_control_settings.
const (
	windowRTTs    = 32
	windowExtra   = 350 * time.Millisecond
	windowMin     = 2 * 1500 // bytes
	pushbackEvery = 25 * time.Millisecond
	pushbackFloor = 30_000.0 // bit/s
	// pushbackRest is how long nothing is held back after another loop has set
	// the rate: it sees the queue sooner.
	pushbackRest = time.Second
)

// window says how many bytes may be under way, and how much of the rate to hold
// back while more are.
type window struct {
	bytes   float64 // 0 while unknown
	ratio   float64 // of the rate, 0..1
	ratedAt time.Time
	due     time.Time // when to rate again; zero for with the next report
	n       int
	rtts    [windowRTTs]time.Duration // the longest of each report
}

// onReport takes the longest round trip of a report, waiting time included.
func (w *window) onReport(longest time.Duration, bitrate float64) {
	if longest <= 0 {
		return
	}
	w.rtts[w.n%windowRTTs] = longest
	w.n++
	shortest := longest
	for _, rtt := range w.rtts[:min(w.n, windowRTTs)] {
		shortest = min(shortest, rtt)
	}
	bytes := bitrate / 8 * (shortest + windowExtra).Seconds()
	if w.bytes > 0 {
		bytes = (bytes + w.bytes) / 2
	}
	w.bytes = max(bytes, windowMin)
}

// push adapts the ratio to what is under way and tells whether it changed.
func (w *window) push(now time.Time, inFlight int64) (changed bool) {
	if w.bytes == 0 || !w.ratedAt.IsZero() && now.Sub(w.ratedAt) < pushbackEvery {
		return false
	}
	w.ratedAt, w.due = now, time.Time{}
	if w.ratio == 0 {
		w.ratio = 1
	}
	was := w.ratio
	switch fill := float64(inFlight) / w.bytes; {
	case fill > 1.5:
		w.ratio *= 0.9
	case fill > 1:
		w.ratio *= 0.95
	case fill < 0.1:
		w.ratio = 1
	default:
		w.ratio = min(w.ratio*1.05, 1)
	}

	if w.ratio < 1 || float64(inFlight) > w.bytes {
		w.due = now.Add(pushbackEvery)
	}

	return w.ratio != was
}

// onSent asks for push when too much is under way: soon, and never at once, so
// that it does not matter when the caller looks.
func (w *window) onSent(now time.Time, inFlight int64) {
	if w.bytes == 0 || !w.due.IsZero() || float64(inFlight) <= w.bytes {
		return
	}
	w.due = now.Add(time.Millisecond)
	if t := w.ratedAt.Add(pushbackEvery); t.After(w.due) {
		w.due = t
	}
}

// release holds nothing back for a while.
func (w *window) release(now time.Time) {
	w.ratio, w.ratedAt, w.due = 0, now.Add(pushbackRest-pushbackEvery), time.Time{}
}

// pushback is the share of bitrate to hold back, 0..1.
func (w *window) pushback(bitrate float64) float64 {
	if w.bytes == 0 || w.ratio == 0 || bitrate <= pushbackFloor {
		return 0
	}

	return 1 - max(w.ratio, pushbackFloor/bitrate)
}

// inFlightSlots is how many packets under way are counted at the most.
const inFlightSlots = 4096

// inFlight counts the bytes under way: sent after the newest packet that is
// known to have arrived.
type inFlight struct {
	slots   []flying // length is a power of two; size 0 is free
	bytes   int64
	highest int64
	acked   bool
}

type flying struct{ seq, size int64 }

func (f *inFlight) slot(seq int64) *flying { return &f.slots[uint64(seq)&uint64(len(f.slots)-1)] }

// grow doubles: what was apart stays so.
func (f *inFlight) grow() {
	old := f.slots
	f.slots = make([]flying, max(64, 2*len(old)))
	for _, s := range old {
		if s.size > 0 {
			*f.slot(s.seq) = s
		}
	}
}

func (f *inFlight) sent(seq int64, size int) {
	if f.acked && seq <= f.highest {
		return
	}
	if len(f.slots) == 0 {
		f.grow()
	}
	s := f.slot(seq)
	for s.size > 0 && s.seq != seq && len(f.slots) < inFlightSlots {
		f.grow()
		s = f.slot(seq)
	}
	f.bytes += int64(size) - s.size // what was there has been forgotten by everyone
	s.seq, s.size = seq, int64(size)
}

func (f *inFlight) received(seq int64) {
	if f.acked && seq <= f.highest {
		return
	}
	first := seq - int64(len(f.slots)) + 1
	if f.acked && f.highest >= first {
		first = f.highest + 1
	}
	for i := first; i <= seq && i >= first; i++ {
		if s := f.slot(i); s.size > 0 && s.seq <= seq {
			f.bytes -= s.size
			s.size = 0
		}
	}
	f.highest, f.acked = seq, true
}
