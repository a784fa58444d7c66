// SPDX-License-Identifier: MIT

package sim

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
)

// change is one thing in which a scenario differs from base.
type change func(*Scenario)

// warmup is not counted in any figure.
const warmup = 10 * time.Second

// base is what a scenario starts from, the fixed conditions of the comparison,
// with changes in order.
func base(name, class, doc string, changes ...change) Scenario {
	s := Scenario{
		Name: name, Class: class, Doc: doc,
		Duration: 60 * time.Second, Warmup: warmup,
		Cell: cell.Config{
			Path: cell.PathConfig{Delay: 25 * time.Millisecond},
		},
		Limits:        Limits{StartBps: 300_000, MinBps: 100_000, MaxBps: 10_000_000},
		Source:        media.Config{Noise: 0.15},
		SkipAbove:     250 * time.Millisecond,
		FeedbackEvery: 50 * time.Millisecond, ReturnDelay: 25 * time.Millisecond,
		TelemetryLink: 2 * time.Millisecond,
	}
	for _, c := range changes {
		c(&s)
	}

	return s
}

// lasting sets the length of the run.
func lasting(d time.Duration) change { return func(s *Scenario) { s.Duration = d } }

const (
	second = time.Second

	kbit = 1000
	mbit = 1000 * kbit
)

// constant is a radio of one rate.
func constant(bps int) change {
	return capacity(func(uint64, time.Duration) cell.Trace { return cell.Constant(bps) })
}

// steps is a radio whose rate changes. Seeds shift all steps but the first.
func steps(parts ...cell.Step) change {
	return func(s *Scenario) {
		s.Rise = lastRise(parts)
		s.Trace = func(seed uint64, _ time.Duration) cell.Trace {
			shifted := append([]cell.Step(nil), parts...)
			shifted[0].For += shift(seed)

			return cell.Steps(shifted...)
		}
	}
}

// shift is how much later than seed 1 a seed has its steps.
func shift(seed uint64) time.Duration { return time.Duration(phase(seed) * float64(time.Second)) }

// lastRise is the last step to half as much again, or more.
func lastRise(parts []cell.Step) (r Rise) {
	at := time.Duration(0)
	for i, p := range parts {
		if i > 0 && 2*p.Bps >= 3*parts[i-1].Bps {
			r = Rise{at, p.Bps}
		}
		at += p.For
	}

	return r
}

// hold is a step of a rate for so many seconds.
func hold(bps int, seconds float64) cell.Step {
	return cell.Step{Bps: bps, For: time.Duration(seconds * float64(time.Second))}
}

// phase spreads seeds evenly over 0..1, however many there are: multiples of the
// golden ratio. Seed 1 is at 0.
func phase(seed uint64) float64 {
	_, f := math.Modf(float64((seed-1)%(1<<20)) * math.Phi)

	return f
}

// on is another air interface.
func on(r cell.Radio) change { return func(s *Scenario) { s.Cell.Radio = r } }

// upTo20 lets controller and source use 20 Mbit/s in place of the usual 10.
func upTo20(s *Scenario) { s.Limits.MaxBps, s.Source.CapBps = 20*mbit, 20*mbit }

// atLeast is the least length that makes sense.
func atLeast(d time.Duration) change {
	return func(s *Scenario) { s.Duration, s.MinDuration = max(s.Duration, d), d }
}

// queueOf is a buffer of so much time at a rate.
func queueOf(bps int, d time.Duration) int { return int(float64(bps) / 8 * d.Seconds()) }

// capacity is a radio of any kind.
func capacity(trace func(seed uint64, d time.Duration) cell.Trace) change {
	return func(s *Scenario) { s.Trace = trace }
}

// radio changes the measured call's cell.
func radio(f func(c *cell.Config)) change { return func(s *Scenario) { f(&s.Cell) } }

// path changes what is behind the measured call's radio alone.
func path(f func(p *cell.PathConfig)) change { return func(s *Scenario) { f(&s.Cell.Path) } }

// oneWay is the delay of the path and of the way back.
func oneWay(d time.Duration) change {
	return func(s *Scenario) { s.Cell.Path.Delay, s.ReturnDelay = d, d }
}

// behind is one path that is behind all radios. Its delay is none unless it says
// otherwise: the radios' paths have theirs.
func behind(p cell.PathConfig) change { return func(s *Scenario) { s.Backhaul = &p } }

// wayBack limits what goes back.
func wayBack(p cell.PathConfig) change { return func(s *Scenario) { s.Return = p } }

// inCell puts the measured call, and every flow that is on its own phone, into
// one cell.
func inCell(c cell.SharedConfig) change {
	return func(s *Scenario) {
		s.Trace = nil
		s.Shared = func(uint64) cell.SharedConfig { return c }
	}
}

// beside adds flows.
func beside(flows ...Flow) change {
	return func(s *Scenario) { s.Flows = append(s.Flows, flows...) }
}

// times repeats a flow.
func times(n int, f Flow) change {
	return func(s *Scenario) {
		for range n {
			s.Flows = append(s.Flows, f)
		}
	}
}

// filming changes the measured call's source.
func filming(f func(c *media.Config)) change { return func(s *Scenario) { f(&s.Source) } }

// speaking adds a voice.
func speaking(bps int) change {
	return func(s *Scenario) { s.Audio = &media.AudioConfig{Bps: bps} }
}

// rates sets the rates that controllers may use, in bit/s.
func rates(least, start, most int) change {
	return func(s *Scenario) { s.Limits = Limits{StartBps: start, MinBps: least, MaxBps: most} }
}

// agent changes how telemetry comes: its delay on the way to the sender, and
// when it does not.
func agent(link, gapFrom, gapTo time.Duration) change {
	return func(s *Scenario) {
		s.TelemetryLink, s.TelemetryGapFrom, s.TelemetryGapTo = link, gapFrom, gapTo
	}
}
