// SPDX-License-Identifier: MIT

package gbr_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

const T = 5 * time.Millisecond

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// scripted is an outer loop that does what the test says.
type scripted struct {
	rate, acked int
	onDelay     func(s *scripted)
	next        time.Time
	timeouts    int
	calls       []string
}

func (s *scripted) OnPacketSent(time.Time, gcc.SentPacket) { s.calls = append(s.calls, "sent") }

func (s *scripted) OnAcked(time.Time, []gcc.PacketResult) { s.calls = append(s.calls, "acked") }

func (s *scripted) OnDelay(time.Time, []gcc.PacketResult) {
	s.calls = append(s.calls, "delay")
	if s.onDelay != nil {
		s.onDelay(s)
	}
}
func (s *scripted) OnTimeout(time.Time)              { s.timeouts++ }
func (s *scripted) NextTimeout() time.Time           { return s.next }
func (s *scripted) SetEstimate(_ time.Time, bps int) { s.rate = bps }
func (s *scripted) Estimate() gcc.Estimate {
	return gcc.Estimate{BitrateBps: s.rate, PacingBps: s.rate * 11 / 10, AckedBps: s.acked}
}

func newEstimator(t testing.TB, outer gbr.Outer, change func(*gbr.Config)) *gbr.Estimator {
	t.Helper()
	cfg := gbr.Config{Algorithm: gbr.Seed}
	if change != nil {
		change(&cfg)
	}
	e, err := gbr.NewEstimator(outer, cfg)
	if err != nil {
		t.Fatal(err)
	}

	return e
}

// sampleAt is a window that ended at the given time, delayed in the phone's
// queue by delay.
func sampleAt(at time.Time, delay time.Duration) gbr.Sample {
	const reported = 10_000

	return gbr.Sample{At: at, Window: T, Reported: reported, Granted: int(reported * T / delay)}
}

func within(t *testing.T, what string, got, want, tolerance float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.4g %s, want %.4g ± %.4g", what, got, unit, want, tolerance)
	}
}

// A queue above the neutral zone lowers the rate sample by sample, one below it
// raises it, one inside it does nothing.
func TestGainMovesTheRate(t *testing.T) {
	for _, c := range []struct {
		name     string
		delay    time.Duration
		want     float64 // factor after 70 samples
		relative float64
	}{
		{"long queue", 200 * time.Millisecond, math.Pow(0.99, 70), 0.12},
		{"in the zone", 20 * time.Millisecond, 1, 0.001},
		{"nearly empty", 5 * time.Millisecond, math.Pow(1.01, 70), 0.03},
	} {
		t.Run(c.name, func(t *testing.T) {
			outer := &scripted{rate: 2_000_000}
			e := newEstimator(t, outer, nil)
			now := epoch
			for range 70 {
				now = now.Add(T)
				e.OnSample(now, sampleAt(now, c.delay))
			}
			within(t, "rate", float64(outer.rate)/2e6, c.want, c.want*c.relative, "x")
			if got := e.Target().Mode; got != gbr.Dual {
				t.Errorf("mode %v, want dual", got)
			}
		})
	}
}

// The same queueing delay gives the same decision whatever the BSR period is.
func TestTargetIsADelayNotARatio(t *testing.T) {
	for _, period := range []time.Duration{T, 2 * T, 4 * T} {
		for _, c := range []struct {
			delay time.Duration
			sign  int
		}{{150 * time.Millisecond, -1}, {25 * time.Millisecond, 0}} {
			outer := &scripted{rate: 2_000_000}
			e := newEstimator(t, outer, nil)
			now := epoch
			for range 40 {
				now = now.Add(period)
				e.OnSample(now, gbr.Sample{At: now, Window: period, Reported: 1_000_000, Granted: int(1_000_000 * period / c.delay)})
			}
			if got := sign(outer.rate - 2_000_000); got != c.sign {
				t.Errorf("T = %v, queue %v: rate %d, want sign %d", period, c.delay, outer.rate, c.sign)
			}
		}
	}
}

func sign(v int) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	default:
		return 0
	}
}

// A phone that asks and gets nothing is starved: the most urgent sample, not a
// missing one.
func TestStarvationCutsAndIdleDoesNot(t *testing.T) {
	outer := &scripted{rate: 2_000_000}
	e := newEstimator(t, outer, nil)
	now := epoch
	for range 70 {
		now = now.Add(T)
		e.OnSample(now, gbr.Sample{At: now, Window: T})
	}
	if outer.rate != 2_000_000 {
		t.Errorf("idle samples moved the rate to %d", outer.rate)
	}
	if _, ok := e.Target().Ratio, e.Target().RatioOK; ok {
		t.Error("idle samples gave a ratio")
	}
	for range 70 {
		now = now.Add(T)
		e.OnSample(now, gbr.Sample{At: now, Window: T, Reported: 5000, Flags: gbr.FlagFirstGrant})
	}
	if outer.rate != 2_000_000 {
		t.Errorf("waiting for the first grant moved the rate to %d", outer.rate)
	}
	for range 70 {
		now = now.Add(T)
		e.OnSample(now, gbr.Sample{At: now, Window: T, Reported: 5000})
	}
	within(t, "after 350 ms without a grant", float64(outer.rate)/2e6, math.Pow(0.99, 70), 0.02, "x")
}

// A window without a grant does not raise the rate, whatever the average of those
// before still says; nor does one that is too old. One that is neither does.
func TestStarvedAndStaleSamplesNeverRaise(t *testing.T) {
	for _, a := range gbr.Algorithms() {
		for _, full := range []int{1, 5, 100} {
			outer := &scripted{rate: 1_000_000, acked: 2_000_000}
			// The less weight the newest has, the longer the average is as it was.
			e := newEstimator(t, outer, func(c *gbr.Config) { c.Algorithm, c.RatioWeight = a, 0.1 })
			now := epoch.Add(time.Minute)
			last := func() (rate int) {
				for range full {
					now = now.Add(T)
					e.OnSample(now, sampleAt(now, T))
				}

				return e.Target().RateBps
			}
			before := last()
			if rises := a != gbr.SeedMin && a != gbr.PublishedRTC; rises && before <= 1_000_000 {
				t.Errorf("%v: rate %d after full windows, want more than 1000000", a, before)
			}
			now = now.Add(T)
			e.OnSample(now, gbr.Sample{At: now, Window: T, Reported: 10_000})
			if got := e.Target().RateBps; got > before {
				t.Errorf("%v, after %d full windows: a starved one raised the rate from %d to %d", a, full, before, got)
			}
			before = last()
			now = now.Add(2 * time.Second)
			e.OnTimeout(now)
			before = min(before, e.Target().RateBps)
			for _, age := range []time.Duration{501 * time.Millisecond, time.Second, time.Minute} {
				e.OnSample(now, sampleAt(now.Add(-age), T))
				if got := e.Target().RateBps; got > before {
					t.Errorf("%v: one %v old raised the rate from %d to %d", a, age, before, got)
				}
			}
		}
	}
}

// Growth stops at 1.5 times what arrives; a cut is never stopped.
func TestGrowthIsCappedByTheAcknowledgedRate(t *testing.T) {
	outer := &scripted{rate: 1_000_000, acked: 1_000_000}
	e := newEstimator(t, outer, nil)
	now := epoch
	for range 400 {
		now = now.Add(T)
		e.OnSample(now, sampleAt(now, T))
	}
	within(t, "rate", float64(outer.rate), 1_510_000, 1000, "bit/s")
	outer.acked = 100_000 // far below: no growth, but no cut either
	before := outer.rate
	now = now.Add(T)
	e.OnSample(now, sampleAt(now, T))
	if outer.rate != before {
		t.Errorf("rate %d after %d: the cap lowered it", outer.rate, before)
	}
}

// While telemetry is fresh the outer loop's cuts count and its growth does not;
// without telemetry it is alone and starts from the rate as it stands.
func TestArbitration(t *testing.T) {
	outer := &scripted{rate: 1_000_000}
	e := newEstimator(t, outer, nil)
	grow := func(s *scripted) { s.rate += 50_000 }
	cut := func(s *scripted) { s.rate = s.rate * 85 / 100 }
	feedback := gcc.Feedback{Packets: []gcc.PacketResult{{Received: true}}}
	now := epoch

	outer.onDelay = grow
	e.OnFeedback(now, feedback)
	if outer.rate != 1_050_000 {
		t.Fatalf("without telemetry: rate %d, want the outer loop's 1050000", outer.rate)
	}
	now = now.Add(T)
	e.OnSample(now, sampleAt(now, 20*time.Millisecond))
	e.OnFeedback(now, feedback)
	if outer.rate != 1_050_000 {
		t.Errorf("fresh telemetry: the outer loop grew to %d", outer.rate)
	}
	outer.onDelay = cut
	e.OnFeedback(now, feedback)
	within(t, "fresh telemetry, cut", float64(outer.rate), 892_500, 1, "bit/s")
	if got := e.Stats().OuterCuts; got != 1 {
		t.Errorf("%d outer cuts counted, want 1", got)
	}
	if !slices.Equal(outer.calls[len(outer.calls)-2:], []string{"acked", "delay"}) {
		t.Errorf("calls %v: what is known at once comes first", outer.calls)
	}

	// Silence: hold, then hand over, each without a jump.
	outer.onDelay = grow
	rate := outer.rate
	for _, c := range []struct {
		after time.Duration
		mode  gbr.Mode
		grows bool
	}{
		{149 * time.Millisecond, gbr.Dual, false},
		{151 * time.Millisecond, gbr.Hold, false},
		{299 * time.Millisecond, gbr.Hold, false},
		{301 * time.Millisecond, gbr.OuterOnly, true},
	} {
		at := now.Add(c.after)
		e.OnTimeout(at)
		if got := e.Target(); got.Mode != c.mode || got.RateBps != rate {
			t.Errorf("%v of silence: %v at %d, want %v at %d", c.after, got.Mode, got.RateBps, c.mode, rate)
		}
		e.OnFeedback(at, feedback)
		if grew := outer.rate > rate; grew != c.grows {
			t.Errorf("%v of silence: grew %v, want %v", c.after, grew, c.grows)
		}
		rate = outer.rate
	}
	// And back.
	now = now.Add(2 * time.Second)
	e.OnSample(now, sampleAt(now, 20*time.Millisecond))
	if got := e.Target(); got.Mode != gbr.Dual || got.RateBps != rate {
		t.Errorf("telemetry back: %v at %d, want dual at %d", got.Mode, got.RateBps, rate)
	}
}

// An idle phone leaves growth to the outer loop: its radio is not the limit.
func TestIdlePhoneLetsTheOuterLoopGrow(t *testing.T) {
	outer := &scripted{rate: 1_000_000, onDelay: func(s *scripted) { s.rate += 1000 }}
	e := newEstimator(t, outer, nil)
	now := epoch
	e.OnSample(now, sampleAt(now, 20*time.Millisecond))
	for range 10 {
		now = now.Add(50 * time.Millisecond)
		e.OnTelemetry(now, gbr.Telemetry{})
		e.OnFeedback(now, gcc.Feedback{})
	}
	if e.Target().Mode != gbr.Dual {
		t.Errorf("mode %v: signs of life are telemetry", e.Target().Mode)
	}
	within(t, "rate", float64(outer.rate), 1_004_000, 1000, "bit/s")
}

// Old, repeated, reordered and impossible samples move nothing.
func TestBadSamplesAreCountedAndIgnored(t *testing.T) {
	outer := &scripted{rate: 1_000_000}
	e := newEstimator(t, outer, nil)
	now := epoch.Add(time.Hour)
	e.OnSample(now, sampleAt(now, 20*time.Millisecond))
	for _, s := range []gbr.Sample{
		sampleAt(now, 200*time.Millisecond),                           // again
		sampleAt(now.Add(-T), 200*time.Millisecond),                   // reordered
		sampleAt(now.Add(-time.Second), 200*time.Millisecond),         // stale
		{At: now.Add(T), Window: 0, Reported: 100},                    // no window
		{At: now.Add(T), Window: -T, Reported: 100},                   // negative
		{At: now.Add(T), Window: T, Reported: -5, Granted: 7},         // negative
		{At: now.Add(T), Window: T, Reported: 5, Granted: -7},         // negative
		{At: now.Add(T), Window: time.Hour, Reported: 5, Granted: 70}, // absurd
	} {
		e.OnSample(now, s)
	}
	if outer.rate != 1_000_000 {
		t.Errorf("rate %d moved", outer.rate)
	}
	if got, want := e.Stats(), (gbr.Stats{Used: 1, Stale: 1, Duplicate: 2, Invalid: 5}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
	// A sample from the future is a clock offset: used as of now.
	now = now.Add(T)
	e.OnSample(now, sampleAt(now.Add(time.Minute), 20*time.Millisecond))
	if e.Stats().Used != 2 {
		t.Error("a sample from the future was not used")
	}
	now = now.Add(T)
	e.OnSample(now, sampleAt(now, 20*time.Millisecond))
	if e.Stats().Used != 3 {
		t.Error("a sample from the future blocked the next ones")
	}
}

// The radios of EN-DC tell their windows in an order of their own each.
func TestRadiosAreOrderedApart(t *testing.T) {
	e := newEstimator(t, &scripted{rate: 1_000_000}, nil)
	now := epoch.Add(time.Second)
	for _, c := range []struct {
		rat gbr.RAT
		age time.Duration
	}{{gbr.RATNR, 5 * T}, {gbr.RATLTE, 9 * T}, {gbr.RATNR, 4 * T}, {gbr.RATLTE, 8 * T}, {gbr.RATUnknown, 9 * T}, {gbr.RATLTE, 8 * T}} {
		s := sampleAt(now.Add(-c.age), 20*time.Millisecond)
		s.RAT = c.rat
		e.OnSample(now, s)
	}
	e.OnSample(now, gbr.Sample{At: now, Window: T, Reported: 1, RAT: 99})
	if got, want := e.Stats(), (gbr.Stats{Used: 5, Duplicate: 1, Invalid: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

// Wherever the loops go, the outputs stay within the bounds.
func TestBounds(t *testing.T) {
	for _, delay := range []time.Duration{T, time.Second} {
		outer := &scripted{rate: 500_000}
		e := newEstimator(t, outer, func(c *gbr.Config) { c.MinBps, c.StartBps, c.MaxBps = 400_000, 500_000, 700_000 })
		now := epoch
		for range 500 {
			now = now.Add(T)
			e.OnSample(now, sampleAt(now, delay))
			if got := e.Target(); got.BitrateBps < 400_000 || got.BitrateBps > 700_000 || got.RateBps != outer.rate {
				t.Fatalf("target %+v, outer %d", got, outer.rate)
			}
		}
	}
}

// The timer asks for the next change of mode or for the outer loop's own.
func TestNextTimeout(t *testing.T) {
	outer := &scripted{rate: 500_000}
	e := newEstimator(t, outer, nil)
	if !e.NextTimeout().IsZero() {
		t.Error("a timer before anything happened")
	}
	e.OnSample(epoch, sampleAt(epoch, 20*time.Millisecond))
	if got := e.NextTimeout().Sub(epoch); got != 150*time.Millisecond {
		t.Errorf("next timeout in %v, want 150ms", got)
	}
	outer.next = epoch.Add(time.Millisecond)
	if got := e.NextTimeout().Sub(epoch); got != time.Millisecond {
		t.Errorf("next timeout in %v, want the outer loop's 1ms", got)
	}
	outer.next = time.Time{}
	e.OnTimeout(epoch.Add(150 * time.Millisecond))
	if got := e.NextTimeout().Sub(epoch); got != 300*time.Millisecond || outer.timeouts != 1 {
		t.Errorf("next timeout in %v after %d timeouts, want 300ms after 1", got, outer.timeouts)
	}
	e.OnTimeout(epoch.Add(300 * time.Millisecond))
	if !e.NextTimeout().IsZero() {
		t.Error("a timer although the outer loop is alone and has none")
	}
}

func TestBadConfigurations(t *testing.T) {
	for name, change := range map[string]func(*gbr.Config){
		"min above max":   func(c *gbr.Config) { c.MinBps, c.MaxBps = 2e6, 1e6 },
		"start below min": func(c *gbr.Config) { c.MinBps, c.StartBps = 2e6, 1e6 },
		"beta":            func(c *gbr.Config) { c.Beta = math.NaN() },
		"gain above 1":    func(c *gbr.Config) { c.GainMin = 1.1 },
		"gain below 1":    func(c *gbr.Config) { c.GainMax = 0.9 },
		"target":          func(c *gbr.Config) { c.TargetDelay = -time.Second },
		"safety":          func(c *gbr.Config) { c.Safety = math.Inf(1) },
		"memory":          func(c *gbr.Config) { c.CapacityMemory = -1 },
		"frame interval":  func(c *gbr.Config) { c.FrameInterval = time.Hour },
		"preset":          func(c *gbr.Config) { c.Preset = "nonesuch" },
		"algorithm":       func(c *gbr.Config) { c.Algorithm = 77 },
		"staleness":       func(c *gbr.Config) { c.HoldAfter, c.HandOverAfter = time.Second, time.Millisecond },
	} {
		cfg := gbr.Config{}
		change(&cfg)
		if _, err := gbr.NewEstimator(&scripted{}, cfg); !errors.Is(err, gbr.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	if _, err := gbr.NewEstimator(nil, gbr.Config{}); !errors.Is(err, gbr.ErrConfig) {
		t.Errorf("no outer loop: %v, want ErrConfig", err)
	}
	if _, err := gbr.AlgorithmByName("nonesuch"); !errors.Is(err, gbr.ErrConfig) {
		t.Error("unknown algorithm accepted")
	}
	for _, a := range gbr.Algorithms() {
		if got, err := gbr.AlgorithmByName(a.String()); err != nil || got != a {
			t.Errorf("%v: %v %v", a, got, err)
		}
	}
}

// The real outer loop fits.
var _ gbr.Outer = (*gcc.Controller)(nil)
