// SPDX-License-Identifier: MIT

//go:build !race && unix

package interceptor

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor/pkg/cc"

	"github.com/gbrcc/gbrcc/gbr"
)

// What a connection takes with 500 packets of 1200 bytes a second in 30 frames, 20
// reports and 200 batches of telemetry a second, when its histories are full: a
// thousand of them fit 300 MB.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := memoryOf(t, func() (cc.BandwidthEstimator, error) { return &idleEstimator{}, nil })
		all := memoryOf(t, func() (cc.BandwidthEstimator, error) {
			// The telemetry is made up, so the rate must not follow it.
			return NewEstimator(WithBitrateBounds(5_200_000, 5_200_000, 5_200_000), WithLoggerFactory(&logBook{}))
		})
		t.Logf("%.0f kB each, besides %.0f kB of the load", all-load, load)
		within(t, "memory of one", all-load, 240, 50, "kB")
	})
}

// memoryOf is what one of several connections takes, in kB.
func memoryOf(t *testing.T, newEstimator func() (cc.BandwidthEstimator, error)) float64 {
	t.Helper()
	const n, seconds = 40, 7
	used := func() float64 {
		runtime.GC()
		runtime.GC() // pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)

		return float64(m.HeapInuse+m.StackInuse) / 1000
	}
	before := used()
	var sent atomic.Int64
	all := make([]*loaded, n)
	for i := range all {
		e, err := newEstimator()
		if err != nil {
			t.Fatal(err)
		}
		if all[i], err = newLoaded(e, &sent); err != nil {
			t.Fatal(err)
		}
	}
	payload := make([]byte, 1200)
	for step := range seconds * 1000 {
		now := time.Now()
		for i, l := range all {
			if (step+i)%33 == 0 {
				l.frame(payload, 16+step/33%2)
			}
			if (step+i)%50 == 0 {
				l.feed()
			}
			if e, ok := l.e.(*Estimator); ok && (step+i)%5 == 0 {
				e.PushTelemetry(gbr.Telemetry{
					Grants:  []gbr.Grant{{At: now.Add(-3 * time.Millisecond), Bytes: 3005}},
					Reports: []gbr.Report{{At: now.Add(-3 * time.Millisecond), Low: 3000, High: 4000}},
					Samples: []gbr.Sample{{At: now, Window: 5 * time.Millisecond, Granted: 3000, Reported: 4000}},
				})
			}
		}
		time.Sleep(time.Millisecond)
	}
	after := used()
	within(t, "packets", float64(sent.Load()), 500*n*seconds, 20*n*seconds, "")
	for _, l := range all {
		if err := l.e.Close(); err != nil {
			t.Error(err)
		}
	}

	return (after - before) / n
}
