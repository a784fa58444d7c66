// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
	"github.com/gbrcc/gbrcc/gbr"
)

// Scenario is everything that is the same for all algorithms in a run. One call
// is measured; whatever else goes on beside it is in Flows.
type Scenario struct {
	Name, Class, Doc string
	// Number is that of a held-out scenario, see Random; 0 for all others.
	Number int
	// Duration of the run; the first Warmup of it is not counted. MinDuration is
	// what whoever changes Duration had better leave of it: the length without
	// which the scenario does not show what it is for; 0 for any.
	Duration, Warmup, MinDuration time.Duration
	// Cell is the measured call's radio and the path behind it; seed and start
	// are set by the run.
	Cell cell.Config
	// Trace makes the capacity from the seed when Cell.Capacity is not set.
	Trace func(seed uint64, d time.Duration) cell.Trace
	// Shared, if set, makes the cell of the measured call and of all flows on an
	// OwnPhone, from the seed; Cell.Capacity and Trace are then not used. The
	// measured call is on phone 0, the flows on the next ones in order; those that
	// SharedConfig.Phones does not have are as Cell says.
	Shared func(seed uint64) cell.SharedConfig
	// Backhaul, if there is one, is behind the paths of all radios: one queue
	// for all that goes up.
	Backhaul *cell.PathConfig

	// Rise is the radio's last leap, the one after which Result.RiseS counts.
	Rise Rise

	// Limits, Source and Audio (nil for none) are the measured call's; seeds and
	// starts are set by the run. From is when it begins, Pauses are when it sends
	// no media.
	Limits Limits
	Source media.Config
	Audio  *media.AudioConfig
	From   time.Duration
	Pauses []Span
	// SkipAbove is the pacer's queue in time above which a frame is left out, as
	// a real-time encoder would be told to; for all calls. At most 2 s, which is
	// 0 as well.
	SkipAbove time.Duration

	// FeedbackEvery is the TWCC interval, ReturnDelay the way back.
	FeedbackEvery, ReturnDelay time.Duration
	// Return limits the way back, to each phone on its own: rate, queue, loss,
	// jitter. Its Delay is ReturnDelay.
	Return cell.PathConfig
	// TelemetryLink is the delay from the phone's agent to the sender.
	TelemetryLink time.Duration
	// TelemetryClock is what is wrong with the times that telemetry bears.
	TelemetryClock ClockError
	// TelemetryGap is an outage of all agents, empty for none.
	TelemetryGapFrom, TelemetryGapTo time.Duration

	// Flows are the others.
	Flows []Flow
}

// Rise is a leap of the radio's rate to Bps, as seed 1 has it; others have it
// shifted with all steps. Bps is 0 for none.
type Rise struct {
	At  time.Duration
	Bps int
}

// ClockError is how far a clock is ahead of the sender's: by Offset at the start
// of a run, DriftPPM more each second, and by Steps.
type ClockError struct {
	Offset   time.Duration
	DriftPPM float64
	Steps    []ClockStep
}

// ClockStep sets a clock ahead at a time of the run, as an agent does that starts
// anew and does not know what time it is.
type ClockStep struct{ At, Ahead time.Duration }

// ahead is the error at a time of the run.
func (c ClockError) ahead(t time.Duration) time.Duration {
	d := c.Offset + time.Duration(c.DriftPPM*t.Seconds()*1000)
	for _, s := range c.Steps {
		if t >= s.At {
			d += s.Ahead
		}
	}

	return d
}

// moveTimes moves the times of telemetry.
func moveTimes(t *gbr.Telemetry, d time.Duration) {
	for i := range t.Samples {
		t.Samples[i].At = t.Samples[i].At.Add(d)
	}
	for i := range t.Grants {
		t.Grants[i].At = t.Grants[i].At.Add(d)
	}
	for i := range t.Reports {
		t.Reports[i].At = t.Reports[i].At.Add(d)
	}
}

// Span is a stretch of a run, since its start. To 0 is its end.
type Span struct{ From, To time.Duration }

func (s Span) holds(t time.Duration) bool { return t >= s.From && (s.To == 0 || t < s.To) }

// Flow is another sender beside the measured call.
type Flow struct {
	// Name is for the results, without spaces; "" is the algorithm and a number.
	// The measured call is "main".
	Name string
	// CC is its algorithm: one of Algorithms, Cubic or ShortTCP, or "" for that of
	// the measured call. References know of other flows only how many they are.
	CC string
	// From and To are when it is there, To 0 to the end; Pauses when it sends no
	// media all the same.
	From, To time.Duration
	Pauses   []Span
	// Source and Limits are as in Scenario, whose they are if nil. Audio is none
	// if nil.
	Source *media.Config
	Limits *Limits
	Audio  *media.AudioConfig

	// Where it is; OwnRadio is Cell, or like the measured call's if nil, with
	// another seed.
	Where Place
	Cell  *cell.Config
	// Delay is added on the way to the far end, and again on the way back.
	Delay time.Duration
	// Reverse flows send to the phone: their media share the way back, their
	// feedback the uplink.
	Reverse bool
}

// Place is where a flow's sender is.
type Place uint8

// The places.
const (
	// SamePhone is that of the measured call: one queue, one telemetry.
	SamePhone Place = iota
	// OwnPhone is the next phone of Scenario.Shared.
	OwnPhone
	// OwnRadio is a phone in a cell that has nothing to do with the measured
	// call's; with Scenario.Backhaul, both share what is behind.
	OwnRadio
)

func (p Place) String() string {
	switch p {
	case SamePhone:
		return "same phone"
	case OwnPhone:
		return "own phone"
	case OwnRadio:
		return "own radio"
	default:
		return fmt.Sprintf("place(%d)", uint8(p))
	}
}

// check says what is wrong with the flows and times.
func (s Scenario) check() error {
	if s.Duration <= s.Warmup {
		return fmt.Errorf("sim: a run of %v is shorter than its warm-up of %v", s.Duration, s.Warmup)
	}
	if s.FeedbackEvery <= 0 {
		return fmt.Errorf("sim: feedback every %v", s.FeedbackEvery)
	}
	if len(s.Flows) > maxFlows-1 {
		return fmt.Errorf("sim: %d flows, at most %d", len(s.Flows), maxFlows-1)
	}
	for i, f := range s.Flows {
		switch {
		case f.Where > OwnRadio:
			return fmt.Errorf("sim: flow %d is at %v", i+1, f.Where)
		case f.Where == OwnPhone && s.Shared == nil:
			return fmt.Errorf("sim: flow %d is on a phone of a cell that is not shared", i+1)
		case f.Cell != nil && f.Where != OwnRadio:
			return fmt.Errorf("sim: flow %d has a cell of its own but is on the %v", i+1, f.Where)
		case f.From < 0 || f.Delay < 0 || f.To != 0 && f.To <= f.From:
			return fmt.Errorf("sim: flow %d from %v to %v with a delay of %v", i+1, f.From, f.To, f.Delay)
		}
	}

	return nil
}
