// SPDX-License-Identifier: MIT

package tcp

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestNewRefuses(t *testing.T) {
	for _, cfg := range []Config{
		{Bytes: -1}, {Bytes: 1 << 60}, {MSS: -1}, {MSS: 1 << 20}, {Headers: -1}, {InitialWindow: -1}, {MaxWindow: 100}, {MSS: 1, MaxWindow: 1 << 30},
	} {
		if _, err := NewCubic(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("NewCubic(%+v): %v", cfg, err)
		}
	}
	for _, cfg := range []ShortConfig{{MinBytes: -1}, {MinBytes: 5, MaxBytes: 4}, {MeanOff: -1}, {MeanOff: 1 << 62}, {Flow: Config{MSS: -1}}} {
		if _, err := NewShort(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("NewShort(%+v): %v", cfg, err)
		}
	}
}

// RFC 9438 4.2: after a loss at wMax, W(t) = C (t-K)^3 + wMax, K = cbrt(0.3 wMax/C).
func TestGrowthIsCubic(t *testing.T) {
	for _, rtt := range []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
		c := newCubic(10)
		c.cwnd, c.wMax = 400, 0
		c.onLoss()
		within(t, "window after the loss", c.cwnd, 280, 0.01, "segments")
		k := math.Cbrt(0.3 * 400 / 0.4)
		start, at := c.cwnd, time.Duration(0)
		for at < 12*time.Second {
			for range int(c.cwnd / 2) { // a round trip of acknowledgements
				c.onAck(t0().Add(at), rtt, 2)
				at += time.Duration(2 / c.cwnd * float64(rtt))
			}
			d := at.Seconds() - k
			if want := 0.4*d*d*d + 400; math.Abs(c.cwnd-want) > 0.1*want || c.cwnd < start {
				t.Fatalf("round trip %v, at %v: %.1f segments, want %.1f", rtt, at, c.cwnd, want)
			}
		}
	}
}

// RFC 9438 4.3: where Reno would have more, the window is Reno's: 0.53 segments
// a round trip up to where the loss was, one beyond.
func TestRenoFriendly(t *testing.T) {
	c := newCubic(10)
	c.cwnd = 20
	c.onLoss()
	rtt := 10 * time.Millisecond
	at := time.Duration(0)
	rounds := func(n int) {
		for range n {
			for range int(c.cwnd) {
				c.onAck(t0().Add(at), rtt, 1)
				at += time.Duration(float64(rtt) / c.cwnd)
			}
		}
	}
	rounds(10)
	within(t, "after 10 round trips", c.cwnd, 14+5.3, 0.6, "segments")
	for c.cwnd < 20 {
		rounds(1)
	}
	before := c.cwnd
	rounds(10)
	within(t, "10 round trips beyond", c.cwnd-before, 10, 1, "segments")
}

// RFC 9438 4.7.
func TestFastConvergence(t *testing.T) {
	c := newCubic(10)
	c.cwnd = 100
	c.onLoss()
	within(t, "plateau", c.wMax, 100, 0, "segments")
	c.cwnd = 90
	c.onLoss()
	within(t, "plateau after a loss below it", c.wMax, 90*0.85, 1e-9, "segments")
}

// One segment is lost; nothing else limits.
func TestLossLeaves70Percent(t *testing.T) {
	s := mustCubic(t, Config{})
	l := newLink(t, 1e9, 50*time.Millisecond, 0, s)
	lost, before, after, k := false, 0.0, 0.0, 0.0
	var at time.Time
	l.drop = func(now time.Time, seg Segment) bool {
		if lost || seg.Seq != 600*1460 {
			return false
		}
		lost, at = true, now

		return true
	}
	l.watch = func(now time.Time) {
		switch {
		case s.phase == phaseOpen && s.stats.Reductions == 0:
			before = s.window.cwnd
		case s.phase == phaseOpen && after == 0:
			after = s.window.cwnd
			k = math.Cbrt(0.3 * before / 0.4)
		case after > 0 && !s.window.epoch.IsZero():
			d := now.Sub(s.window.epoch).Seconds() - k
			if want := 0.4*d*d*d + before; math.Abs(s.window.cwnd-want) > 0.1*want {
				t.Fatalf("%v after the loss: %.0f segments, want %.0f", now.Sub(at), s.window.cwnd, want)
			}
		}
	}
	l.run(15 * time.Second)
	if before < 500 || after == 0 || k == 0 {
		t.Fatalf("%.0f segments before the loss", before)
	}
	within(t, "left of the window", after/before, 0.7, 0.01, "")
	if st := s.Stats(); st.Reductions != 1 || st.Timeouts != 0 || st.Retransmits != 1 {
		t.Errorf("%+v, want one retransmission", st)
	}
}

// RFC 9438 5.1: with one loss in 1/p segments the mean window is 1.054
// RTT^0.75 / p^0.75, where that is more than Reno's. The formula has no fast
// convergence, which leaves us below: a tenth, and in a thousand losses less.
func TestResponseFunction(t *testing.T) {
	for _, c := range []struct {
		rtt float64 // s
		p   int     // segments between losses
	}{{0.1, 10_000}, {0.2, 3_000}, {0.2, 10_000}} {
		s := mustCubic(t, Config{MaxWindow: 64 << 20})
		s.window.ssthresh = 100
		l := newLink(t, 1e10, time.Duration(c.rtt/2*float64(time.Second)), 0, s)
		n := 0
		l.drop = func(time.Time, Segment) bool { n++; return n%c.p == 0 }
		l.run(40 * time.Second)
		from := s.stats.Segments
		l.run(140 * time.Second)
		got := float64(s.stats.Segments-from) / 100 * c.rtt
		want := 1.054 * math.Pow(c.rtt*float64(c.p), 0.75)
		within(t, "mean window", got, 0.93*want, 0.09*want, "segments")
		if s.stats.Timeouts > 0 {
			t.Errorf("%+v", s.stats)
		}
	}
}

func TestSlowStartDoubles(t *testing.T) {
	s := mustCubic(t, Config{})
	l := newLink(t, 1e9, 50*time.Millisecond, 0, s)
	for i, want := range []float64{10, 20, 40, 80, 160} {
		l.run(time.Duration(i)*100*time.Millisecond + 99*time.Millisecond)
		within(t, "window", s.window.cwnd, want, 1, "segments")
	}
}

// 5 Mbit/s, 50 ms round trip, one bandwidth-delay product of queue.
func TestFillsABottleneck(t *testing.T) {
	for _, hystart := range []bool{false, true} {
		for _, bdps := range []float64{1, 4} {
			s := mustCubic(t, Config{HyStart: hystart})
			l := newLink(t, 5e6, 25*time.Millisecond, bdps, s)
			l.run(30 * time.Second)
			within(t, "utilisation", l.share(0, 30*time.Second), 0.97, 0.04, "of the link")
			if st := s.Stats(); st.Timeouts > 0 || st.Reductions < 2 || float64(st.Retransmits) > 0.03*float64(st.Segments) {
				t.Errorf("HyStart %v, %v BDP: %+v", hystart, bdps, st)
			}
		}
	}
}

// HyStart++ leaves slow start before the queue is full.
func TestHyStart(t *testing.T) {
	var drops [2]int
	for i, on := range []bool{false, true} {
		s := mustCubic(t, Config{HyStart: on})
		l := newLink(t, 20e6, 50*time.Millisecond, 10, s)
		l.run(5 * time.Second)
		drops[i] = l.drops
		if on {
			// The pipe is 167 segments; the round trip rises in the round that
			// doubles 240, and five rounds of a quarter more follow.
			within(t, "slow start ended at", s.window.ssthresh, 480*math.Pow(1.25, 5), 80, "segments")
		}
	}
	if drops[0] < 1000 || drops[1] > 0 {
		t.Errorf("%d segments lost without HyStart++, %d with", drops[0], drops[1])
	}
}

// A burst in the middle of a window, retransmissions included on the second try.
func TestBurstLossWithoutTimeout(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := mustCubic(t, Config{Bytes: 2_000_000})
		l := newLink(t, 20e6, 25*time.Millisecond, 10, s)
		copies := map[int64]int{}
		l.drop = func(_ time.Time, seg Segment) bool {
			if seg.Seq < 100*1460 || seg.Seq >= 120*1460 {
				return false
			}
			copies[seg.Seq]++

			return copies[seg.Seq] == 1 || again && copies[seg.Seq] == 2
		}
		l.run(10 * time.Second)
		want := 20
		if again {
			want = 40
		}
		if st := s.Stats(); !s.Done() || st.Timeouts != 0 || st.Retransmits != want || st.Reductions != 1 {
			t.Errorf("again %v: done %v, %+v, want %d retransmissions", again, s.Done(), st, want)
		}
		if l.flows[0].rcv.Delivered() != 2_000_000 || s.Acknowledged() != 2_000_000 {
			t.Errorf("%d bytes delivered, %d acknowledged", l.flows[0].rcv.Delivered(), s.Acknowledged())
		}
	}
}

// What is sent within a recovery and lost is another reason to slow down.
func TestLossesOfTwoWindowsAreTwoReductions(t *testing.T) {
	s := mustCubic(t, Config{Bytes: 4_000_000})
	l := newLink(t, 20e6, 25*time.Millisecond, 10, s)
	dropped := map[int64]bool{}
	l.drop = func(_ time.Time, seg Segment) bool {
		first := seg.Seq == 200*1460 || s.phase == phaseRecovery && seg.Seq >= s.point*1460 && len(dropped) == 1
		if !first || dropped[seg.Seq] {
			return false
		}
		dropped[seg.Seq] = true

		return true
	}
	l.run(10 * time.Second)
	if st := s.Stats(); !s.Done() || len(dropped) != 2 || st.Reductions != 2 || st.Timeouts != 0 {
		t.Errorf("done %v, %d dropped, %+v", s.Done(), len(dropped), st)
	}
}

func TestBlackout(t *testing.T) {
	s := mustCubic(t, Config{})
	l := newLink(t, 5e6, 25*time.Millisecond, 2, s)
	var tries []time.Time
	from, to := t0().Add(5*time.Second), t0().Add(9*time.Second)
	l.drop = func(now time.Time, seg Segment) bool {
		if now.Before(from) || !now.Before(to) {
			return false
		}
		if seg.Retransmit {
			tries = append(tries, now)
		}

		return true
	}
	l.run(5 * time.Second)
	window := s.window.cwnd
	l.run(9 * time.Second)
	if s.window.cwnd != 1 || s.stats.Timeouts < 3 {
		t.Errorf("%v segments of %v, %+v at the end of a blackout", s.window.cwnd, window, s.stats)
	}
	// RFC 6298 5.5: each wait is twice the one before.
	for i := 2; i < len(tries); i++ {
		ratio := float64(tries[i].Sub(tries[i-1])) / float64(tries[i-1].Sub(tries[i-2]))
		within(t, "backing off", ratio, 2, 0.01, "")
	}
	got := l.flows[0].rcv.Delivered()
	l.run(20 * time.Second)
	rate := float64(l.flows[0].rcv.Delivered()-got) * 8 / 11
	within(t, "rate after it", rate/1e6, 4.3, 0.5, "Mbit/s")
}

func TestTwoFlowsShare(t *testing.T) {
	a, b := mustCubic(t, Config{}), mustCubic(t, Config{Start: t0().Add(5 * time.Second)})
	l := newLink(t, 10e6, 25*time.Millisecond, 1, a, b)
	l.run(20 * time.Second)
	before := []int64{l.flows[0].rcv.Delivered(), l.flows[1].rcv.Delivered()}
	l.run(120 * time.Second)
	x, y := float64(l.flows[0].rcv.Delivered()-before[0]), float64(l.flows[1].rcv.Delivered()-before[1])
	within(t, "Jain's index", (x+y)*(x+y)/(2*(x*x+y*y)), 0.97, 0.03, "")
	within(t, "together", (x+y)*8/100/10e6*1500/1460, 0.98, 0.03, "of the link")
}

func TestReceiver(t *testing.T) {
	r := NewReceiver()
	seg := func(i int64) Segment { return Segment{Seq: i * 1000, Len: 1000} }
	at := t0()
	if _, ok := r.OnSegment(at, seg(0)); ok || !r.NextTimeout().Equal(at.Add(40*time.Millisecond)) {
		t.Fatalf("first segment: answered %v, timer %v", ok, r.NextTimeout())
	}
	if a, ok := r.OnSegment(at, seg(1)); !ok || a.Cum != 2000 || a.Size != 40 || !r.NextTimeout().IsZero() {
		t.Fatalf("second segment: %+v %v", a, ok)
	}
	r.OnSegment(at, seg(2))
	if a, ok := r.OnTimeout(at.Add(39 * time.Millisecond)); ok {
		t.Fatalf("early: %+v", a)
	}
	if a, ok := r.OnTimeout(at.Add(40 * time.Millisecond)); !ok || a.Cum != 3000 {
		t.Fatalf("late: %+v %v", a, ok)
	}
	// 3 5 7 9 11 are missing.
	var a Ack
	for _, i := range []int64{4, 6, 8, 10, 12, 6} {
		var ok bool
		if a, ok = r.OnSegment(at, seg(i)); !ok || a.Cum != 3000 {
			t.Fatalf("%d: %+v %v", i, a, ok)
		}
	}
	if a.SACK != [3]Range{{6000, 7000}, {12000, 13000}, {10000, 11000}} || a.Size != 40+4+24 {
		t.Errorf("latest first: %+v", a)
	}
	if a, _ = r.OnSegment(at, seg(5)); a.SACK[0] != (Range{4000, 7000}) {
		t.Errorf("joined: %+v", a)
	}
	if a, _ = r.OnSegment(at, seg(3)); a.Cum != 7000 || a.SACK[0] != (Range{12000, 13000}) || a.SACK[2] != (Range{8000, 9000}) {
		t.Errorf("filled: %+v", a)
	}
	if a, ok := r.OnSegment(at, seg(0)); !ok || a.Cum != 7000 {
		t.Errorf("duplicate: %+v %v", a, ok)
	}
}

func TestShort(t *testing.T) {
	var total, transfers float64
	for seed := range uint64(10) {
		s, err := NewShort(ShortConfig{Start: t0(), Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		l := newLink(t, 10e6, 50*time.Millisecond, 2, s)
		l.run(300 * time.Second)
		if st := s.Stats(); st.Retransmits != 0 || s.Acknowledged() != l.flows[0].rcv.Delivered() {
			t.Errorf("%+v, %d of %d bytes", st, s.Acknowledged(), l.flows[0].rcv.Delivered())
		}
		total += float64(s.Acknowledged())
		transfers += float64(s.Transfers())
	}
	within(t, "transfers of 10 flows in 300 s", transfers, 290, 45, "")
	within(t, "mean size", total/transfers/1000, 40, 1.5, "kB")
}

// Ten short flows in a narrow link: losses, and all arrives.
func TestShortFlowsInANarrowLink(t *testing.T) {
	var ss []sending
	for seed := range uint64(10) {
		s, err := NewShort(ShortConfig{Start: t0(), Seed: seed, MeanOff: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		ss = append(ss, s)
	}
	l := newLink(t, 2e6, 50*time.Millisecond, 0.6, ss...)
	l.run(100 * time.Second)
	sum, transfers := 0.0, 0
	for i, s := range ss {
		sum += l.share(i, 100*time.Second)
		transfers += s.(*Short).Transfers()
		if d := l.flows[i].rcv.Delivered() - s.Acknowledged(); d < 0 || d > 50_000 {
			t.Errorf("flow %d: %d bytes delivered and not acknowledged", i, d)
		}
	}
	within(t, "load", sum, 0.85, 0.14, "of the link")
	if l.drops < 100 || transfers < 300 {
		t.Errorf("%d drops, %d transfers", l.drops, transfers)
	}
}

func TestReordering(t *testing.T) {
	// Two later ones overtake: no reason to reduce.
	s := mustCubic(t, Config{})
	var seqs []Segment
	for g, ok := s.Send(t0()); ok; g, ok = s.Send(t0()) {
		seqs = append(seqs, g)
	}
	at := t0().Add(50 * time.Millisecond)
	s.OnAck(at, Ack{Cum: 0, SACK: [3]Range{{1460, 2 * 1460}}})
	s.OnAck(at, Ack{Cum: 0, SACK: [3]Range{{1460, 3 * 1460}}})
	if s.stats.Reductions != 0 {
		t.Error("two duplicates are a loss")
	}
	s.OnAck(at, Ack{Cum: 0, SACK: [3]Range{{1460, 4 * 1460}}})
	if s.stats.Reductions != 1 || len(seqs) != 10 {
		t.Error("three are none")
	}
	if g, ok := s.Send(at); !ok || g.Seq != 0 || !g.Retransmit {
		t.Errorf("%+v %v, want the first one again", g, ok)
	}
	// The first copy arrives after all: what was sent since is not lost.
	s.OnAck(at.Add(time.Millisecond), Ack{Cum: 4 * 1460})
	if s.board.lost != 0 {
		t.Errorf("%d segments lost", s.board.lost)
	}
}

func TestLiesAreIgnored(t *testing.T) {
	s := mustCubic(t, Config{Bytes: 10_000})
	s.Send(t0())
	for _, cum := range []int64{-1, 1, 1459, 1461 * 2, 10_000, 10_001, math.MaxInt64, math.MinInt64} {
		s.OnAck(t0().Add(time.Millisecond), Ack{Cum: cum})
	}
	if s.board.una != 0 || s.Done() {
		t.Errorf("%d segments acknowledged", s.board.una)
	}
	// A receiver that takes back what it said.
	for _, ok := s.Send(t0()); ok; _, ok = s.Send(t0()) {
	}
	s.OnAck(t0().Add(time.Millisecond), Ack{SACK: [3]Range{{0, 10_000}}})
	at := s.NextTimeout()
	s.OnTimeout(at)
	if g, ok := s.Send(at); !ok || g.Seq != 0 {
		t.Errorf("%+v %v, want the first segment", g, ok)
	}
}

func TestNothingAllocates(t *testing.T) {
	s := mustCubic(t, Config{})
	r := NewReceiver()
	now, n := t0(), 0
	step := func() {
		now = now.Add(time.Millisecond)
		for g, ok := s.Send(now); ok; g, ok = s.Send(now) {
			if n++; n%100 == 0 {
				continue
			}
			if a, ok := r.OnSegment(now.Add(10*time.Millisecond), g); ok {
				s.OnAck(now.Add(20*time.Millisecond), a)
			}
			if n%50 == 0 {
				break
			}
		}
		if due(s.NextTimeout(), now) {
			s.OnTimeout(now)
		}
	}
	for range 2000 {
		step()
	}
	if a := testing.AllocsPerRun(1000, step); a != 0 {
		t.Errorf("%v allocations a step", a)
	}
}

func BenchmarkSecond(b *testing.B) {
	s := mustCubic(b, Config{})
	l := newLink(b, 20e6, 25*time.Millisecond, 1, s)
	d := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		d += time.Second
		l.run(d)
	}
	b.ReportMetric(float64(s.stats.Segments)/float64(b.N), "segments/op")
}
