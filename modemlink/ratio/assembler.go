// SPDX-License-Identifier: MIT

package ratio

import (
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

const (
	// radioSilence is how long the followed radio must be silent before
	// another one is followed.
	radioSilence = 2 * time.Second
	// carriedSpan is over what time the bytes of both radios are compared to
	// tell which one carries the data.
	carriedSpan = time.Second
	// maxNumerology is the finest with data: 120 kHz. See parts.
	maxNumerology = 3
)

// Stats counts what an Assembler did, on both radios.
type Stats struct {
	// Records came in, but for those of the phone's own queue (diag.KindBuffer).
	// Ignored ones were of another SIM or of no slot that there is, Stale
	// ones too old, of the cell before or strays, Settling ones came in the first
	// moments. Duplicates told what was known already: the same log packet
	// twice, or the other log code's word of the same grant.
	Records, Ignored, Stale, Settling, Duplicates uint64
	// Late grants and BSRs came after their window was told.
	Late uint64
	// Samples told; Starved with a report and no grant, Idle without report,
	// before the other radio was added; Summed with the other one's bytes,
	// Corrected told anew.
	Samples, Starved, Idle, Summed, Corrected uint64
	// Own is how often the phone's own queue was taken for a report.
	Own uint64
	// Abandoned backlogs ended because the modem fell silent.
	Abandoned uint64
	// Restarts of the time line: cell changes, modem resets.
	Restarts uint64
	// Period and Lag in use, 0 when unknown; Hold for grants and for BSRs. Of
	// the radio that carries the data.
	Period, Lag, GrantHold, BSRHold time.Duration
}

// Assembler joins BSRs and grants into telemetry. It follows one SIM's radios,
// LTE and NR. Its memory is fixed. Not safe for concurrent use.
type Assembler struct {
	lte, nr leg
	origin  time.Time
	// now is the latest local time seen.
	now int64

	// radio is the one followed, radioAt when it last spoke.
	radio   uint32
	radioAt int64
	stats   Stats
	// onNR: NR carries the data; carriedAt is when that was last weighed.
	onNR      bool
	carriedAt int64

	out gbr.Telemetry
	// conf is what was told last.
	conf gbr.RadioConfig
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
	a := &Assembler{}
	a.lte.init(cfg, false, &a.stats)
	a.nr.init(cfg, true, &a.stats)

	return a, nil
}

// legs are both radios, each with the other one.
func (a *Assembler) legs() [2][2]*leg { return [...][2]*leg{{&a.lte, &a.nr}, {&a.nr, &a.lte}} }

// OnRecord takes in one record, read from the modem at at. The slices of the
// result are valid until the next call. Records of one log packet belong into
// one OnRecords call: it knows that nothing of the same slot is to come, and
// which blocks of a slot are different ones.
func (a *Assembler) OnRecord(at time.Time, r diag.Record) gbr.Telemetry {
	a.begin(at)
	a.record(&r)

	return a.finish(1)
}

// OnRecords takes in the records of one log packet.
func (a *Assembler) OnRecords(at time.Time, recs []diag.Record) gbr.Telemetry {
	a.begin(at)
	for i := range recs {
		a.record(&recs[i])
	}
	if len(recs) > 0 {
		for _, l := range a.legs() {
			if l[0].live() {
				l[0].advance(0)
			}
		}
	}

	return a.finish(0)
}

// OnTimeout tells what the silence until now means: windows without grants.
func (a *Assembler) OnTimeout(now time.Time) gbr.Telemetry {
	a.begin(now)
	for _, l := range a.legs() {
		if l[0].live() {
			l[0].silence()
		}
	}

	return a.finish(0)
}

// NextTimeout is when OnTimeout will have something to tell if no record comes
// before; zero for never.
func (a *Assembler) NextTimeout() time.Time {
	next, ok := int64(0), false
	add := func(at int64) {
		if !ok || at < next {
			next, ok = at, true
		}
	}
	for _, l := range a.legs() {
		if at, ok := l[0].nextTimeout(); ok {
			add(at)
		}
		if len(l[0].held) > 0 {
			_, to := l[1].span(l[0], &l[0].held[0])
			add(max(l[1].grantsKnownAt(to), a.now))
		}
	}
	if !ok {
		return time.Time{}
	}

	return a.origin.Add(time.Duration(next) * time.Microsecond)
}

// Stats returns the counters.
func (a *Assembler) Stats() Stats {
	s := a.stats
	for _, l := range a.legs() {
		s.Starved += l[0].win.starved
		s.Idle += l[0].win.idle
		s.Abandoned += l[0].win.abandoned
	}
	l := a.carrying()
	gh, bh := l.holds()
	s.GrantHold, s.BSRHold = millis(gh), millis(bh)
	s.Period, s.Lag = millis(l.period), millis(l.lag)

	return s
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func (a *Assembler) begin(at time.Time) {
	if a.origin.IsZero() {
		a.origin = at
		a.lte.clock.origin, a.nr.clock.origin = at, at
	}
	a.now = max(a.now, a.lte.clock.at(at))
	a.lte.begin(a.now)
	a.nr.begin(a.now)
}

func (a *Assembler) record(r *diag.Record) {
	if r.Kind == diag.KindBuffer {
		if r.RAT == diag.LTE && r.Radio == a.radio && r.TTI < wrap && r.AgeMs >= 0 && r.AgeMs < maxAgeLogged {
			a.lte.onQueue(r)
		}

		return
	}
	a.stats.Records++
	l := a.accept(r)
	if l == nil {
		a.stats.Ignored++

		return
	}
	n := len(l.grants)
	l.record(r)
	// A grant that comes late is one of the other radio's sums too.
	other := &a.lte
	if l == other {
		other = &a.nr
	}
	for _, g := range l.grants[n:] {
		if g.bytes > 0 {
			other.told.lateOther(a.now, g.tti)
		}
	}
}

// accept picks the radio to follow and returns the leg of a record, nil for
// none.
func (a *Assembler) accept(r *diag.Record) *leg {
	l := &a.lte
	if r.RAT == diag.NR {
		l = &a.nr
	}
	switch {
	case r.RAT != diag.LTE && r.RAT != diag.NR, r.Numerology > maxNumerology, r.RAT == diag.LTE && r.Numerology > 0,
		r.Kind != diag.KindConfig && (r.TTI < 0 || r.TTI >= wrap<<r.Numerology):
		return nil
	case a.stats.Records == a.stats.Ignored+1, a.now-a.radioAt > micros(radioSilence):
		if a.radio != r.Radio {
			a.lte.switched, a.nr.switched = true, true
		}
		a.radio = r.Radio
	case r.Radio != a.radio:
		return nil
	}
	a.radioAt = a.now

	return l
}

// carrying is the radio that carries user data, or most of it.
func (a *Assembler) carrying() *leg {
	if a.onNR {
		return &a.nr
	}

	return &a.lte
}

// weigh compares both radios, once a second so that they do not alternate.
func (a *Assembler) weigh() {
	if !a.onNR && a.lte.config.RAT == gbr.RATUnknown && a.nr.config.RAT != gbr.RATUnknown {
		a.onNR = true
	}
	if a.now-a.carriedAt < micros(carriedSpan) {
		return
	}
	a.carriedAt = a.now
	lte, nr := &a.lte.carried, &a.nr.carried
	if l, n := lte[0]+lte[1], nr[0]+nr[1]; l != n {
		a.onNR = n > l
	}
	lte[0], lte[1], nr[0], nr[1] = 0, lte[0], 0, nr[0]
}

// finish turns what was found into telemetry; open is 1 while the newest packet
// may go on.
func (a *Assembler) finish(open int64) gbr.Telemetry {
	out := &a.out
	out.Samples, out.Grants, out.Reports, out.Config = out.Samples[:0], out.Grants[:0], out.Reports[:0], nil
	for _, l := range a.legs() {
		for _, g := range l[0].grants {
			out.Grants = append(out.Grants, gbr.Grant{At: l[0].clock.slotTime(g.tti, g.part), Bytes: g.bytes, Cell: g.cell})
		}
		for _, r := range l[0].reports {
			out.Reports = append(out.Reports, gbr.Report{At: l[0].clock.slotTime(r.tti, r.part), Low: r.low, High: r.high, Padding: r.padding})
		}
		finished := len(l[0].win.out) > 0
		l[0].held = append(l[0].held, l[0].win.out...)
		a.tell(l[0], l[1], open)
		if finished {
			l[0].tune() // the lag may have been learned
		}
	}
	for _, l := range a.legs() {
		a.correct(l[0], l[1])
	}
	sortByTime(out.Grants, func(g *gbr.Grant) time.Time { return g.At })
	sortByTime(out.Reports, func(r *gbr.Report) time.Time { return r.At })
	sortByTime(out.Samples, func(s *gbr.Sample) time.Time { return s.At })
	a.stats.Samples += uint64(len(out.Samples))
	a.weigh()
	if c := a.carrying().config; c.RAT != gbr.RATUnknown && c != a.conf {
		a.conf = c
		out.Config = &a.conf
	}

	return *out
}

// tell tells the finished windows of a leg that do not have to wait for the
// other one: those of a time in which that was not in use, or of which its
// grants are known.
func (a *Assembler) tell(l, other *leg, open int64) {
	done := 0
	for i := range l.held {
		s := &l.held[i]
		var j join
		if other.live() {
			from, to := other.span(l, s)
			if other.activeAt(from) {
				silence, _ := other.knownBySilence()
				if to > max(other.known(open), silence) && len(l.held)-i <= maxHeld {
					break
				}
				j = other.join(from, to)
			}
		}
		done++
		if s.idle {
			if j.low > 0 {
				continue // the other one's windows tell of it
			}
			j.high = 0
		}
		a.sample(l, s, j)
	}
	l.held = l.held[:copy(l.held, l.held[done:])]
}

// sample tells one window.
func (a *Assembler) sample(l *leg, s *sample, j join) {
	if !s.idle {
		l.ring.fill(s) // a grant may have come since
	}
	t := told{sample: *s, at: l.clock.time(s.end), toldAt: a.now, sfn: l.clock.sfn(s.end), joined: j}
	t.granted += j.granted
	t.low += j.low
	t.high += j.high
	t.inferred = t.inferred || j.inferred
	if t.high > 0 {
		l.told.add(t)
	}
	if j.ok {
		a.stats.Summed++
	}
	a.append(l, &t)
}

func (a *Assembler) append(l *leg, t *told) {
	s := gbr.Sample{
		At: t.at, Window: millis(t.length), Granted: t.granted, Reported: t.high, ReportedLow: t.low,
		RAT: l.rat(), SFN: t.sfn,
	}
	s.SumGranted, s.SumReported = l.told.sums(t.end)
	if t.first {
		s.Flags |= gbr.FlagFirstGrant
	}
	if t.corrected {
		s.Flags |= gbr.FlagCorrected
	}
	if t.inferred {
		s.Flags |= gbr.FlagInferred
	}
	if t.joined.ok {
		s.Flags |= gbr.FlagSummed
		s.RAT, s.SFN = gbr.RATUnknown, 0
	}
	a.out.Samples = append(a.out.Samples, s)
}

// correct tells windows anew whose grants came late.
func (a *Assembler) correct(l, other *leg) {
	if !l.told.dirty {
		return
	}
	l.told.dirty = false
	for i := l.told.n - 1; i >= 0; i-- {
		t := l.told.back(i)
		if !t.dirty {
			continue
		}
		t.dirty, t.corrected = false, true
		l.ring.fill(&t.sample)
		if t.joined.ok {
			other.fill(&t.joined)
			t.granted += t.joined.granted
			t.inferred = t.inferred || t.joined.inferred
		}
		a.stats.Corrected++
		a.append(l, t)
	}
}

// sortByTime sorts what is nearly sorted.
func sortByTime[T any](s []T, at func(*T) time.Time) {
	for i := 1; i < len(s); i++ {
		for k := i; k > 0 && at(&s[k]).Before(at(&s[k-1])); k-- {
			s[k], s[k-1] = s[k-1], s[k]
		}
	}
}
