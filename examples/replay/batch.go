// SPDX-License-Identifier: MIT

package main

import (
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// batch is what one log packet, line or silence told, by kind. Times are since
// the file's beginning.
type batch struct {
	samples, grants, reports []source.Item
	config                   *gbr.RadioConfig
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

func (b *batch) add(it source.Item) {
	switch it.Kind {
	case source.KindSample:
		b.samples = append(b.samples, it)
	case source.KindGrant:
		b.grants = append(b.grants, it)
	case source.KindReport:
		b.reports = append(b.reports, it)
	case source.KindConfig:
		b.config = &it.Config
	}
}

// take fills the batch from telemetry that came at now, with times from start.
// config is what the radio is configured to, and follows the telemetry.
func (b *batch) take(now time.Time, t gbr.Telemetry, start time.Time, config *gbr.RadioConfig) {
	b.reset()
	if t.Config != nil {
		*config = *t.Config
		b.config = config
	}
	item := func(at time.Time) source.Item {
		return source.Item{At: at.Sub(start), Out: max(now.Sub(start), at.Sub(start)), Config: *config}
	}
	for _, r := range t.Reports {
		it := item(r.At)
		it.Kind, it.Report = source.KindReport, r
		b.add(it)
	}
	for _, g := range t.Grants {
		it := item(g.At)
		it.Kind, it.Grant = source.KindGrant, g
		b.add(it)
	}
	for _, s := range t.Samples {
		it := item(s.At)
		it.Kind, it.Sample = source.KindSample, s
		b.add(it)
	}
}
