// SPDX-License-Identifier: MIT

package main

import (
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// batch is what one log packet, line or silence told. Times are since the
// file's beginning.
type batch struct {
	samples []sample
	grants  []grant
	reports []report
	config  *gbr.RadioConfig
}

// sample is a finished window. Its At is not used.
type sample struct {
	gbr.Sample
	at time.Duration
	// period is T then, 0 for unknown or infinite.
	period time.Duration
	// sfn is -1 when unknown.
	sfn int
	rat gbr.RAT
}

type grant struct {
	at    time.Duration
	bytes int
}

type report struct {
	at        time.Duration
	low, high int // high is -1 for no upper edge
	padding   bool
}

// sink takes what is read; an error ends the reading. Functions may be nil.
type sink struct {
	// packet gets every log packet of a capture, and what its RRC message
	// configures.
	packet func(p diag.Packet, found rrcFound) error
	batch  func(b *batch) error
	// event gets every line of an event log but the first, its time since then,
	// and when that was.
	event func(l *eventLine, at time.Duration, start time.Time) error
}

func (s *sink) give(b *batch) error {
	if s.batch == nil || len(b.samples)+len(b.grants)+len(b.reports) == 0 && b.config == nil {
		return nil
	}

	return s.batch(b)
}

func (b *batch) reset() {
	b.samples, b.grants, b.reports, b.config = b.samples[:0], b.grants[:0], b.reports[:0], nil
}

// take fills the batch from telemetry whose times count from start. config is
// what the radio is configured to, and follows the telemetry.
func (b *batch) take(t gbr.Telemetry, start time.Time, config *gbr.RadioConfig) {
	b.reset()
	if t.Config != nil {
		*config = *t.Config
		b.config = config
	}
	for _, r := range t.Reports {
		b.reports = append(b.reports, report{at: r.At.Sub(start), low: r.Low, high: r.High, padding: r.Padding})
	}
	for _, g := range t.Grants {
		b.grants = append(b.grants, grant{at: g.At.Sub(start), bytes: g.Bytes})
	}
	for _, s := range t.Samples {
		out := sample{Sample: s, at: s.At.Sub(start), period: config.Period, sfn: s.SFN, rat: s.RAT}
		if s.RAT == gbr.RATUnknown {
			out.sfn = -1
			if s.Flags&gbr.FlagSummed == 0 {
				out.rat = config.RAT
			}
		}
		b.samples = append(b.samples, out)
	}
}
