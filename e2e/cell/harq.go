// SPDX-License-Identifier: MIT

package cell

import "math/rand/v2"

const (
	// harqRTT is the distance of a transmission and its repetition, and the
	// number of processes (TS 36.213 8: FDD, synchronous).
	harqRTT = 8
	// maxTransmissions of one block; the last one succeeds, but for
	// RLCConfig.Loss.
	maxTransmissions = 4
)

// block is a transport block that the base station has not handed on yet.
type block struct {
	report  report // for the scheduler, once decoded
	size    int
	data    int // bytes of it that are packets'
	packets int // whose last byte is in it
	sent    int // transmissions so far
	decoded bool

	doomed   bool  // all its transmissions fail
	from, to int64 // numbers of the blocks that carry its data again, or 0
}

// harq carries blocks to the base station. RLC hands the packets on in order,
// so those behind a block in error wait for it.
type harq struct {
	bler   float64
	rng    *rand.Rand
	blocks ring[block]
	popped int64          // blocks handed on, numbers those in the ring
	proc   [harqRTT]int64 // 1 + number of the block each process repeats, or 0
	onAir  ring[queued]   // packets of blocks, in order

	rlc     RLCConfig
	rlcRNG  *rand.Rand
	missing ring[missing]
	awake   int   // the first ones of missing, of which the phone knows
	ready   int   // bytes of those
	lost    int64 // blocks so far
}

// busy says whether TTI k is taken by a retransmission.
func (h *harq) busy(k int64) bool { return h.proc[k%harqRTT] != 0 }

// pending is the block that TTI k repeats; busy must be true.
func (h *harq) pending(k int64) *block {
	return h.block(h.proc[k%harqRTT] - 1)
}

// block is a block by its number, which must be in the ring.
func (h *harq) block(number int64) *block { return h.blocks.at(int(number - h.popped)) }

// next is the number of the next new block.
func (h *harq) next() int64 { return h.popped + int64(h.blocks.n) }

// send transmits b, which is in the ring, in TTI k and says whether it was
// decoded.
func (h *harq) send(k int64, number int64) bool {
	b := h.block(number)
	b.sent++
	if b.doomed {
		h.proc[k%harqRTT] = number + 1
		if b.sent == maxTransmissions {
			h.proc[k%harqRTT] = 0
			h.lose(k, number)
		}
		return false
	}
	p := h.bler
	for range b.sent - 1 {
		p /= 10 // gain of combining
	}
	b.decoded = b.sent == maxTransmissions || p == 0 || h.rng.Float64() >= p
	if b.decoded {
		h.proc[k%harqRTT] = 0
	} else {
		h.proc[k%harqRTT] = number + 1
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
