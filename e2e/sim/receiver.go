// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// packet is what the run remembers of everything sent; its index is the
// transport-wide sequence number.
type packet struct {
	frame    int
	media    int  // payload bytes, without headers
	size     int  // bytes on the link
	attempt  int  // 0 for the first sending of this media
	padding  bool // nothing but size; frame means nothing
	probe    int  // cluster, 0 for none
	sentAt   time.Time
	queuedAt time.Time // into the pacer
	received bool
	arrival  time.Time
}

// frame is one captured picture.
type frame struct {
	capture time.Time
	missing int // packets not yet there
	done    time.Time
}

// receiver notes arrivals and reports them every interval, as TWCC does.
type receiver struct {
	packets *[]packet
	late    []int64 // arrived after they were reported missing
	next    int64   // first number not reported at all yet
	highest int64   // newest number that arrived, -1 before
	epoch   gcc.RemoteTime
	start   time.Time
}

func newReceiver(packets *[]packet, start time.Time) *receiver {
	// An epoch of its own: nobody may compare the two clocks.
	return &receiver{packets: packets, highest: -1, start: start, epoch: 7_777_777_777}
}

func (r *receiver) onArrival(seq int64, at time.Time) {
	p := &(*r.packets)[seq]
	if p.received {
		return
	}
	p.received, p.arrival = true, at
	if seq < r.next {
		r.late = append(r.late, seq)
	}
	r.highest = max(r.highest, seq)
}

// report returns what has happened since the last report; it is empty when
// nothing has arrived.
func (r *receiver) report() []gcc.PacketResult {
	var out []gcc.PacketResult
	for _, seq := range r.late {
		out = append(out, r.result(seq))
	}
	r.late = r.late[:0]
	for ; r.next <= r.highest; r.next++ {
		out = append(out, r.result(r.next))
	}

	return out
}

func (r *receiver) result(seq int64) gcc.PacketResult {
	p := &(*r.packets)[seq]
	res := gcc.PacketResult{
		SentPacket: gcc.SentPacket{Seq: seq, Size: p.size, At: p.sentAt, Probe: p.probe},
		Received:   p.received,
	}
	if p.received {
		res.Arrival = r.epoch.Add(p.arrival.Sub(r.start))
	}

	return res
}
