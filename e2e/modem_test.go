// SPDX-License-Identifier: MIT

package e2e

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/modemtest"
)

// patience is for what a busy machine may do late.
const patience = 30 * time.Second

// eventually waits for something that must happen.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s: not within %v", what, patience)
}

// A modem on a real connection steers the estimator; an agent that is killed,
// or a cable that is pulled, hands over to the end-to-end loop, and the signal is
// picked up again when the agent is back. The rate never jumps. (How soon, by a
// clock that no busy machine holds up, is a matter for gbr's tests.)
func TestModemLinkLossAndReturn(t *testing.T) {
	defer goleak.VerifyNone(t)
	modem := modemtest.NewServer(t)
	defer modem.Close()
	estimator, err := interceptor.NewEstimator(interceptor.WithBitrateBounds(100_000, 2_000_000, 10_000_000))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = estimator.Close() }()
	client, err := modemlink.NewClient(modem.URL, modemlink.ClientConfig{MinBackoff: 20 * time.Millisecond, MaxBackoff: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		if err := client.Run(ctx, estimator.PushTelemetry); !errors.Is(err, context.Canceled) {
			t.Errorf("the client ended: %v", err)
		}
	})
	wg.Go(func() { // the modem reports a queue inside the neutral zone
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				modem.Publish(gbr.Telemetry{Samples: []gbr.Sample{{
					At: now, Window: 12 * time.Millisecond, Reported: 20_000, Granted: 12_000,
				}}})
			}
		}
	})
	mode := func(want gbr.Mode) func() bool {
		return func() bool { return estimator.Target().Mode == want }
	}
	eventually(t, "steered by the modem", func() bool {
		got := estimator.Target()

		return got.Mode == gbr.Dual && got.RatioOK && got.TelemetryAge < 100*time.Millisecond
	})
	within(t, "ratio", estimator.Target().Ratio, 0.6, 0.01, "")
	for _, c := range []struct {
		name     string
		down, up func()
	}{
		{"agent killed", modem.Kill, modem.Restart},
		{"cable pulled", modem.Pause, modem.Resume},
	} {
		before := estimator.Target().RateBps
		c.down()
		eventually(t, c.name+": alone", mode(gbr.OuterOnly))
		within(t, c.name+": rate after the hand-over", float64(estimator.Target().RateBps), float64(before), 0.02*float64(before), "bit/s")
		before = estimator.Target().RateBps
		c.up()
		eventually(t, c.name+": signal back", mode(gbr.Dual))
		within(t, c.name+": rate after the return", float64(estimator.Target().RateBps), float64(before), 0.02*float64(before), "bit/s")
	}
}
