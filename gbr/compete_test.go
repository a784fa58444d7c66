// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// run lets time pass beside a queue that stays, and returns the last rate.
func (c *compete) run(now *time.Time, d, queue time.Duration, est gcc.Estimate, alone bool) float64 {
	rate := 0.0
	for range d / (50 * time.Millisecond) {
		*now = now.Add(50 * time.Millisecond)
		rate = c.update(*now, queue, est, alone, int64(c.window*cubicPacket))
	}

	return rate
}

func TestCompeteIsCubic(t *testing.T) {
	const rtt = 200 * time.Millisecond
	now := time.Unix(1000, 0)
	est := gcc.Estimate{RTT: rtt, AckedBps: 10_000_000}
	var c compete
	c.start(now, 2e6, 4e6, rtt)
	window := 2e6 / 8 * rtt.Seconds() / cubicPacket
	if rate := c.run(&now, 50*time.Millisecond, 150*time.Millisecond, est, false); rate < 1.3e6 || rate > 1.5e6 {
		t.Errorf("begins at %.2f Mbit/s, want 0.7 of the 2 before", rate/1e6)
	}
	// RFC 9438 4.2: back at its plateau after the cube root of (1 - beta) W / C.
	k := math.Cbrt((1 - competeBegin) * window / cubicC)
	c.run(&now, time.Duration(k*1e9), 150*time.Millisecond, est, false)
	if c.window < 0.98*window || c.window > 1.1*window {
		t.Errorf("window %.0f packets at the plateau, want %.0f", c.window, window)
	}
	// A loss of what was sent before the last one was answered counts once.
	loss := func() {
		c.newest++
		c.onFeedback([]gcc.PacketResult{{SentPacket: gcc.SentPacket{Seq: c.newest, At: now}}})
	}
	before := c.window
	loss()
	c.run(&now, 50*time.Millisecond, 150*time.Millisecond, est, false)
	loss()
	c.run(&now, 50*time.Millisecond, 150*time.Millisecond, est, false)
	if c.window < 0.68*before || c.window > 0.75*before {
		t.Errorf("window %.1f after two losses at a time, want 0.7 of %.1f", c.window, before)
	}
}

func TestCompeteEnds(t *testing.T) {
	const rtt = 100 * time.Millisecond
	est := gcc.Estimate{RTT: rtt, AckedBps: 2_000_000}
	begin := func() (*compete, time.Time) {
		now := time.Unix(1000, 0)
		c := &compete{}
		c.start(now, 2e6, 0, rtt)

		return c, now
	}
	c, now := begin()
	if c.run(&now, 4*time.Second, 100*time.Millisecond, est, false); !c.on {
		t.Error("ends although the queue stays")
	}
	if c.run(&now, 1500*time.Millisecond, 0, est, false); c.on {
		t.Error("goes on without a queue")
	}
	c, now = begin()
	if c.run(&now, 3*time.Second, 100*time.Millisecond, est, true); c.on {
		t.Error("goes on alone")
	}
	// It gives way once in a while; if all do, the queue goes and it ends.
	c, now = begin()
	c.run(&now, competeEvery+200*time.Millisecond, 100*time.Millisecond, est, false)
	if rate := c.run(&now, 50*time.Millisecond, 50*time.Millisecond, est, false); rate > 0.35*2e6 {
		t.Errorf("%.2f Mbit/s, want a pause", rate/1e6)
	}
	if c.run(&now, 50*time.Millisecond, 0, est, false); c.on {
		t.Error("goes on although the queue has gone in a pause")
	}
}

// The rate is finite and positive whatever comes.
func TestCompeteIsBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	var c compete
	for _, rtt := range []time.Duration{0, time.Microsecond, time.Minute} {
		for _, acked := range []int{0, 1, math.MaxInt32} {
			c.start(now, float64(acked), float64(acked), rtt)
			for range 100 {
				now = now.Add(time.Hour)
				rate := c.update(now, time.Second, gcc.Estimate{RTT: rtt, AckedBps: acked}, false, math.MaxInt32)
				if math.IsNaN(rate) || rate < 0 || rate > 1e18 {
					t.Fatalf("rtt %v, acked %d: %g bit/s", rtt, acked, rate)
				}
			}
		}
	}
}

// It begins with some of what it had, but neither with nothing because it has given
// way for long, nor with more than its half of a path that is known.
func TestCompeteBegins(t *testing.T) {
	const rtt = 200 * time.Millisecond
	for _, tc := range []struct{ before, path, low, high float64 }{ // Mbit/s
		{2, 4, 1.3, 1.5},
		{0.2, 4, 0.9, 1.1},
		{3.9, 4, 1.5, 1.7},
		{2, 0, 1.3, 1.5},
		{0.2, 0, 0.13, 0.15},
	} {
		var c compete
		c.start(time.Unix(1000, 0), tc.before*1e6, tc.path*1e6, rtt)
		if got := c.bps(c.window) / 1e6; got < tc.low || got > tc.high {
			t.Errorf("%.1f Mbit/s before, of %.1f: begins with %.2f, want %.2f to %.2f", tc.before, tc.path, got, tc.low, tc.high)
		}
		if c.most < c.window {
			t.Errorf("%.1f Mbit/s before, of %.1f: a plateau of %.0f packets below the window of %.0f", tc.before, tc.path, c.most, c.window)
		}
	}
}
