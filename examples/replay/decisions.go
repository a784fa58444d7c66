// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

const (
	// maxDiffs is how many differences are printed.
	maxDiffs = 100
	// leastDiff is how long a difference must be seen: a timer of the run may
	// have fired a little later than it was due.
	leastDiff = 20 * time.Millisecond
	// maxTimeouts bounds the timers between two inputs against a log that
	// jumps by days.
	maxTimeouts = 10_000
)

// steering is what is steered by at a moment.
type steering struct {
	mode string
	// rate in bit/s, 0 before anything is known.
	rate int
}

func (s steering) String() string {
	return fmt.Sprintf("%s %.3f Mbit/s", s.mode, float64(s.rate)/1e6)
}

// difference is a time in which the two disagree, and the worst of it.
type difference struct {
	from, to      time.Duration
	recorded, now steering
	by            float64 // of the rate, relative
}

// decisions is -decisions: it gives the inputs of an event log to a new estimator
// and compares, after every input, what the recorded one and the new one steer by.
type decisions struct {
	o     *options
	est   *gbr.Estimator
	start time.Time
	first bool
	at    time.Duration

	recorded, replayed steering

	packets, feedbacks, batches int
	compared, dropped, short    int
	diffs                       []difference
	open                        bool // the last one goes on
}

func newDecisions(o *options) (*decisions, error) {
	own := *o // what a log says is for that log
	d := &decisions{o: &own, first: true}
	d.recorded.mode = gbr.OuterOnly.String()
	d.replayed.mode = d.recorded.mode

	return d, d.restart()
}

// restart makes a new estimator from the options.
func (d *decisions) restart() error {
	o := d.o
	outer, err := gcc.New(gcc.Config{MinBps: o.bounds[0], StartBps: o.bounds[1], MaxBps: o.bounds[2], Recorder: d})
	if err != nil {
		return err
	}
	d.est, err = gbr.NewEstimator(outer, gbr.Config{
		Algorithm: o.algorithm, Preset: o.preset, MinBps: o.bounds[0], StartBps: o.bounds[1], MaxBps: o.bounds[2], Recorder: d,
	})

	return err
}

// configured follows a configuration of the recorded run, unless another one was
// asked for. An outer loop of the application's own is not known here: package
// gcc's stands in.
func (d *decisions) configured(ev interceptor.ConfiguredEvent, at time.Duration) error {
	if d.o.steered {
		return nil
	}
	a, err := gbr.AlgorithmByName(ev.Algorithm)
	if err != nil {
		return err
	}
	if d.est != nil && d.packets > 0 {
		d.input(at)
	}
	d.o.algorithm, d.o.preset, d.o.bounds = a, ev.Preset, [...]int{ev.MinBps, ev.StartBps, ev.MaxBps}
	if d.packets == 0 {
		return d.restart()
	}

	return d.est.Reconfigure(d.start.Add(at), nil, gbr.Config{
		Algorithm: a, Preset: ev.Preset, MinBps: ev.MinBps, MaxBps: ev.MaxBps, Recorder: d,
	})
}

// Record implements gcc.Recorder for the new estimator.
func (d *decisions) Record(_ time.Time, ev gcc.Event) {
	switch ev := ev.(type) {
	case gbr.ModeEvent:
		d.replayed = steering{ev.To.String(), ev.RateBps}
	case gbr.TargetEvent:
		d.replayed.rate = ev.BitrateBps
	}
}

// event takes in a line of the log, of a moment since its beginning.
func (d *decisions) event(l *eventLine, at time.Duration, start time.Time) error {
	if d.first {
		d.start, d.first = start, false
	}
	var err error
	switch l.Name {
	case (interceptor.ConfiguredEvent{}).EventName():
		var ev interceptor.ConfiguredEvent
		if err = unpack(l, &ev); err == nil {
			err = d.configured(ev, at)
		}
	case (gbr.PacketSentEvent{}).EventName():
		var ev gbr.PacketSentEvent
		if err = unpack(l, &ev); err == nil {
			if ev.Packet.Size < 0 || ev.Packet.Size > source.MaxBytes {
				return errors.New("a packet's size is out of range")
			}
			d.packets++
			d.est.OnPacketSent(d.input(at), ev.Packet)
		}
	case (gbr.OthersSentEvent{}).EventName():
		var ev gbr.OthersSentEvent
		if err = unpack(l, &ev); err == nil {
			if ev.Packet.Size < 0 || ev.Packet.Size > source.MaxBytes {
				return errors.New("a packet's size is out of range")
			}
			d.est.OnOthersSent(d.input(at), ev.Packet)
		}
	case (gbr.ShareEvent{}).EventName():
		var ev gbr.ShareEvent
		if err = unpack(l, &ev); err == nil {
			d.est.SetShare(d.input(at), ev.Share)
		}
	case (gbr.ClockEvent{}).EventName():
		var ev gbr.ClockEvent
		if err = unpack(l, &ev); err == nil {
			d.est.SetClock(d.input(at), ev.Ahead)
		}
	case (gbr.FeedbackEvent{}).EventName():
		var ev gbr.FeedbackEvent
		if err = unpack(l, &ev); err == nil {
			for _, p := range ev.Packets {
				if p.Size < 0 || p.Size > source.MaxBytes {
					return errors.New("a packet's size is out of range")
				}
			}
			d.feedbacks++
			d.est.OnFeedback(d.input(at), gcc.Feedback{Packets: ev.Packets})
		}
	case (gbr.TelemetryEvent{}).EventName():
		var ev gbr.TelemetryEvent
		if err = unpack(l, &ev); err == nil {
			d.batches++
			d.est.OnTelemetry(d.input(at), ev.Telemetry)
		}
	case (gbr.ModeEvent{}).EventName():
		var ev struct {
			To      string `json:"to"`
			RateBps int    `json:"rate_bps"`
		}
		err = unpack(l, &ev)
		d.recorded = steering{ev.To, ev.RateBps}
	case (gbr.FrameBudgetEvent{}).EventName():
		d.est.FrameBudget(d.input(at)) // what was offered counts in the next one
	case (gbr.TargetEvent{}).EventName():
		var ev gbr.TargetEvent
		err = unpack(l, &ev)
		d.recorded.rate = ev.BitrateBps
	case "log:dropped":
		var ev struct {
			Events int `json:"events"`
		}
		err = unpack(l, &ev)
		d.dropped += ev.Events
	}

	return err
}

// input compares what the inputs before led to, does what was due until now,
// and returns now on the log's clock.
func (d *decisions) input(at time.Duration) time.Time {
	now := d.start.Add(at)
	var last time.Time
	for range maxTimeouts {
		next := d.est.NextTimeout()
		if next.IsZero() || next.After(now) || !last.IsZero() && !next.After(last) {
			break
		}
		last = next
		d.est.OnTimeout(next)
	}
	if d.packets+d.feedbacks+d.batches > 1 {
		d.compare(at)
	}
	d.at = at

	return now
}

func (d *decisions) compare(at time.Duration) {
	if d.recorded.rate == 0 || d.replayed.rate == 0 {
		return
	}
	d.compared++
	by := float64(d.replayed.rate-d.recorded.rate) / float64(d.recorded.rate)
	if d.recorded.mode == d.replayed.mode && math.Abs(by) <= d.o.tolerance {
		d.closeDiff()

		return
	}
	if !d.open {
		d.open = true
		d.diffs = append(d.diffs, difference{from: at, recorded: d.recorded, now: d.replayed, by: by})
	}
	last := &d.diffs[len(d.diffs)-1]
	last.to = at
	if math.Abs(by) > math.Abs(last.by) {
		last.recorded, last.now, last.by = d.recorded, d.replayed, by
	}
}

// closeDiff ends a difference, and forgets it if it was no more than a late timer.
func (d *decisions) closeDiff() {
	if !d.open {
		return
	}
	d.open = false
	if last := d.diffs[len(d.diffs)-1]; last.to-last.from < leastDiff {
		d.diffs = d.diffs[:len(d.diffs)-1]
		d.short++
	}
}

// finish tells whether there was anything to compare.
func (d *decisions) finish() error {
	d.closeDiff()
	switch {
	case d.packets == 0 || d.feedbacks == 0:
		return errors.New("no packets and feedback in it to run again")
	case d.compared == 0:
		return errors.New("no decisions in it to compare with")
	default:
		return nil
	}
}

func (d *decisions) print(w io.Writer, f *facts) {
	fmt.Fprintf(w, "%s: %s\n", f.in.path, f.in.what())
	fmt.Fprintf(w, "  inputs   %d packets sent, %d feedback reports, %d batches of telemetry in %.1f s\n",
		d.packets, d.feedbacks, d.batches, d.at.Seconds())
	if d.dropped > 0 {
		fmt.Fprintf(w, "  WARNING  the log lost %d events: what follows is not the same run\n", d.dropped)
	}
	fmt.Fprintf(w, "  again    %v, %d to %d kbit/s from %d; compared %d times, same mode and rate within %g %%\n",
		d.o.algorithm, d.o.bounds[0]/1000, d.o.bounds[2]/1000, d.o.bounds[1]/1000, d.compared, d.o.tolerance*100)
	if d.short > 0 {
		fmt.Fprintf(w, "  timers   %d differences of less than %v left out, as of timers\n", d.short, leastDiff)
	}
	if len(d.diffs) == 0 {
		fmt.Fprintln(w, "  result   the same decisions")

		return
	}
	fmt.Fprintf(w, "  result   %d times different, the worst moment of each:\n", len(d.diffs))
	for i, diff := range d.diffs {
		if i == maxDiffs {
			fmt.Fprintf(w, "  ... and %d more\n", len(d.diffs)-i)

			break
		}
		fmt.Fprintf(w, "  %9.3f s to %9.3f s  recorded %v, now %v (%+.0f %%)\n",
			diff.from.Seconds(), diff.to.Seconds(), diff.recorded, diff.now, diff.by*100)
	}
}
