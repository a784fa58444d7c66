// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// timer is what one source says about periodicBSR-Timer.
type timer struct {
	told int
	// values as they followed each other, without repetitions; at most
	// maxTimerValues.
	values []time.Duration
}

const maxTimerValues = 32

func (t *timer) add(v time.Duration) {
	t.told++
	if n := len(t.values); n == 0 || t.values[n-1] != v {
		if n == maxTimerValues {
			t.values = slices.Delete(t.values, 0, 1)
		}
		t.values = append(t.values, v)
	}
}

// last is the value in force at the end.
func (t *timer) last() (time.Duration, bool) {
	if len(t.values) == 0 {
		return 0, false
	}

	return t.values[len(t.values)-1], true
}

func (t *timer) String() string {
	if t.told == 0 {
		return "not told"
	}
	out := make([]string, len(t.values))
	for i, v := range t.values {
		out[i] = periodText(v)
	}

	times := "once"
	if t.told > 1 {
		times = fmt.Sprintf("%d times", t.told)
	}

	return strings.Join(out, ", then ") + " (told " + times + ")"
}

func periodText(v time.Duration) string {
	if v == diag.Infinite {
		return "infinity"
	}

	return fmt.Sprintf("%d ms", v.Milliseconds())
}

// timers compares the three sources of T on one radio: MAC configuration (LTE's
// B060), RRC messages, and what the spacing of periodic BSRs says.
type timers struct {
	rat       diag.RAT
	b060, rrc timer
	// watch sees no configuration, so that its T is observed.
	watch *ratio.Assembler
}

func newTimers(rat diag.RAT) *timers {
	// The zero configuration is a valid one.
	watch, _ := ratio.New(ratio.Config{})

	return &timers{rat: rat, watch: watch}
}

// records takes in what a log packet told, also of the other radio.
func (t *timers) records(at time.Time, recs []diag.Record) {
	for _, r := range recs {
		switch {
		case r.RAT != t.rat:
		case r.Kind == diag.KindConfig && r.Code == diag.LogB060:
			t.b060.add(r.PeriodicBSR)
		case r.Kind != diag.KindConfig && r.Kind != diag.KindBuffer:
			t.watch.OnRecord(at, r)
		}
	}
}

// observed is T by the spacing of periodic BSRs.
func (t *timers) observed() (time.Duration, bool) {
	v := t.watch.Stats().Period

	return v, v > 0
}

// seen tells whether there is anything to say of the radio.
func (t *timers) seen() bool {
	return t.b060.told+t.rrc.told > 0 || t.watch.Stats().Records > 0
}

// verdict tells whether the sources agree on T at the end.
func (t *timers) verdict() string {
	type told struct {
		who string
		v   time.Duration
	}
	var all []told
	for _, s := range [...]struct {
		who  string
		last func() (time.Duration, bool)
	}{{"B060", t.b060.last}, {"RRC", t.rrc.last}, {"observed", t.observed}} {
		if v, ok := s.last(); ok {
			all = append(all, told{s.who, v})
		}
	}
	switch len(all) {
	case 0:
		return "T is not known"
	case 1:
		return "one source, nothing to compare"
	}
	for _, s := range all[1:] {
		if s.v != all[0].v {
			return fmt.Sprintf("DIFFER: %s says %s, %s says %s", all[0].who, periodText(all[0].v), s.who, periodText(s.v))
		}
	}

	return "agree"
}
