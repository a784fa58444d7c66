// SPDX-License-Identifier: MIT

package sim

// pool holds things that are under way, by number, and gives them out again
// when they have arrived or are lost.
type pool[T any] struct {
	things []T
	unused []int64
}

// take gives one out, as it was left. The pointer is valid until the next take.
func (p *pool[T]) take() (index int64, thing *T) {
	if n := len(p.unused); n > 0 {
		index, p.unused = p.unused[n-1], p.unused[:n-1]
	} else {
		var zero T
		index = int64(len(p.things))
		p.things = append(p.things, zero)
	}

	return index, &p.things[index]
}

func (p *pool[T]) at(index int64) *T { return &p.things[index] }

func (p *pool[T]) free(index int64) { p.unused = append(p.unused, index) }
