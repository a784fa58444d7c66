// SPDX-License-Identifier: MIT

package sfu

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
)

// queuePackets bounds what waits for one viewer, of each track: half a second of
// 6 Mbit/s. Longer makes a viewer late, shorter may not hold a key frame.
const queuePackets = 384

// reorderedPackets is how late a packet from before a gap may come.
const reorderedPackets = 1 << 14

// feed is the queue of one track to one viewer. One goroutine calls push, one
// calls run.
type feed struct {
	write func(*rtp.Packet) error
	key   func(payload []byte) bool
	queue chan item
	done  <-chan struct{}
	// Of a feed with a pace, for which a frame can be too late: keyFrame asks for
	// one to go on with.
	pace     *pace
	keyFrame func()

	waiting bool // push's: for a packet to begin with

	packets, bytes, dropped, gaps atomic.Int64
}

// item is a packet that is shared with other viewers: nobody may change it.
type item struct {
	p     *rtp.Packet
	first bool      // after a gap
	at    time.Time // when it came
}

func newFeed(write func(*rtp.Packet) error, key func([]byte) bool, done <-chan struct{}) *feed {
	return &feed{write: write, key: key, queue: make(chan item, queuePackets), done: done, waiting: true}
}

// push never waits. It returns true when the viewer could go on if there were a
// key frame.
func (f *feed) push(p *rtp.Packet) (wantsKey bool) {
	first := false
	if f.waiting {
		// A queue that is still full has a viewer that does not read.
		room := len(f.queue) < cap(f.queue)/2
		if !room || !f.key(p.Payload) {
			f.dropped.Add(1)

			return room
		}
		f.waiting, first = false, true
	}
	select {
	case f.queue <- item{p, first, time.Now()}:
		return false
	default:
		f.waiting = true
		f.dropped.Add(1)
		f.gaps.Add(1)

		return false
	}
}

// run writes until done. Sequence numbers go on over what was dropped, or the
// viewer would ask for it; what is lost before the server leaves its hole, as it
// may still come.
func (f *feed) run() {
	var offset, begin, next uint16 // out = in - offset
	since := 0                     // the gap
	var late lateness
	for {
		var it item
		select {
		case <-f.done:
			return
		case it = <-f.queue:
		}
		n := it.p.SequenceNumber
		if f.pace != nil {
			if !late.keep(f, &it, time.Now()) {
				f.dropped.Add(1)

				continue
			}
			if !f.await(it) {
				return
			}
		}
		if it.first {
			offset, begin, since = n-next, n, 0
		}
		if since++; since < reorderedPackets && int16(n-begin) < 0 {
			f.dropped.Add(1)

			continue // from before the gap
		}
		out := rtp.Packet{
			Header: rtp.Header{
				Version: 2, Marker: it.p.Marker, SequenceNumber: n - offset, Timestamp: it.p.Timestamp,
			},
			Payload: it.p.Payload,
		}
		if d := n - offset + 1 - next; d < 1<<15 {
			next += d
		}
		// A viewer that has gone is noticed by its connection.
		if f.write(&out) == nil {
			f.packets.Add(1)
			f.bytes.Add(int64(len(out.Payload)))
		}
	}
}
