// SPDX-License-Identifier: MIT

package gcc

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestConfigDefaults(t *testing.T) {
	for _, tt := range []struct {
		name            string
		in              Config
		start, min, max int
	}{
		{"zero", Config{}, 300_000, 100_000, 30_000_000},
		{"low max pulls start and min", Config{MaxBps: 50_000}, 50_000, 50_000, 50_000},
		{"high min pulls start", Config{MinBps: 500_000}, 500_000, 500_000, 30_000_000},
		{"min above default max", Config{MinBps: 40_000_000}, 40_000_000, 40_000_000, 40_000_000},
		{"all given", Config{StartBps: 2, MinBps: 1, MaxBps: 3}, 2, 1, 3},
	} {
		c := tt.in.withDefaults()
		if c.StartBps != tt.start || c.MinBps != tt.min || c.MaxBps != tt.max {
			t.Errorf("%s: start %d min %d max %d, want %d %d %d", tt.name, c.StartBps, c.MinBps, c.MaxBps, tt.start, tt.min, tt.max)
		}
		if err := tt.in.Validate(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestConfigRejects(t *testing.T) {
	nan := math.NaN()
	for name, cfg := range map[string]Config{
		"negative min":   {MinBps: -1},
		"min over max":   {MinBps: 2_000_000, MaxBps: 1_000_000},
		"start under":    {StartBps: 10_000},
		"start over":     {StartBps: 40_000_000},
		"huge max":       {MaxBps: 1_000_000_001},
		"backoff":        {Backoff: 1},
		"backoff nan":    {Backoff: nan},
		"growth":         {Growth: 0.9},
		"start growth":   {StartGrowth: math.Inf(1)},
		"acked cap":      {AckedCap: nan},
		"pacing":         {PacingFactor: 0.5},
		"start pacing":   {StartPacingFactor: 11},
		"threshold":      {Threshold: 5},
		"loss crossed":   {LossLow: 0.2, LossHigh: 0.1},
		"loss one":       {LossHigh: 1},
		"reorder window": {ReorderWindow: -1},
		"timeout short":  {FeedbackTimeout: time.Millisecond},
		"timeout long":   {FeedbackTimeout: time.Hour},
	} {
		if _, err := New(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: error %v, want ErrConfig", name, err)
		}
	}
}
