// SPDX-License-Identifier: MIT

package cell

// horizon is how many slots of grants the base station remembers: more than a
// block can be on its way (four transmissions a round trip apart and both lags).
const horizon = 128

// slot is the plan for one slot on air.
type slot struct {
	air     int64
	carrier int
	grant   int // transport block size, 0 for none
	rbs     int // in a cell with several phones
}

// carriers is how many a phone has at most; TS 36.321 calls them cells.
const carriers = 2

// plan holds the slots around now; a slot that nobody wrote is empty.
type plan [carriers][horizon]slot

func (p *plan) get(carrier int, air int64) slot {
	if s := p[carrier][air&(horizon-1)]; s.air == air {
		return s
	}
	return slot{air: air, carrier: carrier}
}

func (p *plan) set(s slot) { p[s.carrier][s.air&(horizon-1)] = s }

// report is what the base station learns from a decoded block or from an SR.
type report struct {
	at  int64 // slot in which the scheduler knows
	air int64 // slot in which it was sent
	ce  ce
	sr  bool
	// waiting is what the phone has by a report outside of blocks, -1 for none;
	// see SharedConfig.IdealBSR.
	waiting int
}

// station is the scheduler of the base station, as far as this phone sees it.
type station struct {
	air        *air
	reportTTIs int64
	// requestTTIs is the same for scheduling requests.
	requestTTIs int64
	// lead is how long before it is on air the phone fills a block or makes a
	// request; requests go out beside blocks then.
	lead    int64
	srGrant int
	sizes   sizes

	reports ring[report]
	plan    plan
	granted int64         // newest slot with a grant
	last    int64         // air time of the newest BSR
	pending int           // bytes known to wait and not granted yet
	blind   int           // bytes to grant on a request
	polls   int           // in a row, without a BSR in return
	saved   [carriers]int // capacity too small for a block, see minTB
	// greedy takes the phone for one that has data without end.
	greedy bool
	// trusting takes a report as it is, without deducting what was granted since
	// the phone made it; eager is SharedConfig.EagerRequests.
	trusting, eager bool
	ideal           heldReport // SharedConfig.IdealBSR
}

// idle says that the scheduler has nothing to do until the phone speaks.
func (b *station) idle() bool {
	return b.pending == 0 && b.blind == 0 && b.reports.n == 0
}

// schedule runs in slot k: reads what has arrived and grants slot air of a
// carrier, all of which is this phone's. busy says that the phone retransmits in
// that one.
func (b *station) schedule(k int64, carrier int, air int64, busy bool) {
	b.listen(k)
	avail := b.available(carrier, air)
	if avail == 0 || busy {
		return
	}
	if need := b.need(); need > 0 {
		b.grant(slot{air: air, carrier: carrier, grant: min(max(need, minTB), avail)})
	}
}

// hear takes a report or request on its way; requests may be faster.
func (b *station) hear(r report) {
	b.reports.push(r)
	sift(&b.reports, func(a, b *report) bool { return a.at > b.at })
}

// listen reads what has arrived by slot k.
func (b *station) listen(k int64) {
	for b.reports.n > 0 && b.reports.front().at <= k {
		b.on(b.reports.pop(), k)
	}
	if b.ideal.due(k) {
		b.pending = b.ideal.read(k)
	}
}

// heldReport is the newest report outside of blocks; the station reads one every
// period, and at once after one of nothing.
type heldReport struct {
	on      bool
	period  int64 // slots
	fresh   bool  // not read yet
	waiting int
	readAt  int64
	last    int // as read
}

// due says whether the report is read in slot k.
func (h *heldReport) due(k int64) bool {
	return h.fresh && (h.last == 0 || k >= h.readAt+h.period)
}

// read returns what is waiting.
func (h *heldReport) read(k int64) int {
	h.fresh, h.readAt, h.last = false, k, h.waiting
	return h.waiting
}

// need is the transport block that would take all that the phone is known to
// have; 0 for none.
func (b *station) need() int {
	switch {
	case b.greedy:
		return anything
	case b.pending > 0 && b.trusting:
		return b.pending + trustedExtra
	case b.pending > 0:
		return b.pending + headerBytes + b.sizes.ce()
	default:
		return b.blind
	}
}

const (
	// anything is more than any block.
	anything = 1 << 24
	// trustedExtra is what the reference adds to a report.
	trustedExtra = 8
	// eagerRequest is what it takes for the newest report on a request.
	eagerRequest = 12
)

// grant gives a block in slot air, which comes off what the phone needs.
func (b *station) grant(s slot) {
	b.plan.set(s)
	b.granted = s.air
	switch {
	case b.pending > 0 && b.trusting:
		b.pending = max(b.pending-s.grant, 0)
	case b.pending > 0:
		b.pending = max(b.pending-(s.grant-headerBytes), 0)
	default:
		b.blind = 0
	}
}

// available is the capacity of a slot, with what earlier ones had too little of.
func (b *station) available(carrier int, air int64) int {
	n := b.air.bytes(carrier, air) + b.saved[carrier]
	b.saved[carrier] = 0
	if n < minTB {
		b.saved[carrier] = n
		return 0
	}
	return min(n, b.air.frame.maxTB)
}

func (b *station) on(r report, k int64) {
	if b.ideal.on {
		if r.waiting >= 0 {
			b.ideal.waiting, b.ideal.fresh = r.waiting, true
		}
		return
	}
	if b.eager && r.sr {
		b.pending = eagerRequest
		return
	}
	if b.trusting && r.ce.present() {
		b.last, b.pending = r.air, b.sizes.upper(r.ce.index)
		return
	}
	granted := 0
	for a := max(r.air+1, k-b.air.frame.lookback); a <= b.granted; a++ {
		for c := range carriers {
			if g := b.plan.get(c, a).grant; g > 0 {
				granted += g - headerBytes
			}
		}
	}
	switch {
	case r.sr:
		// With a grant under way the phone reports there.
		if b.pending == 0 && granted == 0 {
			b.blind = max(b.blind, b.srGrant)
		}
	case r.ce.present():
		if r.air < b.last {
			return // overtaken while it was retransmitted
		}
		b.last, b.polls, b.blind = r.air, 0, 0
		b.pending = max(b.sizes.upper(r.ce.index)-granted, 0)
	case r.air > b.last && b.pending == 0 && granted == 0:
		// The block was full: there may be more than the phone could say.
		// Guess, and twice as much each time that the guess was too low.
		b.pending = b.srGrant << min(b.polls, 8)
		b.polls++
	}
}
