// SPDX-License-Identifier: MIT

package modemlink

import (
	"context"
	"time"

	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// What a client takes from an agent, whatever that sends: the busiest modem
// (four carriers, slots of 0.5 ms, a batch each) says a quarter of it.
const (
	// maxEntriesPerSecond is in samples, grants and reports; a message costs as
	// much as batchCost of them, so that there are at most 4096 a second.
	maxEntriesPerSecond = 64 << 10
	batchCost           = 16
	// maxBurst is what may come at once, after a stall: more than an agent
	// keeps for a client.
	maxBurst = 2 * maxEntriesPerSecond
	minPause = 100 * time.Millisecond
)

// meter measures how much an agent sends. Local time is a duration since some
// epoch. It is pure and not safe for concurrent use.
type meter struct {
	level float64
	at    time.Duration
}

// take books a message. If it is one too many, it is to be dropped and nothing
// read for a while; what TCP's and gRPC's windows do not hold stays with the
// agent.
func (m *meter) take(now time.Duration, b *pb.Batch) (pause time.Duration) {
	if dt := now - m.at; dt > 0 {
		m.level = max(0, m.level-dt.Seconds()*maxEntriesPerSecond)
		m.at = now
	}
	m.level = min(m.level+float64(batchCost+entries(b)), maxBurst+maxEntriesPerSecond)
	if m.level <= maxBurst {
		return 0
	}
	over := (m.level - maxBurst) / maxEntriesPerSecond * float64(time.Second)

	return time.Duration(over) + minPause
}

// rest waits, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}
