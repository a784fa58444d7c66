// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

const traceClass = "trace"

func traceScenarios() []Scenario {
	return []Scenario{
		scenario("synth-lte", "built-in synthetic LTE cell: other users, fading, short outages", capacity(cell.SynthLTE)),
		scenario("synth-nr", "built-in synthetic 5G cell with TDD, 30 to 60 Mbit/s, of which the source can use 10", capacity(cell.SynthNR), on(cell.NRTDD)),
		scenario("synth-driving", "built-in synthetic LTE drive: handovers, bridges, fast fading, 3 to 5 Mbit/s", capacity(cell.SynthDriving)),
		scenario("synth-edge", "built-in synthetic edge of an LTE cell, 0.3 to 2 Mbit/s", capacity(cell.SynthEdge)),
	}
}

// FromTrace is a scenario over a recorded capacity, of class trace. Seed 1 has
// it from its beginning, other seeds from elsewhere: a trace that is longer than
// a run gives them other parts of it, a shorter one repeats.
func FromTrace(t cell.Trace) Scenario {
	return base(t.Name, traceClass, "capacity from "+t.Name,
		capacity(func(seed uint64, d time.Duration) cell.Trace { return excerpt(t, seed, d) }))
}

// From is a trace from a time on, which begins anew where it ended; to the ms.
func From(t cell.Trace, d time.Duration) (cell.Trace, error) {
	bytes := make([]int, t.Len().Milliseconds())
	for i := range bytes {
		bytes[i] = t.At(d.Milliseconds() + int64(i))
	}

	return cell.NewTrace(fmt.Sprintf("%s@%v", t.Name, d), bytes)
}

// excerpt is a trace from where the seed says on. The offset is a whole number
// of 20 ms, so that a pattern of slots in the trace keeps its place.
func excerpt(t cell.Trace, seed uint64, d time.Duration) cell.Trace {
	const grid = 20
	from := int64(phase(seed)*float64(t.Len().Milliseconds())) / grid * grid
	if from == 0 {
		return t
	}
	bytes := make([]int, d.Milliseconds())
	some := false
	for i := range bytes {
		bytes[i] = t.At(from + int64(i))
		some = some || bytes[i] > 0
	}
	part, err := cell.NewTrace(t.Name, bytes)
	if err != nil || !some {
		return t // nothing at all from there on, or an hour and more: the whole
	}

	return part
}
