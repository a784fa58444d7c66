// SPDX-License-Identifier: MIT

package source

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// Kind is the kind of a line.
type Kind string

// Kinds of lines. A sample, the usual one, has no kind.
const (
	KindSample Kind = ""
	KindGrant  Kind = "grant"
	KindReport Kind = "report"
	KindConfig Kind = "config"
)

// Limits of a recording's numbers. What is beyond is a mistake, not a modem.
const (
	MaxBytes  = 1 << 30
	MaxMs     = 1e10 // of a time, either way: 115 days
	MaxSpanMs = 1e7  // of a window or timer: nearly 3 h
	MaxSFN    = 1023 // TS 36.331 6.2.1 MIB, TS 38.211 4.3.1

	maxSum   = math.MaxInt32
	maxAgeMs = 1e4
	maxPCI   = 1007 // TS 38.211 7.4.2.1
	maxCell  = 63
)

// line is one line of a recording, a JSON object. A sample is
//
//	{"t_ms":1000,"sfn":512,"bsr_bytes":1552,"bsr_bytes_low":1326,"grant_bytes":700,
//	 "ratio":0.451,"period_ms":5,"rat":"lte","flags":[]}
//
//	t_ms            end of the window on air; any epoch
//	sfn             system frame number there, -1 for unknown or of both radios
//	bsr_bytes       upper edge of the reported bin, 0 for an empty queue
//	bsr_bytes_low   its lower edge
//	grant_bytes     first-transmission bytes in the window
//	ratio           grant_bytes / bsr_bytes, null when idle; not read
//	period_ms       periodicBSR-Timer or the observed spacing, 0 for unknown
//	rat             "lte", "nr" or "unknown", also for both radios together
//	flags           "first_grant", "corrected", "inferred", "summed", as in
//	                gbr.SampleFlags; "idle", "starved", which are not read, as
//	                are words that are not known
//	window_ms       time in which grant_bytes were granted; period_ms when it is
//	                missing
//	age_ms          how much later than t_ms it came out of the modem, at most
//	                10 s; 0
//	sum_grant_bytes, sum_bsr_bytes
//	                gbr.Sample.SumGranted and SumReported; 0
//
// Of these t_ms, bsr_bytes and grant_bytes must be there. Lines with a "kind" are
// the events behind the samples: "grant" (t_ms, grant_bytes, cell), "report"
// (t_ms, bsr_bytes or null for no upper edge, bsr_bytes_low, padding) and
// "config" (t_ms, rat, period_ms, lag_ms, pci or null). Keys and kinds that are
// not known are ignored.
type line struct {
	Kind        Kind     `json:"kind"`
	TMs         *float64 `json:"t_ms"`
	SFN         *int64   `json:"sfn"`
	BSRBytes    *int64   `json:"bsr_bytes"`
	BSRBytesLow *int64   `json:"bsr_bytes_low"`
	GrantBytes  *int64   `json:"grant_bytes"`
	PeriodMs    float64  `json:"period_ms"`
	WindowMs    *float64 `json:"window_ms"`
	AgeMs       float64  `json:"age_ms"`
	RAT         string   `json:"rat"`
	Flags       []string `json:"flags"`
	SumGrant    int64    `json:"sum_grant_bytes"`
	SumBSR      int64    `json:"sum_bsr_bytes"`
	Cell        int64    `json:"cell"`
	Padding     bool     `json:"padding"`
	LagMs       float64  `json:"lag_ms"`
	PCI         *int64   `json:"pci"`
}

// Item is the content of one line of a recording: [ParseLine] reads it and
// [AppendLine] writes it. Times are durations since the recording's epoch, to the
// microsecond; the At of Sample, Grant and Report are not used.
type Item struct {
	// Kind tells which of the fields below counts.
	Kind Kind
	// At is on air, Out when the modem gave it away.
	At, Out time.Duration

	Sample gbr.Sample
	Grant  gbr.Grant
	Report gbr.Report
	// Config is that of a configuration. Beside a sample it is what is in force:
	// the line has its Period, and its RAT if the sample does not tell one.
	Config gbr.RadioConfig
}

// ParseLine reads one line. known is false for a kind that is not known, of
// which only Kind, At and Out are set. Errors say what is wrong with the line, in
// the words of the format.
func ParseLine(data []byte) (it Item, known bool, err error) {
	var l line
	if err := UnmarshalLine(data, &l); err != nil {
		return it, false, err
	}
	if l.TMs == nil {
		return it, false, errors.New("t_ms is missing")
	}
	if err := l.check(); err != nil {
		return it, false, err
	}
	it.Kind, it.At = l.Kind, millis(*l.TMs)
	it.Out = it.At + millis(l.AgeMs)
	switch l.Kind {
	case KindSample:
		if l.BSRBytes == nil || l.GrantBytes == nil {
			return it, false, errors.New("a sample needs bsr_bytes and grant_bytes")
		}
		window := l.PeriodMs
		if l.WindowMs != nil {
			window = *l.WindowMs
		}
		low := *l.BSRBytes
		if l.BSRBytesLow != nil {
			low = *l.BSRBytesLow
		}
		it.Sample = gbr.Sample{
			Window: millis(window), Granted: int(*l.GrantBytes), Reported: int(*l.BSRBytes), ReportedLow: int(low),
			SumGranted: int(l.SumGrant), SumReported: int(l.SumBSR), RAT: parseRAT(l.RAT), Flags: parseFlags(l.Flags),
		}
		if it.Sample.RAT != gbr.RATUnknown {
			it.Sample.SFN = -1
			if l.SFN != nil {
				it.Sample.SFN = int(*l.SFN)
			}
		}
		it.Config = gbr.RadioConfig{RAT: parseRAT(l.RAT), Period: millis(l.PeriodMs), PCI: -1}
	case KindGrant:
		if l.GrantBytes == nil {
			return it, false, errors.New("a grant needs grant_bytes")
		}
		it.Grant = gbr.Grant{Bytes: int(*l.GrantBytes), Cell: int(l.Cell)}
	case KindReport:
		if l.BSRBytesLow == nil {
			return it, false, errors.New("a report needs bsr_bytes_low")
		}
		it.Report = gbr.Report{Low: int(*l.BSRBytesLow), High: -1, Padding: l.Padding}
		if l.BSRBytes != nil {
			it.Report.High = int(*l.BSRBytes)
		}
	case KindConfig:
		it.Config = gbr.RadioConfig{RAT: parseRAT(l.RAT), Period: millis(l.PeriodMs), Lag: millis(l.LagMs), PCI: -1}
		if l.PCI != nil {
			it.Config.PCI = int(*l.PCI)
		}
	default:
		return it, false, nil
	}

	return it, true, nil
}

// check looks at every number, whatever the kind.
func (l *line) check() error {
	for _, f := range [...]struct {
		name     string
		v        *float64
		low, top float64
	}{
		{"t_ms", l.TMs, -MaxMs, MaxMs},
		{"period_ms", &l.PeriodMs, 0, MaxSpanMs},
		{"window_ms", l.WindowMs, 0, MaxSpanMs},
		{"lag_ms", &l.LagMs, 0, MaxSpanMs},
		{"age_ms", &l.AgeMs, 0, maxAgeMs},
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
		{"sfn", l.SFN, -1, MaxSFN},
		{"bsr_bytes", l.BSRBytes, 0, MaxBytes},
		{"bsr_bytes_low", l.BSRBytesLow, 0, MaxBytes},
		{"grant_bytes", l.GrantBytes, 0, MaxBytes},
		{"sum_grant_bytes", &l.SumGrant, 0, maxSum},
		{"sum_bsr_bytes", &l.SumBSR, 0, maxSum},
		{"cell", &l.Cell, 0, maxCell},
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

func parseRAT(s string) gbr.RAT {
	switch s {
	case "lte":
		return gbr.RATLTE
	case "nr":
		return gbr.RATNR
	default:
		return gbr.RATUnknown
	}
}

// parseFlags leaves out words that are not known.
func parseFlags(words []string) (f gbr.SampleFlags) {
	for _, w := range words {
		for bit := gbr.SampleFlags(1); bit != 0; bit <<= 1 {
			if w != "" && w == flagWord(bit) {
				f |= bit
			}
		}
	}

	return f
}

// millis rounds to microseconds, the resolution of recordings.
func millis(ms float64) time.Duration {
	return time.Duration(math.Round(ms*1e3)) * time.Microsecond
}
