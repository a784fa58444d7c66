// SPDX-License-Identifier: MIT

package gcc

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

// The calls that a loop around this one relies on.
var _ interface {
	OnPacketSent(now time.Time, p SentPacket)
	OnAcked(now time.Time, results []PacketResult)
	OnDelay(now time.Time, results []PacketResult)
	OnFeedback(now time.Time, fb Feedback)
	OnTimeout(now time.Time)
	NextTimeout() time.Time
	Estimate() Estimate
	SetEstimate(now time.Time, bitrateBps int)
} = (*Controller)(nil)

func TestConvergesOnConstantLink(t *testing.T) {
	b := bottleneck{linkBps: constant(3_000_000)}
	rows := b.run(t, 60*time.Second)
	band(t, "estimate", mean(rows, 5*time.Second, 60*time.Second, mbps), 2.4, 3.05, "Mbit/s")
	band(t, "goodput", mean(rows, 5*time.Second, 60*time.Second, goodMbps), 2.4, 3.0, "Mbit/s")
	band(t, "highest estimate", most(rows, 0, 60*time.Second, mbps), 2.9, 4.0, "Mbit/s")
	band(t, "mean queue", mean(rows, 5*time.Second, 60*time.Second, queueMillis), 3, 30, "ms")
	band(t, "highest queue", most(rows, 0, 60*time.Second, queueMillis), 20, 120, "ms")
}

func TestRampTime(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cfg    Config
		lo, hi float64
	}{
		{"probes", Config{}, 0.15, 0.5},
		{"2.5 times a second", Config{NoProbing: true}, 2, 3},
		{"neither", Config{NoProbing: true, StartGrowth: 1.08}, 24, 36},
	} {
		b := bottleneck{linkBps: constant(3_000_000), cfg: tt.cfg}
		band(t, tt.name+": 0.3 to 2.7 Mbit/s", reach(b.run(t, 40*time.Second), 2_700_000), tt.lo, tt.hi, "s")
	}
}

// reach is when the estimate reaches bps, in seconds.
func reach(rows []trace, bps int) float64 {
	for _, r := range rows {
		if r.est.BitrateBps >= bps {
			return r.t.Seconds()
		}
	}

	return math.Inf(1)
}

// 90 % of a constant link of 3 Mbit/s in under 3 s, with jitter of a cell too,
// and without padding.
func TestReachesTheLink(t *testing.T) {
	for _, tt := range []struct {
		name   string
		b      bottleneck
		lo, hi float64
	}{
		{"plain", bottleneck{}, 0.1, 1},
		{"jitter of 10 ms", bottleneck{jitter: 10 * time.Millisecond}, 0.1, 3},
		{"reports of 250 ms", bottleneck{interval: 250 * time.Millisecond}, 0.3, 3},
		{"round trip of 300 ms", bottleneck{oneWay: 150 * time.Millisecond}, 0.3, 3},
		{"no padding", bottleneck{noPadding: true}, 1.5, 3},
		{"no padding, jitter of 5 ms", bottleneck{noPadding: true, jitter: 5 * time.Millisecond}, 1.5, 3},
		{"no padding, reports of 100 ms", bottleneck{noPadding: true, interval: 100 * time.Millisecond}, 1.5, 3},
	} {
		tt.b.linkBps = constant(3_000_000)
		for tt.b.seed = range uint64(3) {
			rows := tt.b.run(t, 20*time.Second)
			band(t, tt.name, reach(rows, 2_700_000), tt.lo, tt.hi, "s")
			band(t, tt.name+": highest queue", most(rows, 0, 20*time.Second, queueMillis), 5, 250, "ms")
		}
	}
}

// A fall to a third: the queue is gone within seconds, whatever the phase of
// frames and reports at that moment. Without pushback the cut alone drains it.
func TestCapacityDropDrains(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		cfg                    Config
		lo, hi, peakLo, peakHi float64
	}{
		{"pushback", Config{}, 0.5, 3, 300, 1300},
		{"none", Config{NoPushback: true}, 4, 9, 300, 1600},
	} {
		var drained, peak []float64
		for phase := range 9 {
			drop := 20*time.Second + time.Duration(phase)*11*time.Millisecond
			b := bottleneck{linkBps: func(t time.Duration) int {
				if t < drop {
					return 3_000_000
				}

				return 1_000_000
			}, queueMax: 3 * time.Second, cfg: tt.cfg}
			rows := b.run(t, 50*time.Second)
			last := 0.0
			for _, r := range rows {
				if r.t > drop && r.queue > 300*time.Millisecond {
					last = (r.t - drop).Seconds()
				}
			}
			drained = append(drained, last)
			peak = append(peak, most(rows, drop, drop+10*time.Second, queueMillis))
			band(t, tt.name+": goodput after", mean(rows, drop+15*time.Second, 50*time.Second, goodMbps), 0.8, 1.0, "Mbit/s")
		}
		slices.Sort(drained)
		slices.Sort(peak)
		band(t, tt.name+": until the queue is under 300 ms", drained[4], tt.lo, tt.hi, "s")
		band(t, tt.name+": highest queue", peak[4], tt.peakLo, tt.peakHi, "ms")
	}
}

// A fall so deep that the rate is held back for long: when the queue is gone, what
// was held back does not count for what the path carries.
func TestDeepDropDoesNotStarve(t *testing.T) {
	for _, tt := range []struct{ from, to int }{{3_000_000, 300_000}, {8_000_000, 1_000_000}, {3_000_000, 1_000_000}} {
		for _, room := range []time.Duration{400 * time.Millisecond, 3 * time.Second} {
			for phase := range 4 {
				drop := 20*time.Second + time.Duration(phase)*11*time.Millisecond
				b := bottleneck{linkBps: func(t time.Duration) int {
					if t < drop {
						return tt.from
					}

					return tt.to
				}, queueMax: room, seed: uint64(phase)}
				rows := b.run(t, 40*time.Second)
				lowest := math.Inf(1)
				for _, r := range rows {
					if r.t > drop {
						lowest = min(lowest, float64(r.est.DelayBps)/float64(tt.to))
					}
				}
				what := fmt.Sprintf("%d to %d kbit/s, queue of %v, phase %d: ", tt.from/1000, tt.to/1000, room, phase)
				band(t, what+"lowest delay limit of the link", lowest, 0.4, 0.86, "")
				band(t, what+"goodput from 5 s on of the link", mean(rows, drop+5*time.Second, 40*time.Second, goodMbps)*1e6/float64(tt.to), 0.65, 1, "")
			}
		}
	}
}

// The link falls below the source and comes back while the source rests: probes
// find it within 6 s, whatever the phase, the jitter, and what was lost.
func TestRecoversWhileAppLimited(t *testing.T) {
	var worst float64
	for _, room := range []time.Duration{time.Second, 300 * time.Millisecond, 100 * time.Millisecond} {
		for _, jitter := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond} {
			for phase := range 9 {
				back := 32*time.Second + time.Duration(phase)*700*time.Millisecond
				b := bottleneck{
					linkBps: func(t time.Duration) int {
						if t > 20*time.Second && t < back {
							return 500_000
						}

						return 3_000_000
					},
					sourceBps: func(t time.Duration) int {
						if t > 24*time.Second && t < 45*time.Second {
							return 150_000
						}

						return 2_000_000
					},
					queueMax: room, seed: uint64(phase), jitter: jitter,
				}
				rows := b.run(t, 48*time.Second)
				what := fmt.Sprintf("queue of %v, jitter of %v, phase %d: ", room, jitter, phase)
				band(t, what+"estimate before", mean(rows, back-time.Second, back, mbps), 0.1, 1, "Mbit/s")
				since := math.Inf(1)
				for _, r := range rows {
					if r.t >= back && r.est.BitrateBps >= 2_000_000 {
						since = (r.t - back).Seconds()

						break
					}
				}
				band(t, what+"until what the source needs is there", since, 0.1, 6, "s")
				band(t, what+"goodput when the source is back", mean(rows, 46*time.Second, 48*time.Second, goodMbps), 1.8, 2.05, "Mbit/s")
				worst = max(worst, since)
			}
		}
	}
	t.Logf("within %.1f s", worst)
}

// The link falls below what an application sends that could send more: it has a
// queue, and the rate is cut to what arrives.
func TestDropWhileAppLimitedDrains(t *testing.T) {
	for phase := range 5 {
		drop := 20*time.Second + time.Duration(phase)*11*time.Millisecond
		b := bottleneck{linkBps: func(t time.Duration) int {
			if t < drop {
				return 4_000_000
			}

			return 600_000
		}, sourceBps: constant(2_000_000), queueMax: 3 * time.Second, seed: uint64(phase)}
		rows := b.run(t, 40*time.Second)
		last := 0.0
		for _, r := range rows {
			if r.t > drop && r.queue > 300*time.Millisecond {
				last = (r.t - drop).Seconds()
			}
		}
		band(t, "until the queue is under 300 ms", last, 0.5, 3, "s")
		band(t, "goodput after", mean(rows, drop+10*time.Second, 40*time.Second, goodMbps), 0.5, 0.6, "Mbit/s")
	}
}

// An application that needs less than the link does not push the estimate far
// beyond what the link carries, and its probes find the link when it grows.
func TestAppLimited(t *testing.T) {
	b := bottleneck{linkBps: constant(3_000_000), sourceBps: constant(2_000_000)}
	rows := b.run(t, 120*time.Second)
	band(t, "highest estimate", most(rows, 0, 120*time.Second, mbps), 2.5, 4.5, "Mbit/s")
	band(t, "estimate", mean(rows, 10*time.Second, 120*time.Second, mbps), 2.4, 3.5, "Mbit/s")
	band(t, "highest queue", most(rows, 0, 120*time.Second, queueMillis), 3, 60, "ms")
	band(t, "padding", mean(rows, 10*time.Second, 120*time.Second, paddingMbps), 0, 0.05, "Mbit/s")

	// The link falls below the source, comes back while the source rests.
	b = bottleneck{linkBps: func(t time.Duration) int {
		if t > 10*time.Second && t < 20*time.Second {
			return 500_000
		}

		return 3_000_000
	}, sourceBps: func(t time.Duration) int {
		if t > 22*time.Second && t < 40*time.Second {
			return 150_000
		}

		return 2_500_000
	}}
	rows = b.run(t, 60*time.Second)
	band(t, "estimate on the slow link", mean(rows, 15*time.Second, 20*time.Second, mbps), 0.3, 0.6, "Mbit/s")
	band(t, "estimate after 7 s of rest", mean(rows, 29*time.Second, 30*time.Second, mbps), 2.4, 3.1, "Mbit/s")
	band(t, "estimate after 17 s of rest", mean(rows, 39*time.Second, 40*time.Second, mbps), 2.4, 3.1, "Mbit/s")
	band(t, "goodput when the source comes back", mean(rows, 41*time.Second, 45*time.Second, goodMbps), 2.2, 2.6, "Mbit/s")
}

// A source that goes nearly silent, on a path with jitter that the detector
// takes for overuse: what it was worth is not forgotten at once.
func TestAppLimitedIsNotCutToWhatIsSent(t *testing.T) {
	c := newTest(t, Config{StartBps: 2_000_000})
	for i := range 200 {
		c.alr.onSent(t0.Add(time.Duration(i)*10*time.Millisecond), 200)
	}
	c.ackedBps = 160_000
	c.aimd.update(t0.Add(2*time.Second), aimdInput{usage: UsageOver, ackedBps: c.ackedBps, appLimited: c.alr.active})
	band(t, "delay limit", c.aimd.rate, 1_700_000, 1_700_000, "bit/s")
}

func TestRandomLossIsCheap(t *testing.T) {
	clean := bottleneck{linkBps: constant(3_000_000)}
	want := mean(clean.run(t, 60*time.Second), 5*time.Second, 60*time.Second, goodMbps)
	for seed := range uint64(5) {
		b := bottleneck{linkBps: constant(3_000_000), loss: constant(0.02), seed: seed}
		got := mean(b.run(t, 60*time.Second), 5*time.Second, 60*time.Second, goodMbps)
		band(t, "goodput with 2 % loss against none", got/want, 0.85, 1.0, "")
	}
}

func TestHeavyLossLimitsAndHeals(t *testing.T) {
	b := bottleneck{linkBps: constant(3_000_000), seed: 1, loss: func(t time.Duration) float64 {
		if t > 20*time.Second && t < 25*time.Second {
			return 0.3
		}

		return 0
	}}
	rows := b.run(t, 60*time.Second)
	band(t, "estimate in the loss", mean(rows, 24*time.Second, 25*time.Second, mbps), 0.2, 0.9, "Mbit/s")
	band(t, "loss ratio", mean(rows, 22*time.Second, 25*time.Second, func(r trace) float64 { return r.est.LossRatio }), 0.2, 0.35, "")
	band(t, "loss ratio after", mean(rows, 27*time.Second, 40*time.Second, func(r trace) float64 { return r.est.LossRatio }), 0, 0.1, "")
	band(t, "estimate 20 s later", mean(rows, 45*time.Second, 46*time.Second, mbps), 1, 3.05, "Mbit/s")
}

type timeoutCount int

func (c *timeoutCount) Record(_ time.Time, ev Event) {
	if _, ok := ev.(Timeout); ok {
		*c++
	}
}

func TestFeedbackOutage(t *testing.T) {
	var timeouts timeoutCount
	b := bottleneck{
		linkBps: constant(3_000_000), recorder: &timeouts,
		deaf: func(t time.Duration) bool { return t > 10*time.Second && t < 16*time.Second },
	}
	rows := b.run(t, 30*time.Second)
	band(t, "estimate at the end of the outage", mean(rows, 15900*time.Millisecond, 16*time.Second, mbps), 0.1, 0.1, "Mbit/s")
	band(t, "timeouts", float64(timeouts), 3, 5, "")
	band(t, "estimate 5 s later", mean(rows, 21*time.Second, 22*time.Second, mbps), 2.0, 3.1, "Mbit/s")
}

// RFC 8867 5.1: one flow of 150 kbit/s to 1.5 Mbit/s over a bottleneck of 1,
// 2.5, 0.6 and 1 Mbit/s, 50 ms each way, 300 ms of queue. The source takes what
// it gets; in each phase the rate comes to rest near what there is to have.
func TestVariableCapacity(t *testing.T) {
	phases := []struct {
		until, settle time.Duration
		mbps, lo, hi  float64
	}{
		{40 * time.Second, 5 * time.Second, 1, 0.75, 1.02},
		{60 * time.Second, 10 * time.Second, 2.5, 1.2, 1.55},
		{80 * time.Second, 5 * time.Second, 0.6, 0.42, 0.62},
		{100 * time.Second, 10 * time.Second, 1, 0.7, 1.02},
	}
	b := bottleneck{
		linkBps: func(t time.Duration) int {
			for _, p := range phases {
				if t < p.until {
					return int(p.mbps * 1e6)
				}
			}

			return 1_000_000
		},
		oneWay: 50 * time.Millisecond, queueMax: 300 * time.Millisecond,
		cfg: Config{StartBps: 150_000, MinBps: 150_000, MaxBps: 1_500_000},
	}
	rows := b.run(t, 100*time.Second)
	var from time.Duration
	for _, p := range phases {
		what := fmt.Sprintf("at %g Mbit/s: ", p.mbps)
		band(t, what+"goodput", mean(rows, from+p.settle, p.until, goodMbps), p.lo, p.hi, "Mbit/s")
		band(t, what+"queue", mean(rows, from+p.settle, p.until, queueMillis), 0, 60, "ms")
		from = p.until
	}
}

// Clocks may start anywhere.
func TestShiftedClocksChangeNothing(t *testing.T) {
	run := func(epoch time.Time, remote RemoteTime) []trace {
		b := bottleneck{linkBps: func(t time.Duration) int {
			return 3_000_000 - 150_000*int(t/(2*time.Second)%7)
		}, loss: constant(0.01), epoch: epoch, remote: remote}

		return b.run(t, 20*time.Second)
	}
	want := run(time.Unix(1000, 0), 0)
	for name, got := range map[string][]trace{
		"local":  run(time.Unix(1_999_999_999, 123_456_789), 0),
		"remote": run(time.Unix(1000, 0), -7_777_777_777_777),
		"both":   run(time.Unix(-5, 1), 1<<55),
		"zero":   run(time.Time{}.Add(time.Nanosecond), 0),
	} {
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: row %d is %+v, want %+v", name, i, got[i], want[i])

				break
			}
		}
	}
}

// Two halves of a report at one instant, or the delay part later, are close to
// the whole at once.
func TestPortionsChangeLittle(t *testing.T) {
	run := func(b bottleneck) (est, queue float64) {
		b.linkBps = constant(3_000_000)
		rows := b.run(t, 60*time.Second)

		return mean(rows, 5*time.Second, 60*time.Second, mbps), mean(rows, 5*time.Second, 60*time.Second, queueMillis)
	}
	est, queue := run(bottleneck{})
	for name, b := range map[string]bottleneck{
		"split":           {split: true},
		"held back 60 ms": {holdBack: 60 * time.Millisecond},
		"each 20 ms":      {interval: 20 * time.Millisecond},
		"each 100 ms":     {interval: 100 * time.Millisecond},
	} {
		e, q := run(b)
		band(t, name+": estimate", e, est*0.9, est*1.1, "Mbit/s")
		band(t, name+": queue", q, queue*0.5, queue*2, "ms")
	}
}

// A packet that is reported missing first and received next is no loss.
func TestReorderedIsNotLost(t *testing.T) {
	c := newTest(t, Config{StartBps: 2_000_000})
	var prev []PacketResult
	seq := int64(0)
	for i := range 100 {
		now := t0.Add(time.Duration(i) * 50 * time.Millisecond)
		var fb Feedback
		for _, p := range prev { // now they have come
			p.Received = true
			fb.Packets = append(fb.Packets, p)
		}
		prev = prev[:0]
		for j := range 10 {
			p := PacketResult{
				SentPacket: SentPacket{Seq: seq, Size: 1200, At: now.Add(time.Duration(j-60) * time.Millisecond)},
				Received:   j%3 != 0,
				Arrival:    RemoteTime(i*50_000 + j*1000),
			}
			seq++
			if !p.Received {
				prev = append(prev, p)
			}
			fb.Packets = append(fb.Packets, p)
		}
		c.OnFeedback(now, fb)
	}
	if e := c.Estimate(); e.LossRatio != 0 || e.LossBps != 30_000_000 {
		t.Errorf("loss ratio %v, loss limit %d, want none", e.LossRatio, e.LossBps)
	}
}

// script feeds one report: sequence numbers that came and that did not, all
// sent rtt before now.
func script(c *Controller, at, rtt time.Duration, came, missing []int64) {
	now := t0.Add(at)
	var res []PacketResult
	add := func(seq int64, received bool) {
		res = append(res, PacketResult{
			SentPacket: SentPacket{Seq: seq, Size: 1200, At: now.Add(-rtt)},
			Received:   received, Arrival: RemoteTime((at - rtt/2).Microseconds()),
		})
	}
	for _, s := range came {
		add(s, true)
	}
	for _, s := range missing {
		add(s, false)
	}
	c.OnAcked(now, res)
}

// A packet that comes after it was given up is taken back.
func TestLateIsTakenBack(t *testing.T) {
	c := newTest(t, Config{})
	const ms = time.Millisecond
	script(c, 0, 50*ms, []int64{0, 1}, []int64{2, 3})
	script(c, 50*ms, 50*ms, []int64{4}, nil)
	script(c, 100*ms, 50*ms, []int64{5}, nil)
	if c.rule.lost != 2 || c.rule.expected != 6 {
		t.Fatalf("%d of %d lost, want 2 of 6", c.rule.lost, c.rule.expected)
	}
	script(c, 150*ms, 50*ms, []int64{2, 6}, nil)
	if c.rule.lost != 1 || c.rule.expected != 7 {
		t.Errorf("%d of %d lost, want 1 of 7", c.rule.lost, c.rule.expected)
	}
}

// A long path reorders further.
func TestReorderWindowFollowsTheRoundTrip(t *testing.T) {
	const ms = time.Millisecond
	for rtt, want := range map[time.Duration]int{100 * ms: 1, 396 * ms: 1, 500 * ms: 0, 1000 * ms: 0} {
		c := newTest(t, Config{})
		for i := range 3 {
			var missing []int64
			if i == 0 {
				missing = []int64{50}
			}
			script(c, time.Duration(i)*60*ms, rtt, []int64{int64(i)}, missing)
		}
		if c.rule.lost != want {
			t.Errorf("round trip %v: %d lost after 120 ms, want %d", rtt, c.rule.lost, want)
		}
	}
}

func TestBounds(t *testing.T) {
	b := bottleneck{linkBps: constant(20_000_000), cfg: Config{StartBps: 1_000_000, MinBps: 900_000, MaxBps: 2_000_000}}
	rows := b.run(t, 20*time.Second)
	band(t, "highest estimate", most(rows, 0, 20*time.Second, mbps), 2, 2, "Mbit/s")

	b.linkBps = constant(300_000)
	for _, r := range b.run(t, 20*time.Second) {
		if r.est.BitrateBps < 900_000 {
			t.Fatalf("%v: estimate %d below the minimum", r.t, r.est.BitrateBps)
		}
	}
}

func TestPacing(t *testing.T) {
	c := newTest(t, Config{StartBps: 1_000_000})
	if got := c.Estimate().PacingBps; got != 2_500_000 {
		t.Errorf("pacing %d before feedback, want 2500000", got)
	}
	c.OnFeedback(t0, Feedback{Packets: []PacketResult{{SentPacket: SentPacket{Size: 1200, At: t0.Add(-50 * time.Millisecond)}, Received: true}}})
	if e := c.Estimate(); e.PacingBps != 1_100_000 || e.RTT != 50*time.Millisecond {
		t.Errorf("pacing %d, rtt %v after feedback, want 1100000, 50ms", e.PacingBps, e.RTT)
	}
}

func TestSetEstimate(t *testing.T) {
	c := newTest(t, Config{})
	for _, tt := range []struct{ set, want int }{{2_000_000, 2_000_000}, {-5, 100_000}, {math.MaxInt, 30_000_000}} {
		c.SetEstimate(t0, tt.set)
		if e := c.Estimate(); e.BitrateBps != tt.want || e.DelayBps != tt.want {
			t.Errorf("SetEstimate(%d): %+v, want %d", tt.set, e, tt.want)
		}
	}

	// A loss limit moves along and stays.
	c.rule.bps = 500_000
	c.SetEstimate(t0, 1_000_000)
	if e := c.Estimate(); e.BitrateBps != 1_000_000 || e.LossBps != 1_000_000 {
		t.Errorf("%+v, want both limits at 1000000", e)
	}
}

func TestClockStepsBack(t *testing.T) {
	c := newTest(t, Config{})
	c.OnPacketSent(t0, SentPacket{Size: 1200, At: t0})
	c.OnPacketSent(t0.Add(-time.Hour), SentPacket{Seq: 1, Size: 1200, At: t0.Add(-time.Hour)})
	c.OnTimeout(t0.Add(-time.Hour))
	if next := c.NextTimeout(); !next.Equal(t0.Add(2 * time.Second)) {
		t.Errorf("next timeout %v, want 2 s after the latest time seen", next.Sub(t0))
	}
	if e := c.Estimate(); e.BitrateBps != 300_000 {
		t.Errorf("estimate %d, want 300000", e.BitrateBps)
	}
}

func TestStreamTimeoutForgetsTheTrend(t *testing.T) {
	c := newTest(t, Config{})
	c.OnDelay(t0, []PacketResult{{SentPacket: SentPacket{At: t0}, Received: true}})
	c.overuse.threshold, c.overuse.usage = 99, UsageOver
	c.trend.deltas = 50
	c.OnDelay(t0.Add(2*time.Second), []PacketResult{{SentPacket: SentPacket{At: t0}, Received: true}})
	if c.trend.deltas != 50 {
		t.Error("reset after exactly 2 s")
	}
	c.OnDelay(t0.Add(4001*time.Millisecond), []PacketResult{{SentPacket: SentPacket{At: t0}, Received: true}})
	if c.trend.deltas != 0 || c.overuse.threshold != 12.5 || c.overuse.usage != UsageNormal {
		t.Errorf("after 2 s of nothing: %d deltas, threshold %v, %v", c.trend.deltas, c.overuse.threshold, c.overuse.usage)
	}
}

// The event stream of a start, a capacity drop, heavy loss and an outage; one
// estimate each second at most.
func TestEventStream(t *testing.T) {
	log := &eventLog{t: t, start: time.Unix(1000, 0)}
	var last time.Time
	log.skip = func(now time.Time, ev Event) bool {
		if _, ok := ev.(EstimateChanged); !ok {
			return false
		}
		if now.Sub(last) < time.Second {
			return true
		}
		last = now

		return false
	}
	b := bottleneck{
		linkBps: func(t time.Duration) int {
			if t < 8*time.Second {
				return 3_000_000
			}

			return 1_000_000
		},
		loss: func(t time.Duration) float64 {
			if t > 16*time.Second && t < 17*time.Second {
				return 0.25
			}

			return 0
		},
		deaf:     func(t time.Duration) bool { return t > 21*time.Second && t < 24500*time.Millisecond },
		recorder: log,
	}
	b.run(t, 28*time.Second)
	golden.Assert(t, log.String(), "events.golden")
}

func TestEventsMarshal(t *testing.T) {
	for want, ev := range map[string]Event{
		`{"from":"normal","to":"over","trend_centis":1300,"threshold_centis":1250}`: UsageChanged{UsageNormal, UsageOver, 1300, 1250},
		`{"from":"increase","to":"decrease"}`:                                       StateChanged{StateIncrease, StateDecrease},
		`{"bitrate_kbps":1,"delay_kbps":2,"loss_kbps":3,"acked_kbps":4,"rtt_ms":5}`: EstimateChanged{1, 2, 3, 4, 5},
		`{"loss_permille":120,"limit_kbps":900}`:                                    LossLimited{120, 900, false},
		`{"silent_ms":2000,"bitrate_kbps":240}`:                                     Timeout{2000, 240},
	} {
		got, err := json.Marshal(ev)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", ev.EventName(), got, err, want)
		}
	}
}
