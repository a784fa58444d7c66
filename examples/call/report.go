// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"
)

// result is one leg's line in the JSON file. Times are ms, rates Mbit/s, ratios
// 0..1.
type result struct {
	CC             string  `json:"cc"`
	DurationS      float64 `json:"duration_s"`
	CapacityMbps   float64 `json:"capacity_mbps"`
	GoodputMbps    float64 `json:"goodput_mbps"`
	PlayoutP50     float64 `json:"playout_ms_p50"`
	PlayoutP95     float64 `json:"playout_ms_p95"`
	FreezeCount    int     `json:"freeze_count"`
	FreezeRatio    float64 `json:"freeze_ratio"`
	FramesRendered int     `json:"frames_rendered"`
	// Samples is the ratio samples that reached the estimator, and
	// TelemetryAge how old the modem's news was when it came: the median.
	Samples      int64   `json:"samples"`
	TelemetryAge float64 `json:"telemetry_age_ms_p50"`
	// Sound is nil without.
	Sound *soundResult `json:"sound,omitempty"`

	lag time.Duration // the latest that the emulated cell ever was
}

// soundResult is from capture to arrival, the 20 ms of a packet included.
type soundResult struct {
	DelayP50  float64 `json:"delay_ms_p50"`
	DelayP95  float64 `json:"delay_ms_p95"`
	LostRatio float64 `json:"lost_ratio"`
}

// result sums up a leg that ran for d from the trace's time from on.
func (l *leg) result(o options, from, d time.Duration) result {
	st := l.call.Stats()
	r := result{
		CC: l.cc, DurationS: round(d.Seconds(), 3),
		CapacityMbps: round(float64(o.trace.MeanBps(from, from+d))/1e6, 3),
		GoodputMbps:  round(float64(st.Bytes)*8/d.Seconds()/1e6, 3),
		PlayoutP50:   round(st.PlayoutMsP50, 1), PlayoutP95: round(st.PlayoutMsP95, 1),
		FreezeCount: st.FreezeCount, FreezeRatio: round(st.FreezeRatio, 4),
		FramesRendered: st.FramesRendered,
		Samples:        l.samples.Load(),
		lag:            l.link.Stats().MaxLag,
	}
	if st.FramesRendered == 0 {
		r.FreezeRatio = 1 // it never played
	}
	if a := st.Audio; o.film != nil && o.film.audio != nil {
		lost := round(float64(a.Lost)/float64(a.Packets+a.Lost), 4)
		if a.Packets == 0 {
			lost = 1
		}
		r.Sound = &soundResult{round(a.DelayMsP50, 1), round(a.DelayMsP95, 1), lost}
	}
	if l.client != nil {
		r.TelemetryAge = round(ms(l.client.Status().AgeP50), 1)
	}

	return r
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// round keeps what means something. JSON has neither NaN nor infinity: what is
// not known is 0.
func round(v float64, digits int) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow10(digits)

	return math.Round(v*scale) / scale
}

// columns and row are the table, in the terminal and on the page.
func columns(results []result) []string {
	c := []string{
		"estimator", "goodput Mbit/s", "of capacity", "playout p50", "p95", "freezes", "frozen", "frames", "samples", "telemetry age",
	}
	if len(results) > 0 && results[0].Sound != nil {
		c = append(c, "sound p50", "p95", "lost")
	}

	return c
}

func (r result) row() []string {
	share, p50, p95, samples, age := "-", "-", "-", "-", "-"
	if r.CapacityMbps > 0 {
		share = fmt.Sprintf("%.0f %%", 100*r.GoodputMbps/r.CapacityMbps)
	}
	if r.FramesRendered > 0 {
		p50, p95 = fmt.Sprintf("%.0f ms", r.PlayoutP50), fmt.Sprintf("%.0f ms", r.PlayoutP95)
	}
	if wantsTelemetry(r.CC) {
		samples = strconv.FormatInt(r.Samples, 10)
	}
	if r.Samples > 0 {
		age = fmt.Sprintf("%.0f ms", r.TelemetryAge)
	}
	name := r.CC
	if name == "pion" {
		name = "pion (NoOp pacer)"
	}

	cells := []string{
		name, fmt.Sprintf("%.2f", r.GoodputMbps), share, p50, p95,
		strconv.Itoa(r.FreezeCount), fmt.Sprintf("%.1f %%", 100*r.FreezeRatio),
		strconv.Itoa(r.FramesRendered), samples, age,
	}
	if s := r.Sound; s != nil {
		cells = append(cells, fmt.Sprintf("%.0f ms", s.DelayP50), fmt.Sprintf("%.0f ms", s.DelayP95), fmt.Sprintf("%.1f %%", 100*s.LostRatio))
	}

	return cells
}

func writeTable(w io.Writer, results []result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(tw, "%s\t", c)
		}
		fmt.Fprintln(tw)
	}
	line(columns(results))
	for _, r := range results {
		line(r.row())
	}

	return tw.Flush()
}

// busyNote is empty unless the emulated cell ran so late, 5 ms are usual, that
// the figures are the machine's.
func busyNote(results []result) string {
	var lag time.Duration
	for _, r := range results {
		lag = max(lag, r.lag)
	}
	if lag <= 50*time.Millisecond {
		return ""
	}

	return fmt.Sprintf("\nNote: this machine was busy. The emulated cell ran up to %.0f ms late, for which no estimator is to blame.\n", ms(lag))
}
