// SPDX-License-Identifier: MIT

package modemlink

import (
	"context"
	"sync/atomic"
	"time"
)

const watchdogTick = 100 * time.Millisecond

// watchdog notices silence. It counts ticks and not time: when this process was
// stopped or starved for a while, the ticks of that while did not happen, and
// what came meanwhile is read before it counts as missing.
type watchdog struct {
	ticks  atomic.Int64 // of silence
	limit  atomic.Int64
	asleep atomic.Bool
}

// run calls bark once when the silence reaches the limit, or ends with ctx.
func (w *watchdog) run(ctx context.Context, bark func()) {
	tick := time.NewTicker(watchdogTick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !w.asleep.Load() && w.ticks.Add(1) >= w.limit.Load() {
			bark()

			return
		}
	}
}

// allow sets how much silence is fine from now on.
func (w *watchdog) allow(d time.Duration) {
	w.limit.Store(int64(d / watchdogTick))
	w.ticks.Store(0)
}

// sleep and wake enclose a time in which nothing can be heard.
func (w *watchdog) sleep() { w.asleep.Store(true) }

func (w *watchdog) wake() {
	w.ticks.Store(0)
	w.asleep.Store(false)
}
