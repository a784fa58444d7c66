// SPDX-License-Identifier: MIT

package modemlink

import "time"

// maxDrift is by how much two clocks may run apart, as a fraction: quartz is
// within 50 ppm, and one of the two may be slewed.
const maxDrift = 100e-6

// clock knows the offset local - agent between two monotonic clocks, each a
// duration since some epoch. It is pure and not safe for concurrent use.
//
// Every message bounds the offset: what was sent at agent time s and is here at
// local time t came no faster than at once, so offset <= t - s; what left here
// at t and was seen at s gives offset >= t - s. A round trip gives both.
//
//	local  --t0-----------------t1-->        lo = t0 - received
//	          \                /             hi = t1 - sent
//	agent  ----received---sent------>        lo <= offset <= hi
//
// The tightest bounds seen are kept and moved apart by maxDrift, so the fastest
// of the recent round trips decides, as in a minimum filter, and the error is
// at most half of it. Deviation: the usual filter takes the midpoint of one
// best round trip in a window; the two bounds need no window, and each
// direction may be at its fastest in another message.
type clock struct {
	lo, hi time.Duration
	ok     bool // hi is known
	lower  bool // lo is known
	at     time.Duration
	resets int
}

// pinged takes a round trip: sent and back in local time, received and replied
// in agent time. Impossible ones are ignored.
func (c *clock) pinged(t0, t1, received, replied time.Duration) {
	if t1 < t0 || replied < received || satSub(replied, received) > t1-t0 {
		return
	}
	c.advance(t1)
	lo, hi := satSub(t0, received), satSub(t1, replied)
	if c.ok {
		tightLo, tightHi := lo, min(c.hi, hi)
		if c.lower {
			tightLo = max(c.lo, lo)
		}
		if tightLo <= tightHi {
			lo, hi = tightLo, tightHi
		} else {
			// One of the clocks jumped (a suspended machine): the past is void.
			c.resets++
		}
	}
	c.lo, c.hi, c.ok, c.lower = lo, hi, true, true
}

// heard takes a message sent at an agent time and received at local time t.
func (c *clock) heard(t, sent time.Duration) {
	c.advance(t)
	hi := satSub(t, sent)
	switch {
	case !c.ok:
		c.hi, c.ok = hi, true
	case hi < c.hi:
		c.hi = hi
		if c.lower && c.lo > hi {
			c.lower = false
			c.resets++
		}
	}
}

// advance moves the bounds apart for the time since the last message.
func (c *clock) advance(t time.Duration) {
	dt := t - c.at
	if dt <= 0 {
		return
	}
	apart := time.Duration(float64(dt) * maxDrift)
	if apart == 0 {
		return // not a whole nanosecond yet; at stays
	}
	c.at = t
	c.hi = satAdd(c.hi, apart)
	c.lo = satSub(c.lo, apart)
}

// offset returns local - agent and by how much it may be wrong either way. It
// is not ok before the first message. Without a round trip the offset is the
// largest possible one and the error is unknown, -1.
func (c *clock) offset() (offset, err time.Duration, ok bool) {
	if !c.ok || !c.lower {
		return c.hi, -1, c.ok
	}
	half := satSub(c.hi, c.lo) / 2

	return satAdd(c.lo, half), half, true
}

// local maps an agent time to local time, never later than now.
func (c *clock) local(now, agent time.Duration) time.Duration {
	off, _, ok := c.offset()
	if !ok {
		return now
	}

	return min(satAdd(agent, off), now)
}

func satAdd(a, b time.Duration) time.Duration {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return 1<<63 - 1
	case a < 0 && b < 0 && s >= 0:
		return -1 << 63
	}

	return s
}

func satSub(a, b time.Duration) time.Duration {
	s := a - b
	switch {
	case a >= 0 && b < 0 && s < 0:
		return 1<<63 - 1
	case a < 0 && b > 0 && s >= 0:
		return -1 << 63
	}

	return s
}
