// SPDX-License-Identifier: MIT

package interceptor

import (
	"math"
	"time"
)

const (
	// pacerQuantum is the shortest sleep. A phone reports its queue every 5 ms
	// or so, and a goroutine that wakes for every packet costs more than the
	// rest of the way; what has become due meanwhile leaves at once, so the rate
	// is kept. With 4 ms the phone's queue is filled in lumps, which costs a tenth
	// to a fifth of the rate. goog_cc: pacing_controller looks every 5 ms.
	pacerQuantum = 2 * time.Millisecond
	// batch is how many packets leave between two looks at the state.
	batch = 8
	// inlineLimit bounds what one Write sends for all: the Scheduler goes on then.
	inlineLimit = 32
	// followEvery bounds how often sending alone looks for a new target: inputs
	// do at once.
	followEvery = 5 * time.Millisecond
	// armEvery bounds how often telemetry looks for a new deadline of the core,
	// which it moves into the future as a rule.
	armEvery = 10 * time.Millisecond
)

// run does what is due. The Scheduler calls it.
func (e *Estimator) run() {
	if now, send := e.step(); send {
		e.transmit(now, math.MaxInt32)
	}
}

// step runs what is due. It tells whether a packet may leave, which is the
// caller's to transmit then, or else says when to wake.
func (e *Estimator) step() (now time.Time, send bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return now, false
	}
	now = e.now()
	e.wakeAt, e.ran = time.Time{}, now
	if d := e.coreDeadline(); !d.IsZero() && !now.Before(d) {
		e.hearOthers(now)
		e.core.OnTimeout(now)
		e.coreNotBefore = now.Add(time.Millisecond)
		e.follow(now)
	}
	silent, warning := e.watch.check(now)
	if silent && e.rec != nil {
		e.rec.Record(now, SilenceEvent{})
	}
	if warning != "" {
		e.log.Warn(warning) // under the lock: it happens once
	}
	if e.mayTransmit(now) {
		e.sending = true

		return now, true
	}
	e.arm(now)

	return now, false
}

// mayTransmit tells whether a packet may leave and nobody is at it. Who sets
// sending then must call transmit. Called with mu held.
func (e *Estimator) mayTransmit(now time.Time) bool {
	if e.sending || e.closed {
		return false
	}
	next := e.pacer.NextSend(now)

	return !next.IsZero() && !next.After(now)
}

// transmit sends what may leave, at most limit packets. One goroutine does so at
// a time, the Scheduler's or a Write, and it does so for all: packets leave in the order
// of their numbers.
//
// now may be the time of a moment ago: reading the clock is a good part of what a
// packet costs. It is read again after a full batch.
func (e *Estimator) transmit(now time.Time, limit int) {
	var packets [batch]*packet
	n := 0
	for total := 0; ; total += n {
		before := packets
		done := n
		if n == batch {
			now = e.now()
		}
		n = e.nextPackets(now, &packets, n, min(batch, limit-total))
		for _, p := range before[:done] {
			e.release(p, p.sent)
		}
		if n == 0 {
			return
		}
		for _, p := range packets[:n] {
			written, err := p.stream.next.Write(&p.header, p.payload, p.attrs)
			p.sent = err == nil && written > 0
		}
	}
}

// giveUp ends a turn that a panic of the next writer has ended. The application may
// recover from that in its own goroutine, and then go on, or Close.
func (e *Estimator) giveUp(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.endTurn(now)
}

// endTurn lets the next one send. Called with mu held.
func (e *Estimator) endTurn(now time.Time) {
	e.sending = false
	if e.closed {
		signal(e.idle)
	} else {
		e.ran = now
		e.arm(now)
	}
}

// nextPackets books the done first packets and takes up to limit new ones; 0
// ends the turn.
func (e *Estimator) nextPackets(now time.Time, packets *[batch]*packet, done, limit int) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	// Backwards: a number that was not sent can be used again only if none
	// after it was.
	for i := done - 1; i >= 0; i-- {
		if p := packets[i]; !p.sent {
			e.unsent(p)
		}
	}
	for _, p := range packets[:done] {
		if p.sent {
			e.settle(p)
		}
	}
	if !e.closed {
		for n < limit {
			next, ok := e.pacer.Next(now)
			if !ok {
				break
			}
			p := next.Item
			if next.Padding > 0 {
				p = e.pad(next.Padding)
			}
			p.cluster = next.Cluster
			e.number(p, now)
			packets[n] = p
			n++
		}
	}
	if n > 0 {
		return n
	}
	e.endTurn(now)

	return 0
}

// coreDeadline is when the core wants OnTimeout. Called with mu held.
func (e *Estimator) coreDeadline() time.Time {
	d := e.core.NextTimeout()
	if !d.IsZero() && d.Before(e.coreNotBefore) {
		return e.coreNotBefore
	}

	return d
}

// deadline is when there is something to do if nothing else happens: not never,
// for the arithmetic. Called with mu held.
func (e *Estimator) deadline(now time.Time) time.Time {
	d := now.Add(time.Hour)
	if t := e.coreDeadline(); !t.IsZero() && t.Before(d) {
		d = t
	}
	if t := e.watch.deadline(); !t.IsZero() && t.Before(d) {
		d = t
	}
	if e.sending {
		return d // who is at it looks when done
	}
	if t := e.pacer.NextSend(now); !t.IsZero() && t.Before(d) {
		d = t
	}

	return d
}

// arm sets when run is called next: when there is something to do, and a quantum
// after the last time at the earliest. Called with mu held, after every input that
// may have moved that.
func (e *Estimator) arm(now time.Time) { e.wake(e.deadline(now), now) }

// armFor is arm when all that may have moved is that packets leave sooner. Called
// with mu held.
func (e *Estimator) armFor(next, now time.Time) {
	if !next.IsZero() && (e.wakeAt.IsZero() || next.Before(e.wakeAt)) {
		e.wake(next, now)
	}
}

func (e *Estimator) wake(at, now time.Time) {
	if least := e.ran.Add(pacerQuantum); at.Before(least) {
		at = least
	}
	if !at.Equal(e.wakeAt) {
		e.wakeAt = at
		e.seat.wake(at, now)
	}
}
