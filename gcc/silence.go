// SPDX-License-Identifier: MIT

package gcc

import "time"

// goog_cc: send_side_bandwidth_estimation, RttBasedBackoff.
const (
	silenceCut = 0.8
	silenceGap = time.Second
)

// silence watches for packets that nobody answers. A round trip of its own
// counts: packets unanswered for a while on a path of that length are late by
// the sum.
//
// Deviation: the wait counts from the first packet sent after the last
// feedback, so the first packet after a pause is not late at once; and it also
// runs before the first feedback.
type silence struct {
	limit time.Duration

	waiting bool // packets were sent and no report came since
	since   time.Time
	sentAt  time.Time
	cutAt   time.Time
	rtt     time.Duration
}

func (s *silence) onSent(now time.Time) {
	if !s.waiting {
		s.waiting, s.since = true, now
	}
	s.sentAt = now
}

func (s *silence) onFeedback(rtt time.Duration) { s.waiting, s.rtt = false, rtt }

// next is zero while nothing is unanswered.
func (s *silence) next() time.Time {
	if !s.waiting {
		return time.Time{}
	}
	due := s.since.Add(max(s.limit-s.rtt, 0))
	if next := s.cutAt.Add(silenceGap); !s.cutAt.IsZero() && next.After(due) {
		due = next
	}

	return due
}

// expired is called at or after next and tells whether to cut.
func (s *silence) expired(now time.Time) bool {
	due := s.next()
	if due.IsZero() || now.Before(due) {
		return false
	}
	if now.Sub(s.sentAt) >= silenceGap {
		s.waiting = false // the sender has stopped: nothing to slow down

		return false
	}
	s.cutAt = now

	return true
}

// since the last report, for the event.
func (s *silence) wait(now time.Time) time.Duration { return now.Sub(s.since) }
