// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/tcp"
	"github.com/gbrcc/gbrcc/gbr"
)

// Names for Flow.CC beside Algorithms: TCP with CUBIC, which sends without end,
// or short transfers with pauses (RFC 8867 5.7).
const (
	Cubic    = "cubic"
	ShortTCP = "short-tcp"
)

// tcpSender is a tcp.Sender or tcp.Short.
type tcpSender interface {
	Send(now time.Time) (tcp.Segment, bool)
	OnAck(now time.Time, a tcp.Ack)
	NextTimeout() time.Time
	OnTimeout(now time.Time)
}

// transfer is data over TCP.
type transfer struct {
	*route
	sender   tcpSender
	receiver *tcp.Receiver
	segments pool[tcp.Segment]
	acks     pool[tcp.Ack]

	atWarmup int64 // delivered by then
	warm     bool
	last     instant // when the newest was delivered
}

func (w *world) addTransfer(f Flow, p *phone) error {
	r, err := w.newRoute(f, p)
	if err != nil {
		return err
	}
	t := &transfer{route: r, receiver: tcp.NewReceiver()}
	r.flow = t
	begin := w.start.Add(f.From)
	if f.CC == ShortTCP {
		t.sender, err = tcp.NewShort(tcp.ShortConfig{Start: begin, Seed: w.seed + uint64(r.number)<<32})
	} else {
		t.sender, err = tcp.NewCubic(tcp.Config{Start: begin})
	}

	return err
}

func (t *transfer) step() {
	now := t.w.now
	if !t.warm && t.w.counts(now) {
		t.warm, t.atWarmup = true, t.receiver.Delivered()
	}
	if due(t.receiver.NextTimeout(), now) {
		t.answer(t.receiver.OnTimeout(now))
	}
	if !t.active() {
		return
	}
	if due(t.sender.NextTimeout(), now) {
		t.sender.OnTimeout(now)
	}
	for {
		s, ok := t.sender.Send(now)
		if !ok {
			return
		}
		index, seg := t.segments.take()
		*seg = s
		t.ahead(kindSegment, index, s.Size)
	}
}

func (t *transfer) wake() instant {
	at := t.w.instant(t.receiver.NextTimeout())
	if !t.warm {
		at = min(at, instant(t.w.sc.Warmup))
	}
	if t.active() {
		return min(at, t.w.instant(t.sender.NextTimeout()))
	}
	for _, p := range t.spec.Pauses {
		if p.holds(t.w.since()) && p.To > 0 {
			at = min(at, instant(p.To))
		}
	}

	return at
}

func (t *transfer) receive(k kind, index int64, _ *cell.Delivery) {
	switch k {
	case kindSegment:
		before := t.receiver.Delivered()
		t.answer(t.receiver.OnSegment(t.w.now, *t.segments.at(index)))
		if t.receiver.Delivered() > before {
			t.last = t.w.instant(t.w.now)
		}
		t.segments.free(index)
	case kindAck:
		t.sender.OnAck(t.w.now, *t.acks.at(index))
		t.acks.free(index)
	default:
	}
}

func (t *transfer) answer(a tcp.Ack, ok bool) {
	if !ok {
		return
	}
	index, ack := t.acks.take()
	*ack = a
	t.back(kindAck, index, a.Size)
}

func (t *transfer) lose(k kind, index int64) {
	switch k {
	case kindSegment:
		t.segments.free(index)
	case kindAck:
		t.acks.free(index)
	default:
	}
}

func (t *transfer) telemetry(gbr.Telemetry) {}

func (t *transfer) finish() {}

func (t *transfer) goodBytes() (bytes int, last instant) {
	if !t.warm {
		return 0, 0
	}

	return int(t.receiver.Delivered() - t.atWarmup), t.last
}
