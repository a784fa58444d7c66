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
	// inlineLimit bounds what one Write sends for all: the loop goes on then.
	inlineLimit = 32
	// followEvery bounds how often sending alone looks for a new target: inputs
	// do at once.
	followEvery = 5 * time.Millisecond
	// kickEvery bounds how often telemetry looks for a new deadline of the core,
	// which it moves into the future as a rule.
	kickEvery = 10 * time.Millisecond
)

// loop runs the timers and sends, until Close.
func (e *Estimator) loop() {
	defer close(e.loopDone)
	defer e.timer.Stop()
	for {
		send, now, closed, warning := e.step()
		if warning != "" {
			e.log.Warn(warning)
		}
		if closed {
			return
		}
		if send {
			e.transmit(now, math.MaxInt32)

			continue
		}
		<-e.timer.C // Close resets it
	}
}

// step runs what is due. It tells whether a packet may leave, which is the
// caller's to transmit then, or else sets the timer.
func (e *Estimator) step() (send bool, now time.Time, closed bool, warning string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false, now, true, ""
	}
	e.sleepUntil = time.Time{}
	now = e.now()
	if d := e.coreDeadline(); !d.IsZero() && !now.Before(d) {
		e.hearOthers(now)
		e.core.OnTimeout(now)
		e.coreNotBefore = now.Add(time.Millisecond)
		e.follow(now)
	}
	var silent bool
	silent, warning = e.watch.check(now)
	if silent && e.rec != nil {
		e.rec.Record(now, SilenceEvent{})
	}
	if e.mayTransmit(now) {
		e.sending = true

		return true, now, false, warning
	}
	e.sleep(e.deadline(now), now)

	return false, now, false, warning
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
// a time, the loop or a Write, and it does so for all: packets leave in the order
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
	e.sending = false
	if e.closed {
		signal(e.idle)
	} else {
		e.kick(now)
	}

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

// deadline is when the loop has something to do if nothing else happens: not
// never, for the arithmetic. Called with mu held.
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

// kick wakes the loop if it would sleep for too long. Called with mu held.
func (e *Estimator) kick(now time.Time) {
	if !e.sleepUntil.IsZero() {
		e.kickFor(e.deadline(now), now)
	}
}

// sleep sets when the loop wakes. Called with mu held.
func (e *Estimator) sleep(until, now time.Time) {
	if least := now.Add(pacerQuantum); until.Before(least) {
		until = least
	}
	e.sleepUntil = until
	e.timer.Reset(until.Sub(now))
}

// kickFor lets the loop wake earlier, if it would sleep beyond a deadline by more
// than a quantum. It is asleep and stays so: waking it to set its own timer would
// cost as much as what it then does. Called with mu held.
func (e *Estimator) kickFor(deadline, now time.Time) {
	if e.sleepUntil.IsZero() || deadline.IsZero() {
		return
	}
	if least := now.Add(pacerQuantum); deadline.Before(least) {
		deadline = least
	}
	if deadline.Before(e.sleepUntil) {
		e.sleep(deadline, now)
	}
}
