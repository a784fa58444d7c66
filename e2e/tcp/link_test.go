// SPDX-License-Identifier: MIT

package tcp

import (
	"math"
	"testing"
	"time"
)

func t0() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func within(t *testing.T, what string, got, want, tolerance float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.4g %s, want %.4g ± %.3g", what, got, unit, want, tolerance)
	}
}

func mustCubic(t testing.TB, cfg Config) *Sender {
	t.Helper()
	if cfg.Start.IsZero() {
		cfg.Start = t0()
	}
	s, err := NewCubic(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// sending is a Sender or a Short.
type sending interface {
	Send(now time.Time) (Segment, bool)
	OnAck(now time.Time, a Ack)
	NextTimeout() time.Time
	OnTimeout(now time.Time)
	Done() bool
	Acknowledged() int64
	Window() int
	RTT() time.Duration
	Stats() Stats
}

var (
	_ sending = (*Sender)(nil)
	_ sending = (*Short)(nil)
)

type flow struct {
	snd sending
	rcv *Receiver
}

type inFlight struct {
	at   time.Time
	flow int
	seg  Segment
	ack  Ack
}

// link is one bottleneck with a drop-tail queue, and as long a way back.
type link struct {
	t     testing.TB
	bps   float64
	delay time.Duration // one way
	queue float64       // bytes
	drop  func(now time.Time, s Segment) bool
	watch func(now time.Time)

	flows       []*flow
	now, idleAt time.Time
	data, acks  []inFlight
	drops       int
}

func newLink(t testing.TB, bps float64, delay time.Duration, bdps float64, senders ...sending) *link {
	l := &link{t: t, bps: bps, delay: delay, queue: bdps * bps / 8 * 2 * delay.Seconds(), now: t0(), idleAt: t0()}
	for _, s := range senders {
		l.flows = append(l.flows, &flow{s, NewReceiver()})
	}

	return l
}

func due(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// run goes on until the end, or until all are done.
func (l *link) run(d time.Duration) {
	l.t.Helper()
	end := t0().Add(d)
	for !l.now.After(end) {
		for len(l.data) > 0 && !l.data[0].at.After(l.now) {
			p := l.data[0]
			l.data = l.data[1:]
			a, ok := l.flows[p.flow].rcv.OnSegment(l.now, p.seg)
			l.answer(p.flow, a, ok)
		}
		for len(l.acks) > 0 && !l.acks[0].at.After(l.now) {
			l.flows[l.acks[0].flow].snd.OnAck(l.now, l.acks[0].ack)
			l.acks = l.acks[1:]
		}
		next := end.Add(1)
		done := true
		for i, f := range l.flows {
			if due(f.rcv.NextTimeout(), l.now) {
				a, ok := f.rcv.OnTimeout(l.now)
				l.answer(i, a, ok)
			}
			if due(f.snd.NextTimeout(), l.now) {
				f.snd.OnTimeout(l.now)
			}
			for s, ok := f.snd.Send(l.now); ok; s, ok = f.snd.Send(l.now) {
				l.carry(i, s)
			}
			done = done && f.snd.Done()
			for _, at := range []time.Time{f.rcv.NextTimeout(), f.snd.NextTimeout()} {
				if !at.IsZero() && at.Before(next) {
					next = at
				}
			}
		}
		if l.watch != nil {
			l.watch(l.now)
		}
		if done {
			return
		}
		for _, q := range [][]inFlight{l.data, l.acks} {
			if len(q) > 0 && q[0].at.Before(next) {
				next = q[0].at
			}
		}
		if !next.After(l.now) {
			l.t.Fatalf("time stands still at %v", l.now.Sub(t0()))
		}
		l.now = next
	}
}

func (l *link) answer(i int, a Ack, ok bool) {
	if ok {
		l.acks = append(l.acks, inFlight{at: l.now.Add(l.delay), flow: i, ack: a})
	}
}

func (l *link) carry(i int, s Segment) {
	if l.drop != nil && l.drop(l.now, s) {
		l.drops++

		return
	}
	if l.idleAt.Before(l.now) {
		l.idleAt = l.now
	}
	if l.idleAt.Sub(l.now).Seconds()*l.bps/8+float64(s.Size) > l.queue+float64(s.Size) && l.queue > 0 {
		l.drops++

		return
	}
	l.idleAt = l.idleAt.Add(time.Duration(float64(s.Size) * 8 / l.bps * float64(time.Second)))
	l.data = append(l.data, inFlight{at: l.idleAt.Add(l.delay), flow: i, seg: s})
}

// share is what a flow has got, of the link's capacity for data.
func (l *link) share(i int, d time.Duration) float64 {
	return float64(l.flows[i].rcv.Delivered()) * 8 / d.Seconds() / l.bps * 1500 / 1460
}
