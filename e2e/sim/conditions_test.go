// SPDX-License-Identifier: MIT

package sim_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// Conditions change what they say, in scenarios with a trace and with a shared
// cell, and leave the rest alone.
func TestConditions(t *testing.T) {
	const d = 14 * time.Second
	for _, name := range []string{"synth-lte", "cell-lte-edge"} {
		sc := scenario(t, name, d)
		under := func(cc string, c sim.Conditions) sim.Result {
			r, err := sim.Run(sc, cc, 1, sim.Params{Conditions: c}, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}

			return r
		}
		plain := run(t, sc, "gbrcc", 1, sim.Options{})
		if r := under("gbrcc", sim.Conditions{}); r != plain {
			t.Errorf("%s: no conditions change the run", name)
		}
		for _, bad := range []sim.Conditions{{BSRPeriod: time.Microsecond}, {TelemetryLink: -1}, {EncoderLag: time.Hour}, {Table: 5}} {
			if _, err := sim.Run(sc, "gbrcc", 1, sim.Params{Conditions: bad}, sim.Options{}); err == nil {
				t.Errorf("%+v is no error", bad)
			}
			if sim.Check(sc, "gbrcc", sim.Params{Conditions: bad}) == nil {
				t.Errorf("%+v: Check does not say so", bad)
			}
		}
		// What the scenario has already is no change.
		if r := under("gbrcc", sim.Conditions{BSRPeriod: 5 * time.Millisecond, Table: sim.LTETable, TelemetryLink: 2 * time.Millisecond, EncoderLag: 20 * time.Millisecond}); r != plain {
			t.Errorf("%s: the usual conditions change the run", name)
		}
		if r := under("gbrcc", sim.Conditions{BSRPeriod: 40 * time.Millisecond}); float64(r.Samples) > 0.7*float64(plain.Samples) || r.Samples < 100 {
			t.Errorf("%s: %d samples with a report every 40 ms, %d with 5", name, r.Samples, plain.Samples)
		}
		for what, c := range map[string]sim.Conditions{
			"late": {TelemetryLink: 80 * time.Millisecond}, "slow": {EncoderLag: 200 * time.Millisecond}, "quick": {EncoderLag: -1}, "another table": {Table: sim.NRShort},
		} {
			if r := under("gbrcc", c); r == plain {
				t.Errorf("%s: %s changes nothing", name, what)
			}
			// An end-to-end loop hears no telemetry; another radio has other lags.
			if gcc := under("gcc", c); c.EncoderLag == 0 && c.Table == 0 && gcc.GoodputMbps != under("gcc", sim.Conditions{}).GoodputMbps {
				t.Errorf("%s: %s changes GCC", name, what)
			}
		}
	}
}
