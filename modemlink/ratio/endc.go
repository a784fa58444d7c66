// SPDX-License-Identifier: MIT

package ratio

const (
	// active is how long after its last user data a radio counts as in use.
	active = 200
	// maxHeld is how many windows may wait for the other radio.
	maxHeld = 128
	// maxQueues is how many reports are kept to look back at: of 128 ms and
	// more, as a TTI rarely has two.
	maxQueues = 128
	// carrierNR is the number of NR's primary carrier in telemetry.
	carrierNR = 8
)

// join is what one radio adds to a window of the other one: the grants in its
// TTIs from+1..to, and what it had outstanding in TTI from.
type join struct {
	ok        bool
	from, to  int64
	granted   int
	low, high int
	inferred  bool
}

// span returns the TTIs of l in which a window of another radio falls.
func (l *leg) span(other *leg, s *sample) (from, to int64) {
	return l.clock.tti(other.clock.micros(s.start)), l.clock.tti(other.clock.micros(s.to))
}

// activeAt tells whether there was user data shortly before TTI tti.
func (l *leg) activeAt(tti int64) bool {
	return l.live() && l.ring.used(tti-active+1, tti)
}

// join sums the leg's part of a window of the other one.
func (l *leg) join(from, to int64) join {
	j := join{ok: true, from: from, to: to}
	l.fill(&j)
	if q := l.queues.at(from); q != nil {
		sent, _ := l.ring.after(q.tti, q.part)
		sent += l.ring.sum(q.tti+1, from)
		j.low = max(0, q.low-sent)
		j.high = max(0, q.high-sent)
		if q.high < 0 {
			j.high = j.low // at least this much
		}
		j.inferred = j.inferred || q.inferred
	}

	return j
}

func (l *leg) fill(j *join) {
	j.granted = l.ring.sum(j.from+1, j.to)
	j.inferred = j.inferred || l.ring.inferred(j.from+1, j.to)
}

// queues is the last reports of user data, ascending, padding ones too.
type queues struct {
	last [maxQueues]report
	n    int
}

func (q *queues) add(r report) {
	if q.n == maxQueues {
		// Half at once, so that it is rarely done.
		q.n = copy(q.last[:], q.last[maxQueues/2:])
	}
	i := q.n
	for i > 0 && (q.last[i-1].tti > r.tti || q.last[i-1].tti == r.tti && q.last[i-1].part > r.part) {
		i--
	}
	copy(q.last[i+1:q.n+1], q.last[i:q.n])
	q.last[i] = r
	q.n++
}

// at returns the last report at or before the end of a TTI, nil without one
// that may still be believed.
func (q *queues) at(tti int64) *report {
	for i := q.n - 1; i >= 0; i-- {
		if r := &q.last[i]; r.tti <= tti {
			if r.tti < tti-maxSilence {
				return nil
			}

			return r
		}
	}

	return nil
}
