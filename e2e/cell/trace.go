// SPDX-License-Identifier: MIT

package cell

import (
	"fmt"
	"time"
)

const (
	// maxTraceMs is the longest trace, one hour: it repeats anyway.
	maxTraceMs = 3_600_000
	// maxBytesPerMs is 1 Gbit/s: more is a mistake of units.
	maxBytesPerMs = 125_000
)

// Trace is a capacity in bytes per millisecond, which repeats when it is
// over. The zero value carries nothing. A Trace is read only, so copies may
// be shared between goroutines.
type Trace struct {
	// Name says where it is from.
	Name string
	// cum[i] is the sum before millisecond i.
	cum []int64
}

// NewTrace makes a trace from the bytes of each millisecond.
func NewTrace(name string, bytesPerMs []int) (Trace, error) {
	if len(bytesPerMs) > maxTraceMs {
		return Trace{}, fmt.Errorf("cell: trace %s: longer than an hour (%d ms)", name, len(bytesPerMs))
	}
	cum := make([]int64, len(bytesPerMs)+1)
	for i, n := range bytesPerMs {
		if n < 0 || n > maxBytesPerMs {
			return Trace{}, fmt.Errorf("cell: trace %s: %d bytes in ms %d is not within 0..%d", name, n, i, maxBytesPerMs)
		}
		cum[i+1] = cum[i] + int64(n)
	}
	return Trace{Name: name, cum: cum}, nil
}

// Step is a rate that holds for a while.
type Step struct {
	For time.Duration
	Bps int
}

// Constant is a link of bps that never changes.
func Constant(bps int) Trace {
	t := Steps(Step{For: time.Second, Bps: bps})
	t.Name = "constant"
	return t
}

// Steps is a link whose rate changes in steps, from the first again after the
// last. Negative rates and times count as 0; rates are cut at 1 Gbit/s and
// the whole at one hour.
func Steps(steps ...Step) Trace {
	b := builder{cum: []int64{0}}
	for _, s := range steps {
		b.add(int64(s.For/time.Millisecond), float64(s.Bps))
	}
	return b.trace("steps")
}

// Len is the time after which the trace repeats.
func (t Trace) Len() time.Duration {
	return time.Duration(max(len(t.cum)-1, 0)) * time.Millisecond
}

// At is the capacity of millisecond ms since the start, in bytes; 0 before it.
func (t Trace) At(ms int64) int {
	n := int64(len(t.cum) - 1)
	if n <= 0 || ms < 0 {
		return 0
	}
	ms %= n
	return int(t.cum[ms+1] - t.cum[ms])
}

// MeanBps is the mean capacity from one time to another since the start, in
// whole milliseconds; 0 for an empty interval.
func (t Trace) MeanBps(from, to time.Duration) int {
	a, b := max(from.Milliseconds(), 0), to.Milliseconds()
	if b <= a {
		return 0
	}
	return int(float64(t.before(b)-t.before(a)) * 8000 / float64(b-a))
}

// upTo is what there is before a time in µs since the start; within a
// millisecond it comes evenly.
func (t Trace) upTo(us int64) int64 {
	sum := t.before(us / 1000)
	if rest := us % 1000; rest > 0 {
		sum += int64(t.At(us/1000)) * rest / 1000
	}
	return sum
}

// before is the sum of all milliseconds before ms.
func (t Trace) before(ms int64) int64 {
	n := int64(len(t.cum) - 1)
	if n <= 0 {
		return 0
	}
	return ms/n*t.cum[n] + t.cum[ms%n]
}

// peak is the largest millisecond; some is false when all are 0.
func (t Trace) peak() (bytes int, some bool) {
	for i := 1; i < len(t.cum); i++ {
		bytes = max(bytes, int(t.cum[i]-t.cum[i-1]))
	}
	return bytes, bytes > 0
}

// builder turns rates into whole bytes per millisecond and carries the
// remainder, so that the mean is kept.
type builder struct {
	cum  []int64
	left float64
}

func (b *builder) add(ms int64, bps float64) {
	bps = min(max(bps, 0), maxBytesPerMs*8000)
	for ; ms > 0 && len(b.cum) <= maxTraceMs; ms-- {
		b.left += bps / 8000
		n := min(int64(b.left+1e-6), maxBytesPerMs) // whole but for rounding is whole
		b.left -= float64(n)
		b.cum = append(b.cum, b.cum[len(b.cum)-1]+n)
	}
}

func (b *builder) trace(name string) Trace { return Trace{Name: name, cum: b.cum} }
