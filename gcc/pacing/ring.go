// SPDX-License-Identifier: MIT

package pacing

type entry[T any] struct {
	item T
	size int
}

// ring is a FIFO queue that grows by doubling and never allocates once it has
// seen its longest queue.
type ring[T any] struct {
	buf   []entry[T] // length is 0 or a power of two
	head  int
	count int
	bytes int64
}

func (r *ring[T]) push(item T, size int) {
	if r.count == len(r.buf) {
		r.grow()
	}
	r.buf[(r.head+r.count)&(len(r.buf)-1)] = entry[T]{item: item, size: size}
	r.count++
	r.bytes += int64(size)
}

// pop must not be called on an empty ring.
func (r *ring[T]) pop() entry[T] {
	e := r.buf[r.head]
	r.buf[r.head] = entry[T]{} // the item may hold memory
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.count--
	r.bytes -= int64(e.size)

	return e
}

func (r *ring[T]) grow() {
	grown := make([]entry[T], max(16, 2*len(r.buf)))
	n := copy(grown, r.buf[r.head:])
	copy(grown[n:], r.buf[:r.head])
	r.buf, r.head = grown, 0
}
