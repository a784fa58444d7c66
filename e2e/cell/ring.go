// SPDX-License-Identifier: MIT

package cell

// ring is a first-in first-out queue that grows and then stays, so that
// steady traffic makes no garbage.
type ring[T any] struct {
	buf  []T // length is a power of two
	head int
	n    int
}

func (r *ring[T]) push(v T) {
	if r.n == len(r.buf) {
		buf := make([]T, max(2*len(r.buf), 16))
		for i := range r.n {
			buf[i] = *r.at(i)
		}
		r.buf, r.head = buf, 0
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = v
	r.n++
}

// at returns element i counted from the front; i must be below n.
func (r *ring[T]) at(i int) *T { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

func (r *ring[T]) front() *T { return r.at(0) }

func (r *ring[T]) pop() T {
	p := r.at(0)
	v := *p
	var zero T
	*p = zero // lets go of payloads
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return v
}
