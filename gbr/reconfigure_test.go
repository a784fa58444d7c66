// SPDX-License-Identifier: MIT

package gbr_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// What was learned stays: a change of preset does not interrupt, and after another
// algorithm the radio's rate is there at once.
func TestReconfigureKeepsWhatIsKnown(t *testing.T) {
	r := newRadio(t, 500)
	r.frame = 15_000
	r.run(3*time.Second, false)
	before := r.e.Target()
	if before.Mode != gbr.Dual || before.RateBps > 5_000_000 {
		t.Fatalf("the radio does not limit: %+v", before)
	}
	set := func(cfg gbr.Config) {
		t.Helper()
		if cfg.MaxBps == 0 {
			cfg.MaxBps = 20_000_000
		}
		if err := r.e.Reconfigure(r.now, nil, cfg); err != nil {
			t.Fatal(err)
		}
	}
	ratio := func() float64 { return float64(r.e.Target().RateBps) / float64(before.RateBps) }
	set(gbr.Config{Preset: "call"})
	within(t, "rate after another preset", ratio(), 1.05, 0.15, "of before")
	if _, ok := r.e.FrameBudget(r.now); !ok {
		t.Error("no frame budget after another preset")
	}
	r.run(20*time.Millisecond, false)
	within(t, "rate a moment later", ratio(), 1.05, 0.15, "of before")

	set(gbr.Config{MaxBps: 2_000_000})
	if got := r.e.Target(); got.RateBps != 2_000_000 || got.BitrateBps != 2_000_000 {
		t.Errorf("%+v, want at most 2 Mbit/s", got)
	}
	set(gbr.Config{})
	r.run(100*time.Millisecond, false)
	within(t, "rate with the old bounds again", ratio(), 1, 0.2, "of before")

	set(gbr.Config{Algorithm: gbr.Seed})
	if _, ok := r.e.FrameBudget(r.now); ok {
		t.Error("seed has frame budgets")
	}
	r.run(2*time.Second, false)
	r.outer.rate = 20_000_000 // what the seed's gain has made of it
	set(gbr.Config{})
	r.run(1500*time.Millisecond, false) // the clock has to fit again
	within(t, "rate after the seed", ratio(), 1, 0.25, "of before")

	if err := r.e.Reconfigure(r.now, nil, gbr.Config{Preset: "nonsense"}); !errors.Is(err, gbr.ErrConfig) {
		t.Errorf("a preset that is none: %v", err)
	}
	within(t, "rate after an error", ratio(), 1, 0.25, "of before")
}

// Another outer loop starts from the present rate, and is the one that is told.
func TestReconfigureOuter(t *testing.T) {
	first, second := &scripted{rate: 3_000_000}, &scripted{rate: 700_000}
	e := newEstimator(t, first, func(c *gbr.Config) { c.Algorithm = gbr.Seed })
	e.OnTimeout(epoch)
	before := e.Target().RateBps
	if err := e.Reconfigure(epoch, second, gbr.Config{Algorithm: gbr.Default}); err != nil {
		t.Fatal(err)
	}
	if second.rate != before || e.Target().RateBps != before {
		t.Errorf("the new loop is at %d, the estimator at %d, want %d", second.rate, e.Target().RateBps, before)
	}
}
