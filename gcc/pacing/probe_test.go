// SPDX-License-Identifier: MIT

package pacing

import (
	"testing"
	"time"
)

// leave is one Send and when it was.
type leave struct {
	at time.Duration
	s  Send[int]
}

// runUntil sends what leaves, at the moments that NextSend tells.
func runUntil(t *testing.T, p *Pacer[int], from, to time.Time) (out []leave) {
	t.Helper()
	for now := from; ; {
		for {
			s, ok := p.Next(now)
			if !ok {
				break
			}
			out = append(out, leave{now.Sub(epoch()), s})
		}
		next := p.NextSend(now)
		if next.IsZero() || next.After(to) {
			return out
		}
		if len(out) > 10_000 || !next.After(now) {
			t.Fatalf("at %v the next is %v", now.Sub(epoch()), next.Sub(epoch()))
		}
		now = next
	}
}

func sums(out []leave) (bytes, packets, padding map[int]int) {
	bytes, packets, padding = map[int]int{}, map[int]int{}, map[int]int{}
	for _, l := range out {
		size := max(l.s.Item, l.s.Padding)
		bytes[l.s.Cluster] += size
		packets[l.s.Cluster]++
		padding[l.s.Cluster] += l.s.Padding
	}

	return bytes, packets, padding
}

func probing(t *testing.T, padding bool) *Pacer[int] {
	t.Helper()
	p := newPacer(t, Config{})
	p.SetRate(epoch(), 1_000_000)
	p.AllowPadding(padding)

	return p
}

func second() time.Time { return epoch().Add(time.Second) }

// Two clusters follow each other at their rates; padding fills what media does
// not, and what comes after pays for both.
func TestProbeClusters(t *testing.T) {
	p := probing(t, true)
	p.Probe(epoch(), Cluster{ID: 1, RateBps: 3_000_000, MinBytes: 5625, MinPackets: 5})
	p.Probe(epoch(), Cluster{ID: 2, RateBps: 6_000_000, MinBytes: 11_250, MinPackets: 5})
	if out := runUntil(t, p, epoch(), second()); len(out) != 0 || !p.NextSend(epoch()).IsZero() {
		t.Fatalf("%d packets before any media", len(out))
	}
	p.Push(epoch(), 1250, 1250)
	p.Push(epoch(), 1250, 1250)
	out := runUntil(t, p, epoch(), second())
	bytes, packets, padding := sums(out)
	within(t, "bytes of the first", float64(bytes[1]), 5625+300, 400, "B")
	within(t, "padding of the first", float64(padding[1]), 5625-2500+300, 400, "B")
	within(t, "bytes of the second", float64(bytes[2]), 11_250+600, 700, "B")
	within(t, "padding of the second", float64(padding[2]), float64(bytes[2]), 0, "B")
	if packets[0] != 0 {
		t.Errorf("%d packets outside of the clusters", packets[0])
	}
	var ends [3]time.Duration
	for _, l := range out {
		ends[l.s.Cluster] = l.at
	}
	within(t, "end of the first", float64(ends[1].Microseconds())/1000, 15, 2, "ms")
	within(t, "end of the second", float64((ends[2]-ends[1]).Microseconds())/1000, 15, 3, "ms")

	// 17.7 kB above 5 ms of budget, at 1 Mbit/s.
	p.Push(epoch().Add(ends[2]), 100, 100)
	next := p.NextSend(epoch().Add(ends[2])).Sub(epoch())
	within(t, "wait for the packet after", float64(next.Milliseconds()), float64(bytes[1]+bytes[2])*8/1000-5, 4, "ms")
}

// However large, a probe is paid for in 500 ms.
func TestProbeDebtIsBounded(t *testing.T) {
	p := probing(t, true)
	p.Probe(epoch(), Cluster{ID: 1, RateBps: 100_000_000, MinBytes: 187_500, MinPackets: 5})
	p.Push(epoch(), 1250, 1250)
	out := runUntil(t, p, epoch(), second())
	end := epoch().Add(out[len(out)-1].at)
	p.Push(end, 100, 100)
	within(t, "wait", float64(p.NextSend(end).Sub(end).Milliseconds()), 500, 1, "ms")
}

func TestProbeStart(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sizes []int
		later bool // the cluster comes after the packets
		want  bool
	}{
		{"a tiny packet", []int{199}, false, false},
		{"one of 200 bytes", []int{200}, false, true},
		{"packets wait already", []int{1250, 1250, 1250}, true, true},
	} {
		p := probing(t, true)
		c := Cluster{ID: 1, RateBps: 3_000_000, MinBytes: 5625, MinPackets: 5}
		if !tt.later {
			p.Probe(epoch(), c)
		}
		for _, size := range tt.sizes {
			p.Push(epoch(), size, size)
		}
		if tt.later {
			p.Probe(epoch(), c)
		}
		if _, packets, _ := sums(runUntil(t, p, epoch(), second())); (packets[1] > 0) != tt.want {
			t.Errorf("%s: %d packets of the probe", tt.name, packets[1])
		}
	}
}

// A low rate begins with less than 200 bytes: 2 ms of it.
func TestProbeStartAtALowRate(t *testing.T) {
	p := probing(t, true)
	p.Probe(epoch(), Cluster{ID: 1, RateBps: 300_000, MinBytes: 563, MinPackets: 5})
	p.Push(epoch(), 75, 75)
	bytes, packets, _ := sums(runUntil(t, p, epoch(), second()))
	within(t, "packets", float64(packets[1]), 8, 3, "")
	within(t, "bytes", float64(bytes[1]), 600, 60, "B")
}

func TestProbeTimeouts(t *testing.T) {
	// Not begun for 5 s.
	p := probing(t, true)
	p.Probe(epoch(), Cluster{ID: 1, RateBps: 3_000_000, MinBytes: 5625, MinPackets: 5})
	late := epoch().Add(5*time.Second + 1)
	p.Push(late, 1250, 1250)
	if _, packets, _ := sums(runUntil(t, p, late, late.Add(time.Second))); packets[1] != 0 {
		t.Errorf("%d packets of a cluster of 5 s ago", packets[1])
	}

	// The caller is more than 10 ms late: this cluster is gone, the next runs.
	p = probing(t, true)
	for id := 1; id <= 2; id++ {
		p.Probe(epoch(), Cluster{ID: id, RateBps: 3_000_000, MinBytes: 5625, MinPackets: 5})
	}
	p.Push(epoch(), 1250, 1250)
	if s, ok := p.Next(epoch()); !ok || s.Cluster != 1 {
		t.Fatalf("%+v", s)
	}
	now := p.NextSend(epoch()).Add(10*time.Millisecond + 1)
	if s, ok := p.Next(now); !ok || s.Cluster != 2 {
		t.Errorf("%+v, want the second cluster", s)
	}

	p.CancelProbes()
	if s, ok := p.Next(now.Add(time.Second)); ok {
		t.Errorf("%+v after all probes were cancelled", s)
	}
}

// Six are one too many: the oldest goes. No cluster has the ID 0.
func TestProbeQueue(t *testing.T) {
	p := probing(t, true)
	for id := range 7 {
		p.Probe(epoch(), Cluster{ID: id, RateBps: 3_000_000, MinBytes: 100, MinPackets: 1})
	}
	p.Push(epoch(), 1250, 1250)
	_, packets, _ := sums(runUntil(t, p, epoch(), second()))
	for id, want := range map[int]bool{0: false, 1: false, 2: true, 6: true} {
		if (packets[id] > 0) != want {
			t.Errorf("cluster %d: %d packets", id, packets[id])
		}
	}
}

// Without padding a probe needs all of its packets before it begins, and ends
// when there are no more.
func TestProbeByMedia(t *testing.T) {
	p := probing(t, false)
	p.Probe(epoch(), Cluster{ID: 1, RateBps: 3_000_000, MinBytes: 5625, MinPackets: 5})
	for range 4 {
		p.Push(epoch(), 1250, 1250)
	}
	_, packets, _ := sums(runUntil(t, p, epoch(), second()))
	if packets[1] != 0 || packets[0] != 4 {
		t.Errorf("a small frame: %v", packets)
	}
	for range 7 {
		p.Push(second(), 1250, 1250)
	}
	_, packets, padding := sums(runUntil(t, p, second(), second().Add(time.Second)))
	if packets[1] != 5 || packets[0] != 2 || padding[1] != 0 {
		t.Errorf("a large frame: %v, padding %v", packets, padding)
	}
}

// Urgent packets neither wait for a probe nor begin one, and count to it.
func TestProbeAndUrgent(t *testing.T) {
	p := probing(t, true)
	p.Probe(epoch(), Cluster{ID: 1, RateBps: 3_000_000, MinBytes: 5625, MinPackets: 5})
	p.PushUrgent(epoch(), 1250, 1250)
	if s, ok := p.Next(epoch()); !ok || s.Cluster != 0 {
		t.Errorf("%+v, want an urgent packet of no cluster", s)
	}
	p.Push(epoch(), 1250, 1250)
	if s, ok := p.Next(epoch()); !ok || s.Cluster != 1 {
		t.Errorf("%+v, want the probe", s)
	}
	p.PushUrgent(epoch(), 500, 500)
	if s, ok := p.Next(epoch()); !ok || s.Item != 500 {
		t.Errorf("%+v, want the urgent packet", s)
	}
}

func TestProbesDoNotAllocate(t *testing.T) {
	p := probing(t, true)
	now := epoch()
	if n := testing.AllocsPerRun(200, func() {
		p.Probe(now, Cluster{ID: 1, RateBps: 3_000_000, MinBytes: 5625, MinPackets: 5})
		p.Push(now, 1250, 1250)
		for range 40 {
			p.Next(now)
			now = now.Add(time.Millisecond)
		}
	}); n != 0 {
		t.Errorf("%v allocations a probe", n)
	}
}
