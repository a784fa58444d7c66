// SPDX-License-Identifier: MIT

package modemlink

import (
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// maxQueueEntries bounds the samples, grants and reports that wait for one
// client: some 4 MB, and a second of the busiest modem (four carriers, slots of
// 0.5 ms) twice over.
const maxQueueEntries = 32 << 10

// queue is one client's batches, a ring that loses its oldest when full: old
// telemetry is worth less than new. The client sees the loss in the sequence
// numbers. It is not safe for concurrent use; the server's lock guards it.
type queue struct {
	ring    []*pb.Batch
	head, n int
	entries int
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

// push adds a batch and tells whether it is the first after which one was lost.
func (q *queue) push(b *pb.Batch) (first bool) {
	more := entries(b)
	for q.n > 0 && (q.n == len(q.ring) || q.entries+more > maxQueueEntries) {
		q.pop()
		first = first || q.dropped == 0
		q.dropped++
	}
	q.ring[(q.head+q.n)%len(q.ring)] = b
	q.n++
	q.entries += more
	q.wake()

	return first
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
	q.entries -= entries(b)

	return b
}

// entries is how much a batch has to say.
func entries(b *pb.Batch) int {
	return len(b.GetSamples()) + len(b.GetGrants()) + len(b.GetReports())
}
