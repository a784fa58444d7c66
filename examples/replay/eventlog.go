// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// eventLine is a line of interceptor.EventLog.
type eventLine struct {
	Time *float64        `json:"time"`
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
}

// since is the time since the log's beginning.
func (l *eventLine) since() time.Duration { return time.Duration(*l.Time * float64(time.Millisecond)) }

func unpack(l *eventLine, ev any) error {
	if err := source.UnmarshalLine(l.Data, ev); err != nil {
		return fmt.Errorf("%.40s: %w", l.Name, err)
	}

	return nil
}

// events reads the telemetry out of an event log. Its times are those of the
// modem's telemetry on the sender's clock.
type events struct {
	f      *facts
	sink   *sink
	start  time.Time
	known  bool // start is that of the log
	config gbr.RadioConfig
	batch  batch
}

func newEvents(f *facts, s *sink) *events {
	return &events{f: f, sink: s, config: gbr.RadioConfig{PCI: -1}}
}

func (e *events) line(data []byte) error {
	var l eventLine
	if err := source.UnmarshalLine(data, &l); err != nil {
		return err
	}
	if l.Time == nil || l.Name == "" {
		return errors.New(`an event needs "time" and "name"`)
	}
	if !(*l.Time >= -source.MaxMs && *l.Time <= source.MaxMs) {
		return fmt.Errorf("time is %g, not within %g..%g", *l.Time, -source.MaxMs, source.MaxMs)
	}
	if err := e.telemetry(&l); err != nil {
		return err
	}

	return e.decide(&l)
}

// telemetry takes the telemetry out of a line.
func (e *events) telemetry(l *eventLine) error {
	switch l.Name {
	case "log:started":
		var d struct {
			Wall time.Time `json:"wall"`
		}
		if err := unpack(l, &d); err != nil {
			return err
		}
		e.start, e.known = d.Wall, true
		e.f.line(l.Name, true)
	case (gbr.TelemetryEvent{}).EventName():
		var d gbr.TelemetryEvent
		if err := unpack(l, &d); err != nil {
			return err
		}
		if err := checkTelemetry(&d.Telemetry); err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
		e.f.line(l.Name, true)
		if e.start.IsZero() {
			e.start = firstTime(&d.Telemetry)
		}
		now := e.start // without "log:started" nobody knows
		if e.known {
			now = now.Add(l.since())
		}
		e.batch.take(now, d.Telemetry, e.start, &e.config)

		return output(e.sink.give(&e.batch))
	default:
		e.f.line(fmt.Sprintf("%.40s", l.Name), false)
	}

	return nil
}

// decide hands an event on to -decisions.
func (e *events) decide(l *eventLine) error {
	if e.sink.event == nil || l.Name == "log:started" {
		return nil
	}
	start := e.start
	if start.IsZero() {
		start = time.Unix(0, 0)
	}

	return e.sink.event(l, l.since(), start)
}

// checkTelemetry bounds the numbers as those of a recording.
func checkTelemetry(t *gbr.Telemetry) error {
	const maxSpan = source.MaxSpanMs * time.Millisecond
	for _, s := range t.Samples {
		if min(s.Granted, s.Reported, s.ReportedLow) < 0 || max(s.Granted, s.Reported, s.ReportedLow) > source.MaxBytes ||
			s.Window < 0 || s.Window > maxSpan || s.SFN < -1 || s.SFN > source.MaxSFN {
			return errors.New("a sample is out of range")
		}
	}
	for _, g := range t.Grants {
		if g.Bytes < 0 || g.Bytes > source.MaxBytes {
			return errors.New("a grant is out of range")
		}
	}
	for _, r := range t.Reports {
		if r.Low < 0 || r.Low > source.MaxBytes || r.High < -1 || r.High > source.MaxBytes {
			return errors.New("a report is out of range")
		}
	}
	if c := t.Config; c != nil && (c.Period < 0 || c.Period > maxSpan || c.Lag < 0 || c.Lag > maxSpan) {
		return errors.New("a configuration is out of range")
	}

	return nil
}

func firstTime(t *gbr.Telemetry) time.Time {
	var first time.Time
	add := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	for _, s := range t.Samples {
		add(s.At)
	}
	for _, g := range t.Grants {
		add(g.At)
	}
	for _, r := range t.Reports {
		add(r.At)
	}

	return first
}
