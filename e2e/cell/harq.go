// SPDX-License-Identifier: MIT

package cell

import (
	"math/rand/v2"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

const (
	// harqRTT is the distance of a transmission and its repetition on LTE, and
	// the number of processes (TS 36.213 8: FDD, synchronous).
	harqRTT = 8
	// maxTransmissions of one block; the last one succeeds, but for
	// RLCConfig.Loss.
	maxTransmissions = 4
)

// block is a transport block that the base station has not handed on yet.
type block struct {
	report  report // for the scheduler, once decoded
	carrier int
	size    int
	rbs     int // in a cell with several phones
	data    int // bytes of it that are packets'
	padding int
	packets int // whose last byte is in it
	sent    int // transmissions so far
	decoded bool

	doomed   bool  // all its transmissions fail
	from, to int64 // numbers of the blocks that carry its data again, or 0
}

// harq carries blocks to the base station. RLC hands the packets on in order,
// so those behind a block in error wait for it.
type harq struct {
	frame  *frame
	report int64 // slots until the base station knows of an error
	bler   float64
	// wideBLER, when not 0, is that of blocks with more than wideRBs.
	wideBLER float64
	wideRBs  int
	rng      *rand.Rand
	blocks   ring[block]
	popped   int64        // blocks handed on, numbers those in the ring
	again    repeats      // which block a slot repeats
	onAir    ring[queued] // packets of blocks, in order

	rlc     RLCConfig
	rlcRNG  *rand.Rand
	missing ring[missing]
	awake   int   // the first ones of missing, of which the phone knows
	ready   int   // bytes of those
	lost    int64 // blocks so far
}

// repeats says which block a slot on air repeats, by carrier.
type repeats [carriers][horizon]repeat

type repeat struct {
	air    int64
	number int64 // of the block, plus 1
}

// busy says whether slot k of a carrier is taken by a block.
func (h *harq) busy(carrier int, k int64) bool { return h.due(carrier, k) >= 0 }

// due is the number of the block that slot k of a carrier sends, -1 for none.
func (h *harq) due(carrier int, k int64) int64 {
	if r := h.again[carrier][k&(horizon-1)]; r.air == k {
		return r.number - 1
	}
	return -1
}

// repeat has a block sent again that failed in slot k: 8 later on LTE, else in
// the first slot that can be granted once the base station knows.
func (h *harq) repeat(k, number int64) {
	if h.frame.rat == diag.LTE {
		h.book(k+harqRTT, number)
		return
	}
	air := h.frame.chance(k + h.report)
	for h.busy(h.block(number).carrier, air) {
		air = h.frame.after(air)
	}
	h.book(air, number)
}

// book has slot air send a block.
func (h *harq) book(air, number int64) {
	h.again[h.block(number).carrier][air&(horizon-1)] = repeat{air, number + 1}
}

// postpone moves a repetition to a later slot than air.
func (h *harq) postpone(air, number int64) {
	h.again[h.block(number).carrier][air&(horizon-1)] = repeat{air: air}
	h.repeat(air, number)
}

// block is a block by its number, which must be in the ring.
func (h *harq) block(number int64) *block { return h.blocks.at(int(number - h.popped)) }

// next is the number of the next new block.
func (h *harq) next() int64 { return h.popped + int64(h.blocks.n) }

// send transmits a block, which is in the ring, in slot k and says whether it
// was decoded.
func (h *harq) send(k, number int64) bool {
	b := h.block(number)
	b.sent++
	if b.doomed {
		if b.sent == maxTransmissions {
			h.lose(k, number)
		} else {
			h.repeat(k, number)
		}
		return false
	}
	p := h.bler
	if h.wideBLER > 0 && b.rbs > h.wideRBs {
		p = h.wideBLER
	}
	for range b.sent - 1 {
		p /= 10 // gain of combining
	}
	b.decoded = b.sent == maxTransmissions || p == 0 || h.rng.Float64() >= p
	if !b.decoded {
		h.repeat(k, number)
	}
	return b.decoded
}

// add puts a new block in and returns its number.
func (h *harq) add(b block) int64 {
	b.doomed = h.rlc.Loss > 0 && h.rlcRNG.Float64() < h.rlc.Loss
	h.blocks.push(b)
	return h.next() - 1
}

// handOn gives the packets of the oldest block if the base station has it.
func (h *harq) handOn() (packets int, ok bool) {
	if h.blocks.n == 0 || !h.arrived(h.popped) {
		return 0, false
	}
	h.popped++
	return h.blocks.pop().packets, true
}
