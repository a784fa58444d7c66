// SPDX-License-Identifier: MIT

package dashboard

import "math"

// absent marks a value that was not pushed; NaN marks a gap. Infinite values are
// pushed as NaN, so this one is free.
func absent() float64 { return math.Inf(1) }

// history is a ring of rows: an instant and one value a column.
type history struct {
	t    []float64
	v    []float64
	cols int
	n    int // rows ever pushed
}

func newHistory(cols, rows int) history {
	return history{t: make([]float64, rows), v: make([]float64, rows*cols), cols: cols}
}

// push adds a row and returns it to be filled.
func (h *history) push(t float64) []float64 {
	i := h.n % len(h.t)
	h.t[i] = t
	h.n++

	return h.v[i*h.cols : (i+1)*h.cols]
}

// last is the newest row's instant.
func (h *history) last() float64 { return h.t[(h.n-1)%len(h.t)] }

// oldest is the number of the oldest row still there.
func (h *history) oldest() int { return max(0, h.n-len(h.t)) }

// appendSince appends the rows from number from on, which must still be there.
func (h *history) appendSince(from int, t, v []float64) (_, _ []float64) {
	for n := from; n < h.n; n++ {
		i := n % len(h.t)
		t = append(t, h.t[i])
		v = append(v, h.v[i*h.cols:(i+1)*h.cols]...)
	}

	return t, v
}
