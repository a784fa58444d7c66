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
