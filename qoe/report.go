// SPDX-License-Identifier: MIT

package qoe

import (
	"encoding/json"
	"math"
	"time"
)

// Report collects what the receiver of one stream has seen, and joins several
// of them. The zero value is ready to use. Not safe for concurrent use.
//
//	JitterBuffer.OnFrame --+-- ok -----> OnFrame(render, latency)
//	                       +-- not ok -> OnSkipped
//	end of the stream -----------------> Close(end), then Summary or Merge
type Report struct {
	playout Series // ms
	skipped int

	freezes  FreezeDetector
	excluded FreezeStats // of freezes: counted before Discard
	closed   FreezeStats // finished streams
}

// OnFrame counts a frame that is on the screen at render, latency after its
// capture.
func (r *Report) OnFrame(render time.Time, latency time.Duration) {
	r.playout.Add(latency.Seconds() * 1000)
	r.freezes.OnFrameRendered(render)
}

// OnSkipped counts a frame that is never shown.
func (r *Report) OnSkipped() { r.skipped++ }

// OnPause tells that the sender has paused, see [FreezeDetector.OnPause].
func (r *Report) OnPause() { r.freezes.OnPause() }

// Discard forgets all that was counted, a warm-up for one. The average frame
// gap by which the next freezes are judged stays; a gap that is open counts in
// full when it ends.
func (r *Report) Discard() {
	r.playout.Reset()
	r.skipped = 0
	r.excluded = r.freezes.Stats()
	r.closed = FreezeStats{}
}

// Close ends the stream at end: a gap still open counts, as a freeze if it is
// one. What is counted afterwards is a new stream in the same report.
func (r *Report) Close(end time.Time) {
	r.closed = r.closed.add(r.freezes.StatsAt(end).sub(r.excluded))
	r.freezes, r.excluded = FreezeDetector{}, FreezeStats{}
}

// Merge adds the figures of o, up to its last frame unless it is closed.
// Quantiles are those of all frames together, the freeze ratio that of all
// time.
func (r *Report) Merge(o *Report) {
	stats := o.stats() // first: o may be r
	r.playout.Merge(&o.playout)
	r.skipped += o.skipped
	r.closed = r.closed.add(stats)
}

func (r *Report) stats() FreezeStats { return r.closed.add(r.freezes.Stats().sub(r.excluded)) }

// Summary is the figures so far, up to the last frame.
func (r *Report) Summary() Summary { return r.summary(r.stats()) }

// SummaryAt is the figures if the stream ended at end, see [Report.Close],
// which it leaves open.
func (r *Report) SummaryAt(end time.Time) Summary {
	return r.summary(r.closed.add(r.freezes.StatsAt(end).sub(r.excluded)))
}

func (r *Report) summary(s FreezeStats) Summary {
	ratio := math.NaN()
	if s.Playback > 0 {
		ratio = s.Ratio()
	}

	return Summary{
		FramesRendered: s.Frames,
		FramesSkipped:  r.skipped,
		PlayoutMsP50:   r.playout.Quantile(0.50),
		PlayoutMsP95:   r.playout.Quantile(0.95),
		PlayoutMsP99:   r.playout.Quantile(0.99),
		FreezeCount:    s.Count,
		FreezeRatio:    ratio,
		Frozen:         s.Frozen,
		Playback:       s.Playback,
	}
}

// MarshalJSON encodes the [Summary].
func (r *Report) MarshalJSON() ([]byte, error) { return r.Summary().MarshalJSON() }

// Summary is the figures of a [Report].
type Summary struct {
	FramesRendered, FramesSkipped int
	// PlayoutMs are quantiles of the time from capture to screen, by the rule
	// of [Quantile]; NaN, and null in JSON, without frames.
	PlayoutMsP50, PlayoutMsP95, PlayoutMsP99 float64
	FreezeCount                              int
	// FreezeRatio is Frozen / Playback, 0..1; NaN, and null in JSON, without
	// playback: a stream that never played did not play well.
	FreezeRatio      float64
	Frozen, Playback time.Duration
}

// MarshalJSON writes milliseconds to the microsecond and the ratio to 10^-6,
// so that the text does not depend on the machine's last digit.
func (s Summary) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		FramesRendered int      `json:"frames_rendered"`
		FramesSkipped  int      `json:"frames_skipped"`
		PlayoutMsP50   *float64 `json:"playout_ms_p50"`
		PlayoutMsP95   *float64 `json:"playout_ms_p95"`
		PlayoutMsP99   *float64 `json:"playout_ms_p99"`
		FreezeCount    int      `json:"freeze_count"`
		FreezeRatio    *float64 `json:"freeze_ratio"`
		FrozenMs       int64    `json:"frozen_ms"`
		PlaybackMs     int64    `json:"playback_ms"`
	}{
		FramesRendered: s.FramesRendered,
		FramesSkipped:  s.FramesSkipped,
		PlayoutMsP50:   rounded(s.PlayoutMsP50, 1e3),
		PlayoutMsP95:   rounded(s.PlayoutMsP95, 1e3),
		PlayoutMsP99:   rounded(s.PlayoutMsP99, 1e3),
		FreezeCount:    s.FreezeCount,
		FreezeRatio:    rounded(s.FreezeRatio, 1e6),
		FrozenMs:       s.Frozen.Milliseconds(),
		PlaybackMs:     s.Playback.Milliseconds(),
	})
}

// rounded is nil for what JSON cannot say.
func rounded(v, steps float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v = math.Round(v*steps) / steps

	return &v
}
