// SPDX-License-Identifier: MIT

package ratio

import (
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// wrap is the number of TTIs of 1 ms until SFN starts again, on LTE and NR.
const wrap = 10240

// ttisPerFrame is a radio frame of 10 ms.
const ttisPerFrame = 10

const microsPerTTI = 1000

// firstTTI is where we begin to count, so that TTIs are positive.
const firstTTI = 1 << 20

// How far a record's TTI may lie from where the clock expects it before it
// counts as another time line: a new cell, or a reset. By the modem's own time
// stamp a record is at most 102 ms old (B064 batches); by arrival, the
// diagnostic buffer adds up to 600 ms. The room ahead is for a first record
// that was an old one.
const (
	maxAgeLogged, maxAheadLogged   = 300, 150
	maxAgeArrival, maxAheadArrival = 1500, 500
	// maxLeap: the modem's clock was set.
	maxLeap = 2 * time.Second
	// oldLine is how long records of the time line before a jump may come
	// late, while the new one goes on.
	oldLine = 500 * time.Millisecond
)

// verdict is what the clock says about a record.
type verdict uint8

const (
	sameLine verdict = iota
	// newLine: all TTIs before are of another cell.
	newLine
	// otherLine: the record is of the time line before the last jump, or a
	// lone stray, as real modems write now and then.
	otherLine
)

// jumpRecords is how many records in a row, of more than one packet, have to
// agree on a new time line. A packet may begin with some strays.
const jumpRecords = 3

// line is one continuous count of TTIs.
type line struct {
	// base: TTI 0 of some radio frame cycle is TTI base of our count.
	base int64
	// phase is reference time - TTI, in µs, smallest for the freshest.
	phase minFilter
}

// clock unwraps TTIs and maps them to the local clock. Times are µs since the
// first record. The reference that tells how many cycles have passed is the
// modem's time stamp where there is one, else arrival.
type clock struct {
	started bool
	logged  bool
	origin  time.Time
	// modemOrigin is the first time stamp, lastRef and lastAt the last
	// record's.
	modemOrigin     time.Time
	lastRef, lastAt int64
	cur, old        line
	hasOld          bool
	// next is the line that the last strays are on.
	next    line
	nextRef int64
	strays  int
	// local is local time - TTI. Its minimum over the last seconds is the
	// clock offset: what came faster than all others was on air just before.
	// A sliding window follows drift.
	local minFilter
	// newest is the greatest TTI given out.
	newest int64
}

func micros(d time.Duration) int64 { return int64(d / time.Microsecond) }

// at returns a local time on the clock's scale.
func (c *clock) at(t time.Time) int64 { return micros(t.Sub(c.origin)) }

// unwrap returns the continuous TTI of a record of TTI sfnTTI (0..wrap-1), read
// at at. With jump a record off the line is no stray: another cell or radio, or
// stale records before it.
func (c *clock) unwrap(at int64, sfnTTI int, logged diag.Timestamp, jump bool) (int64, verdict) {
	if !c.started {
		c.started = true
		c.logged = logged != 0
		c.modemOrigin = logged.Time()
		c.start(at, c.reference(at, logged), firstTTI, sfnTTI)

		return firstTTI, sameLine
	}
	ref := c.reference(at, logged)
	leap := c.logged && (ref-c.lastRef > at-c.lastAt+micros(maxLeap) || ref-c.lastRef < -micros(maxLeap))
	if tti, ok := c.fit(&c.cur, ref, sfnTTI); ok && !leap {
		c.lastRef, c.lastAt, c.strays = ref, at, 0
		c.cur.phase.add(at, ref-tti*microsPerTTI)
		c.local.add(at, at-tti*microsPerTTI)
		c.newest = max(c.newest, tti)

		return tti, sameLine
	}
	if c.hasOld && !jump && !leap && at-c.lastAt < micros(oldLine) {
		if _, ok := c.fit(&c.old, ref, sfnTTI); ok {
			return 0, otherLine
		}
	}
	if _, ok := c.fit(&c.next, ref, sfnTTI); !ok || c.strays == 0 {
		c.next, c.strays = line{}, 0
		c.next.phase.add(at, ref-int64(sfnTTI)*microsPerTTI)
		c.nextRef = ref
	}
	c.strays++
	if !jump && (c.strays < jumpRecords || ref == c.nextRef) {
		return 0, otherLine
	}
	c.old, c.hasOld = c.cur, !leap
	// Go on counting where the local clock says we are, so that times stay
	// continuous and TTIs never come twice.
	tti := max(c.newest+1, floorDiv(at-c.local.min(), microsPerTTI))
	c.start(at, ref, tti, sfnTTI)

	return tti, newLine
}

// start begins a time line with a record in TTI sfnTTI, which we count as tti.
func (c *clock) start(at, ref, tti int64, sfnTTI int) {
	c.cur = line{base: tti - int64(sfnTTI)}
	c.cur.phase.add(at, ref-tti*microsPerTTI)
	c.local = minFilter{}
	c.local.add(at, at-tti*microsPerTTI)
	c.newest, c.lastRef, c.lastAt, c.strays = max(tti, c.newest), ref, at, 0
}

func (c *clock) reference(at int64, logged diag.Timestamp) int64 {
	switch {
	case !c.logged:
		return at
	case logged == 0:
		return c.lastRef
	default:
		return micros(logged.Time().Sub(c.modemOrigin))
	}
}

// fit finds the TTI of a line nearest to where ref expects it.
func (c *clock) fit(l *line, ref int64, tti int) (int64, bool) {
	age, ahead := int64(maxAgeArrival), int64(maxAheadArrival)
	if c.logged {
		age, ahead = maxAgeLogged, maxAheadLogged
	}
	expected := floorDiv(ref-l.phase.min(), microsPerTTI)
	d := floorMod(l.base+int64(tti)-expected, wrap)
	if d > ahead {
		d -= wrap
	}

	return expected + d, d >= -age && d <= ahead
}

// time maps a TTI to the local clock.
func (c *clock) time(tti int64) time.Time {
	return c.origin.Add(time.Duration(c.micros(tti)) * time.Microsecond)
}

// slotTime maps a part of a TTI.
func (c *clock) slotTime(tti int64, part int) time.Time {
	return c.time(tti).Add(time.Duration(part*microsPerTTI/parts) * time.Microsecond)
}

func (c *clock) micros(tti int64) int64 { return tti*microsPerTTI + c.local.min() }

// sfn is the frame number of a TTI of the present time line.
func (c *clock) sfn(tti int64) int {
	return int(floorMod(tti-c.cur.base, wrap) / ttisPerFrame)
}

// tti maps a local time to the TTI then on air.
func (c *clock) tti(at int64) int64 { return floorDiv(at-c.local.min(), microsPerTTI) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}

	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// buckets of two seconds in which records came, so that a pause does not empty a
// filter. Sixteen seconds follow a drift of 100 ppm within 2 ms, and hold at least
// one fast arrival of a phone whose diagnostic buffer comes in bursts of 380 ms.
const (
	buckets     = 8
	bucketWidth = 2_000_000
)

// minFilter is the minimum over the last sixteen seconds with values. The zero
// value is empty; its minimum is 0.
type minFilter struct {
	mins [buckets]int64
	n    int // buckets in use
	cur  int
	id   int64
}

func (f *minFilter) add(at, v int64) {
	id := floorDiv(at, bucketWidth)
	switch {
	case f.n == 0:
		f.n, f.id, f.mins[f.cur] = 1, id, v
	case id != f.id:
		f.n, f.id = min(f.n+1, buckets), id
		f.cur = (f.cur + 1) % buckets
		f.mins[f.cur] = v
	default:
		f.mins[f.cur] = min(f.mins[f.cur], v)
	}
}

func (f *minFilter) min() int64 {
	if f.n == 0 {
		return 0
	}
	m := f.mins[f.cur]
	for i := 1; i < f.n; i++ {
		m = min(m, f.mins[(f.cur-i+buckets)%buckets])
	}

	return m
}
