// SPDX-License-Identifier: MIT

package modemlink

import (
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// queue is one client's batches, a ring that loses its oldest when full: old
// telemetry is worth less than new. It is not safe for concurrent use; the
// server's lock guards it.
type queue struct {
	ring    []*pb.Batch
	head, n int
	// ready has a token while there may be something to pop.
	ready chan struct{}
	// config waits for the next message. It is kept out of the ring, so that
	// it is not lost with a batch.
	config  *pb.RadioConfig
	dropped uint64
}

func newQueue(size int) *queue {
	return &queue{ring: make([]*pb.Batch, size), ready: make(chan struct{}, 1)}
}

func (q *queue) push(b *pb.Batch) {
	if q.n == len(q.ring) {
		q.head = (q.head + 1) % len(q.ring)
		q.n--
		q.dropped++
	}
	q.ring[(q.head+q.n)%len(q.ring)] = b
	q.n++
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// pop returns nil when empty.
func (q *queue) pop() *pb.Batch {
	if q.n == 0 {
		return nil
	}
	b := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.n--

	return b
}
