// SPDX-License-Identifier: MIT

package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
)

// leaky is a modem whose link is interrupted: what it says is lost meanwhile, or
// comes at once in the end.
type leaky struct {
	mu   sync.Mutex
	shut bool
	keep bool
	kept []gbr.Telemetry
	sink func(gbr.Telemetry)
}

func (l *leaky) through(source interceptor.TelemetrySource) interceptor.TelemetrySource {
	return func(ctx context.Context, sink func(gbr.Telemetry)) error {
		l.sink = sink

		return source(ctx, func(t gbr.Telemetry) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if !l.shut {
				sink(t)
			} else if l.keep {
				t.Samples, t.Grants, t.Reports = append([]gbr.Sample(nil), t.Samples...), append([]gbr.Grant(nil), t.Grants...), append([]gbr.Report(nil), t.Reports...)
				if l.kept = append(l.kept, t); len(l.kept) > 256 {
					l.kept = l.kept[1:] // as modemlink.ServerConfig.QueueBatches
				}
			}
		})
	}
}

func (l *leaky) set(shut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut = shut
	if !shut {
		for _, t := range l.kept {
			l.sink(t)
		}
		l.kept = nil
	}
}

// Telemetry that is interrupted is no lie: however often that happens, and for how
// long, it is steered by again as soon as it is back. What is kept and told late is
// believed when it has been in time for a while.
func TestPlugTelemetryComesAndGoes(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		const ms = time.Millisecond
		for _, gap := range []time.Duration{100 * ms, 250 * ms, 400 * ms, 700 * ms, 1500 * ms, 4000 * ms} {
			if keep && gap > 1500*time.Millisecond {
				continue // the client of modemlink has given up the connection by then
			}
			t.Run(fmt.Sprintf("%v,kept=%v", gap, keep), func(t *testing.T) {
				t.Parallel()
				bubble(t, func(t *testing.T) {
					link, modem := newPlugLink(t, cell.Config{Seed: 5, Capacity: cell.Constant(3_000_000)}), &leaky{keep: keep}
					c := newPlugCall(t, plugConfig{link: link, options: []interceptor.Option{
						interceptor.WithTelemetrySource(modem.through(modemOf(link))),
					}})
					c.add("video", streamConfig{})
					c.negotiate(nil)
					time.Sleep(10*time.Second - time.Since(c.start))
					for i := range 6 {
						modem.set(true)
						time.Sleep(gap)
						modem.set(false)
						time.Sleep(2500 * time.Millisecond)
						from := len(c.got("video").delays)
						rate := c.rate(1500 * time.Millisecond)
						target := c.estimator.Target()
						t.Logf("%.2f Mbit/s, p95 %.0f ms, outer loop %.2f Mbit/s, pace %.2f Mbit/s", rate, c.delay("video", from, 0.95),
							float64(target.Outer.BitrateBps)/1e6, float64(target.PacingBps)/1e6)
						within(t, fmt.Sprintf("after the %d. time", i+1), rate, 2.7, 0.45, "Mbit/s")
						within(t, fmt.Sprintf("after the %d. time, delay p95", i+1), c.delay("video", from, 0.95), 70, 35, "ms")
						// The end-to-end loop alone would pace at little more than its rate.
						within(t, fmt.Sprintf("after the %d. time, pacing", i+1), float64(target.PacingBps)/1e6, 6.5, 2.5, "Mbit/s")
					}
					c.close()
					if err := link.Close(); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}
