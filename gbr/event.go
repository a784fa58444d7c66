// SPDX-License-Identifier: MIT

package gbr

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// The first three events are the inputs: enough to run a recorded call through
// changed code. What they point to is the caller's and may change afterwards.

// PacketSentEvent is a packet that left.
type PacketSentEvent struct {
	Packet gcc.SentPacket `json:"packet"`
}

// EventName implements gcc.Event.
func (PacketSentEvent) EventName() string { return "gbr:packet_sent" }

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

// CutEvent is a cut by the outer loop.
type CutEvent struct {
	FromBps int       `json:"from_bps"`
	ToBps   int       `json:"to_bps"`
	Usage   gcc.Usage `json:"usage"`
}

// EventName implements gcc.Event.
func (CutEvent) EventName() string { return "gbr:outer_cut" }

// record hides the nil check; callers on hot paths check themselves, so that no
// event is built for nobody.
func (e *Estimator) record(now time.Time, ev gcc.Event) {
	if e.cfg.Recorder != nil {
		e.cfg.Recorder.Record(now, ev)
	}
}
