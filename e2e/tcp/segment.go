// SPDX-License-Identifier: MIT

package tcp

// Segment is data on its way.
type Segment struct {
	// Seq is the number of its first byte, Len how many it has.
	Seq int64
	Len int
	// Size is bytes on the link, headers included.
	Size int
	// Retransmit is true of everything but the first copy.
	Retransmit bool
}

// Range is the bytes From up to, not including, To.
type Range struct{ From, To int64 }

// Ack is what a receiver says it has.
type Ack struct {
	// Cum is the first byte that is missing.
	Cum int64
	// SACK are parts above, the latest one first; empty ones mean nothing.
	SACK [3]Range
	// Size is bytes on the link.
	Size int
}
