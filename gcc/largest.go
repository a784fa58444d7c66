// SPDX-License-Identifier: MIT

package gcc

// largestKept is how many values are kept to know the two largest.
const largestKept = 8

// largest knows the two largest values of a window that slides, most of the time
// without going through it: it keeps some of the largest, and all others are at
// most floor.
type largest struct {
	top   [largestKept]int64 // descending
	n     int
	floor int64
}

func (l *largest) add(v int64) {
	if v < l.floor || v == l.floor && l.n == largestKept {
		return
	}
	if l.n == largestKept {
		l.n--
		l.floor = l.top[l.n]
	}
	i := l.n
	for ; i > 0 && l.top[i-1] < v; i-- {
		l.top[i] = l.top[i-1]
	}
	l.top[i] = v
	l.n++
}

func (l *largest) remove(v int64) {
	for i := range l.n {
		if l.top[i] == v {
			copy(l.top[i:l.n], l.top[i+1:l.n])
			l.n--

			return
		}
	}
}

// two are the two largest of count values; not ok when that is not known.
func (l *largest) two(count int) (first, second int64, ok bool) {
	if l.n < 2 && count > l.n {
		return 0, 0, false
	}
	if l.n > 0 {
		first = l.top[0]
	}
	if l.n > 1 {
		second = l.top[1]
	}

	return first, second, true
}
