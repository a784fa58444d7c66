// SPDX-License-Identifier: MIT

package tcp

import "time"

// reordering is how many later segments have to arrive before one counts as
// lost. RFC 6675: DupThresh.
const reordering = 3

type segState uint8

const (
	segOut segState = iota
	segSacked
	segLost // and not yet sent again
)

// seg is a segment that is not acknowledged.
type seg struct {
	sentAt time.Time
	order  int64 // of sending; each copy has its own
	state  segState
	again  bool // sent more than once
}

// scoreboard knows the segments from una, the first that is missing, to nxt, the
// first that was never sent. Numbers count segments.
type scoreboard struct {
	ring         []seg // by number, a power of two
	una, nxt     int64
	sacked, lost int
	order        int64 // of the next copy
	newest       int64 // order of what has arrived; -1 before
	resent       int   // segments out for the second time or more
	lowest       int64 // no lost segment is below
}

func (b *scoreboard) reset() {
	*b = scoreboard{ring: b.ring, newest: -1}
}

func (b *scoreboard) at(i int64) *seg { return &b.ring[i&int64(len(b.ring)-1)] }

// out is all that is not acknowledged, pipe what of it is on the way. RFC 6675 4.
func (b *scoreboard) out() int { return int(b.nxt - b.una) }

func (b *scoreboard) pipe() int { return b.out() - b.sacked - b.lost }

// push sends a new segment and returns its number.
func (b *scoreboard) push(now time.Time) int64 {
	if b.out() == len(b.ring) {
		ring := make([]seg, max(16, 2*len(b.ring)))
		for i := b.una; i < b.nxt; i++ {
			ring[i&int64(len(ring)-1)] = *b.at(i)
		}
		b.ring = ring
	}
	*b.at(b.nxt) = seg{sentAt: now, order: b.order}
	b.order++
	b.nxt++

	return b.nxt - 1
}

// resend sends the first lost segment again; there has to be one.
func (b *scoreboard) resend(now time.Time) int64 {
	b.lowest = max(b.lowest, b.una)
	for b.at(b.lowest).state != segLost {
		b.lowest++
	}
	g := b.at(b.lowest)
	*g = seg{sentAt: now, order: b.order, again: true}
	b.order++
	b.lost--
	b.resent++

	return b.lowest
}

// arrival is what an acknowledgement brings.
type arrival struct {
	segments int
	advanced bool
	rtt      time.Duration // of the latest one sent once; 0 for none
	latest   int64         // its order
}

// cumulative takes all segments below number cum as arrived.
func (b *scoreboard) cumulative(now time.Time, cum int64, least time.Duration, a *arrival) {
	for ; b.una < cum; b.una++ {
		g := b.at(b.una)
		if g.state == segSacked {
			b.sacked--
		} else {
			b.arrive(now, g, least, a)
		}
		a.advanced = true
	}
}

// selective takes a range of segments as arrived.
func (b *scoreboard) selective(now time.Time, from, to int64, least time.Duration, a *arrival) {
	for i := max(from, b.una); i < min(to, b.nxt); i++ {
		if g := b.at(i); g.state != segSacked {
			b.arrive(now, g, least, a)
			g.state = segSacked
			b.sacked++
		}
	}
}

func (b *scoreboard) arrive(now time.Time, g *seg, least time.Duration, a *arrival) {
	a.segments++
	rtt := now.Sub(g.sentAt)
	switch {
	case g.state == segLost:
		b.lost--
	case g.again:
		b.resent--
	}
	if !g.again && g.order >= a.latest {
		a.latest, a.rtt = g.order, max(rtt, time.Microsecond)
	}
	// Too early for the latest copy: it is an earlier one, of unknown order.
	// RFC 8985 6.2 step 2. The same goes for a copy that was given up.
	if !g.again || rtt >= least && g.state != segLost {
		b.newest = max(b.newest, g.order)
	}
}

// findLost marks what must be lost. first is the highest number of those that
// are lost for the first time, -1 if there are none.
func (b *scoreboard) findLost() (first int64, found bool) {
	if b.sacked == 0 && b.resent == 0 {
		return -1, false
	}
	first = -1
	for i := b.una; i < b.nxt; i++ {
		if g := b.at(i); g.state == segOut && g.order+reordering <= b.newest {
			if !g.again {
				first = i
			}
			b.lose(i, g)
			found = true
		}
	}

	return first, found
}

// loseAll is a timeout. A receiver that has the first missing segment, as it
// says, and still misses it, has thrown away what it had. RFC 2018 8.
func (b *scoreboard) loseAll() {
	reneged := b.out() > 0 && b.at(b.una).state == segSacked
	for i := b.una; i < b.nxt; i++ {
		switch g := b.at(i); {
		case g.state == segOut:
			b.lose(i, g)
		case g.state == segSacked && reneged:
			g.again = false // it is not out
			b.sacked--
			b.lose(i, g)
		}
	}
}

func (b *scoreboard) lose(i int64, g *seg) {
	if g.again {
		b.resent--
	}
	g.state = segLost
	b.lost++
	b.lowest = min(b.lowest, i)
}
