// SPDX-License-Identifier: MIT

package ns3

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// Regime is how full a cell is, which says what can be compared.
type Regime string

// Regimes.
const (
	// Below is below saturation.
	Below Regime = "below"
	// Near is near the critical load, where the reference is not steady.
	Near Regime = "near"
	// Over is an overloaded cell, or flow.
	Over Regime = "over"
)

// Row is one run of the reference and ours.
type Row struct {
	Run             string
	Regime          Regime
	Reference, Ours Stats
	// Misses are the figures out of their band, with the bounds.
	Misses []string
}

// Compare runs every set-up of the reference through our cell. The file system
// is the folder with the reference's files.
func Compare(fsys fs.FS) ([]Row, error) {
	lte, err := compareAll(fsys, "lte/summary.csv", lteColumns(), "lte/bg_pf_8", "b4_dcfair_8", lteSetup)
	if err != nil {
		return nil, err
	}
	nr, err := compareAll(fsys, "nr/nr_summary.csv", nrColumns(), "nr/bg_L5_8", "bg_L5_8", nrSetup)
	return append(lte, nr...), err
}

// compareAll runs the set-ups of a summary, with the arrivals of a run with 8
// Mbit/s of others, and the spread of another.
func compareAll(
	fsys fs.FS, summaryName string, columns map[string]func(*Stats) *float64, arrivalsOf, spreadOf string, setupOf func(string) setup,
) ([]Row, error) {
	summary, err := readSummary(fsys, summaryName, columns)
	if err != nil {
		return nil, err
	}
	flows, err := readArrivals(fsys, arrivalsOf, 8)
	if err != nil {
		return nil, err
	}
	near, err := setupOf(spreadOf).spread(fsys)
	if err != nil {
		return nil, err
	}
	near.borrowed = true
	var list []Row
	for _, name := range slices.Sorted(maps.Keys(summary)) {
		s := setupOf(name)
		if s.name == "" {
			continue
		}
		row, err := s.compare(fsys, summary[name], flows, near)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}

// compare runs one set-up. near is the spread for a run near the critical load
// of which there are no raw files.
func (s setup) compare(fsys fs.FS, reference Stats, flows map[int]arrivals, near spread) (Row, error) {
	r, err := s.replay(flows)
	if err != nil {
		return Row{}, err
	}
	row := Row{Run: s.name, Reference: reference, Ours: s.stats(r, warmupMs, s.lengthMs)}
	row.Regime = s.regime(reference)
	if row.Regime == Near {
		switch own, err := s.spread(fsys); {
		case err == nil:
			near = own
		case !errors.Is(err, errNoRaw):
			return Row{}, err
		}
	}
	row.Misses = row.misses(near)
	return row, nil
}

// stats are figures of a stretch of a run, ms.
func (s setup) stats(r *run, from, to float64) Stats { return r.stats(from, to, s.rbsAMs, s.thin) }

// regime judges by the reference's figures.
func (s setup) regime(ref Stats) Regime {
	switch {
	case ref.Ratio < 0.05 || ref.Rate < 0.97*s.mbps:
		return Over
	case (ref.Load > 0.9 || s.capacity > 0 && ref.RateAll > 0.8*s.capacity) && ref.Ratio < 0.8:
		return Near
	default:
		return Below
	}
}

// spread is by what factor figures of a third of a run lie from those of all
// of it: the least and the most. A borrowed one is of another run, and holds
// where it is wider than the band below saturation.
type spread struct {
	low, high Stats
	borrowed  bool
}

// figures are those that are compared, with their names.
func (s *Stats) figures() []figure {
	return []figure{
		{"mean ratio", s.Eta, 0.05, ""},
		{"sum ratio", s.Ratio, 0.05, ""},
		{"BSR spacing p50", s.SpacingP50, 0, " ms"},
		{"BSR spacing p95", s.SpacingP95, 0, " ms"},
		{"delay p50", s.DelayP50, 3, " ms"},
		{"delay p95", s.DelayP95, 3, " ms"},
	}
}

// figure has a band of 15 % or some absolute value.
type figure struct {
	name     string
	value    float64
	absolute float64
	unit     string
}

// share is the relative band.
const share = 0.15

// band is how far a figure may be off.
func (f figure) band() float64 { return max(f.absolute, share*f.value) }

// spread is that of the reference's own run, of which there are raw files.
func (s setup) spread(fsys fs.FS) (spread, error) {
	r, err := readRun(fsys, s.base, warmupMs)
	if err != nil {
		return spread{}, err
	}
	all := s.stats(r, warmupMs, s.lengthMs)
	var w spread
	third := (s.lengthMs - warmupMs) / 3
	for i := range 3 {
		part := s.stats(r, warmupMs+float64(i)*third, warmupMs+float64(i+1)*third)
		for _, of := range []func(*Stats) *float64{
			func(s *Stats) *float64 { return &s.Eta }, func(s *Stats) *float64 { return &s.Ratio },
			func(s *Stats) *float64 { return &s.SpacingP50 }, func(s *Stats) *float64 { return &s.SpacingP95 },
			func(s *Stats) *float64 { return &s.DelayP50 }, func(s *Stats) *float64 { return &s.DelayP95 },
		} {
			factor := *of(&part) / *of(&all)
			if i == 0 {
				*of(&w.low), *of(&w.high) = factor, factor
			}
			*of(&w.low), *of(&w.high) = min(*of(&w.low), factor), max(*of(&w.high), factor)
		}
	}
	return w, nil
}

// misses are the figures of a row that are out of their bands.
func (r *Row) misses(near spread) []string {
	var list []string
	check := func(name string, got, low, high float64, unit string) {
		if !(got >= low && got <= high) { // NaN is a miss, too
			list = append(list, fmt.Sprintf("%s %.4g%s, want %.4g to %.4g", name, got, unit, low, high))
		}
	}
	ours := r.Ours.figures()
	switch r.Regime {
	case Over:
		check("rate", r.Ours.Rate, r.Reference.Rate*(1-share), r.Reference.Rate*(1+share), " Mbit/s")
		check("mean ratio", r.Ours.Eta, r.Reference.Eta*(1-share), r.Reference.Eta*(1+share), "")
	case Near:
		low, high := near.low.figures(), near.high.figures()
		for i, f := range r.Reference.figures() {
			from, to := f.value*low[i].value, f.value*high[i].value
			if near.borrowed {
				from, to = min(from, f.value-f.band()), max(to, f.value+f.band())
			}
			check(f.name, ours[i].value, from, to, f.unit)
		}
	case Below:
		for i, f := range r.Reference.figures() {
			check(f.name, ours[i].value, f.value-f.band(), f.value+f.band(), f.unit)
		}
	}
	return list
}
