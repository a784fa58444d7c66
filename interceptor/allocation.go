// SPDX-License-Identifier: MIT

package interceptor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrAllocation is wrapped by what is wrong with the streams of an Allocator.
var ErrAllocation = errors.New("interceptor: bad allocation")

// resumeHeadroom keeps a paused stream paused until its minimum fits with so
// much to spare, or it would come and go with every step of the target.
const resumeHeadroom = 1.1

// StreamBounds is a stream, or a simulcast layer, that takes part of a target
// bitrate. Rates are bit/s with all headers, as the target's.
type StreamBounds struct {
	// ID names the stream, each one differently.
	ID string
	// Priority orders the streams, higher first: all minima are served in that
	// order, then what is left goes to the highest priority up to its maxima,
	// then to the next. Of simulcast layers the smallest is the first to serve.
	Priority int
	// Weight divides what is left between streams of the same priority; 0
	// counts as 1.
	Weight float64
	// MinBps is the least that is of use: a stream that cannot have it is
	// paused, with a rate of 0. MaxBps bounds the rate, 0 does not.
	MinBps, MaxBps int
	// Always keeps the stream from being paused: it gets its minimum though
	// the target be lower. That is for audio.
	Always bool
}

// Allocation is a stream's rate in bit/s, 0 for paused.
type Allocation struct {
	ID         string
	BitrateBps int
}

// Allocator divides the target of one Estimator between streams:
//
//	a, err := interceptor.NewAllocator(streams, func(rates []interceptor.Allocation) { ... })
//	a.Serve(estimator)
//
// A target follows what is sent: it grows to 1.5 times that at most, unless the
// path is probed. So that a layer is ever turned on, its minimum should be
// within reach of the maxima below it.
//
// It is safe for concurrent use.
type Allocator struct {
	apply func([]Allocation)

	mu      sync.Mutex // also keeps the calls of apply in order
	target  int
	streams []StreamBounds // in order of priority
	rates   []int
	paused  map[string]bool
	serves  *Estimator // nil for none
}

// NewAllocator returns an Allocator that calls apply with the rates of all
// streams, in order of priority, whenever one may have changed. apply must not
// call the Allocator and must not keep the slice. It returns an error that wraps
// [ErrAllocation] for bounds that contradict each other.
func NewAllocator(streams []StreamBounds, apply func([]Allocation)) (*Allocator, error) {
	if apply == nil {
		return nil, fmt.Errorf("%w: nobody to apply it", ErrAllocation)
	}
	a := &Allocator{apply: apply, paused: map[string]bool{}}

	return a, a.SetStreams(streams)
}

// Serve makes a divide the targets of e: it is e's only
// [Estimator.OnTargetBitrateChange] from then on, and e is told what the streams
// can use, now and whenever they change, so that the path is probed for a stream
// that is added and not for what nobody needs.
func (a *Allocator) Serve(e *Estimator) {
	a.mu.Lock()
	a.serves = e
	a.tellNeed()
	a.mu.Unlock()
	e.OnTargetBitrateChange(a.SetTarget)
}

// tellNeed tells the Estimator the sum of the maxima; unknown when one is
// unbounded. Called with mu held, which an Estimator never waits for.
func (a *Allocator) tellNeed() {
	if a.serves == nil {
		return
	}
	need := 0
	for _, s := range a.streams {
		if s.MaxBps == 0 {
			need = 0

			break
		}
		need += s.MaxBps
	}
	a.serves.SetNeed(need)
}

// SetTarget divides a new target, in bit/s.
func (a *Allocator) SetTarget(bps int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.target = max(bps, 0)
	a.divide()
}

// SetStreams replaces the streams in mid call. On an error nothing changes.
func (a *Allocator) SetStreams(streams []StreamBounds) error {
	seen := map[string]bool{}
	for _, s := range streams {
		switch {
		case seen[s.ID]:
			return fmt.Errorf("%w: two streams %q", ErrAllocation, s.ID)
		case s.MinBps < 0 || s.MaxBps < 0 || s.MaxBps > 0 && s.MaxBps < s.MinBps:
			return fmt.Errorf("%w: stream %q from %d to %d bit/s", ErrAllocation, s.ID, s.MinBps, s.MaxBps)
		case !(s.Weight >= 0):
			return fmt.Errorf("%w: stream %q has weight %g", ErrAllocation, s.ID, s.Weight)
		}
		seen[s.ID] = true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.streams = slices.Clone(streams)
	for i := range a.streams {
		if a.streams[i].Weight == 0 {
			a.streams[i].Weight = 1
		}
	}
	slices.SortStableFunc(a.streams, func(x, y StreamBounds) int { return cmp.Compare(y.Priority, x.Priority) })
	for id := range a.paused {
		if !seen[id] {
			delete(a.paused, id)
		}
	}
	a.rates = make([]int, len(a.streams))
	a.tellNeed()
	if a.target > 0 {
		a.divide()
	}

	return nil
}

func (a *Allocator) divide() {
	left := a.target
	clear(a.rates)
	for _, always := range [...]bool{true, false} {
		for i, s := range a.streams {
			if s.Always != always {
				continue
			}
			need := s.MinBps
			if a.paused[s.ID] {
				need = int(float64(need) * resumeHeadroom)
			}
			a.paused[s.ID] = !always && need > left
			if !a.paused[s.ID] {
				a.rates[i] = s.MinBps
				left = max(left-s.MinBps, 0)
			}
		}
	}
	for i := 0; i < len(a.streams) && left > 0; {
		j := i
		for j < len(a.streams) && a.streams[j].Priority == a.streams[i].Priority {
			j++
		}
		left = a.fill(i, j, left)
		i = j
	}
	out := make([]Allocation, len(a.streams))
	for i, s := range a.streams {
		out[i] = Allocation{s.ID, a.rates[i]}
	}
	a.apply(out)
}

// fill raises the streams of one priority by their weights, up to their maxima,
// and returns what they leave.
func (a *Allocator) fill(from, to, left int) int {
	for left > 0 {
		weights := 0.0
		for i := from; i < to; i++ {
			if a.open(i) {
				weights += a.streams[i].Weight
			}
		}
		if weights == 0 {
			return left
		}
		given := 0
		for i := from; i < to; i++ {
			if !a.open(i) {
				continue
			}
			s := a.streams[i]
			more := int(float64(left) * s.Weight / weights)
			if s.MaxBps > 0 {
				more = min(more, s.MaxBps-a.rates[i])
			}
			a.rates[i] += more
			given += more
		}
		if given == 0 {
			return left // less than a bit/s each
		}
		left -= given
	}

	return left
}

// open tells whether a stream can take more.
func (a *Allocator) open(i int) bool {
	s := a.streams[i]

	return !a.paused[s.ID] && (s.MaxBps == 0 || a.rates[i] < s.MaxBps)
}
