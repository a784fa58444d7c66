// SPDX-License-Identifier: MIT

package ratio

import (
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

const (
	// fastHold and slowHold are how late B139 and B064 come at most, plus 3
	// ms on the way.
	fastHold, slowHold = 15, 105
	// spare is added to a learned hold.
	spare = 3
	// staleAge is how old a record may be on arrival.
	staleAge = 2000
	// radioSilence is how long the followed radio must be silent before
	// another one is followed.
	radioSilence = 2 * time.Second
	// learnVotes is how many observations a learned value takes.
	learnVotes = 8
)

// Stats counts what an Assembler did.
type Stats struct {
	// Records came in. Ignored ones were of another radio or not LTE, Stale
	// ones too old, of the cell before or strays, Settling ones came in the first
	// moments. Duplicates told what was known already: the same log packet
	// twice, or the other log code's word of the same grant.
	Records, Ignored, Stale, Settling, Duplicates uint64
	// Late grants and BSRs came after their window was told.
	Late uint64
	// Samples told; Starved with a report and no grant, Idle without report.
	Samples, Starved, Idle uint64
	// Abandoned backlogs ended because the modem fell silent.
	Abandoned uint64
	// Restarts of the time line: cell changes, modem resets.
	Restarts uint64
	// Period and Lag in use, 0 when unknown; Hold for grants and for BSRs.
	Period, Lag, GrantHold, BSRHold time.Duration
}

// Assembler joins BSRs and grants into telemetry. It follows one radio of an
// LTE modem. Its memory is fixed. Not safe for concurrent use.
type Assembler struct {
	cfg   Config
	clock clock
	ring  ring
	win   windows
	// now is the latest local time seen, settled when telemetry may begin.
	now, settled int64

	// radio is the one followed, radioAt when it last spoke; switched: its
	// frames have not been seen yet.
	radio    uint32
	radioAt  int64
	switched bool
	// newest TTI by source, and whether the newest packet is known whole.
	newest  [3]int64
	seen    [3]bool
	late    [3]minFilter // of minus lateness: its minimum is the latest
	lastBSR int64
	hasBSR  bool
	// periods is the spacing of periodic BSRs, timer what the MAC
	// configuration says (0 none, -1 infinite).
	periods votes
	timer   int64
	period  int64 // in use; 0 unknown
	lag     int64 // learned or given; 0 unknown
	config  gbr.RadioConfig
	stats   Stats

	grants  []grant
	reports []report
	out     gbr.Telemetry
	// conf is what was told last.
	conf gbr.RadioConfig
}

type grant struct {
	tti         int64
	bytes, cell int
}

type report struct {
	tti       int64
	low, high int
	padding   bool
}

// New returns an Assembler, or an error that is ErrConfig.
func New(cfg Config) (*Assembler, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.LCGs == 0 {
		cfg.LCGs = 0xFF
	}
	if cfg.Settle == 0 {
		cfg.Settle = defaultSettle
	}
	a := &Assembler{
		cfg:    cfg,
		period: cfg.Period.Milliseconds(),
		lag:    cfg.Lag.Milliseconds(),
		config: gbr.RadioConfig{RAT: gbr.RATUnknown, PCI: -1},
	}
	a.win.ring = &a.ring
	a.win.pending = make([]border, 0, maxBorders)
	a.tune()

	return a, nil
}

// OnRecord takes in one record, read from the modem at at. The slices of the
// result are valid until the next call. Records of one log packet belong into
// one OnRecords call: it knows that nothing of the same TTI is to come.
func (a *Assembler) OnRecord(at time.Time, r diag.Record) gbr.Telemetry {
	a.begin(at)
	a.record(&r)

	return a.finish()
}

// OnRecords takes in the records of one log packet.
func (a *Assembler) OnRecords(at time.Time, recs []diag.Record) gbr.Telemetry {
	a.begin(at)
	for i := range recs {
		a.record(&recs[i])
	}
	if len(recs) > 0 && a.clock.started && a.now >= a.settled {
		a.advance(0)
	}

	return a.finish()
}

// OnTimeout tells what the silence until now means: windows without grants.
func (a *Assembler) OnTimeout(now time.Time) gbr.Telemetry {
	a.begin(now)
	if a.clock.started && a.now >= a.settled {
		known, bsrKnown := a.knownBySilence()
		a.win.advance(max(known, a.known(0)), max(bsrKnown, a.bsrKnown(0)), a.spoken())
	}

	return a.finish()
}

// NextTimeout is when OnTimeout will have something to tell if no record comes
// before; zero for never.
func (a *Assembler) NextTimeout() time.Time {
	grants, bsrs, urgent, ok := a.win.wait()
	if !ok {
		return time.Time{}
	}
	at := max(a.grantsKnownAt(grants), a.bsrsKnownAt(bsrs))
	if urgent != 0 {
		at = min(at, a.grantsKnownAt(urgent))
	}
	at = max(at, a.settled, a.now)

	return a.clock.origin.Add(time.Duration(at) * time.Microsecond)
}

// grantsKnownAt is when silence will tell all grants through a TTI, 0 when
// records already have.
func (a *Assembler) grantsKnownAt(tti int64) int64 {
	if tti <= a.known(0) {
		return 0
	}
	hold, _ := a.holds()

	return a.clock.micros(tti + hold)
}

func (a *Assembler) bsrsKnownAt(tti int64) int64 {
	if tti <= a.bsrKnown(0) {
		return 0
	}
	_, hold := a.holds()

	return a.clock.micros(tti + hold)
}

// Stats returns the counters.
func (a *Assembler) Stats() Stats {
	s := a.stats
	s.Starved, s.Idle, s.Abandoned = a.win.starved, a.win.idle, a.win.abandoned
	gh, bh := a.holds()
	s.GrantHold, s.BSRHold = millis(gh), millis(bh)
	s.Period, s.Lag = millis(a.period), millis(a.lag)

	return s
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func (a *Assembler) begin(at time.Time) {
	a.grants, a.reports, a.win.out = a.grants[:0], a.reports[:0], a.win.out[:0]
	if a.clock.origin.IsZero() {
		a.clock.origin = at
	}
	a.now = max(a.now, a.clock.at(at))
}

func (a *Assembler) record(r *diag.Record) {
	a.stats.Records++
	if !a.accept(r) {
		a.stats.Ignored++

		return
	}
	if r.Kind == diag.KindConfig {
		a.onConfig(r)

		return
	}
	first := !a.clock.started
	jump := a.newCell(r) || a.switched || a.now < a.settled
	tti, verdict := a.clock.unwrap(a.now, r, jump)
	a.switched = false
	if first {
		a.settled = a.now + max(0, micros(a.cfg.Settle))
		a.restart(tti)
	}
	switch verdict {
	case newLine:
		a.stats.Restarts++
		a.restart(tti)
	case otherLine:
		a.stats.Stale++

		return
	case sameLine:
	}
	src := sourceOf(r)
	lateness := a.now - a.clock.micros(tti)
	if a.now < a.settled {
		a.stats.Settling++

		return
	}
	if lateness > staleAge*microsPerTTI {
		a.stats.Stale++

		return
	}
	a.onCell(tti, r)
	if src == sourceFast || r.Kind == diag.KindGrant {
		a.late[src].add(a.now, -lateness)
	}
	a.newest[src] = max(a.newest[src], tti)
	a.seen[src] = true
	if r.Kind == diag.KindBSR {
		a.onBSR(tti, r)
	} else if r.Retx == 0 && r.Bytes > 0 {
		a.onGrant(tti, src, r)
	}
	a.advance(1)
}

// accept picks the radio to follow.
func (a *Assembler) accept(r *diag.Record) bool {
	switch {
	case r.RAT != diag.LTE, r.Kind != diag.KindConfig && (r.TTI < 0 || r.TTI >= wrap):
		return false
	case a.stats.Records == a.stats.Ignored+1, a.now-a.radioAt > micros(radioSilence):
		a.switched = a.switched || a.radio != r.Radio
		a.radio = r.Radio
	case r.Radio != a.radio:
		return false
	}
	a.radioAt = a.now

	return true
}

func sourceOf(r *diag.Record) source {
	if r.Code == diag.LogB139 {
		return sourceFast
	}

	return sourceSlow
}

// restart forgets the time line before TTI tti.
func (a *Assembler) restart(tti int64) {
	a.win.reset(tti)
	for i := range a.newest {
		a.newest[i] = tti - 1
	}
	a.hasBSR = false
}

// onCell notes the identity of the primary cell; a change is a handover.
func (a *Assembler) onCell(tti int64, r *diag.Record) {
	if !r.HasPCI || r.Cell != 0 || r.PCI == a.config.PCI || tti < a.newest[sourceFast] {
		return
	}
	if a.newCell(r) {
		a.win.reset(tti)
		a.hasBSR = false
	}
	a.config.PCI = r.PCI
}

func (a *Assembler) newCell(r *diag.Record) bool {
	return r.HasPCI && r.Cell == 0 && a.config.PCI >= 0 && r.PCI != a.config.PCI
}

func (a *Assembler) onConfig(r *diag.Record) {
	a.config.RAT = gbr.RATLTE
	a.timer = r.PeriodicBSR.Milliseconds()
	if r.PeriodicBSR == diag.Infinite || a.timer > maxPeriod.Milliseconds() || a.timer <= 0 {
		a.timer = -1
	}
	a.tune()
}

func (a *Assembler) onGrant(tti int64, src source, r *diag.Record) {
	a.config.RAT = gbr.RATLTE
	if !a.ring.addGrant(tti, r.Cell, src, r.Bytes) {
		a.stats.Duplicates++

		return
	}
	if tti <= a.win.lastTo {
		a.stats.Late++
	}
	a.win.addGrant(tti, r.Bytes)
	a.grants = append(a.grants, grant{tti: tti, bytes: r.Bytes, cell: r.Cell})
}

func (a *Assembler) onBSR(tti int64, r *diag.Record) {
	a.config.RAT = gbr.RATLTE
	if !a.ring.addBSR(tti) {
		a.stats.Duplicates++

		return
	}
	low, high, ok := a.buffer(r)
	if ok {
		a.reports = append(a.reports, report{tti: tti, low: low, high: high, padding: r.Trigger == diag.TriggerPadding})
	}
	a.learnPeriod(tti, r)
	if !ok || r.Trigger == diag.TriggerPadding || r.Trigger == diag.TriggerUnknown {
		return
	}
	if tti <= a.win.lastEnd {
		a.stats.Late++
	}
	a.win.addBorder(border{tti: tti, low: low, high: high})
}

// buffer is the reported user data. A short BSR of another group tells that
// there is none: with data in several groups the phone sends a long one or a
// truncated one (TS 36.321 5.4.5).
func (a *Assembler) buffer(r *diag.Record) (low, high int, ok bool) {
	user := *r
	user.LCGs &= a.cfg.LCGs
	if user.LCGs == 0 {
		return 0, 0, r.Form != diag.FormTruncated
	}
	low, high = user.Buffer(a.cfg.ExtendedBSR)

	return low, high, true
}

// learnPeriod watches the spacing of periodic BSRs from the BSR before, of any
// kind but truncated, which restarts the timer (TS 36.321 5.4.5).
func (a *Assembler) learnPeriod(tti int64, r *diag.Record) {
	if r.Form == diag.FormTruncated {
		return
	}
	if a.hasBSR && tti <= a.lastBSR {
		return
	}
	if a.hasBSR && r.Trigger == diag.TriggerPeriodic {
		if i := timerAtMost(tti - a.lastBSR); i >= 0 {
			a.periods.add(i)
			a.tune()
		}
	}
	a.lastBSR, a.hasBSR = tti, true
}

// tune sets T and L from hints, configuration and observation, in that order.
func (a *Assembler) tune() {
	switch {
	case a.cfg.Period > 0:
		a.period = a.cfg.Period.Milliseconds()
	case a.timer != 0:
		a.period = max(0, a.timer)
	default:
		// Spacings are multiples of T when grants are rare, never less.
		if i, ok := a.periods.smallest(3, learnVotes); ok && a.periods.n >= learnVotes {
			a.period = timers()[i]
		}
	}
	if a.cfg.Lag > 0 {
		a.lag = a.cfg.Lag.Milliseconds()
	} else if l, ok := a.win.lags.mode(4); ok && a.win.lags.n >= learnVotes &&
		(a.lag == 0 || a.win.lags.counts[l] > a.win.lags.counts[a.lag]+2) {
		a.lag = l
	}
	a.win.lag = a.lag
	if a.lag == 0 {
		a.win.lag = defaultLag
	}
	a.win.period = min(a.period, maxClose)
	if a.period == 0 {
		a.win.period = defaultClose
	}
	a.config.Period, a.config.Lag = millis(a.period), millis(a.lag)
}

// advance finishes windows; open is 1 while the newest packet may go on.
func (a *Assembler) advance(open int64) {
	a.win.advance(a.known(open), a.bsrKnown(open), a.spoken())
}

// fast tells whether grants come from the PUSCH report.
func (a *Assembler) fast() bool {
	return a.seen[sourceFast] && a.newest[sourceFast] >= a.newest[sourceSlow]-staleAge
}

// known is the TTI through which records tell all grants: each source tells
// them all, in order.
func (a *Assembler) known(open int64) int64 { return a.spoken() - open }

func (a *Assembler) bsrKnown(open int64) int64 { return a.newest[sourceSlow] - open }

func (a *Assembler) spoken() int64 { return max(a.newest[sourceFast], a.newest[sourceSlow]) }

// knownBySilence is the same by the local clock: what has not come within the
// hold was not there.
func (a *Assembler) knownBySilence() (grants, bsrs int64) {
	tti := a.clock.tti(a.now)
	gh, bh := a.holds()

	return tti - gh, tti - bh
}

// holds returns how long, in TTIs, grants and BSRs may still come.
func (a *Assembler) holds() (grants, bsrs int64) {
	bsrs = a.hold(sourceSlow, slowHold)
	grants = bsrs
	if a.fast() {
		grants = a.hold(sourceFast, fastHold)
	}
	if a.cfg.Hold > 0 {
		grants = (micros(a.cfg.Hold) + microsPerTTI - 1) / microsPerTTI
		if !a.fast() {
			bsrs = grants
		}
	}

	return grants, bsrs
}

func (a *Assembler) hold(src source, least int64) int64 {
	learned := -a.late[src].min()/microsPerTTI + spare

	return min(max(least, learned), maxHold.Milliseconds())
}

// finish turns what was found into telemetry.
func (a *Assembler) finish() gbr.Telemetry {
	out := &a.out
	out.Samples, out.Grants, out.Reports, out.Config = out.Samples[:0], out.Grants[:0], out.Reports[:0], nil
	sortByTTI(a.grants, func(g *grant) int64 { return g.tti })
	sortByTTI(a.reports, func(r *report) int64 { return r.tti })
	for _, g := range a.grants {
		out.Grants = append(out.Grants, gbr.Grant{At: a.clock.time(g.tti), Bytes: g.bytes, Cell: g.cell})
	}
	for _, r := range a.reports {
		out.Reports = append(out.Reports, gbr.Report{At: a.clock.time(r.tti), Low: r.low, High: r.high, Padding: r.padding})
	}
	for _, s := range a.win.out {
		a.stats.Samples++
		out.Samples = append(out.Samples, gbr.Sample{
			At: a.clock.time(s.end), Window: millis(s.length),
			Granted: s.granted, Reported: s.high, ReportedLow: s.low,
		})
	}
	if len(a.win.out) > 0 {
		a.tune() // the lag may have been learned
	}
	if a.config.RAT != gbr.RATUnknown && a.config != a.conf {
		a.conf = a.config
		out.Config = &a.conf
	}

	return *out
}

// sortByTTI sorts what is nearly sorted.
func sortByTTI[T any](s []T, tti func(*T) int64) {
	for i := 1; i < len(s); i++ {
		for k := i; k > 0 && tti(&s[k]) < tti(&s[k-1]); k-- {
			s[k], s[k-1] = s[k-1], s[k]
		}
	}
}
