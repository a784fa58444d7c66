// SPDX-License-Identifier: MIT

package tcp

import (
	"math"
	"time"
)

type phase uint8

const (
	phaseOpen phase = iota
	phaseRecovery
	phaseTimeout // slow start after a timeout, until all that was out has arrived
)

// Stats count what a sender has done.
type Stats struct {
	// Segments counts all that were sent, Retransmits those sent again.
	Segments, Retransmits int
	// Reductions counts recoveries without, Timeouts those with a timeout.
	Reductions, Timeouts int
}

// Sender is the sending side of a connection.
type Sender struct {
	cfg     Config
	most    int   // segments out at a time
	all     int64 // segments to send; 0 for no end
	board   scoreboard
	window  cubic
	hystart hystart
	rtt     roundTrip
	reduce  reduction

	phase    phase
	point    int64 // the phase is over when this segment is acknowledged
	owed     bool  // something that was sent within the phase was lost, too
	limited  bool  // by the window, when Send was asked last
	started  bool
	deadline time.Time
	stats    Stats
}

// NewCubic makes a sender.
func NewCubic(cfg Config) (*Sender, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Sender{}
	s.restart(cfg)

	return s, nil
}

// restart is a new connection; cfg has its defaults.
func (s *Sender) restart(cfg Config) {
	board, stats := s.board, s.stats
	board.reset()
	mss := int64(cfg.MSS)
	*s = Sender{
		cfg: cfg, most: cfg.MaxWindow / cfg.MSS, all: (cfg.Bytes + mss - 1) / mss,
		board: board, window: newCubic(cfg.InitialWindow), stats: stats,
		// Until something is sent there is only the start to wait for.
		deadline: cfg.Start,
	}
}

// Done tells whether everything has been acknowledged.
func (s *Sender) Done() bool { return s.all > 0 && s.board.una == s.all }

// Acknowledged is how many bytes have been.
func (s *Sender) Acknowledged() int64 {
	n := s.board.una * int64(s.cfg.MSS)
	if s.all > 0 {
		n = min(n, s.cfg.Bytes)
	}

	return n
}

// Window is the congestion window in bytes.
func (s *Sender) Window() int { return int(s.window.cwnd * float64(s.cfg.MSS)) }

// RTT is the smoothed round trip; 0 before the first one.
func (s *Sender) RTT() time.Duration { return s.rtt.smoothed }

// Stats returns the counts so far.
func (s *Sender) Stats() Stats { return s.stats }

// Send returns the next segment, if one may leave now.
func (s *Sender) Send(now time.Time) (Segment, bool) {
	if now.Before(s.cfg.Start) {
		return Segment{}, false
	}
	b := &s.board
	s.limited = float64(b.pipe())+1 > s.window.cwnd
	if s.limited {
		return Segment{}, false
	}
	var i int64
	switch {
	case b.lost > 0:
		i = b.resend(now)
		s.stats.Retransmits++
	case (s.all == 0 || b.nxt < s.all) && b.out() < s.most:
		i = b.push(now)
	default:
		return Segment{}, false
	}
	s.stats.Segments++
	s.reduce.out++
	if s.deadline.IsZero() || !s.started {
		s.started = true
		s.arm(now)
	}
	seq := i * int64(s.cfg.MSS)
	n := s.cfg.MSS
	if s.all > 0 {
		n = int(min(int64(n), s.cfg.Bytes-seq))
	}

	return Segment{Seq: seq, Len: n, Size: n + s.cfg.Headers, Retransmit: b.at(i).again}, true
}

// NextTimeout is when OnTimeout is due: the start, then the retransmission
// timeout.
func (s *Sender) NextTimeout() time.Time { return s.deadline }

// OnTimeout gives everything up that is out. RFC 6298 5.4-5.7.
func (s *Sender) OnTimeout(now time.Time) {
	if s.deadline.IsZero() || now.Before(s.deadline) {
		return
	}
	if s.board.out() == 0 { // the start
		s.deadline = time.Time{}

		return
	}
	s.stats.Timeouts++
	s.window.onTimeout(s.phase != phaseOpen)
	s.board.loseAll()
	s.phase, s.point, s.owed = phaseTimeout, s.board.nxt, false
	s.rtt.backoff++
	s.arm(now)
}

// arm starts the timer anew.
func (s *Sender) arm(now time.Time) { s.deadline = now.Add(s.rtt.timeout()) }

// OnAck takes an acknowledgement. One of something that was never sent is
// ignored.
func (s *Sender) OnAck(now time.Time, a Ack) {
	b := &s.board
	cum := s.number(a.Cum)
	if cum > b.nxt {
		return
	}
	got := arrival{latest: -1}
	b.cumulative(now, cum, s.rtt.least, &got)
	for _, r := range a.SACK {
		if r.From < 0 || r.From >= r.To {
			continue
		}
		from := s.number(r.From)
		if from*int64(s.cfg.MSS) < r.From {
			from++
		}
		b.selective(now, from, s.number(r.To), s.rtt.least, &got)
	}
	if got.rtt > 0 {
		s.rtt.onSample(got.rtt)
		s.hystart.onRTT(got.rtt)
	}
	if got.advanced {
		s.rtt.backoff = 0
		s.arm(now)
		if b.out() == 0 {
			s.deadline = time.Time{}
		}
	}
	first, lost := b.findLost()
	safe := got.advanced && !lost
	if s.phase != phaseOpen {
		s.owed = s.owed || first >= s.point
		if b.una >= s.point {
			if s.phase == phaseRecovery {
				s.window.cwnd = s.window.ssthresh
			}
			s.phase, lost = phaseOpen, s.owed
		}
	}
	enter := lost && s.phase == phaseOpen
	if enter {
		s.enterRecovery(now)
	}
	if s.phase == phaseRecovery {
		s.window.cwnd = s.reduce.window(float64(b.pipe()), s.window.ssthresh, float64(got.segments), enter, safe)
	} else {
		s.grow(now, got.segments)
	}
}

// number is how many segments lie wholly below a byte.
func (s *Sender) number(seq int64) int64 {
	switch {
	case seq <= 0:
		return 0
	case s.all > 0 && seq > s.cfg.Bytes:
		return s.all + 1 // there is no such thing
	case s.all > 0 && seq == s.cfg.Bytes:
		return s.all
	default:
		return seq / int64(s.cfg.MSS)
	}
}

// enterRecovery is a loss that was not yet answered. RFC 6675 5.
func (s *Sender) enterRecovery(now time.Time) {
	s.stats.Reductions++
	s.reduce = reduction{flight: float64(max(s.board.out(), 1))}
	s.window.onLoss()
	s.phase, s.point, s.owed = phaseRecovery, s.board.nxt, false
	if s.board.out() > 0 {
		s.arm(now) // RFC 6675 5, step 6
	}
}

// grow lets the window grow for what has arrived, if it was the limit.
func (s *Sender) grow(now time.Time, segments int) {
	w := &s.window
	over := s.hystart.onAck(s.board.una, s.board.nxt)
	if segments == 0 {
		return
	}
	if !s.limited {
		w.onIdle(now)

		return
	}
	n := float64(segments)
	switch {
	case !w.slowStart():
		w.onAck(now, s.rtt.smoothed, n)
	case s.cfg.HyStart && math.IsInf(w.ssthresh, 1):
		w.cwnd += s.hystart.growth(n)
		if over {
			w.ssthresh = w.cwnd
		}
	default:
		w.cwnd = min(w.cwnd+n, w.ssthresh)
	}
	w.cwnd = min(w.cwnd, float64(s.most))
}
