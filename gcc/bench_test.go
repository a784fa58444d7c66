// SPDX-License-Identifier: MIT

package gcc

import (
	"testing"
	"time"
)

// packetLoad drives a controller at 3 Mbit/s with reports of 50 ms.
type packetLoad struct {
	c       *Controller
	now     time.Time
	seq     int64
	results []PacketResult
}

func newPacketLoad(t testing.TB) *packetLoad {
	l := &packetLoad{c: newTest(t, Config{StartBps: 3_000_000, MaxBps: 3_000_000}), now: t0}
	for range 3 * reportSlots {
		l.packet()
	}

	return l
}

func (l *packetLoad) packet() {
	l.now = l.now.Add(3200 * time.Microsecond)
	p := SentPacket{Seq: l.seq, Size: 1200, At: l.now}
	l.c.OnPacketSent(l.now, p)
	l.results = append(l.results, PacketResult{
		SentPacket: p, Received: l.seq%50 != 0,
		Arrival: RemoteTime(l.now.Sub(t0).Microseconds() + 20_000 + l.seq%7*300),
	})
	l.seq++
	if len(l.results) == 16 {
		l.c.OnFeedback(l.now.Add(40*time.Millisecond), Feedback{Packets: l.results})
		l.results = l.results[:0]
	}
}

// BenchmarkOnFeedback counts a packet: sent, and its share of a report.
func BenchmarkOnFeedback(b *testing.B) {
	l := newPacketLoad(b)
	b.ReportAllocs()
	for b.Loop() {
		l.packet()
	}
}

func TestNoAllocations(t *testing.T) {
	l := newPacketLoad(t)
	if n := testing.AllocsPerRun(100, func() {
		for range 32 {
			l.packet()
		}
		_ = l.c.Estimate()
		_ = l.c.NextTimeout()
	}); n != 0 {
		t.Errorf("%v allocations per 32 packets, want 0", n)
	}
}
