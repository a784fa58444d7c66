// SPDX-License-Identifier: MIT

package modemtest

import (
	"context"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// Step is one thing a scripted agent does.
type Step struct {
	// After is the wait since the step before.
	After time.Duration
	// Send makes the telemetry to publish; nil for none.
	Send func(now time.Time) gbr.Telemetry
	// Do is called then, for faults such as [Server.Pause]; nil for nothing.
	Do func(*Server)
}

// Play goes through the steps in real time. It returns the cause of ctx if that
// ends first.
func (s *Server) Play(ctx context.Context, steps ...Step) error {
	for _, step := range steps {
		wait := time.NewTimer(step.After)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()

			return context.Cause(ctx)
		}
		if step.Send != nil {
			s.Publish(step.Send(time.Now()))
		}
		if step.Do != nil {
			step.Do(s)
		}
	}

	return nil
}

// Repeat returns n copies of a step.
func Repeat(n int, step Step) []Step {
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = step
	}

	return steps
}

// Window is telemetry of one window of 5 ms that ended at the given time:
// reported bytes at its start and granted bytes in one TTI at its end.
func Window(at time.Time, granted, reported int) gbr.Telemetry {
	const window = 5 * time.Millisecond

	return gbr.Telemetry{
		Samples: []gbr.Sample{{At: at, Window: window, Granted: granted, Reported: reported, ReportedLow: reported}},
		Grants:  []gbr.Grant{{At: at, Bytes: granted}},
		Reports: []gbr.Report{{At: at.Add(-window), Low: reported, High: reported}},
	}
}
