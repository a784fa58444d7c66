// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// world is what only the references, causal and oracle, may look at.
type world struct {
	start time.Time
	trace cell.Trace
	// backlog is what is queued in the pacer and in the phone, in link bytes.
	backlog func() int
	// pathBps limits the path after the radio from pathFrom on; 0 for no limit.
	pathBps  int
	pathFrom time.Duration
}

// defaultHorizon is one frame at 30 fps.
const defaultHorizon = 33 * time.Millisecond

// pipeline is the time from data in the phone to its first transmission with a
// known backlog: two 4 ms steps of the FDD grant loop less the half that a
// standing backlog hides.
const pipeline = 4 * time.Millisecond

// oracle is the clairvoyant sender: it knows the coming capacity and sizes each
// frame so that it, and what is still queued, fits into the horizon.
type oracle struct {
	deaf
	world   *world
	horizon time.Duration
	limits  Limits
}

func newOracle(w *world, horizon time.Duration, l Limits) *oracle {
	if horizon == 0 {
		horizon = defaultHorizon
	}

	return &oracle{world: w, horizon: horizon, limits: l}
}

// Rates has no meaning for the encoder, which obeys the budget; the pacer lets
// everything through.
func (o *oracle) Rates() Rates { return Rates{o.limits.MaxBps, 1_000_000_000} }

func (o *oracle) frameBudget(now time.Time) (int, bool) {
	from := now.Sub(o.world.start) + pipeline
	room := -float64(o.world.backlog())
	for ms := from.Milliseconds(); ms < (from + o.horizon).Milliseconds(); ms++ {
		room += float64(o.world.trace.At(ms))
	}
	// One frame may use one frame interval's worth, however far it sees:
	// what the horizon buys is to keep a queue of up to its length.
	return mediaBudget(room, o.limits, o.world.path(now)), true
}

// path is the rate limit behind the radio now, 0 for none.
func (w *world) path(now time.Time) int {
	if now.Sub(w.start) < w.pathFrom {
		return 0
	}

	return w.pathBps
}

// frameInterval is in seconds.
const frameInterval = 1.0 / 30
