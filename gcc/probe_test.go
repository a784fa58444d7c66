// SPDX-License-Identifier: MIT

package gcc

import (
	"slices"
	"testing"
	"time"
)

// probeRig drives a probe controller by hand.
type probeRig struct {
	t   *testing.T
	p   probeControl
	now time.Time
}

func newProbeRig(t *testing.T, cfg Config) *probeRig {
	t.Helper()
	given := cfg.MaxBps > 0
	cfg = cfg.withDefaults()

	return &probeRig{t: t, p: newProbeControl(&cfg, given), now: t0}
}

func (r *probeRig) after(d time.Duration) *probeRig {
	r.now = r.now.Add(d)

	return r
}

// estimate tells a new estimate in kbit/s.
func (r *probeRig) estimate(kbps int, cause probeCause) *probeRig {
	r.p.onEstimate(r.now, float64(kbps)*1000, cause)

	return r
}

// want fetches all clusters and compares their rates in kbit/s.
func (r *probeRig) want(what string, kbps ...int) {
	r.t.Helper()
	var got []int
	for {
		c, ok := r.p.fetch()
		if !ok {
			break
		}
		got = append(got, c.RateBps/1000)
		// 15 ms at that rate, 40 in the application-limited region, in 5 packets.
		length := 0.015
		if !r.p.alrSince.IsZero() {
			length = 0.040
		}
		bytes := float64(c.RateBps) * length / 8
		band(r.t, what+": bytes of a cluster", float64(c.MinBytes), bytes-1, bytes+1, "B")
		if c.MinPackets != 5 {
			r.t.Errorf("%s: %d packets, want 5", what, c.MinPackets)
		}
	}
	if !slices.Equal(got, kbps) {
		r.t.Errorf("%s: probes at %v kbit/s, want %v", what, got, kbps)
	}
}

func TestProbesAtTheStart(t *testing.T) {
	r := newProbeRig(t, Config{StartBps: 300_000, MaxBps: 20_000_000})
	r.want("before anything was sent")
	r.p.onSent(r.now)
	r.want("first packet", 900, 1800)
	r.p.onSent(r.now)
	r.want("second packet")
	r.after(100*time.Millisecond).estimate(900, probeFree).want("result of the first")
	r.estimate(1260, probeFree).want("0.7 of the last is not enough")
	r.estimate(1800, probeFree).want("result of the second", 3600)
	r.estimate(3500, probeFree).want("and so on", 7000)
	r.estimate(7000, probeFree).want("and so on", 14_000)
	r.estimate(13_000, probeFree).want("up to the maximum, not further", 20_000)
	r.estimate(20_000, probeFree).want("the maximum is reached")
}

func TestProbeResultTooLate(t *testing.T) {
	r := newProbeRig(t, Config{StartBps: 300_000, MaxBps: 20_000_000})
	r.p.onSent(r.now)
	r.want("first packet", 900, 1800)
	r.after(time.Second).estimate(1800, probeFree).want("after exactly 1 s", 3600)
	r.after(1001*time.Millisecond).estimate(3600, probeFree).want("after more than 1 s")
}

func TestProbeMaximum(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		need float64
		want []int
	}{
		{"none given: 5 Mbit/s", Config{StartBps: 1_000_000}, 0, []int{3000, 5000}},
		{"given", Config{StartBps: 1_000_000, MaxBps: 10_000_000}, 0, []int{3000, 6000}},
		{"given and low: one probe", Config{StartBps: 1_000_000, MaxBps: 2_000_000}, 0, []int{2000}},
		{"twice the need", Config{StartBps: 1_000_000, MaxBps: 10_000_000}, 2e6, []int{3000, 4000}},
		{"nothing to gain", Config{StartBps: 2_000_000, MaxBps: 2_000_000}, 0, nil},
		{"start above the default", Config{StartBps: 6_000_000}, 0, nil},
		{"off", Config{StartBps: 1_000_000, NoProbing: true}, 0, nil},
	} {
		r := newProbeRig(t, tt.cfg)
		r.p.needBps = tt.need
		r.p.onSent(r.now)
		r.want(tt.name, tt.want...)
	}
}

// settled is a controller that has probed and waits for nothing.
func settled(t *testing.T, kbps int) *probeRig {
	t.Helper()
	r := newProbeRig(t, Config{StartBps: 300_000, MaxBps: 20_000_000})
	r.p.onSent(r.now)
	r.want("first packet", 900, 1800)

	return r.after(2*time.Second).estimate(kbps, probeFree)
}

func TestProbesOutOfALR(t *testing.T) {
	r := settled(t, 1000)
	if next := r.p.next(); !next.IsZero() {
		t.Errorf("due at %v without an application-limited region", next)
	}
	r.after(time.Second)
	r.p.onALR(r.now, r.now)
	since := r.now
	if next := r.p.next(); !next.Equal(since.Add(5 * time.Second)) {
		t.Errorf("due %v after the region began, want 5 s", next.Sub(since))
	}
	r.after(4999 * time.Millisecond)
	r.p.process(r.now)
	r.want("before 5 s")
	r.after(time.Millisecond)
	r.p.process(r.now)
	r.want("after 5 s", 2000)
	r.after(100*time.Millisecond).estimate(1900, probeFree).want("a good result goes further", 3800)
	r.after(4999 * time.Millisecond)
	r.p.process(r.now)
	r.want("before the next 5 s")
	r.after(time.Millisecond)
	r.p.process(r.now)
	r.want("the next 5 s", 3800)
	r.p.onALR(r.now, time.Time{})
	if next := r.p.next(); !next.IsZero() {
		t.Error("due after the region has ended")
	}
}

func TestProbeCauses(t *testing.T) {
	for cause, want := range map[probeCause][]int{probeFree: {2000}, probeRising: {1500}, probeBlocked: nil, probeDisabled: nil} {
		r := settled(t, 1000)
		r.p.onALR(r.now, r.now)
		r.after(6*time.Second).estimate(1001, cause).estimate(1000, cause)
		r.p.process(r.now)
		r.want("cause", want...)
	}
}

// In the application-limited region a result that is a fifth above the estimate
// leads further, though it be far below the probe's rate.
func TestProbeGainOfTheRegion(t *testing.T) {
	for result, want := range map[int][]int{1200: nil, 1201: {2402}, 1500: {3000}} {
		r := settled(t, 1000)
		r.p.onALR(r.now, r.now)
		r.after(6 * time.Second)
		r.p.process(r.now)
		r.want("limited", 2000)
		r.estimate(result, probeFree).want("result", want...)
	}
}

// While a loss limit rises probes go up by half at a time, one after the other.
func TestProbesWhileALossLimitRises(t *testing.T) {
	r := settled(t, 1000)
	r.p.onALR(r.now, r.now)
	r.after(6*time.Second).estimate(1001, probeRising).estimate(1000, probeRising)
	r.p.process(r.now)
	r.want("first", 1500)
	r.after(100*time.Millisecond).estimate(1400, probeRising).want("further", 2100)
	r.after(100*time.Millisecond).estimate(2000, probeFree).want("and as ever when it is gone", 4000)
}

// What limits the estimate, for every combination of the parts that say so.
func TestProbeCauseOfState(t *testing.T) {
	for _, tt := range []struct {
		usage Usage
		model LossState
		rule  float64
		ready bool
		want  probeCause
	}{
		{UsageNormal, LossIdle, 0, true, probeFree},
		{UsageNormal, LossIncreasing, 0, true, probeRising},
		{UsageNormal, LossDecreasing, 0, true, probeBlocked},
		{UsageOver, LossIdle, 0, true, probeBlocked},
		{UsageOver, LossIncreasing, 0, true, probeBlocked},
		{UsageUnder, LossIdle, 0, true, probeBlocked},
		{UsageUnder, LossDecreasing, 0, true, probeBlocked},
		{UsageNormal, LossIdle, 0, false, probeFree},
		{UsageNormal, LossIdle, 5e5, false, probeBlocked},
		{UsageOver, LossIdle, 5e5, false, probeBlocked},
	} {
		c := newTest(t, Config{})
		c.overuse.usage, c.model.state, c.rule.bps = tt.usage, tt.model, tt.rule
		if tt.ready {
			c.model.known, c.model.n = true, lossReady
		}
		if got := c.probeCause(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	c := newTest(t, Config{})
	c.silent, c.silence.waiting = true, true
	if got := c.probeCause(); got != probeBlocked {
		t.Errorf("silence: %v", got)
	}
}

func TestProbeAfterADrop(t *testing.T) {
	for _, tt := range []struct {
		name             string
		to               int // from 3000 kbit/s
		limited          bool
		ended            time.Duration // before the recovery, 0 for never
		wait, secondWait time.Duration
		want             []int
	}{
		{"in the region", 1500, true, 0, time.Second, 0, []int{2550}},
		{"left it 2.9 s ago", 1500, false, 2900 * time.Millisecond, time.Second, 0, []int{2550}},
		{"left it 3 s ago", 1500, false, 3 * time.Second, time.Second, 0, nil},
		{"never in it", 1500, false, 0, time.Second, 0, nil},
		{"drop to 0.66", 1980, true, 0, time.Second, 0, nil},
		{"drop to less", 1979, true, 0, time.Second, 0, []int{2550}},
		{"drop 5 s ago", 1500, true, 0, 5 * time.Second, 0, nil},
		{"twice within 5 s", 1500, true, 0, time.Second, 4 * time.Second, []int{2550}},
	} {
		r := settled(t, 3000)
		r.after(10*time.Second).estimate(tt.to, probeBlocked)
		r.after(tt.wait)
		if tt.limited {
			r.p.alrSince = r.now
		}
		if tt.ended > 0 {
			r.p.alrEnded = r.now.Add(-tt.ended)
		}
		r.p.cause = probeFree
		r.p.onRecovered(r.now)
		if tt.secondWait > 0 {
			r.after(tt.secondWait)
			r.p.dropAt = r.now
			r.p.onRecovered(r.now)
		}
		r.want(tt.name, tt.want...)
		if r.p.state != probeComplete {
			t.Errorf("%s: waits for a result to go further", tt.name)
		}
	}
}

func TestProbeForANewNeed(t *testing.T) {
	r := settled(t, 1000)
	r.p.onNeed(r.now, 3e6)
	r.want("outside of the application-limited region")
	r.p.onALR(r.now, r.now)
	r.p.onNeed(r.now, 3e6)
	r.want("no change")
	r.p.onNeed(r.now, 1.5e6)
	r.want("a need within reach", 1500, 2000)
	r.p.onNeed(r.now, 4e6)
	r.want("a large one, in steps", 2000)
	r.p.onNeed(r.now, 0.9e6)
	r.want("less than the estimate")
}

func TestProbesCancelled(t *testing.T) {
	r := newProbeRig(t, Config{StartBps: 300_000, MaxBps: 20_000_000})
	r.p.onSent(r.now)
	r.p.moveEstimate(2_000_000)
	r.want("another loop has set the rate")
	r.estimate(3000, probeFree).want("nothing is awaited")
}

// Nobody fetches: the newest five are kept.
func TestProbeQueueIsBounded(t *testing.T) {
	r := newProbeRig(t, Config{StartBps: 300_000, MaxBps: 900_000_000})
	r.p.onSent(r.now)
	for kbps := 1800; kbps < 500_000; kbps *= 2 {
		r.estimate(kbps, probeFree)
	}
	r.want("after many", 57_600, 115_200, 230_400, 460_800, 900_000)
}

func TestSetProbing(t *testing.T) {
	c := newTest(t, Config{MaxBps: 20_000_000})
	c.SetProbing(t0, false)
	c.OnPacketSent(t0, SentPacket{Size: 1200, At: t0})
	if p, ok := c.NextProbe(); ok {
		t.Errorf("%+v while off", p)
	}
	c.SetProbing(t0, true)
	c.OnPacketSent(t0, SentPacket{Seq: 1, Size: 1200, At: t0})
	if p, ok := c.NextProbe(); ok {
		t.Errorf("%+v in the middle of a call", p)
	}
}
