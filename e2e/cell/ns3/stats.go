// SPDX-License-Identifier: MIT

package ns3

import (
	"math"
	"slices"
)

// Stats are the figures of one run, over the time after warm-up.
type Stats struct {
	// Eta is bytes granted between two reports over bytes reported, its mean
	// and percentiles; Ratio is the sum of the former over that of the latter.
	Eta, EtaP10, EtaP50, EtaP90, Ratio float64
	// Load is the share of resource blocks in use.
	Load float64
	// SpacingP50 and SpacingP95 are ms between reports, Report their mean in
	// bytes.
	SpacingP50, SpacingP95, Report float64
	// Rate is the observed phone's goodput in Mbit/s, RateAll that of all.
	Rate, RateAll float64
	// DelayP50 and DelayP95 are one way in ms.
	DelayP50, DelayP95 float64
}

// run is what happened to one flow in a cell, by the ms of the run.
type run struct {
	reports, grants, deliveries []event
	rbs                         float64 // granted to anybody
	all                         float64 // bytes delivered of anybody
}

// event is a report or a grant of bytes, or a delivery of bytes after a delay.
type event struct{ ms, bytes, delay float64 }

const (
	// longestWindow is how long a report counts when no other comes, ms.
	longestWindow = 20
)

// stats makes figures of what happened from one ms to another in a cell of rbs
// with so many slots a ms. Reports closer than thin to the one before are left
// out of the ratios.
func (r *run) stats(from, to, rbsAMs, thin float64) Stats {
	var s Stats
	reports := between(r.reports, from, to)
	var etas, gaps []float64
	granted, reported, size := 0.0, 0.0, 0.0
	g := 0
	kept := thinned(reports, thin)
	for i, b := range kept {
		end := b.ms + longestWindow
		if i+1 < len(kept) {
			end = min(end, kept[i+1].ms)
		}
		for g > 0 && r.grants[g-1].ms >= b.ms {
			g--
		}
		for g < len(r.grants) && r.grants[g].ms < b.ms {
			g++
		}
		sum := 0.0
		for ; g < len(r.grants) && r.grants[g].ms < end; g++ {
			sum += r.grants[g].bytes
		}
		if b.bytes > 0 && i+1 < len(kept) {
			etas = append(etas, sum/b.bytes)
			granted += sum
			reported += b.bytes
		}
	}
	some := 0.0
	for i, b := range reports {
		size += b.bytes
		if b.bytes > 0 {
			some++
		}
		if i > 0 {
			gaps = append(gaps, b.ms-reports[i-1].ms)
		}
	}
	s.Eta, s.EtaP10, s.EtaP50, s.EtaP90 = mean(etas), percentile(etas, 10), percentile(etas, 50), percentile(etas, 90)
	s.Ratio, s.Report = granted/reported, size/some
	s.SpacingP50, s.SpacingP95 = percentile(gaps, 50), percentile(gaps, 95)
	var delays []float64
	bytes := 0.0
	for _, d := range between(r.deliveries, from, to) {
		delays = append(delays, d.delay)
		bytes += d.bytes
	}
	span := (to - from) * 1000 / 8 // bytes a Mbit/s
	s.Rate, s.RateAll, s.Load = bytes/span, r.all/span, r.rbs/(rbsAMs*(to-from))
	s.DelayP50, s.DelayP95 = percentile(delays, 50), percentile(delays, 95)
	return s
}

// thinned leaves out events that come sooner than apart after the one before.
func thinned(events []event, apart float64) []event {
	var kept []event
	for _, e := range events {
		if n := len(kept); n == 0 || e.ms-kept[n-1].ms >= apart {
			kept = append(kept, e)
		}
	}
	return kept
}

func between(events []event, from, to float64) []event {
	low, _ := slices.BinarySearchFunc(events, from, func(e event, t float64) int { return cmp(e.ms, t) })
	high, _ := slices.BinarySearchFunc(events, to, func(e event, t float64) int { return cmp(e.ms, t) })
	return events[low:high]
}

func cmp(a, b float64) int {
	if a < b {
		return -1
	}
	return 1
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v)) // NaN for none
}

// percentile interpolates between the two nearest values.
func percentile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Clone(v)
	slices.Sort(s)
	at := p / 100 * float64(len(s)-1)
	i := min(int(at), len(s)-1)
	j := min(i+1, len(s)-1)
	return s[i] + (at-float64(i))*(s[j]-s[i])
}
