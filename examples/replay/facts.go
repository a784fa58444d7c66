// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/diag/rrc"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// facts is what is known of a file when it has been read.
type facts struct {
	in *input

	// Of a capture.
	bytes int64
	diag  diag.Stats
	tail  int // bytes of an unfinished packet
	clock timeline
	ratio ratio.Stats
	// walks counts RRC messages by what became of them.
	walks  map[string]int
	timers map[timerKey]*timers

	// Of a recording or event log: lines by kind, and those that have no
	// telemetry.
	lines, otherLines map[string]int

	// Of all.
	ratios ratioList
	// flags counts the flags of samples as they were told.
	flags       map[string]int
	grants      int
	granted     int64
	reports     int
	padding     int
	config      gbr.RadioConfig
	first, last time.Duration // of what has a time
	any         bool
}

// timerKey is one radio: a SIM's LTE, or its NR.
type timerKey struct {
	sim uint32
	rat diag.RAT
}

// maxTimers bounds the radios against a stream of nonsense.
const maxTimers = 8

func newFacts(in *input) *facts {
	return &facts{
		in: in, walks: map[string]int{}, timers: map[timerKey]*timers{}, lines: map[string]int{}, otherLines: map[string]int{},
		flags: map[string]int{}, config: gbr.RadioConfig{PCI: -1},
	}
}

// line counts a line of a kind.
func (f *facts) line(kind string, telemetry bool) {
	const maxKinds = 256
	m := f.lines
	if !telemetry {
		if m = f.otherLines; len(m) >= maxKinds && m[kind] == 0 {
			kind = "(others)"
		}
	}
	m[kind]++
}

func (f *facts) time(at time.Duration) {
	if !f.any {
		f.first, f.last, f.any = at, at, true
	}
	f.first, f.last = min(f.first, at), max(f.last, at)
}

// batch is a sink's.
func (f *facts) batch(b *batch) error {
	if b.config != nil {
		f.config = *b.config
	}
	for _, g := range b.grants {
		f.time(g.At)
		f.grants++
		f.granted += int64(g.Grant.Bytes)
	}
	for _, r := range b.reports {
		f.time(r.At)
		f.reports++
		if r.Report.Padding {
			f.padding++
		}
	}
	for i := range b.samples {
		s := &b.samples[i]
		f.time(s.At)
		for name := range source.FlagWords(s.Sample) {
			f.flags[name]++
		}
		f.ratios.add(s)
	}

	return nil
}

// records is called with the records of each log packet.
func (f *facts) records(at time.Time, recs []diag.Record) {
	for _, rat := range [...]diag.RAT{diag.LTE, diag.NR} {
		if !slices.ContainsFunc(recs, func(r diag.Record) bool { return r.RAT == rat }) {
			continue
		}
		if t := f.timersOf(timerKey{recs[0].Radio, rat}); t != nil {
			t.records(at, recs)
		}
	}
}

func (f *facts) timersOf(k timerKey) *timers {
	t := f.timers[k]
	if t == nil && len(f.timers) < maxTimers {
		t = newTimers(k.rat)
		f.timers[k] = t
	}

	return t
}

// timerKeys is in order.
func (f *facts) timerKeys() []timerKey {
	var out []timerKey
	for k, t := range f.timers {
		if t.seen() {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b timerKey) int { return cmp.Or(cmp.Compare(a.sim, b.sim), cmp.Compare(a.rat, b.rat)) })

	return out
}

// walked counts what became of an RRC message.
func (f *facts) walked(sim uint32, found rrcFound) {
	for _, c := range found.configs {
		k := timerKey{sim, diag.LTE}
		if c.RAT == rrc.NR {
			k.rat = diag.NR
		}
		if t := f.timersOf(k); t != nil && c.HasPeriodic {
			t.rrc.add(c.Periodic)
		}
	}
	f.walks[diag.RRCOutcome(found.configs, found.err)]++
}

// ratioList is the samples with a ratio: a sample that corrects another one
// replaces it.
type ratioList struct {
	at     []time.Duration
	ratio  []float64
	window []time.Duration
}

func (l *ratioList) n() int { return len(l.ratio) }

func (l *ratioList) add(s *source.Item) {
	ratio, ok := s.Sample.Ratio()
	if !ok {
		return
	}
	if s.Sample.Flags&gbr.FlagCorrected != 0 {
		const far = 512
		for i := len(l.at) - 1; i >= max(0, len(l.at)-far); i-- {
			if l.at[i] == s.At {
				l.ratio[i], l.window[i] = ratio, s.Sample.Window

				return
			}
		}
	}
	l.at, l.ratio, l.window = append(l.at, s.At), append(l.ratio, ratio), append(l.window, s.Sample.Window)
}

// starved is how many are 0.
func (l *ratioList) starved() int {
	n := 0
	for _, r := range l.ratio {
		if r == 0 {
			n++
		}
	}

	return n
}

// waits is how long a byte waits in each window, ms; infinite where nothing was
// granted.
func (l *ratioList) waits() []float64 {
	out := make([]float64, len(l.ratio))
	for i, r := range l.ratio {
		out[i] = math.Inf(1)
		if r > 0 {
			out[i] = l.window[i].Seconds() * 1e3 / r
		}
	}

	return out
}

// quantiles sorts v and returns those of q.
func quantiles(v []float64, q ...float64) []float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	out := make([]float64, len(q))
	for i, q := range q {
		out[i] = v[int(q*float64(len(v)-1)+0.5)]
	}

	return out
}

// idle is how many samples say that the queue was empty.
func (f *facts) idle() int { return f.flags["idle"] }
