// SPDX-License-Identifier: MIT

package e2e

import (
	"testing"
	"testing/synctest"
	"time"

	piongcc "github.com/pion/interceptor/pkg/gcc"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/interceptor/pionbwe"
)

// overPion has Pion's GCC as the end-to-end loop.
func overPion() (gbr.Outer, error) {
	bwe, err := piongcc.NewSendSideBWE(piongcc.SendSideBWEInitialBitrate(300_000), piongcc.SendSideBWEMinBitrate(100_000),
		piongcc.SendSideBWEMaxBitrate(10_000_000), piongcc.SendSideBWEPacer(piongcc.NewNoOpPacer()))
	if err != nil {
		return nil, err
	}

	return pionbwe.New(bwe)
}

// overFixed has one that never moves.
func overFixed() (gbr.Outer, error) { return gcc.NewFixed(5_000_000), nil }

// The inner loop stands on any outer loop: with ours, with Pion's and with a
// fixed rate it keeps the phone's queue short when the radio falls to a quarter,
// and a call ends without a goroutine left. Pion's grows in its own slow way, a
// fixed one needs no time at all.
func TestStackOverAnyOuter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		outer     func() (gbr.Outer, error)
		high, low float64 // Mbit/s, before the fall and after it
		tolerance float64
	}{
		{"ours", nil, 5.2, 1.3, 0.3},
		{"Pion's", overPion, 4.7, 1.3, 1.1},
		{"fixed", overFixed, 4.75, 1.3, 0.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg := stackConfig{seed: 11, capacity: cell.Steps(
					cell.Step{Bps: 6_000_000, For: 55 * time.Second}, cell.Step{Bps: 1_500_000, For: time.Hour},
				)}
				if c.outer != nil {
					cfg.options = []interceptor.Option{interceptor.WithOuter(c.outer)}
				}
				s := newStack(t, cfg)
				until := func(d time.Duration) { time.Sleep(d - time.Since(s.call.Start())) }
				until(45 * time.Second)
				warm := s.call.Stats()
				until(54 * time.Second)
				high := s.call.Stats()
				until(58 * time.Second)
				fell := s.call.Stats()
				until(70 * time.Second)
				low, target := s.call.Stats(), s.estimator.Target()
				s.close()
				within(t, "goodput at 6 Mbit/s", goodput(warm, high, 9*time.Second), c.high, c.tolerance, "Mbit/s")
				within(t, "goodput at 1.5 Mbit/s", goodput(fell, low, 12*time.Second), c.low, 0.25, "Mbit/s")
				within(t, "latency 15 s after the fall", float64(low.PlayoutLast.Milliseconds()), 115, 60, "ms")
				within(t, "freeze ratio", low.FreezeRatio, 0, 0.01, "")
				if target.Mode != gbr.Dual || target.Outer.AckedBps < 800_000 || target.Outer.AckedBps > 2_000_000 {
					t.Errorf("in the end: %v, %d bit/s acknowledged", target.Mode, target.Outer.AckedBps)
				}
			})
		})
	}
}
