// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
)

// world is everything in a run: phones, what is behind them, and flows.
type world struct {
	sc         Scenario
	opts       Options
	seed       uint64
	start, end time.Time
	now        time.Time

	shared *cell.Shared // nil for none
	cell   cell.SharedConfig
	joined int // phones of it that are in use
	future []cell.Trace
	meter  meter

	phones   []*phone
	backhaul *wire // nil for none
	routes   []*route
	main     *call // the measured flow, which is that of routes[0]

	points  []Point // one for every ObserveEvery; none when nobody looks
	pointed int     // of which the state is filled in
	metered int     // of which the capacity is
}

// mainName is the measured flow's.
const mainName = "main"

// flow is a sender and its receiver.
type flow interface {
	// receive takes a datagram of the flow's own that has reached the other end.
	receive(k kind, index int64, d *cell.Delivery)
	// lose takes one that never will.
	lose(k kind, index int64)
	// telemetry is what the phone tells.
	telemetry(t gbr.Telemetry)
	// step does what is due, wake is when something will be.
	step()
	wake() instant
	// finish ends the run.
	finish()
	// goodBytes is the payload that has got through for the first time, after warm-up,
	// and when the last of it did.
	goodBytes() (bytes int, last instant)
}

// instant is a time since the start of the run, for quick comparisons.
type instant int64

const never instant = math.MaxInt64

func (w *world) instant(t time.Time) instant {
	if t.IsZero() {
		return never
	}

	return instant(t.Sub(w.start))
}

func newWorld(sc Scenario, alg string, seed uint64, start time.Time, p Params, opts Options) (*world, error) {
	if err := sc.check(); err != nil {
		return nil, err
	}
	if err := p.Conditions.check(); err != nil {
		return nil, err
	}
	sc = p.Conditions.on(sc)
	w := &world{sc: sc, opts: opts, seed: seed, start: start, end: start.Add(sc.Duration), now: start}
	if opts.Foresight != nil {
		w.future = opts.Foresight.traces
	}
	if sc.Backhaul != nil {
		var err error
		if w.backhaul, err = newWire(w, *sc.Backhaul, seed, w.farEnd); err != nil {
			return nil, err
		}
	}
	first, err := w.firstPhone()
	if err != nil {
		return nil, err
	}
	mine := Flow{Name: mainName, CC: alg, From: sc.From, Pauses: sc.Pauses, Audio: sc.Audio}
	params := p
	params.GBR.Recorder = opts.Recorder
	if w.main, err = w.addCall(mine, first, params); err != nil {
		return nil, err
	}
	for i, f := range sc.Flows {
		if err := w.addFlow(i+1, f, first, alg, p); err != nil {
			return nil, fmt.Errorf("sim: flow %d: %w", i+1, err)
		}
	}
	w.points = newPoints(sc, opts)

	return w, nil
}

// firstPhone is the measured call's.
func (w *world) firstPhone() (*phone, error) {
	if w.sc.Shared == nil {
		return w.addPhone(w.sc.Cell, w.seed)
	}
	if err := w.addShared(); err != nil {
		return nil, err
	}

	return w.joinShared()
}

// loop goes from event to event. The order within an instant is fixed: what has
// happened, what is known of it, what follows from it.
func (w *world) loop() error {
	for {
		next, err := w.turn()
		if err != nil {
			return err
		}
		if next > w.instant(w.end) {
			break
		}
		w.now = w.start.Add(time.Duration(next))
	}
	w.finish()

	return nil
}

// finish ends the run.
func (w *world) finish() {
	w.now = w.end
	for _, r := range w.routes {
		r.flow.finish()
	}
	w.observe()
}

// turn does what is due now and tells when something will be.
func (w *world) turn() (next instant, err error) {
	at := w.instant(w.now)
	for _, p := range w.phones {
		if at >= p.due {
			if err := p.radio(); err != nil {
				return 0, err
			}
		}
	}
	w.wires(at)
	for _, r := range w.routes {
		if r.touched || at >= r.due {
			r.touched = false
			r.flow.step()
			r.due = r.flow.wake()
		}
	}
	w.observe()
	if w.shared != nil {
		w.meter.read(w, w.since())
	}

	return w.next(at), nil
}

// next is the earliest instant at which anything can happen, always after at.
func (w *world) next(at instant) instant {
	next := never
	for _, p := range w.phones {
		if p.touched || at >= p.due {
			p.touched = false
			p.due = p.wake()
		}
		next = min(next, p.due, p.down.due)
	}
	if w.backhaul != nil {
		next = min(next, w.backhaul.due)
	}
	for _, r := range w.routes {
		next = min(next, r.due)
		if r.lateUp != nil {
			next = min(next, r.lateUp.due, r.lateDown.due)
		}
	}
	// A timer that is due but not served (an algorithm that asks for the
	// past) must not stop time.
	return max(next, at+instant(time.Microsecond))
}

// wires hands out what has come through.
func (w *world) wires(at instant) {
	if w.backhaul != nil {
		w.backhaul.run(at)
	}
	for _, p := range w.phones {
		p.down.run(at)
	}
	for _, r := range w.routes {
		if r.lateUp != nil {
			r.lateUp.run(at)
			r.lateDown.run(at)
		}
	}
}

// since is the time since the start of the run.
func (w *world) since() time.Duration { return w.now.Sub(w.start) }

// counts tells whether figures count at a time.
func (w *world) counts(at time.Time) bool { return at.Sub(w.start) >= w.sc.Warmup }

func due(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
