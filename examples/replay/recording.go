// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// recordingLine is a line of source.Writer, or of -json.
type recordingLine struct {
	Kind        string   `json:"kind"`
	TMs         *float64 `json:"t_ms"`
	SFN         *int64   `json:"sfn"`
	BSRBytes    *int64   `json:"bsr_bytes"`
	BSRBytesLow *int64   `json:"bsr_bytes_low"`
	GrantBytes  *int64   `json:"grant_bytes"`
	PeriodMs    float64  `json:"period_ms"`
	WindowMs    *float64 `json:"window_ms"`
	RAT         string   `json:"rat"`
	Flags       []string `json:"flags"`
	Padding     bool     `json:"padding"`
	LagMs       float64  `json:"lag_ms"`
	PCI         *int64   `json:"pci"`
}

// Limits of package source. What is beyond is a mistake, not a modem.
const (
	maxBytes  = 1 << 30
	maxMs     = 1e10
	maxSpanMs = 1e7
	maxPCI    = 1007
	maxSFN    = 1023
)

// check looks at every number, whatever the kind.
func (l *recordingLine) check() error {
	if l.TMs == nil {
		return errors.New("t_ms is missing")
	}
	for _, f := range [...]struct {
		name     string
		v        *float64
		low, top float64
	}{
		{"t_ms", l.TMs, -maxMs, maxMs},
		{"period_ms", &l.PeriodMs, 0, maxSpanMs},
		{"window_ms", l.WindowMs, 0, maxSpanMs},
		{"lag_ms", &l.LagMs, 0, maxSpanMs},
	} {
		if f.v != nil && !(*f.v >= f.low && *f.v <= f.top) {
			return fmt.Errorf("%s is %g, not within %g..%g", f.name, *f.v, f.low, f.top)
		}
	}
	for _, f := range [...]struct {
		name     string
		v        *int64
		low, top int64
	}{
		{"sfn", l.SFN, -1, maxSFN},
		{"bsr_bytes", l.BSRBytes, 0, maxBytes},
		{"bsr_bytes_low", l.BSRBytesLow, 0, maxBytes},
		{"grant_bytes", l.GrantBytes, 0, maxBytes},
		{"pci", l.PCI, 0, maxPCI},
	} {
		if f.v != nil && (*f.v < f.low || *f.v > f.top) {
			return fmt.Errorf("%s is %d, not within %d..%d", f.name, *f.v, f.low, f.top)
		}
	}
	if l.BSRBytes != nil && l.BSRBytesLow != nil && *l.BSRBytesLow > *l.BSRBytes {
		return fmt.Errorf("bsr_bytes_low %d is above bsr_bytes %d", *l.BSRBytesLow, *l.BSRBytes)
	}
	switch l.RAT {
	case "", "lte", "nr", "unknown":
		return nil
	default:
		return fmt.Errorf("rat is %.20q, not lte, nr or unknown", l.RAT)
	}
}

// recording reads the lines of a recording.
type recording struct {
	f     *facts
	sink  *sink
	batch batch
}

func newRecording(f *facts, s *sink) *recording { return &recording{f: f, sink: s} }

func (r *recording) line(data []byte) error {
	var l recordingLine
	if err := json.Unmarshal(data, &l); err != nil {
		return jsonError(err)
	}
	if err := l.check(); err != nil {
		return err
	}
	r.batch.reset()
	at := fromMillis(*l.TMs)
	kind := l.Kind
	switch kind {
	case "":
		kind = "sample"
		if l.BSRBytes == nil || l.GrantBytes == nil {
			return errors.New("a sample needs bsr_bytes and grant_bytes")
		}
		r.batch.samples = append(r.batch.samples, l.sample(at))
	case "grant":
		if l.GrantBytes == nil {
			return errors.New("a grant needs grant_bytes")
		}
		r.batch.grants = append(r.batch.grants, grant{at: at, bytes: int(*l.GrantBytes)})
	case "report":
		if l.BSRBytesLow == nil {
			return errors.New("a report needs bsr_bytes_low")
		}
		high := int64(-1)
		if l.BSRBytes != nil {
			high = *l.BSRBytes
		}
		r.batch.reports = append(r.batch.reports, report{at: at, low: int(*l.BSRBytesLow), high: int(high), padding: l.Padding})
	case "config":
		r.batch.config = &gbr.RadioConfig{RAT: ratOf(l.RAT), Period: fromMillis(l.PeriodMs), Lag: fromMillis(l.LagMs), PCI: -1}
		if l.PCI != nil {
			r.batch.config.PCI = int(*l.PCI)
		}
	default:
		r.f.line(fmt.Sprintf("%.20q", kind), false)

		return nil
	}
	r.f.line(kind, true)

	return output(r.sink.give(&r.batch))
}

func (l *recordingLine) sample(at time.Duration) sample {
	window, low, sfn := l.PeriodMs, *l.BSRBytes, int64(-1)
	if l.WindowMs != nil {
		window = *l.WindowMs
	}
	if l.BSRBytesLow != nil {
		low = *l.BSRBytesLow
	}
	if l.SFN != nil {
		sfn = *l.SFN
	}

	return sample{
		Sample: gbr.Sample{
			Window: fromMillis(window), Granted: int(*l.GrantBytes), Reported: int(*l.BSRBytes), ReportedLow: int(low),
			Flags: flagBits(l.Flags),
		},
		at: at, period: fromMillis(l.PeriodMs), sfn: int(sfn), rat: ratOf(l.RAT),
	}
}

func ratOf(s string) gbr.RAT {
	switch s {
	case "lte":
		return gbr.RATLTE
	case "nr":
		return gbr.RATNR
	default:
		return gbr.RATUnknown
	}
}

// fromMillis rounds to microseconds, the resolution of recordings.
func fromMillis(ms float64) time.Duration {
	return time.Duration(math.Round(ms*1e3)) * time.Microsecond
}
