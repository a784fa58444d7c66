// SPDX-License-Identifier: MIT

package ratio

import (
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

const (
	// fastHold and slowHold are how late B139 and B064 come at most, plus 3
	// ms on the way. How late NR's codes come is not known but from what is
	// seen: holdNR is until then.
	fastHold, slowHold = 15, 105
	// ownHold is the same of B066.
	ownHold = 43
	holdNR  = 20
	// spare is added to a learned hold.
	spare = 3
	// staleAge is how old a record may be on arrival, and how long a code is
	// taken for logged that is silent while another one is not.
	staleAge = 2000
	// learnVotes is how many observations a learned value takes.
	learnVotes = 8
)

// leg is one radio: LTE, or NR. Each has frames, timers and a queue of its own.
type leg struct {
	nr bool
	// carrier0 is the number of the primary carrier in telemetry.
	carrier0     int
	cfg          Config
	hintT, hintL int64
	stats        *Stats

	clock clock
	ring  ring
	win   windows
	// now is the latest local time seen, settled when telemetry may begin.
	now, settled int64
	// switched: the frames of the radio now followed have not been seen yet.
	switched bool

	// newest TTI by source, whether its last slot was told, whether there is
	// such a source, and how late its records come.
	newest [sources]int64
	whole  [sources]bool
	seen   [sources]bool
	late   [sources]minFilter // of minus lateness: its minimum is the latest
	// numerology is the finest seen.
	numerology uint8
	// lastSlot, lastCell and again tell blocks of one slot apart whose
	// carriers the log packet does not.
	lastSlot, lastCell, again int

	lastBSR int64
	hasBSR  bool
	// periods is the spacing of periodic BSRs, timer what the MAC
	// configuration says (0 none, -1 infinite).
	periods votes
	timer   int64
	// extended is LTE's extendedBSR-Sizes, as far as the records tell.
	extended bool
	period   int64 // in use; 0 unknown
	lag      int64 // learned or given; 0 unknown
	config   gbr.RadioConfig

	grants  []grant
	reports []report
	own     own
	told    history
	queues  queues
	// held are windows that wait for the other radio's grants.
	held []sample
	// carried is the bytes granted in this second and the one before.
	carried [2]int
}

type grant struct {
	tti               int64
	part, bytes, cell int
}

type report struct {
	tti       int64
	part      int
	low, high int
	padding   bool
	inferred  bool
}

func (l *leg) init(cfg Config, nr bool, stats *Stats) {
	l.cfg, l.nr, l.stats = cfg, nr, stats
	l.hintT, l.hintL = cfg.Period.Milliseconds(), cfg.Lag.Milliseconds()
	l.win.minLag = minLag
	if nr {
		l.carrier0 = carrierNR
		l.hintT, l.hintL = cfg.NRPeriod.Milliseconds(), cfg.NRLag.Milliseconds()
		l.win.minLag = minLagNR
		l.ring.parts = make([][parts]int32, ringSize)
	}
	l.period, l.lag = l.hintT, l.hintL
	l.config = gbr.RadioConfig{RAT: gbr.RATUnknown, PCI: -1}
	l.win.ring = &l.ring
	l.win.pending = make([]border, 0, maxBorders)
	l.tune()
}

func (l *leg) rat() gbr.RAT {
	if l.nr {
		return gbr.RATNR
	}

	return gbr.RATLTE
}

// live tells whether the leg has spoken and settled.
func (l *leg) live() bool { return l.clock.started && l.now >= l.settled }

func (l *leg) begin(now int64) {
	l.now = now
	l.grants, l.reports, l.win.out = l.grants[:0], l.reports[:0], l.win.out[:0]
	l.lastSlot = -1
}

func (l *leg) record(r *diag.Record) {
	if r.Kind == diag.KindConfig {
		l.onConfig(r)

		return
	}
	first := !l.clock.started
	jump := l.newCell(r) || l.switched || l.now < l.settled
	tti, verdict := l.clock.unwrap(l.now, r.TTI>>r.Numerology, r.Logged, jump)
	l.switched = false
	if first {
		l.settled = l.now + max(0, micros(l.cfg.Settle))
		l.restart(tti)
	}
	switch verdict {
	case newLine:
		l.stats.Restarts++
		l.restart(tti)
	case otherLine:
		l.stats.Stale++

		return
	case sameLine:
	}
	lateness := l.now - l.clock.micros(tti)
	if l.now < l.settled {
		l.stats.Settling++

		return
	}
	if lateness > staleAge*microsPerTTI {
		l.stats.Stale++

		return
	}
	l.onCell(tti, r)
	src := sourceOf(r)
	if src == sourceFast || r.Kind == diag.KindGrant {
		l.late[src].add(l.now, -lateness)
	}
	part, whole := l.part(r)
	if tti > l.newest[src] {
		l.newest[src], l.whole[src] = tti, whole
	} else if tti == l.newest[src] {
		l.whole[src] = l.whole[src] || whole
	}
	l.seen[src] = true
	l.hear(src, r)
	if r.Kind == diag.KindBSR {
		l.onBSR(tti, part, r)
	} else if r.Retx == 0 && r.Bytes > 0 {
		l.onGrant(tti, part, src, r)
	} else if r.Retx > 0 && l.ring.addRepeat(tti) {
		l.grants = append(l.grants, grant{tti: tti, part: part, cell: l.carrier0 + r.Cell})
	}
	l.advance(1)
}

// part is where in its TTI a record's slot lies, and whether it is the last
// one there may be.
func (l *leg) part(r *diag.Record) (part int, whole bool) {
	if !l.nr {
		return 0, true
	}
	l.numerology = max(l.numerology, r.Numerology)
	part = (r.TTI & (1<<r.Numerology - 1)) * (parts >> r.Numerology)

	return part, part == parts-parts>>l.numerology
}

func sourceOf(r *diag.Record) source {
	if r.Code == diag.LogB139 || r.Code == diag.LogB883 {
		return sourceFast
	}

	return sourceSlow
}

// restart forgets the time line before TTI tti.
func (l *leg) restart(tti int64) {
	l.win.reset(tti)
	for i := range l.newest {
		l.newest[i], l.whole[i] = tti-1, true
	}
	l.hasBSR = false
	l.own.anchored, l.own.busy = false, false
}

// onCell notes the identity of the primary cell; a change is a handover.
func (l *leg) onCell(tti int64, r *diag.Record) {
	if !r.HasPCI || r.Cell != 0 || r.PCI == l.config.PCI || tti < l.newest[sourceFast] {
		return
	}
	if l.newCell(r) {
		l.win.reset(tti)
		l.hasBSR = false
	}
	l.config.PCI = r.PCI
}

func (l *leg) newCell(r *diag.Record) bool {
	return r.HasPCI && r.Cell == 0 && l.config.PCI >= 0 && r.PCI != l.config.PCI
}

func (l *leg) onConfig(r *diag.Record) {
	l.config.RAT = l.rat()
	if r.HasExtendedBSR {
		l.extended = r.ExtendedBSR
	}
	// RRC messages can tell of the sizes alone; B060 tells of the timer always.
	if r.PeriodicBSR == 0 && r.HasExtendedBSR {
		return
	}
	l.timer = r.PeriodicBSR.Milliseconds()
	if r.PeriodicBSR == diag.Infinite || l.timer > maxPeriod.Milliseconds() || l.timer <= 0 {
		l.timer = -1
	}
	l.tune()
}

func (l *leg) onGrant(tti int64, part int, src source, r *diag.Record) {
	l.config.RAT = l.rat()
	cell := l.cell(r)
	// NR's codes may place a block in different slots: one of them counts.
	other := l.nr && src != l.grantSource()
	if other || !l.ring.addGrant(tti, part, cell, src, r.Bytes, r.Inferred) {
		l.stats.Duplicates++

		return
	}
	if tti <= l.win.lastTo {
		l.stats.Late++
		l.told.late(l.now, tti, part)
	}
	l.win.addGrant(tti, part, r.Bytes)
	l.carried[0] += r.Bytes
	l.grants = append(l.grants, grant{tti: tti, part: part, bytes: r.Bytes, cell: l.carrier0 + cell})
}

// cell is the carrier of a grant. B872 tells of each block once, but not of its
// carrier in all versions: further blocks of a slot are of further ones.
func (l *leg) cell(r *diag.Record) int {
	if !l.nr || sourceOf(r) != sourceSlow {
		return r.Cell
	}
	if slot := r.TTI<<4 | int(r.Numerology); slot == l.lastSlot && r.Cell == l.lastCell {
		l.again++
	} else {
		l.lastSlot, l.lastCell, l.again = slot, r.Cell, 0
	}

	return r.Cell + l.again
}

func (l *leg) onBSR(tti int64, part int, r *diag.Record) {
	l.config.RAT = l.rat()
	if !l.ring.addBSR(tti, part) {
		l.stats.Duplicates++

		return
	}
	low, high, ok := l.buffer(r)
	if ok {
		rep := report{tti: tti, part: part, low: low, high: high, padding: r.Trigger == diag.TriggerPadding, inferred: r.Inferred}
		l.reports = append(l.reports, rep)
		l.queues.add(rep)
		l.ring.mark(l.ring.slot(tti))
	}
	l.learnPeriod(tti, r)
	if !ok || !l.isBorder(tti, r, high == 0) {
		return
	}
	l.border(border{tti: tti, part: part, low: low, high: high, inferred: r.Inferred, since: tti})
}

func (l *leg) border(b border) {
	if b.tti <= l.win.lastEnd {
		l.stats.Late++
	}
	l.win.addBorder(b)
}

// isBorder tells whether a BSR begins a window. On NR some versions of B872 do
// not say why it was sent. There is padding only where all data fit, so one
// that tells of data is hardly a padding BSR; in case it is, they border no
// more often than the timer would.
func (l *leg) isBorder(tti int64, r *diag.Record, empty bool) bool {
	switch r.Trigger {
	case diag.TriggerPeriodic, diag.TriggerRegular, diag.TriggerRetx:
		return true
	case diag.TriggerUnknown:
		return l.nr && (empty || !l.win.busy || tti >= l.win.newestBorder()+l.win.period)
	case diag.TriggerPadding:
		return false
	default:
		return true
	}
}

// buffer is the reported user data. A short BSR of another group tells that
// there is none: with data in several groups the phone sends a long one or a
// truncated one (TS 36.321 5.4.5, TS 38.321 5.4.5).
func (l *leg) buffer(r *diag.Record) (low, high int, ok bool) {
	user := *r
	user.LCGs &= l.cfg.LCGs
	if user.LCGs == 0 {
		return 0, 0, !truncated(r)
	}
	low, high = user.Buffer(l.cfg.ExtendedBSR || l.extended)

	return low, high, true
}

func truncated(r *diag.Record) bool {
	return r.Form == diag.FormTruncated || r.Form == diag.FormLongTruncated
}

// learnPeriod watches the spacing of periodic BSRs from the BSR before, of any
// kind but truncated, which restarts the timer (TS 36.321 5.4.5, TS 38.321
// 5.4.5).
func (l *leg) learnPeriod(tti int64, r *diag.Record) {
	if truncated(r) || l.hasBSR && tti <= l.lastBSR {
		return
	}
	if l.hasBSR && r.Trigger == diag.TriggerPeriodic {
		if i := timerAtMost(tti-l.lastBSR, l.nr); i >= 0 {
			l.periods.add(i)
			l.tune()
		}
	}
	l.lastBSR, l.hasBSR = tti, true
}

// tune sets T and L from hints, configuration and observation, in that order.
func (l *leg) tune() {
	switch {
	case l.hintT > 0:
		l.period = l.hintT
	case l.timer != 0:
		l.period = max(0, l.timer)
	default:
		// Spacings are multiples of T when grants are rare, never less.
		if i, ok := l.periods.smallest(3, learnVotes); ok && l.periods.n >= learnVotes {
			l.period = timers()[i]
		}
	}
	if l.hintL > 0 {
		l.lag = l.hintL
	} else if lag, ok := l.win.lags.mode(4); ok && l.win.lags.n >= learnVotes &&
		(l.lag == 0 || l.win.lags.counts[lag] > l.win.lags.counts[l.lag]+2) {
		l.lag = lag
	}
	l.win.lag = l.lag
	if l.lag == 0 {
		l.win.lag = defaultLag
		if l.nr {
			l.win.lag = defaultLagNR
		}
	}
	l.win.period = min(l.period, maxClose)
	if l.period == 0 {
		l.win.period = defaultClose
	}
	if l.nr {
		l.win.period = max(l.win.period, minCloseNR)
	}
	l.config.Period, l.config.Lag = millis(l.period), millis(l.lag)
}

// advance finishes windows; open is 1 while the newest packet may go on.
func (l *leg) advance(open int64) {
	l.win.advance(l.known(open), l.bsrKnown(open), l.spoken())
}

// silence finishes windows for which nothing came.
func (l *leg) silence() {
	grants, bsrs := l.knownBySilence()
	l.win.advance(max(grants, l.known(0)), max(bsrs, l.bsrKnown(0)), l.spoken())
}

// logged tells whether a source is there.
func (l *leg) logged(src source) bool {
	return l.seen[src] && l.newest[src] >= l.newest[sourceFast+sourceSlow-src]-staleAge
}

// grantSource is who is waited for to tell of grants. LTE: the PUSCH report if
// there is one, as it comes first; the transport blocks say the same. NR: the
// transport blocks, which are in one with their BSRs, else the schedule.
func (l *leg) grantSource() source {
	first, second := sourceFast, sourceSlow
	if l.nr {
		first, second = sourceSlow, sourceFast
	}
	if l.logged(first) {
		return first
	}

	return second
}

// known is the TTI through which records tell all grants: each source tells
// them all, in order.
func (l *leg) known(open int64) int64 {
	if !l.nr {
		return l.spoken() - open
	}

	return l.knownOf(l.grantSource(), open)
}

// bsrSource is who tells of BSRs, or of what is taken for them.
func (l *leg) bsrSource() source {
	if l.win.polled {
		return sourceOwn
	}

	return sourceSlow
}

func (l *leg) bsrKnown(open int64) int64 { return l.knownOf(l.bsrSource(), open) }

func (l *leg) knownOf(src source, open int64) int64 {
	if !l.whole[src] {
		open = 1
	}

	return l.newest[src] - open
}

func (l *leg) spoken() int64 { return max(l.newest[sourceFast], l.newest[sourceSlow]) }

// knownBySilence is the same by the local clock: what has not come within the
// hold was not there.
func (l *leg) knownBySilence() (grants, bsrs int64) {
	tti := l.clock.tti(l.now)
	gh, bh := l.holds()

	return tti - gh, tti - bh
}

// holds returns how long, in TTIs, grants and BSRs may still come.
func (l *leg) holds() (grants, bsrs int64) {
	fast := l.grantSource() == sourceFast
	grants, bsrs = l.hold(l.grantSource()), l.hold(l.bsrSource())
	if l.cfg.Hold > 0 {
		grants = (micros(l.cfg.Hold) + microsPerTTI - 1) / microsPerTTI
		if !fast {
			bsrs = grants
		}
	}

	return grants, bsrs
}

func (l *leg) hold(src source) int64 {
	least := int64(slowHold)
	switch {
	case l.nr:
		least = holdNR
	case src == sourceFast:
		least = fastHold
	case src == sourceOwn:
		least = ownHold
	}
	learned := -l.late[src].min()/microsPerTTI + spare

	return min(max(least, learned), maxHold.Milliseconds())
}

// grantsKnownAt is when silence will tell all grants through a TTI, 0 when
// records already have.
func (l *leg) grantsKnownAt(tti int64) int64 {
	if tti <= l.known(0) {
		return 0
	}
	hold, _ := l.holds()

	return l.clock.micros(tti + hold)
}

func (l *leg) bsrsKnownAt(tti int64) int64 {
	if tti <= l.bsrKnown(0) {
		return 0
	}
	_, hold := l.holds()

	return l.clock.micros(tti + hold)
}

// nextTimeout is when silence will tell something; not ok for never.
func (l *leg) nextTimeout() (int64, bool) {
	grants, bsrs, urgent, ok := l.win.wait()
	if !ok {
		return 0, false
	}
	at := max(l.grantsKnownAt(grants), l.bsrsKnownAt(bsrs))
	if urgent != 0 {
		at = min(at, l.grantsKnownAt(urgent))
	}

	return max(at, l.settled, l.now), true
}
