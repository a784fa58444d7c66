// SPDX-License-Identifier: MIT

package sim

import "time"

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
	view    *view
	horizon time.Duration
	limits  Limits
}

func newOracle(v *view, horizon time.Duration, l Limits) *oracle {
	if horizon == 0 {
		horizon = defaultHorizon
	}

	return &oracle{view: v, horizon: horizon, limits: l}
}

// Rates has no meaning for the encoder, which obeys the budget; the pacer lets
// everything through.
func (o *oracle) Rates() Rates { return Rates{o.limits.MaxBps, 1_000_000_000} }

func (o *oracle) frameBudget(time.Time) (int, bool) {
	from := o.view.since() + pipeline
	room := o.view.radioBytes(from, from+o.horizon) - o.view.backlog()
	// One frame may use one frame interval's worth, however far it sees:
	// what the horizon buys is to keep a queue of up to its length.
	return mediaBudget(min(room, o.view.pathRoom(from)), o.limits, o.view.frameInterval()), true
}
