// SPDX-License-Identifier: MIT

package sfu

import (
	"sync"
	"testing"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

func packet(n int, key bool) *rtp.Packet {
	return &rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(n), Timestamp: uint32(n)}, Payload: payload(n, key)}
}

// collect is a viewer that can be made to stall.
type collect struct {
	gate chan struct{} // nil: open
	mu   sync.Mutex
	got  []rtp.Packet
}

func (c *collect) write(p *rtp.Packet) error {
	if c.gate != nil {
		<-c.gate
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, *p)

	return nil
}

func (c *collect) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return len(c.got)
}

// A viewer that stalls harms nobody: the other gets every packet, the stalled
// one goes on later with a key frame and without a hole.
func TestStalledViewer(t *testing.T) {
	done := make(chan struct{})
	good, bad := &collect{}, &collect{gate: make(chan struct{})}
	key := keyFrameStart(webrtc.MimeTypeVP8)
	a, b := newFeed(good.write, key, done), newFeed(bad.write, key, done)
	src := &source{kind: "video", key: key, feeds: map[*feed]struct{}{a: {}, b: {}}}
	var wg sync.WaitGroup
	wg.Go(a.run)
	wg.Go(b.run)
	const total = 3 * queuePackets
	asked := 0
	for n := range total {
		if src.give(packet(n, n == 0)) {
			asked++
		}
		if n%100 == 0 {
			eventually(t, "the good one keeps up", func() bool { return good.count() == n+1 })
		}
	}
	eventually(t, "the good one has all", func() bool { return good.count() == total })
	if asked != 0 {
		t.Errorf("%d requests for key frames that a stalled viewer would not read", asked)
	}
	if d := b.dropped.Load(); d < total-queuePackets-2 || d > total-queuePackets || b.gaps.Load() != 1 {
		t.Errorf("%d dropped in %d gaps", d, b.gaps.Load())
	}
	close(bad.gate)
	eventually(t, "the queue is empty", func() bool { return len(b.queue) == 0 })
	if !src.give(packet(total, false)) {
		t.Error("no key frame is asked for, now that the viewer reads")
	}
	src.give(packet(total+1, true))
	src.give(packet(total-1, false)) // from before the gap, late
	src.give(packet(total+2, false))
	last := func() rtp.Packet {
		bad.mu.Lock()
		defer bad.mu.Unlock()

		return bad.got[len(bad.got)-1]
	}
	eventually(t, "it goes on", func() bool { return last().Timestamp == total+2 })
	close(done)
	wg.Wait()
	for i, p := range bad.got {
		if p.SequenceNumber != uint16(i) {
			t.Fatalf("packet %d has number %d", i, p.SequenceNumber)
		}
	}
	if n := len(bad.got); !vp8Key(bad.got[n-2].Payload) {
		t.Error("it does not go on with a key frame")
	}
}

// What is lost or late on the way to the server keeps its place.
func TestFeedReordering(t *testing.T) {
	done := make(chan struct{})
	c := &collect{}
	f := newFeed(c.write, keyFrameStart(webrtc.MimeTypeVP8), done)
	var wg sync.WaitGroup
	wg.Go(f.run)
	const begin = 65534
	for _, n := range []int{begin - 1, begin, begin + 1, begin + 4, begin + 2, begin + 3, begin + 6} {
		f.push(packet(n, n == begin))
	}
	eventually(t, "all", func() bool { return c.count() == 6 })
	close(done)
	wg.Wait()
	for i, want := range []uint16{0, 1, 4, 2, 3, 6} {
		if got := c.got[i].SequenceNumber; got != want {
			t.Errorf("packet %d has number %d, want %d", i, got, want)
		}
	}
}

// A long stream passes the point where numbers begin again.
func TestFeedWraps(t *testing.T) {
	done := make(chan struct{})
	c := &collect{}
	f := newFeed(c.write, keyFrameStart(webrtc.MimeTypeOpus), done)
	var wg sync.WaitGroup
	wg.Go(f.run)
	const total = 3 << 16
	for n := range total {
		f.push(packet(n+777, true))
		if n%100 == 0 {
			eventually(t, "it keeps up", func() bool { return c.count() > n-queuePackets/2 })
		}
	}
	eventually(t, "all", func() bool { return c.count() == total })
	close(done)
	wg.Wait()
	for n, p := range c.got {
		if p.SequenceNumber != uint16(n) {
			t.Fatalf("packet %d has number %d", n, p.SequenceNumber)
		}
	}
}
