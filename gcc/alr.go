// SPDX-License-Identifier: MIT

package gcc

import "time"

// goog_cc: alr_detector with its effective defaults, interval_budget.
const (
	alrUsage   = 0.80 // share of the estimate that counts as using it
	alrSeconds = 0.5  // of budget
	alrStart   = 0.40
	alrStop    = -0.60
)

// alr tells whether the application sends less than it may (the
// application-limited region). It is a budget in bits that fills at a share of
// the estimate and is spent by sending.
type alr struct {
	rate   float64 // fill rate in bit/s
	budget float64
	last   time.Time
	active bool
	since  time.Time // active since; zero when it is not
}

func (a *alr) setEstimate(bps int) {
	a.rate = alrUsage * float64(bps)
	size := a.rate * alrSeconds
	a.budget = min(max(a.budget, -size), size)
}

func (a *alr) onSent(now time.Time, bytes int) {
	if a.last.IsZero() {
		a.last = now
	}
	dt := float64(now.Sub(a.last)) * 1e-9
	a.last = now

	size := a.rate * alrSeconds
	a.budget = max(a.budget-float64(bytes)*8, -size)
	a.budget = min(a.budget+a.rate*dt, size)

	switch {
	case a.budget > alrStart*size && !a.active:
		a.active, a.since = true, now
	case a.budget < alrStop*size:
		a.active, a.since = false, time.Time{}
	}
}
