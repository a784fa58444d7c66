// SPDX-License-Identifier: MIT

package interceptor

import "time"

const (
	// silenceLimit is how long packets may go unreported before the log says
	// so, silencePackets how many there must have been.
	silenceLimit   = time.Second
	silencePackets = 5
)

// watchdog finds out that a call is set up in a way that cannot work.
type watchdog struct {
	since  time.Time // first unreported packet, zero for none
	last   time.Time // latest packet
	count  int       // packets since
	rtcp   bool      // some RTCP has come
	reply  bool      // some feedback has come
	silent bool      // it is so now
	said   bool      // in the log
	// saidUntracked is about streams without feedback.
	saidUntracked bool
}

// sent notes a packet that feedback should report.
func (w *watchdog) sent(at time.Time) {
	if !w.silent && (w.since.IsZero() || at.Sub(w.last) > silenceLimit) {
		w.since, w.count = at, 0
	}
	w.last = at
	w.count++
}

// heard notes a report. It returns how long there was none if that was long.
func (w *watchdog) heard(now time.Time) (silence time.Duration) {
	if w.silent {
		silence = now.Sub(w.since)
	}
	w.since, w.count, w.reply, w.silent = time.Time{}, 0, true, false

	return silence
}

// deadline is when check has something to say, zero for never.
func (w *watchdog) deadline() time.Time {
	if w.silent || w.since.IsZero() {
		return time.Time{}
	}

	return w.since.Add(silenceLimit)
}

// check tells whether it has become silent, and what to tell the user, once.
func (w *watchdog) check(now time.Time) (silent bool, warning string) {
	d := w.deadline()
	if d.IsZero() || now.Before(d) {
		return false, ""
	}
	if w.count < silencePackets {
		w.since = time.Time{} // too few to tell; count again from the next one

		return false, ""
	}
	w.silent = true
	if w.said {
		return true, ""
	}
	w.said = true

	return true, w.advice()
}

func (w *watchdog) advice() string {
	switch {
	case w.reply:
		return "no congestion feedback for 1s while sending: the link is down, or the application has stopped to " +
			"loop on RTPSender.Read"
	case w.rtcp:
		return "no congestion feedback for 1s while sending, but other RTCP: the remote peer must send transport-wide " +
			"feedback (webrtc.ConfigureTWCCSender) or RFC 8888 (webrtc.ConfigureCongestionControlFeedback), in packets below the MTU"
	default:
		return "no congestion feedback for 1s while sending, and no other RTCP: the application must loop on " +
			"RTPSender.Read for every sender, or Pion reads no RTCP"
	}
}
