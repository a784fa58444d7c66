// SPDX-License-Identifier: MIT

package tcp

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// check counts again what a sender keeps count of.
func check(t *testing.T, s *Sender) {
	t.Helper()
	b := &s.board
	sacked, lost, resent := 0, 0, 0
	for i := b.una; i < b.nxt; i++ {
		switch g := b.at(i); {
		case g.state == segSacked:
			sacked++
		case g.state == segLost:
			lost++
			if i < b.lowest {
				t.Fatalf("segment %d is lost, below %d", i, b.lowest)
			}
		case g.again:
			resent++
		}
	}
	if sacked != b.sacked || lost != b.lost || resent != b.resent || b.una > b.nxt || b.pipe() < 0 {
		t.Fatalf("%d sacked, %d lost, %d resent, counted %d, %d, %d; %d to %d", sacked, lost, resent, b.sacked, b.lost, b.resent, b.una, b.nxt)
	}
	w := s.window
	if !(w.cwnd >= 1 && w.cwnd <= float64(max(s.most, s.cfg.InitialWindow)) && w.ssthresh >= minWindow) || math.IsNaN(w.wMax+w.wEst+w.k) {
		t.Fatalf("window %+v", w)
	}
	if b.out() > s.most || len(b.ring) > max(16, 2*s.most) {
		t.Fatalf("%d of %d segments out, memory for %d", b.out(), s.most, len(b.ring))
	}
	if b.out() > 0 && s.deadline.IsZero() {
		t.Fatal("segments are out and no timer runs")
	}
}

// Whatever the other side says, at whatever time: no panic, counts agree, memory
// is bounded, the window stays a window.
func FuzzSender(f *testing.F) {
	f.Add(byte(0), []byte("\x00\x20\x00\x01\x02\x00\x02\x01\x03\x03\xff\x00\x02\x04\x08\x04\x00\x00\x05\x10\x10"))
	f.Add(byte(3), []byte("\x00\xff\x00\x03\xff\x01\x01\x00\x00\x00\xff\x00\x02\x01\x09\x02\x01\x05\x03\xff\x04\x04\x00\x00\x01\x09\x00"))
	f.Add(byte(6), []byte("\x00\xff\x00\x02\x00\x08\x04\x00\x00\x00\xff\x00\x06\xff\xff\x07\x80\x80"))
	f.Fuzz(func(t *testing.T, kind byte, ops []byte) {
		cfg := Config{Start: t0(), MSS: 1000, MaxWindow: 64_000, HyStart: kind&1 == 1}
		if kind&2 == 2 {
			cfg.Bytes = 20_500
		}
		s := mustCubic(t, cfg)
		var snd sending = s
		if kind&4 == 4 {
			sh, err := NewShort(ShortConfig{Start: t0(), Seed: uint64(kind), Flow: cfg})
			if err != nil {
				t.Fatal(err)
			}
			s, snd = &sh.flow, sh
		}
		now := t0()
		base := func() int64 { return snd.Acknowledged() / 1000 * 1000 }
		for ; len(ops) >= 3; ops = ops[3:] {
			x, y := int64(ops[1]), int64(ops[2])
			switch ops[0] % 8 {
			case 0:
				for range x {
					g, ok := snd.Send(now)
					if !ok {
						break
					}
					if g.Len < 1 || g.Len > 1000 || g.Size != g.Len+40 || g.Seq < 0 {
						t.Fatalf("%+v", g)
					}
				}
			case 1:
				snd.OnAck(now, Ack{Cum: base() + x*1000})
			case 2:
				snd.OnAck(now, Ack{Cum: base(), SACK: [3]Range{{base() + x*1000, base() + (x+y)*1000}}})
			case 3:
				now = now.Add(time.Duration(x*y) * time.Millisecond)
			case 4:
				if due := snd.NextTimeout(); !due.IsZero() {
					now = due
				}
				snd.OnTimeout(now)
				if d := snd.NextTimeout(); !d.IsZero() && !d.After(now) {
					t.Fatalf("at %v the timer asks for %v", now, d)
				}
			case 5:
				now = now.Add(-time.Duration(x) * time.Millisecond)
			case 6:
				snd.OnAck(now, Ack{Cum: math.MaxInt64 - x, SACK: [3]Range{{math.MinInt64 + y, math.MaxInt64 - x}, {math.MaxInt64 - y, math.MaxInt64}}})
			case 7:
				snd.OnAck(now, Ack{Cum: x - 100, SACK: [3]Range{{y * 77, x * 331}, {x * 13, x*13 + y}, {-y, y}}})
			}
			check(t, s)
		}
	})
}

// Whatever is lost, late, double or out of order: all arrives in the end, each
// byte is counted once, and the sender knows.
func FuzzTransfer(f *testing.F) {
	f.Add(uint32(300_000), byte(0), []byte{})
	f.Add(uint32(1), byte(1), []byte{1, 0, 2})
	f.Add(uint32(200_001), byte(3), []byte{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 0, 17, 0, 0, 80, 1, 2, 3})
	f.Fuzz(func(t *testing.T, size uint32, kind byte, fate []byte) {
		total := int64(size%500_000) + 1
		s := mustCubic(t, Config{Bytes: total, HyStart: kind&1 == 1})
		r := NewReceiver()
		rng := rand.New(rand.NewPCG(uint64(kind), 0))
		now := t0()
		var way []inFlight // not in order
		sent, n := 0, 0
		for step := 0; !s.Done(); step++ {
			if step > 200_000 {
				t.Fatalf("not done: %d of %d acknowledged, %+v", s.Acknowledged(), total, s.Stats())
			}
			for g, ok := s.Send(now); ok; g, ok = s.Send(now) {
				sent++
				delay := 20 * time.Millisecond
				copies := 1
				if n < len(fate) {
					switch fate[n] % 4 {
					case 1:
						copies = 0
					case 2:
						delay += time.Duration(fate[n]) * time.Millisecond
					case 3:
						copies = 2
					}
					n++
				}
				for range copies {
					way = append(way, inFlight{at: now.Add(delay + time.Duration(rng.IntN(3))*time.Millisecond), seg: g})
				}
			}
			check(t, s)
			now = earliest(s.NextTimeout(), r.NextTimeout(), way)
			if a, ok := r.OnTimeout(now); ok {
				way = append(way, inFlight{at: now.Add(20 * time.Millisecond), ack: a})
			}
			s.OnTimeout(now)
			rest := way[:0:0]
			for _, p := range way {
				switch {
				case p.at.After(now):
					rest = append(rest, p)
				case p.ack.Size > 0:
					s.OnAck(now, p.ack)
				default:
					if a, ok := r.OnSegment(now, p.seg); ok {
						rest = append(rest, inFlight{at: now.Add(20 * time.Millisecond), ack: a})
					}
				}
			}
			way = rest
		}
		if r.Delivered() != total || s.Acknowledged() != total || !s.NextTimeout().IsZero() {
			t.Fatalf("%d of %d delivered, %d acknowledged, timer %v", r.Delivered(), total, s.Acknowledged(), s.NextTimeout())
		}
		if st := s.Stats(); st.Segments != sent || st.Segments-st.Retransmits != int((total+DefaultMSS-1)/DefaultMSS) {
			t.Fatalf("%+v for %d bytes, %d seen", st, total, sent)
		}
	})
}

func earliest(a, b time.Time, way []inFlight) time.Time {
	var first time.Time
	add := func(at time.Time) {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	add(a)
	add(b)
	for _, p := range way {
		add(p.at)
	}

	return first
}

// Against a map of bytes.
func FuzzReceiver(f *testing.F) {
	f.Add([]byte("\x00\x04\x00\x08\x04\x00\x04\x04\x00\x20\x01\x00\x10\x02\x00\x30\x03\x01"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		r := NewReceiver()
		have := map[int64]bool{}
		now := t0()
		for ; len(ops) >= 3; ops = ops[3:] {
			g := Segment{Seq: int64(binary.LittleEndian.Uint16(ops)) % 512, Len: int(ops[2]) % 32}
			for i := range int64(g.Len) {
				have[g.Seq+i] = true
			}
			a, ok := r.OnSegment(now, g)
			if !ok {
				now = now.Add(time.Duration(ops[2]) * time.Millisecond)
				if a, ok = r.OnTimeout(now); !ok {
					a = r.ack()
				}
			}
			cum := int64(0)
			for have[cum] {
				cum++
			}
			if a.Cum != cum || r.Delivered() != cum {
				t.Fatalf("%+v, want %d", a, cum)
			}
			for k, s := range a.SACK {
				if s == (Range{}) {
					continue
				}
				if s.From <= cum || s.To <= s.From || have[s.From-1] || have[s.To] {
					t.Fatalf("%+v: range %d is not one", a, k)
				}
				for i := s.From; i < s.To; i++ {
					if !have[i] {
						t.Fatalf("%+v: %d is not there", a, i)
					}
				}
			}
			if ok && g.Seq > cum && g.Len > 0 && (a.SACK[0].From > g.Seq || a.SACK[0].To < g.Seq+int64(g.Len)) {
				t.Fatalf("%+v: the first range is not that of %+v", a, g)
			}
			if !r.NextTimeout().IsZero() && len(r.held) > 0 {
				t.Fatal("an acknowledgement waits while something is missing")
			}
		}
	})
}
