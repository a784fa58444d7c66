// SPDX-License-Identifier: MIT

package interceptor

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// othersRing is how many packets are kept for members that have not asked yet, a
// power of two: 0.5 s at 20 Mbit/s. They ask with every packet of their own and
// with every batch of telemetry.
const othersRing = 1024

// sentLog is what the members of an Uplink sent lately, so that each can know of
// the others' packets in the phone's queue. Its lock is the last one: whoever has
// it takes no other.
type sentLog struct {
	total atomic.Int64 // packets so far; written with mu held

	mu   sync.Mutex
	ring [othersRing]sentByMember
}

type sentByMember struct {
	at   time.Time
	size int
	by   *Estimator
}

func (l *sentLog) add(by *Estimator, at time.Time, size int) {
	l.mu.Lock()
	n := l.total.Load()
	l.ring[n&(othersRing-1)] = sentByMember{at, size, by}
	l.total.Store(n + 1)
	l.mu.Unlock()
}

// read fills buf with what others than e sent since a position, which it moves.
func (l *sentLog) read(e *Estimator, from *int64, buf []gcc.SentPacket) (n int) {
	if *from == l.total.Load() {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.total.Load()
	*from = max(*from, end-othersRing)
	for ; *from < end && n < len(buf); *from++ {
		if s := &l.ring[*from&(othersRing-1)]; s.by != e {
			buf[n] = gcc.SentPacket{At: s.at, Size: s.size}
			n++
		}
	}

	return n
}

// release lets go of a member. Its packets are in the phone's queue all the same.
func (l *sentLog) release(e *Estimator) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.ring {
		if l.ring[i].by == e {
			l.ring[i].by = nil
		}
	}
}

// hearOthers tells the core of what the others on the Uplink sent. Called with mu
// held, before the core is told anything that speaks of the phone's queue.
func (e *Estimator) hearOthers(now time.Time) {
	if e.uplink == nil {
		return
	}
	l := e.uplink.sent.Load()
	if l == nil {
		return
	}
	var buf [8]gcc.SentPacket
	for {
		n := l.read(e, &e.heard, buf[:])
		for _, p := range buf[:n] {
			e.core.OnOthersSent(now, p)
		}
		if n < len(buf) {
			return
		}
	}
}

// tellOthers is of a packet that left. Called with mu held.
func (e *Estimator) tellOthers(at time.Time, size int) {
	if e.uplink == nil {
		return
	}
	if l := e.uplink.sent.Load(); l != nil {
		l.add(e, at, size)
	}
}
