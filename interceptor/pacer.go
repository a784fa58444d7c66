// SPDX-License-Identifier: MIT

package interceptor

import "time"

// minSleep keeps the loop from spinning.
const minSleep = 100 * time.Microsecond

// loop runs the timers and sends, until Close.
func (e *Estimator) loop() {
	defer close(e.loopDone)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		p, wait, closed, warning := e.step()
		if warning != "" {
			e.log.Warn(warning)
		}
		if closed {
			return
		}
		if p != nil {
			e.send(p)

			continue
		}
		timer.Reset(wait)
		select {
		case <-e.done:
			return
		case <-e.wake:
		case <-timer.C:
		}
	}
}

// step runs what is due and takes the next packet that may leave. Without one
// it says how long to wait.
func (e *Estimator) step() (p *packet, wait time.Duration, closed bool, warning string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, 0, true, ""
	}
	e.sleepUntil = time.Time{}
	now := e.now()
	if d := e.coreDeadline(); !d.IsZero() && !now.Before(d) {
		e.core.OnTimeout(now)
		e.coreNotBefore = now.Add(time.Millisecond)
		e.follow(now)
	}
	warning = e.watch.check(now)
	if next, ok := e.pacer.Next(now); ok {
		p := next.Item
		if next.Padding > 0 {
			p = e.pad(next.Padding)
		}
		p.cluster = next.Cluster
		e.number(p, now)

		return p, 0, false, warning
	}
	e.sleepUntil = e.deadline(now)
	if !e.sleepUntil.After(now) {
		e.sleepUntil = now.Add(minSleep) // never spin, whatever the parts say
	}

	return nil, e.sleepUntil.Sub(now), false, warning
}

// send hands p on and books the result.
func (e *Estimator) send(p *packet) {
	n, err := p.stream.next.Write(&p.header, p.payload, p.attrs)
	sent := err == nil && n > 0
	e.mu.Lock()
	e.settle(p, sent)
	e.mu.Unlock()
	e.release(p, sent)
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
	for _, t := range [...]time.Time{e.pacer.NextSend(now), e.coreDeadline(), e.watch.deadline()} {
		if !t.IsZero() && t.Before(d) {
			d = t
		}
	}

	return d
}

// kick wakes the loop if it would sleep for too long. Called with mu held.
func (e *Estimator) kick(now time.Time) {
	if e.sleepUntil.IsZero() || !e.deadline(now).Before(e.sleepUntil) {
		return
	}
	e.sleepUntil = time.Time{} // once is enough
	signal(e.wake)
}
