// SPDX-License-Identifier: MIT

package sound

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// backlog is how many blocks a listener may be behind before it loses some.
	backlog = 10
	// maxDrift is how far the count of samples may be from the clock: a device's
	// clock is wrong by some 50 ppm, and its chunks come up to a period late.
	maxDrift = 60 * time.Millisecond
	// warmUp is how long chunks that come sooner than those before correct the count:
	// a sample comes late or in time, never early.
	warmUp = Rate / 2
)

// Splitter gives the sound of one device to several listeners. Nobody waits: what
// a listener does not take in time it loses.
type Splitter struct {
	mu        sync.Mutex
	listeners map[*Listener]struct{}
	part      []float32 // of the next block
	base      time.Time // when sample 0 was captured
	count     int64     // samples since, those in part left out
	err       error
	ended     chan struct{}
}

// NewSplitter returns one without listeners.
func NewSplitter() *Splitter {
	return &Splitter{listeners: map[*Listener]struct{}{}, ended: make(chan struct{})}
}

// Listener is a Source.
type Listener struct {
	of     *Splitter
	blocks chan heard
}

type heard struct {
	captured time.Time
	block    []float32
}

// Listen returns the sound from now on. Close ends it.
func (s *Splitter) Listen() *Listener {
	l := &Listener{of: s, blocks: make(chan heard, backlog)}
	s.mu.Lock()
	s.listeners[l] = struct{}{}
	s.mu.Unlock()

	return l
}

// Push takes the next samples of the device; now is when the last one was captured.
func (s *Splitter) Push(samples []float32, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	length := time.Duration(len(s.part)+len(samples)) * time.Second / Rate
	switch early := s.at().Sub(now.Add(-length)); {
	case s.base.IsZero() || early.Abs() > maxDrift:
		s.base, s.count = now.Add(-length), 0
	case early > 0 && s.count < warmUp:
		s.base = s.base.Add(-early)
	}
	s.part = append(s.part, samples...)
	for len(s.part) >= BlockSamples {
		h := heard{s.at(), slices.Clone(s.part[:BlockSamples])}
		s.part = append(s.part[:0], s.part[BlockSamples:]...)
		s.count += int64(BlockSamples)
		for l := range s.listeners {
			select {
			case l.blocks <- h:
			default:
			}
		}
	}
}

// at is when the first sample of part was captured, by the count.
func (s *Splitter) at() time.Time {
	return s.base.Add(time.Duration(s.count) * time.Second / Rate)
}

// End tells all listeners why there is nothing more. Only the first call counts.
func (s *Splitter) End(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		close(s.ended)
	}
}

// Read implements Source.
func (l *Listener) Read(ctx context.Context, block []float32) (time.Time, error) {
	select {
	case h := <-l.blocks:
		copy(block, h.block)

		return h.captured, nil
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	case <-l.of.ended:
		return time.Time{}, l.of.err
	}
}

// Close ends listening.
func (l *Listener) Close() {
	l.of.mu.Lock()
	delete(l.of.listeners, l)
	l.of.mu.Unlock()
}
