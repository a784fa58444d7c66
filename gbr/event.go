// SPDX-License-Identifier: MIT

package gbr

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// The first six events are the inputs: enough to run a recorded call through
// changed code. What they point to is the caller's and may change afterwards.

// PacketSentEvent is a packet that left.
type PacketSentEvent struct {
	Packet gcc.SentPacket `json:"packet"`
}

// EventName implements gcc.Event.
func (PacketSentEvent) EventName() string { return "gbr:packet_sent" }

// OthersSentEvent is a packet of another sender that left, see
// [Estimator.OnOthersSent].
type OthersSentEvent struct {
	Packet gcc.SentPacket `json:"packet"`
}

// EventName implements gcc.Event.
func (OthersSentEvent) EventName() string { return "gbr:others_sent" }

// ShareEvent is a new share, see [Estimator.SetShare].
type ShareEvent struct {
	Share float64 `json:"share"`
}

// EventName implements gcc.Event.
func (ShareEvent) EventName() string { return "gbr:share" }

// ClockEvent is what another estimator has found of the modem's clock, see
// [Estimator.SetClock].
type ClockEvent struct {
	Ahead time.Duration `json:"ahead_ns"`
}

// EventName implements gcc.Event.
func (ClockEvent) EventName() string { return "gbr:clock" }

// FeedbackEvent is one receiver report.
type FeedbackEvent struct {
	Packets []gcc.PacketResult `json:"packets"`
}

// EventName implements gcc.Event.
func (FeedbackEvent) EventName() string { return "gbr:feedback" }

// TelemetryEvent is one batch from the modem.
type TelemetryEvent struct {
	Telemetry Telemetry `json:"telemetry"`
}

// EventName implements gcc.Event.
func (TelemetryEvent) EventName() string { return "gbr:telemetry" }

// SampleEvent says what the inner loop made of a sample.
type SampleEvent struct {
	AgeMs   float64 `json:"age_ms"`
	Ratio   float64 `json:"ratio"`
	Verdict string  `json:"verdict"`
	Gain    float64 `json:"gain"`
	RateBps int     `json:"rate_bps"`
}

// EventName implements gcc.Event.
func (SampleEvent) EventName() string { return "gbr:sample" }

// ModeEvent is a change of who steers.
type ModeEvent struct {
	From Mode `json:"from"`
	To   Mode `json:"to"`
	// RateBps is the rate at the change: it does not jump.
	RateBps int `json:"rate_bps"`
}

// EventName implements gcc.Event.
func (ModeEvent) EventName() string { return "gbr:mode_changed" }

// TargetEvent is what came of it all: what encoder and pacer are told. One comes
// with every change of a rate by a hundredth.
type TargetEvent struct {
	BitrateBps int `json:"bitrate_bps"`
	PacingBps  int `json:"pacing_bps"`
	RateBps    int `json:"rate_bps"`
}

// EventName implements gcc.Event.
func (TargetEvent) EventName() string { return "gbr:target" }

// FrameBudgetEvent is a frame budget that was asked for.
type FrameBudgetEvent struct {
	Bytes int  `json:"bytes"`
	OK    bool `json:"ok"`
}

// EventName implements gcc.Event.
func (FrameBudgetEvent) EventName() string { return "gbr:frame_budget" }

// CutEvent is a cut by the outer loop.
type CutEvent struct {
	FromBps int       `json:"from_bps"`
	ToBps   int       `json:"to_bps"`
	Usage   gcc.Usage `json:"usage"`
}

// EventName implements gcc.Event.
func (CutEvent) EventName() string { return "gbr:outer_cut" }

// PathEvent is a rate set by the queue behind the radio.
type PathEvent struct {
	QueueMs       int64 `json:"queue_ms"`
	BottleneckBps int   `json:"bottleneck_bps"`
	FromBps       int   `json:"from_bps"`
	ToBps         int   `json:"to_bps"`
}

// EventName implements gcc.Event.
func (PathEvent) EventName() string { return "gbr:path_limited" }

// OffsetEvent is another view of the modem's clock: how far it is ahead, and
// how well what it tells fits what was sent, 0 for perfectly.
type OffsetEvent struct {
	OffsetMs int64   `json:"offset_ms"`
	Misfit   float64 `json:"misfit"`
}

// EventName implements gcc.Event.
func (OffsetEvent) EventName() string { return "gbr:offset" }

// record hides the nil check; callers on hot paths check themselves, so that no
// event is built for nobody.
func (e *Estimator) record(now time.Time, ev gcc.Event) {
	if e.cfg.Recorder != nil {
		e.cfg.Recorder.Record(now, ev)
	}
}
