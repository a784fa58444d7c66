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
	r.grow()
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = v
	r.n++
}

// pushFront puts v in front of all.
func (r *ring[T]) pushFront(v T) {
	r.grow()
	r.head = (r.head - 1) & (len(r.buf) - 1)
	r.buf[r.head] = v
	r.n++
}

// grow makes room for one more.
func (r *ring[T]) grow() {
	if r.n < len(r.buf) {
		return
	}
	buf := make([]T, max(2*len(r.buf), 16))
	for i := range r.n {
		buf[i] = *r.at(i)
	}
	r.buf, r.head = buf, 0
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

// popBack takes the newest element.
func (r *ring[T]) popBack() T {
	p := r.at(r.n - 1)
	v := *p
	var zero T
	*p = zero
	r.n--
	return v
}

// sift moves the newest element ahead of those that belong after it.
func sift[T any](r *ring[T], after func(a, b *T) bool) {
	for i := r.n - 1; i > 0 && after(r.at(i-1), r.at(i)); i-- {
		a, b := r.at(i-1), r.at(i)
		*a, *b = *b, *a
	}
}
