// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// eventLine is a line of interceptor.EventLog.
type eventLine struct {
	Time *float64        `json:"time"`
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
}

// events reads the telemetry out of an event log. Its times are those of the
// modem's telemetry on the sender's clock.
type events struct {
	f      *facts
	sink   *sink
	start  time.Time
	config gbr.RadioConfig
	batch  batch
}

func newEvents(f *facts, s *sink) *events {
	return &events{f: f, sink: s, config: gbr.RadioConfig{PCI: -1}}
}

func (e *events) line(data []byte) error {
	var l eventLine
	if err := json.Unmarshal(data, &l); err != nil {
		return jsonError(err)
	}
	if l.Time == nil || l.Name == "" {
		return errors.New(`an event needs "time" and "name"`)
	}
	if !(*l.Time >= -maxMs && *l.Time <= maxMs) {
		return fmt.Errorf("time is %g, not within %g..%g", *l.Time, -maxMs, maxMs)
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
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return fmt.Errorf("%s: %w", l.Name, jsonError(err))
		}
		e.start = d.Wall
		e.f.line(l.Name, true)
	case (gbr.TelemetryEvent{}).EventName():
		var d gbr.TelemetryEvent
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return fmt.Errorf("%s: %w", l.Name, jsonError(err))
		}
		if err := checkTelemetry(&d.Telemetry); err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
		e.f.line(l.Name, true)
		if e.start.IsZero() {
			e.start = firstTime(&d.Telemetry)
		}
		e.batch.take(d.Telemetry, e.start, &e.config)

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

	return e.sink.event(l, time.Duration(*l.Time*float64(time.Millisecond)), start)
}

// checkTelemetry bounds the numbers as those of a recording.
func checkTelemetry(t *gbr.Telemetry) error {
	const maxSpan = maxSpanMs * time.Millisecond
	for _, s := range t.Samples {
		if min(s.Granted, s.Reported, s.ReportedLow) < 0 || max(s.Granted, s.Reported, s.ReportedLow) > maxBytes ||
			s.Window < 0 || s.Window > maxSpan || s.SFN < 0 || s.SFN > maxSFN {
			return errors.New("a sample is out of range")
		}
	}
	for _, g := range t.Grants {
		if g.Bytes < 0 || g.Bytes > maxBytes {
			return errors.New("a grant is out of range")
		}
	}
	for _, r := range t.Reports {
		if r.Low < 0 || r.Low > maxBytes || r.High < -1 || r.High > maxBytes {
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
