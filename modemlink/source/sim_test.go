// SPDX-License-Identifier: MIT

//go:build !android

package source

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// The emulated modem passes through the same bytes as a real one.
func TestSim(t *testing.T) {
	s, err := Open("sim", Config{})
	if err != nil {
		t.Fatal(err)
	}
	const run = 1500 * ms
	ctx, cancel := context.WithTimeoutCause(t.Context(), run, errDone)
	defer cancel()
	var samples, reports, bytes int
	var first, last time.Time
	var config gbr.RadioConfig
	if err := s.Run(ctx, func(tel gbr.Telemetry) {
		samples += len(tel.Samples)
		reports += len(tel.Reports)
		for _, g := range tel.Grants {
			if first.IsZero() {
				first = g.At
			} else {
				bytes += g.Bytes
			}
			last = g.At
		}
		if tel.Config != nil {
			config = *tel.Config
		}
	}); !errors.Is(err, errDone) {
		t.Fatalf("Run returned %v, want the cause", err)
	}
	if samples < 100 || samples > 300 || reports < 100 {
		t.Errorf("%d samples and %d reports in %v of windows of 5 ms, want 100 to 300", samples, reports, run)
	}
	if config.RAT != gbr.RATLTE || config.Period != 5*ms {
		t.Errorf("configuration %+v, want LTE with 5 ms", config)
	}
	if mbps := float64(bytes) * 8 / last.Sub(first).Seconds() / 1e6; mbps < 11 || mbps > 12.5 {
		t.Errorf("%.1f Mbit/s granted, want 12 within 1", mbps)
	}
}
