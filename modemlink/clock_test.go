// SPDX-License-Identifier: MIT

package modemlink

import (
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestClockBounds(t *testing.T) {
	var c clock
	if _, _, ok := c.offset(); ok {
		t.Fatal("an offset before any message")
	}
	if got := c.local(5*ms, 99*ms); got != 5*ms {
		t.Errorf("unknown clock: local %v, want now", got)
	}
	// One way only: the largest possible offset, the error unknown.
	c.heard(100*ms, 40*ms)
	if off, err, ok := c.offset(); !ok || off != 60*ms || err != -1 {
		t.Errorf("one way: %v +- %v %t, want 60ms +- unknown", off, err, ok)
	}
	// A round trip of 20 ms of which the agent held 4.
	c.pinged(100*ms, 120*ms, 50*ms, 54*ms)
	if off, err, _ := c.offset(); (off-55*ms).Abs() > 10*time.Microsecond || (err-5*ms).Abs() > 10*time.Microsecond {
		t.Errorf("round trip: %v +- %v, want 55ms +- 5ms (60 stays the upper bound)", off, err)
	}
	// A slow round trip says nothing new.
	c.pinged(120*ms, 320*ms, 160*ms, 160*ms)
	if off, err, _ := c.offset(); (off-55*ms).Abs() > 30*time.Microsecond || (err-5*ms).Abs() > 30*time.Microsecond {
		t.Errorf("after a slow one: %v +- %v, want still 55ms +- 5ms", off, err)
	}
	if got := c.local(400*ms, 345*ms); got != 400*ms {
		t.Errorf("local %v, want at most now", got)
	}
	if got := c.local(400*ms, 300*ms); (got - 355*ms).Abs() > ms {
		t.Errorf("local %v, want 355ms", got)
	}
}

func TestClockIgnoresNonsense(t *testing.T) {
	var c clock
	c.pinged(100*ms, 102*ms, 1*ms, 1*ms)
	before := c
	c.pinged(100*ms, 99*ms, 1*ms, 1*ms)    // back before it left
	c.pinged(100*ms, 102*ms, 5*ms, 1*ms)   // answered before it came
	c.pinged(100*ms, 102*ms, 1*ms, 100*ms) // held for longer than it took
	c.pinged(100*ms, 102*ms, -1<<63, 1<<63-1)
	if c != before {
		t.Errorf("clock moved: %+v, was %+v", c, before)
	}
}

// Either machine may be suspended, which stops its monotonic clock.
func TestClockJump(t *testing.T) {
	for _, jump := range []time.Duration{-time.Hour, time.Hour} {
		var c clock
		c.pinged(100*ms, 110*ms, 105*ms, 105*ms) // offset 0
		c.heard(200*ms, 195*ms+jump)
		c.pinged(300*ms, 310*ms, 305*ms+jump, 305*ms+jump)
		if off, err, _ := c.offset(); (off+jump).Abs() > 5*ms+10*time.Microsecond || err > 5*ms+10*time.Microsecond {
			t.Errorf("jump %v: offset %v +- %v, want %v +- 5ms", jump, off, err, -jump)
		}
	}
}

// An hour of pings and batches over a jittery link between clocks that drift
// apart by 50 ppm, either way: the error stays within half the fastest round
// trip, and telemetry is never in the future.
func TestClockDrift(t *testing.T) {
	for _, ppm := range []float64{-50, 0, 50} {
		rng := rand.New(rand.NewPCG(1, uint64(int64(ppm))))
		agent := func(local time.Duration) time.Duration {
			return 1234*time.Hour + time.Duration(float64(local)*(1+ppm*1e-6))
		}
		var c clock
		const floor = 2 * ms // one way
		var worst time.Duration
		for now := time.Second; now < time.Hour; now += 500 * ms {
			oneWay := func() time.Duration { return floor + time.Duration(rng.ExpFloat64()*float64(20*ms)) }
			up, down := oneWay(), oneWay()
			c.pinged(now, now+up+down, agent(now+up), agent(now+up))
			late := now + 100*ms
			c.heard(late+down, agent(late))

			at := now + 300*ms
			c.advance(at)
			off, err, ok := c.offset()
			if !ok {
				t.Fatal("no offset")
			}
			truth := at - agent(at)
			if e := (off - truth).Abs(); e > err+time.Microsecond {
				t.Fatalf("%g ppm at %v: wrong by %v, said at most %v", ppm, now, e, err)
			} else if now > 10*time.Second {
				worst = max(worst, e)
			}
			if got := c.local(at, agent(at)+time.Second); got > at {
				t.Fatalf("%g ppm at %v: in the future by %v", ppm, now, got-at)
			}
		}
		if c.resets != 0 {
			t.Errorf("%g ppm: %d resets", ppm, c.resets)
		}
		// Half the fastest round trip, and what a bound gains at 100 ppm until
		// the next fast one.
		if worst > floor+3*ms {
			t.Errorf("%g ppm: wrong by up to %v, want within %v", ppm, worst, floor+3*ms)
		}
		t.Logf("%g ppm: wrong by up to %v", ppm, worst)
	}
}

// Shifting the agent's epoch must shift the offset and nothing else.
func TestClockShift(t *testing.T) {
	run := func(shift time.Duration) time.Duration {
		var c clock
		for i := range 20 {
			now := time.Duration(i) * 100 * ms
			c.pinged(now, now+time.Duration(10+i%3)*ms, now+4*ms+shift, now+5*ms+shift)
			c.heard(now+20*ms, now+15*ms+shift)
		}
		off, _, _ := c.offset()

		return off
	}
	if a, b := run(0), run(77*time.Hour); a != b+77*time.Hour {
		t.Errorf("offset %v, shifted %v", a, b)
	}
}

func FuzzClock(f *testing.F) {
	f.Add(int64(0), int64(10), int64(5), int64(5), int64(20), int64(8))
	f.Add(int64(0), int64(1<<62), int64(-1<<63), int64(1<<62), int64(1<<62), int64(1<<63-1))
	f.Fuzz(func(t *testing.T, t0, t1, recv, sent, t2, heard int64) {
		// Local times are this machine's: not negative, ascending.
		if t0 < 0 || t1 < t0 || t2 < t1 {
			return
		}
		var c clock
		c.heard(time.Duration(t0), time.Duration(heard))
		c.pinged(time.Duration(t0), time.Duration(t1), time.Duration(recv), time.Duration(sent))
		c.heard(time.Duration(t2), time.Duration(heard))
		if _, err, ok := c.offset(); ok && c.lower && err < 0 {
			t.Errorf("negative error %v in %+v", err, c)
		}
		for _, agent := range []int64{recv, sent, heard, -1 << 63, 1<<63 - 1} {
			if got := c.local(time.Duration(t2), time.Duration(agent)); got > time.Duration(t2) {
				t.Errorf("local %d after now %d", got, t2)
			}
		}
	})
}
