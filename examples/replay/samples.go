// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// sampleLine is a sample as -json prints it: the keys that source.Writer
// documents, in its order.
type sampleLine struct {
	File       string   `json:"file,omitempty"`
	TMs        millis   `json:"t_ms"`
	SFN        int      `json:"sfn"`
	BSRBytes   int      `json:"bsr_bytes"`
	BSRLow     int      `json:"bsr_bytes_low"`
	GrantBytes int      `json:"grant_bytes"`
	Ratio      *ratio4  `json:"ratio"`
	PeriodMs   millis   `json:"period_ms"`
	RAT        string   `json:"rat"`
	Flags      []string `json:"flags"`
	WindowMs   millis   `json:"window_ms"`
}

// millis is printed in milliseconds, to the microsecond.
type millis time.Duration

// MarshalJSON implements json.Marshaler.
//
//nolint:unparam // the interface has an error
func (m millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Duration(m).Microseconds())/1e3, 'f', -1, 64), nil
}

// ratio4 is printed with four digits.
type ratio4 float64

// MarshalJSON implements json.Marshaler.
//
//nolint:unparam // the interface has an error
func (r ratio4) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(r), 'f', 4, 64), nil
}

// flagNames are the flags of samples that have a bit; "idle" and "starved" follow
// from the bytes.
func flagNames() []struct {
	name string
	flag gbr.SampleFlags
} {
	return []struct {
		name string
		flag gbr.SampleFlags
	}{
		{"first_grant", gbr.FlagFirstGrant},
		{"corrected", gbr.FlagCorrected},
		{"inferred", gbr.FlagInferred},
		{"summed", gbr.FlagSummed},
	}
}

func (s *sample) flagStrings() []string {
	out := []string{}
	if ratio, ok := s.Ratio(); !ok {
		out = append(out, "idle")
	} else if ratio == 0 {
		out = append(out, "starved")
	}
	for _, f := range flagNames() {
		if s.Flags&f.flag != 0 {
			out = append(out, f.name)
		}
	}

	return out
}

// flagBits is the inverse, for flags that have a bit.
func flagBits(names []string) (flags gbr.SampleFlags) {
	for _, f := range flagNames() {
		for _, n := range names {
			if n == f.name {
				flags |= f.flag
			}
		}
	}

	return flags
}

// samplePrinter is -json.
type samplePrinter struct {
	w    io.Writer
	file string // shown with several files
}

func (p *samplePrinter) batch(b *batch) error {
	for i := range b.samples {
		s := &b.samples[i]
		l := sampleLine{
			File: p.file, TMs: millis(s.at), SFN: s.sfn, BSRBytes: s.Reported, BSRLow: s.ReportedLow, GrantBytes: s.Granted,
			PeriodMs: millis(s.period), RAT: s.rat.String(), Flags: s.flagStrings(), WindowMs: millis(s.Window),
		}
		if ratio, ok := s.Ratio(); ok && !math.IsInf(ratio, 0) {
			r := ratio4(ratio)
			l.Ratio = &r
		}
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if _, err := p.w.Write(append(line, '\n')); err != nil {
			return err
		}
	}

	return nil
}
