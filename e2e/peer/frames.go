// SPDX-License-Identifier: MIT

package peer

import "time"

// giveUp is how long a frame may stay incomplete after a later one was whole.
// NACK and retransmission take a few round trips.
const giveUp = 500 * time.Millisecond

// wholeFrame is a frame on its way out of the frame buffer.
type wholeFrame struct {
	capture  time.Duration
	arrival  time.Time // of its last packet
	complete bool
}

type partial struct {
	capture time.Duration
	arrival time.Time
	got     map[uint16]bool
	count   uint16
}

func (p *partial) whole() bool { return p != nil && len(p.got) == int(p.count) }

// frames puts packets together and gives frames out in order. Not safe for
// concurrent use.
type frames struct {
	next    uint32 // the next frame to give out
	newest  uint32
	started bool
	pending map[uint32]*partial
	blocked time.Time // since when a later frame waits for next, zero if none
}

// add takes in a packet and appends the frames that it sets free. It tells
// whether the packet was new: a retransmission may turn out not to be needed.
func (f *frames) add(now time.Time, p piece, out []wholeFrame) (free []wholeFrame, fresh bool) {
	if f.pending == nil {
		f.pending = map[uint32]*partial{}
	}
	if !f.started {
		f.started, f.next, f.newest = true, p.frame, p.frame
	}
	// The distance as a signed number: frame numbers wrap.
	if int32(p.frame-f.next) < 0 || int32(p.frame-f.next) > 1<<16 {
		return out, false // given up or shown already, or nonsense
	}
	if int32(p.frame-f.newest) > 0 {
		f.newest = p.frame
	}
	part := f.pending[p.frame]
	if part == nil {
		part = &partial{got: map[uint16]bool{}, count: p.count, capture: p.capture}
		f.pending[p.frame] = part
	}
	if part.got[p.index] {
		return out, false
	}
	part.got[p.index] = true
	part.arrival = now

	return f.release(now, out), true
}

func (f *frames) release(now time.Time, out []wholeFrame) []wholeFrame {
	for int32(f.newest-f.next) >= 0 {
		part := f.pending[f.next]
		if part.whole() {
			out = append(out, wholeFrame{part.capture, part.arrival, true})
			f.drop()

			continue
		}
		if !f.laterWhole() {
			f.blocked = time.Time{}

			return out
		}
		if f.blocked.IsZero() {
			f.blocked = now
		}
		if now.Sub(f.blocked) < giveUp {
			return out
		}
		lost := wholeFrame{arrival: now}
		if part != nil {
			lost.capture = part.capture
		}
		out = append(out, lost)
		f.drop()
	}

	return out
}

func (f *frames) drop() {
	delete(f.pending, f.next)
	f.next++
	f.blocked = time.Time{}
}

func (f *frames) laterWhole() bool {
	for _, p := range f.pending {
		if p.whole() {
			return true
		}
	}

	return false
}
