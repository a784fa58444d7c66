// SPDX-License-Identifier: MIT

package cell

import "time"

// RLCConfig is what happens to blocks that HARQ does not get through. The zero
// value is none: the fourth transmission always succeeds.
type RLCConfig struct {
	// Loss is the share of blocks, 0..0.5, of which all four transmissions
	// fail. RLC AM sends their data again after a status round; whatever is
	// behind them waits, as LTE RLC delivers in order. TS 36.322 5.1.3, 5.2.
	Loss float64
	// RoundMin and RoundMax bound the status round, from the last failed
	// transmission until the phone knows and asks for a grant; it is uniform
	// in 40..80 ms (t-PollRetransmit and t-StatusProhibit as operators set them).
	RoundMin, RoundMax time.Duration
}

func (r *RLCConfig) setDefaults() {
	if r.Loss != 0 {
		setDuration(&r.RoundMin, 40*time.Millisecond)
		setDuration(&r.RoundMax, max(80*time.Millisecond, r.RoundMin))
	}
}

func (r RLCConfig) validate(bad func(string, ...any) error) error {
	switch {
	case !(r.Loss >= 0 && r.Loss <= 0.5): // also catches NaN
		return bad("share of lost blocks %v is not within 0..0.5", r.Loss)
	case r.RoundMin < 0 || r.RoundMax < r.RoundMin || r.RoundMax > time.Minute:
		return bad("RLC status round of %v to %v", r.RoundMin, r.RoundMax)
	}
	return nil
}

// missing is a lost block whose data has to be sent again.
type missing struct {
	block int64 // number
	rest  int   // bytes not sent again yet
	ready int64 // slot from which the phone knows
}

// lose takes a block out of HARQ in slot k.
func (h *harq) lose(k, number int64) {
	b := h.block(number)
	h.lost++
	if b.data == 0 {
		b.decoded = true // nothing but padding and a report, which nobody misses
		return
	}
	round := h.rlc.RoundMin + time.Duration(h.rlcRNG.Int64N(int64(h.rlc.RoundMax-h.rlc.RoundMin)+1))
	m := missing{block: number, rest: b.data, ready: k + 1 + h.frame.slots(round)}
	if n := h.missing.n; n > 0 {
		m.ready = max(m.ready, h.missing.at(n-1).ready)
	}
	h.missing.push(m)
}

// wake counts the bytes whose status round is over by slot k as ready to send,
// and says whether there are new ones.
func (h *harq) wake(k int64) bool {
	before := h.ready
	for h.awake < h.missing.n && h.missing.at(h.awake).ready <= k {
		h.ready += h.missing.at(h.awake).rest
		h.awake++
	}
	return h.ready > before
}

// carry puts bytes that are ready into a block of this number that has room
// for data, and returns how many. Retransmissions go first. TS 36.322 5.2.1.
func (h *harq) carry(number int64, data int) (bytes int) {
	for h.awake > 0 && data > bytes {
		m := h.missing.front()
		b := h.block(m.block)
		if b.from == 0 {
			b.from = number
		}
		n := min(m.rest, data-bytes)
		bytes += n
		m.rest -= n
		if m.rest > 0 {
			break
		}
		b.to = number
		h.missing.pop()
		h.awake--
	}
	h.ready -= bytes
	return bytes
}

// arrived says whether the base station has a block, or all the later ones
// that carry its data.
func (h *harq) arrived(number int64) bool {
	b := h.block(number)
	if b.decoded || b.to == 0 {
		return b.decoded
	}
	for n := b.from; n <= b.to; n++ {
		if !h.arrived(n) {
			return false
		}
	}
	b.decoded = true
	return true
}

// reset drops every block; the packets are the caller's.
func (h *harq) reset() {
	h.popped += int64(h.blocks.n)
	for h.blocks.n > 0 {
		h.blocks.pop()
	}
	for h.missing.n > 0 {
		h.missing.pop()
	}
	h.awake, h.ready = 0, 0
	h.again = repeats{}
}
