// SPDX-License-Identifier: MIT

package cell

import "time"

// queued is a packet in the phone, or on its way from there.
type queued struct {
	Packet
	at, left time.Time
	rest     int  // bytes not yet sent
	other    bool // another app's: never delivered
}

// buffer is the phone's RLC queue: packets are cut to fit the transport block.
type buffer struct {
	q     ring[queued]
	bytes int
	limit int
}

// push says whether the packet fitted.
func (b *buffer) push(p queued) bool {
	if p.Size <= 0 || p.Size > b.limit-b.bytes {
		return false
	}
	p.rest = p.Size
	b.bytes += p.Size
	b.q.push(p)
	return true
}

// take removes n bytes, which must be there. Packets whose last byte is among
// them left the phone at the time given and go to out; their number comes back.
func (b *buffer) take(n int, left time.Time, out *ring[queued]) (packets int) {
	b.bytes -= n
	for n > 0 {
		p := b.q.front()
		if p.rest > n {
			p.rest -= n
			break
		}
		n -= p.rest
		done := b.q.pop()
		done.rest, done.left = 0, left
		out.push(done)
		packets++
	}
	return packets
}
