// SPDX-License-Identifier: MIT

package gcc

import (
	"fmt"
	"testing"
	"time"
)

// What users of Pion's estimator (pkg/gcc of github.com/pion/interceptor) have
// reported must not happen here. One test each.

// interceptor issue 299: without probing and without a notion of an application
// that sends little, the estimate grows for as long as nothing is full.
func TestFaultUnboundedGrowthWhenAppLimited(t *testing.T) {
	for _, cfg := range []Config{{}, {NoProbing: true}, {Loss: LossThresholds}, {Acked: AckedBayesian}} {
		b := bottleneck{linkBps: constant(3_000_000), sourceBps: constant(2_000_000), cfg: cfg}
		rows := b.run(t, 120*time.Second)
		band(t, fmt.Sprintf("highest estimate with %+v", cfg), most(rows, 0, 120*time.Second, mbps), 2, 4.5, "Mbit/s")
	}
}

// interceptor issue 100: 20 s from 0.5 to 2.5 Mbit/s.
func TestFaultSlowRamp(t *testing.T) {
	for _, noPadding := range []bool{false, true} {
		b := bottleneck{linkBps: constant(3_000_000), cfg: Config{StartBps: 500_000}, noPadding: noPadding}
		band(t, "0.5 to 2.5 Mbit/s", reach(b.run(t, 20*time.Second), 2_500_000), 0.1, 4, "s")
	}
}

// webrtc issue 3310: the loss controller knows no bounds.
func TestFaultLossIgnoresBounds(t *testing.T) {
	for _, rule := range []LossRule{LossModel, LossThresholds} {
		for _, loss := range []float64{0, 0.5, 0.9} {
			b := bottleneck{
				linkBps: constant(5_000_000), loss: constant(loss), seed: 3,
				cfg: Config{MinBps: 400_000, StartBps: 600_000, MaxBps: 1_500_000, Loss: rule},
			}
			low, high := 1e9, 0.0
			for _, r := range b.run(t, 30*time.Second) {
				low, high = min(low, mbps(r)), max(high, mbps(r))
				if r.est.LossBps < 400_000 || r.est.LossBps > 1_500_000 {
					t.Fatalf("loss %v: %v: loss limit %d", loss, r.t, r.est.LossBps)
				}
			}
			band(t, "lowest", low, 0.4, 0.6, "Mbit/s")
			band(t, "highest", high, 0.6, 1.5, "Mbit/s")
		}
	}
}

// interceptor pull request 438: growth capped by the acknowledged rate lowers
// the target.
func TestFaultIncreaseLowersTheTarget(t *testing.T) {
	for _, acked := range []float64{1, 10_000, 200_000, 900_000, 2e6} {
		for _, known := range []bool{false, true} {
			a := newAIMD(&Config{StartBps: 1_000_000, MinBps: 100_000, MaxBps: 5_000_000, Backoff: 0.85, Growth: 1.08, StartGrowth: 2, AckedCap: 1.5})
			if a.capacity.known = known; known {
				a.capacity.kbps = acked / 1000
			}
			for i := range 100 {
				before := a.rate
				a.update(t0.Add(time.Duration(i)*50*time.Millisecond), aimdInput{usage: UsageNormal, ackedBps: acked, rtt: 50 * time.Millisecond})
				if a.state != StateIncrease || a.rate < before {
					t.Fatalf("acked %v: %v from %v to %v", acked, a.state, before, a.rate)
				}
			}
		}
	}
}

// interceptor issue 156: an application that sends little is cut to 0.85 of that
// little.
func TestFaultCutToWhatAnIdleSourceSends(t *testing.T) {
	// A source of 150 kbit/s whose path has a pause of 150 ms now and then.
	b := bottleneck{
		linkBps: constant(3_000_000), jitter: 60 * time.Millisecond, seed: 4,
		sourceBps: func(t time.Duration) int {
			if t < 10*time.Second {
				return 3_000_000
			}

			return 150_000
		},
	}
	rows := b.run(t, 30*time.Second)
	lowest := 1e9
	for _, r := range rows {
		if r.t > 11*time.Second {
			lowest = min(lowest, mbps(r))
		}
	}
	band(t, "lowest estimate of an idle source", lowest, 0.5, 3.2, "Mbit/s")
}

// The burst rule without a cap: at a full bottleneck behind a pacer a group
// never closes, and the delay estimator never sees another delta.
func TestFaultFreezeAtFullBottleneck(t *testing.T) {
	var g grouping
	var deltas, longest, open int
	for i := range int64(20_000) {
		// Packets arrive 2 ms apart and were sent 3 ms apart: a queue that
		// empties without end, as far as the burst rule can see.
		d, result := g.add(t0.Add(time.Duration(i)*2*time.Millisecond), sample{sentUs: 3000 * i, arrivalUs: 2000*i + 1e9, size: 1200})
		open++
		if result == groupDone {
			deltas++
			longest = max(longest, open)
			open = 0
			if d.arrivalUs > 110_000 {
				t.Fatalf("a group of %d ms", d.arrivalUs/1000)
			}
		}
	}
	band(t, "deltas in 40 s", float64(deltas), 300, 500, "")
	band(t, "packets in the longest group", float64(longest), 50, 110, "")

	// And in the loop: the estimate moves all the time.
	b := bottleneck{linkBps: constant(3_000_000)}
	still, last := 0.0, -1
	since := time.Duration(0)
	for _, r := range b.run(t, 120*time.Second) {
		if r.est.DelayBps != last {
			last, since = r.est.DelayBps, r.t
		}
		still = max(still, (r.t - since).Seconds())
	}
	band(t, "longest time without any change", still, 0, 3, "s")
}
