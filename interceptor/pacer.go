// SPDX-License-Identifier: MIT

package interceptor

import "time"

const (
	// silenceLimit is how long packets may go unreported before the log says
	// so, silencePackets how many there must have been.
	silenceLimit   = time.Second
	silencePackets = 5

	minSleep = 100 * time.Microsecond
)

// watchdog finds out that a call is set up in a way that cannot work.
type watchdog struct {
	since  time.Time // first unreported packet, zero for none
	last   time.Time // latest packet
	count  int       // packets since
	rtcp   bool      // some RTCP has come
	reply  bool      // some feedback has come
	silent bool      // has been said
	// saidUntracked is about streams without feedback.
	saidUntracked bool
}

// sent notes a packet that feedback should report.
func (w *watchdog) sent(at time.Time) {
	if w.since.IsZero() || at.Sub(w.last) > silenceLimit {
		w.since, w.count = at, 0
	}
	w.last = at
	w.count++
}

// heard notes a report.
func (w *watchdog) heard() {
	w.since, w.count, w.reply = time.Time{}, 0, true
}

// deadline is when check has something to say, zero for never.
func (w *watchdog) deadline() time.Time {
	if w.silent || w.since.IsZero() {
		return time.Time{}
	}

	return w.since.Add(silenceLimit)
}

// check returns what to tell the user, once.
func (w *watchdog) check(now time.Time) string {
	d := w.deadline()
	if d.IsZero() || now.Before(d) {
		return ""
	}
	if w.count < silencePackets {
		w.since = time.Time{} // too few to tell; count again from the next one

		return ""
	}
	w.silent = true
	switch {
	case w.reply:
		return "no congestion feedback for 1s while sending: the link is down, or the application has stopped to " +
			"loop on RTPSender.Read"
	case w.rtcp:
		return "no congestion feedback for 1s while sending, but other RTCP: the remote peer must send transport-wide " +
			"feedback (webrtc.ConfigureTWCCSender) or RFC 8888 (webrtc.ConfigureCongestionControlFeedback)"
	default:
		return "no congestion feedback for 1s while sending, and no other RTCP: the application must loop on " +
			"RTPSender.Read for every sender, or Pion reads no RTCP"
	}
}

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
	if p, ok := e.pacer.Pop(now); ok {
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
