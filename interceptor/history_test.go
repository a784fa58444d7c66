// SPDX-License-Identifier: MIT

package interceptor

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// A slow one that forgets nothing and searches everything.
func TestNumberSpaceAgainstList(t *testing.T) {
	type sent struct {
		number int64
		p      gcc.SentPacket
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var s numberSpace
		var list []sent
		now := epoch()
		number := int64(1<<16) + rng.Int64N(1<<16)
		found := 0
		for i := range 20_000 {
			now = now.Add(time.Duration(rng.IntN(1500)) * time.Microsecond)
			if rng.IntN(20_000) == 0 {
				now = now.Add(time.Minute)
			}
			number++
			if rng.IntN(50) == 0 {
				number += rng.Int64N(20) // refused packets
			}
			p := gcc.SentPacket{Seq: int64(i), At: now}
			if u := s.unwrap(uint16(number)); s.newest != 0 && u != number {
				t.Fatalf("seed %d: %d unwraps to %d", seed, number, u)
			} else {
				number = u
			}
			s.add(number, p, false)
			list = append(list, sent{number, p})

			back := rng.IntN(min(len(list), 12_000))
			want := list[len(list)-1-back]
			got := s.find(now, uint16(want.number))
			young := now.Sub(want.p.At) <= historyAge
			switch {
			case got == nil && young && want.number > number-historyLimit:
				t.Fatalf("seed %d: packet %d back and %v old is gone", seed, back, now.Sub(want.p.At))
			case got != nil && !young:
				t.Fatalf("seed %d: packet is still there after %v", seed, now.Sub(want.p.At))
			case got != nil && s.packet(got) != want.p:
				t.Fatalf("seed %d: found %+v, want %+v", seed, s.packet(got), want.p)
			case got != nil:
				found++
			}
			if s.find(now, uint16(number+1)) != nil || s.find(now, uint16(number+30_000)) != nil {
				t.Fatalf("seed %d: found what was not sent", seed)
			}
		}
		if found < 1000 {
			t.Fatalf("seed %d: only %d found", seed, found)
		}
	}
}

func TestNumberSpaceIsBounded(t *testing.T) {
	var s numberSpace
	for i := range 50_000 {
		s.add(int64(1+i), gcc.SentPacket{At: epoch()}, false)
	}
	within(t, "ring at 50000 packets at once", float64(len(s.ring)), historyLimit, 0, "packets")
	s = numberSpace{}
	for i := range 50_000 { // 50 packets/s: 250 in 5 s
		s.add(int64(1+i), gcc.SentPacket{At: epoch().Add(time.Duration(i) * 20 * time.Millisecond)}, false)
	}
	within(t, "ring at 50 packets/s", float64(len(s.ring)), 256, 0, "packets")
}

func TestResentNumberIsTheLatestPacket(t *testing.T) {
	h := newHistory()
	for _, n := range []uint16{7, 8, 9, 8} {
		h.beginRTP(1, n, epoch(), 100, false)
	}
	if e := h.streams[1].find(epoch(), 8); e == nil || e.seq != 3 {
		t.Errorf("8 is %+v, want the second one", e)
	}
	if e := h.streams[1].find(epoch(), 9); e == nil || e.seq != 2 {
		t.Errorf("9 is %+v", e)
	}
}

func TestStreamsExpire(t *testing.T) {
	h := newHistory()
	h.beginRTP(1, 1, epoch(), 100, false)
	h.beginRTP(2, 1, epoch().Add(4*time.Second), 100, false)
	h.expire(epoch().Add(6 * time.Second))
	if len(h.streams) != 1 || h.streams[2] == nil {
		t.Errorf("left: %v", h.streams)
	}
}
