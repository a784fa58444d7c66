// SPDX-License-Identifier: MIT

//go:build !race

package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/interceptor"
)

// The long runs: with the race detector they take minutes, and add nothing to the
// short ones.

// The route gets longer and shorter again, and its bottleneck narrower and wide
// again, without ICE being any the wiser.
func TestPlugPathChange(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		c := newPlugCall(t, plugConfig{capacity: cell.Constant(4_000_000), seed: 3, path: cell.PathConfig{
			Delays: []cell.DelayStep{{At: 15 * time.Second, Delay: 120 * time.Millisecond}, {At: 30 * time.Second, Delay: 25 * time.Millisecond}},
			Rate:   []cell.Step{{For: 45 * time.Second}, {For: 20 * time.Second, Bps: 1_500_000}, {For: time.Hour}},
		}})
		c.add("video", streamConfig{})
		c.negotiate(nil)
		time.Sleep(22*time.Second - time.Since(c.start))
		long := c.rate(8 * time.Second)
		time.Sleep(5 * time.Second)
		short := c.rate(8 * time.Second)
		time.Sleep(8 * time.Second)
		narrow := c.rate(10 * time.Second)
		time.Sleep(20 * time.Second)
		from := len(c.got("video").delays)
		wide := c.rate(10 * time.Second)
		delay := c.delay("video", from, 0.95)
		c.close()
		within(t, "on the long route", long, 3.6, 0.5, "Mbit/s")
		within(t, "on the short route again", short, 3.7, 0.5, "Mbit/s")
		within(t, "through 1.5 Mbit/s", narrow, 1.35, 0.35, "Mbit/s")
		within(t, "when it is wide again", wide, 3.6, 0.6, "Mbit/s")
		within(t, "delay p95 in the end", delay, 75, 35, "ms")
	})
}

// An encoder that obeys frame budgets carries more than one that follows the rate,
// on a radio that varies, and its packets are there as soon.
func TestPlugFrameBudget(t *testing.T) {
	t.Parallel()
	type result struct{ rate, p50, p95 float64 }
	got := map[bool]result{}
	for _, budgets := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			c := newPlugCall(t, plugConfig{capacity: cell.SynthLTE(3, time.Minute), seed: 21})
			c.add("video", streamConfig{budgets: budgets})
			c.negotiate(nil)
			time.Sleep(10 * time.Second)
			from := len(c.got("video").delays)
			rate := c.rate(40 * time.Second)
			got[budgets] = result{rate, c.delay("video", from, 0.5), c.delay("video", from, 0.95)}
			c.close()
		})
	}
	t.Logf("rate %+v, budgets %+v", got[false], got[true])
	within(t, "rate with budgets", got[true].rate/got[false].rate, 1.08, 0.08, "of that without")
	within(t, "delay p50 with budgets", got[true].p50-got[false].p50, 2, 8, "ms more than without")
	within(t, "delay p95 with budgets", got[true].p95-got[false].p95, 2, 20, "ms more than without")
}

// Feedback is lost, repeated (SRTCP takes the copies for replays), or two seconds
// late. The estimator may be slow
// then, but it neither runs away nor sticks, and it comes back.
func TestPlugBadFeedback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fate        func(rng *rand.Rand) (copies int, delay time.Duration)
		during, tol float64 // Mbit/s from 5 s after its beginning on
		after       float64
		silent      bool
	}{
		"a third lost": {func(rng *rand.Rand) (int, time.Duration) { return min(1, rng.IntN(3)), 0 }, 3.6, 0.6, 3.6, false},
		"all twice":    {func(*rand.Rand) (int, time.Duration) { return 2, 0 }, 3.7, 0.5, 3.6, false},
		"2 s late":     {func(*rand.Rand) (int, time.Duration) { return 1, 2 * time.Second }, 2, 2, 3.6, true},
		"out of order": {func(rng *rand.Rand) (int, time.Duration) {
			return 1, time.Duration(rng.IntN(150)) * time.Millisecond
		}, 2.6, 1.5, 3.6, false},
		// The inner loop still knows that the radio takes it.
		"none": {func(*rand.Rand) (int, time.Duration) { return 0, 0 }, 2, 2, 3.6, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(4, 0))
				call := newPlugCall(t, plugConfig{
					capacity: cell.Constant(4_000_000), seed: 4,
					feedback: func(at time.Duration) (int, time.Duration) {
						if at < 15*time.Second || at >= 30*time.Second {
							return 1, 0
						}

						return c.fate(rng)
					},
				})
				call.add("video", streamConfig{})
				call.negotiate(nil)
				time.Sleep(20*time.Second - time.Since(call.start))
				from := len(call.got("video").delays)
				during := call.rate(10 * time.Second)
				delay := call.delay("video", from, 0.95)
				time.Sleep(20 * time.Second)
				after := call.rate(10 * time.Second)
				repeated, malformed := call.stat(interceptor.StatFeedbackRepeated), call.stat(interceptor.StatFeedbackMalformed)
				said := call.warnings.all()
				call.close()
				within(t, "rate during", during, c.during, c.tol, "Mbit/s")
				within(t, "delay during p95", delay, 100, 80, "ms")
				within(t, "rate after", after, c.after, 0.8, "Mbit/s")
				if repeated > 0 || malformed > 0 || (len(said) > 0) != c.silent || len(said) > 1 {
					t.Errorf("%v repeated, %v malformed, log: %q", repeated, malformed, said)
				}
			})
		})
	}
}

// Both 16-bit counters wrap, the stream's and the transport-wide one, also when
// reports go by the stream's.
func TestPlugNumbersWrap(t *testing.T) {
	t.Parallel()
	for _, rfc8888 := range []bool{false, true} {
		t.Run(fmt.Sprintf("rfc8888=%v", rfc8888), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				c := newPlugCall(t, plugConfig{capacity: cell.Constant(3_000_000), seed: 5, rfc8888: rfc8888})
				// Small packets, so that there are many: 65536 take 57 s.
				video := c.add("video", streamConfig{first: 65_400, size: 200})
				c.negotiate(nil)
				time.Sleep(60 * time.Second)
				late := c.rate(20 * time.Second)
				sent, _, _ := video.counts()
				got := c.got("video").packets
				unknown, reports := c.stat(interceptor.StatFeedbackUnknown), c.stat(interceptor.StatFeedbackReports)
				c.close()
				if sent < 66_000 {
					t.Errorf("only %d packets sent: nothing has wrapped", sent)
				}
				within(t, "rate in the end", late, 2.6, 0.5, "Mbit/s")
				within(t, "packets that arrived", float64(got)/float64(sent), 1, 0.01, "")
				within(t, "statuses of unknown packets", unknown, 0, 0.02*float64(sent), "")
				if reports < 500 {
					t.Errorf("%v reports", reports)
				}
			})
		})
	}
}

// A key frame of 250 packets, more than Pion's history holds, every two seconds:
// nothing is dropped, and it is gone when the next frames have to leave.
func TestPlugBursts(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		c := newPlugCall(t, plugConfig{capacity: cell.Constant(8_000_000), seed: 6, options: []interceptor.Option{
			interceptor.WithBitrateBounds(100_000, 3_000_000, 10_000_000),
		}})
		video := c.add("video", streamConfig{
			burst: 250, burstEvery: 2 * time.Second, bps: func() int { return min(2_000_000, c.estimator.GetTargetBitrate()) },
		})
		c.negotiate(nil)
		time.Sleep(30 * time.Second)
		sent, _, failed := video.counts()
		time.Sleep(time.Second)
		later, _, _ := video.counts()
		got := c.got("video").packets
		refused, unknown := c.stat(interceptor.StatPacketsRefused), c.stat(interceptor.StatFeedbackUnknown)
		median, worst := c.delay("video", 0, 0.5), c.delay("video", 1000, 1)
		c.close()
		within(t, "refused", refused, 0, 0, "packets")
		within(t, "unknown to the history", unknown, 0, 5, "statuses")
		if got < sent || got > later || failed > 0 {
			t.Errorf("%d to %d sent, %d arrived, %d failed", sent, later, got, failed)
		}
		within(t, "delay p50", median, 75, 45, "ms")
		within(t, "longest delay", worst, 400, 250, "ms")
	})
}

// Losses on the path are repaired: by retransmissions that reach the network,
// and with FlexFEC whose packets are paced, numbered and counted. The encoder
// is told what is left.
func TestPlugRepair(t *testing.T) {
	t.Parallel()
	for _, fec := range []bool{false, true} {
		t.Run(fmt.Sprintf("fec=%v", fec), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				c := newPlugCall(t, plugConfig{capacity: cell.Constant(3_000_000), seed: 7, path: cell.PathConfig{Loss: 0.02}, fec: fec})
				video := c.add("video", streamConfig{})
				c.negotiate(nil)
				time.Sleep(40 * time.Second)
				sent, _, _ := video.counts()
				target, whole := float64(c.estimator.GetTargetBitrate()), float64(c.estimator.Target().BitrateBps)
				share := c.stat(interceptor.StatRepairShare)
				time.Sleep(time.Second)
				got, delay := c.got("video").packets, c.delay("video", 1000, 0.9)
				packets := c.stat(interceptor.StatFECPacketsSent)
				resent, untracked := c.stat(interceptor.StatRetransmissionsSent), c.stat(interceptor.StatPacketsUntracked)
				lost := float64(c.link.Stats().PathDrops)
				said := c.warnings.all()
				c.close()
				within(t, "packets that arrived a second later", float64(got)/float64(sent), 1.02, 0.03, "")
				within(t, "retransmissions per lost packet", resent/lost, 2.6, 0.8, "")
				within(t, "delay p90", delay, 80, 40, "ms")
				want := 0.06
				if fec {
					within(t, "FEC packets per packet", packets/float64(sent), 0.125, 0.01, "")
					want = 0.16
				}
				within(t, "share of repair", share, want, 0.06, "")
				within(t, "encoder's part", target/whole, 1-share, 0.03, "")
				// Pion's receivers do not report FEC, which is found out and
				// said: those packets are no losses then.
				if !fec && (untracked > 0 || len(said) > 0) {
					t.Errorf("%v packets are not measured, log: %q", untracked, said)
				}
				if fec && (len(said) != 1 || !strings.Contains(said[0], "FEC")) {
					t.Errorf("log: %q", said)
				}
				if fec {
					within(t, "unmeasured FEC packets", untracked/packets, 0.95, 0.05, "")
				}
			})
		})
	}
}
