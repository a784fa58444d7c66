// SPDX-License-Identifier: MIT

package modemlink

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watchdog
		w.allow(500 * ms)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin := time.Now()
		barked := make(chan time.Duration, 1)
		go w.run(ctx, func() { barked <- time.Since(begin) })
		time.Sleep(450 * ms)
		w.wake() // heard
		time.Sleep(10 * ms)
		w.sleep()
		time.Sleep(5 * time.Second) // a slow sink
		w.wake()
		if got := <-barked; got < 5860*ms || got > 5960*ms {
			t.Errorf("barked after %v, want 0.5 s after 5.46 s, less a tick", got)
		}
	})
}

// With its context it ends, and does not bark.
func TestWatchdogEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watchdog
		w.allow(200 * ms)
		ctx, cancel := context.WithTimeout(t.Context(), 150*ms)
		defer cancel()
		w.run(ctx, func() { t.Error("it barked") })
	})
}
