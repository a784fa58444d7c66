// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// arrivals notes packets and reports them every interval, as TWCC does.
type arrivals struct {
	c       *call
	late    []int64 // arrived after they were reported missing
	next    int64   // first number not reported at all yet
	highest int64   // newest number that arrived, -1 before
}

// remoteEpoch is the receiver's clock at the start of the run: nobody may
// compare the two clocks.
const remoteEpoch gcc.RemoteTime = 7_777_777_777

func newArrivals(c *call) *arrivals { return &arrivals{c: c, highest: -1} }

func (r *arrivals) onArrival(seq int64, at instant) {
	p := &r.c.packets[seq]
	if p.arrival != never {
		return
	}
	p.arrival = at
	if seq < r.next {
		r.late = append(r.late, seq)
	}
	r.highest = max(r.highest, seq)
}

// report appends what has happened since the last report, which is nothing when
// nothing has arrived.
func (r *arrivals) report(out []gcc.PacketResult) []gcc.PacketResult {
	for _, seq := range r.late {
		out = append(out, r.result(seq))
	}
	r.late = r.late[:0]
	for ; r.next <= r.highest; r.next++ {
		out = append(out, r.result(r.next))
	}

	return out
}

func (r *arrivals) result(seq int64) gcc.PacketResult {
	p := &r.c.packets[seq]
	res := gcc.PacketResult{
		SentPacket: gcc.SentPacket{Seq: seq, Size: int(p.size), At: r.c.w.start.Add(time.Duration(p.sentAt)), Probe: int(p.probe)},
		Received:   p.arrival != never,
	}
	if res.Received {
		res.Arrival = remoteEpoch.Add(time.Duration(p.arrival))
	}

	return res
}
