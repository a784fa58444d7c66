// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/bench/pionrun"
	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
)

// param is one key of -set and -sweep.
type param struct {
	key, doc string
	set      func(p *sim.Params, v float64)
	// of tells which algorithms look at it.
	of func(cc string) bool
}

func params() []param {
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	only := func(name string) func(string) bool { return func(cc string) bool { return cc == name } }

	return []param{
		{"beta", "steepness of the gain per unit of ratio", func(p *sim.Params, v float64) { p.GBR.Beta = v }, hasGain},
		{"target_ms", "queueing delay that the gain steers to", func(p *sim.Params, v float64) { p.GBR.TargetDelay = ms(v) }, hasGain},
		{"zone_low", "neutral zone, lower edge in multiples of the target ratio", func(p *sim.Params, v float64) { p.GBR.ZoneLow = v }, hasGain},
		{"zone_high", "neutral zone, upper edge in multiples of the target ratio", func(p *sim.Params, v float64) { p.GBR.ZoneHigh = v }, hasGain},
		{"gain_min", "lowest factor of one sample", func(p *sim.Params, v float64) { p.GBR.GainMin = v }, hasGain},
		{"gain_max", "highest factor of one sample", func(p *sim.Params, v float64) { p.GBR.GainMax = v }, hasGain},
		{"ratio_weight", "newest ratio's weight in the average", func(p *sim.Params, v float64) { p.GBR.RatioWeight = v }, hasGain},
		{"headroom", "growth is capped at this multiple of the acknowledged rate", func(p *sim.Params, v float64) { p.GBR.AckedHeadroom = v }, hasInnerLoop},
		{"without", "ingredients left out, the sum of " + ingredients(), func(p *sim.Params, v float64) { p.GBR.Without = gbr.Ingredient(v) }, isDefault},
		{"memory", "time constant of the radio's rate in TTIs with a backlog", func(p *sim.Params, v float64) { p.GBR.CapacityMemory = v }, isDefault},
		{"safety", "share of the radio's rate for an encoder that follows a rate", func(p *sim.Params, v float64) { p.GBR.Safety = v }, isDefault},
		{"standing_ms", "queue that may be left when the next frame comes", func(p *sim.Params, v float64) { p.GBR.Standing = ms(v) }, isDefault},
		{"drain_ms", "queue above that for which the rate goes down by all of it", func(p *sim.Params, v float64) { p.GBR.Drain = ms(v) }, isDefault},
		{"frame_safety", "safety of frame budgets", func(p *sim.Params, v float64) { p.GBR.FrameSafety = v }, isDefault},
		{"frame_standing_ms", "standing queue of frame budgets", func(p *sim.Params, v float64) { p.GBR.FrameStanding = ms(v) }, isDefault},
		{"band", "how far the rate may go before the encoder's target moves", func(p *sim.Params, v float64) { p.GBR.Band = v }, isDefault},
		{"rise_ms", "for how long the rate must have been higher for the encoder's target to rise", func(p *sim.Params, v float64) { p.GBR.RiseWindow = ms(v) }, isDefault},
		{"pacing", "pacing rate in multiples of the radio's rate", func(p *sim.Params, v float64) { p.GBR.PacingFactor = v }, isDefault},
		{"growth", "factor per second of fast growth", func(p *sim.Params, v float64) { p.GBR.Growth = v }, isDefault},
		{"hold_ms", "how long the outer loop's detector waits for telemetry", func(p *sim.Params, v float64) { p.GBR.HoldDelay = ms(v) }, isDefault},
		{"fixed_kbps", "rate of the algorithm fixed, and of the loop under gbrcc-fixed", func(p *sim.Params, v float64) { p.FixedBps = int(v * 1000) },
			func(cc string) bool { return cc == "fixed" || cc == "gbrcc-fixed" }},
		{"horizon_ms", "how far the algorithm oracle sees", func(p *sim.Params, v float64) { p.Horizon = ms(v) }, only("oracle")},
	}
}

// references are not controllers: nobody can build them, or would.
func references() []string { return []string{"fixed", "causal", "oracle"} }

func isReference(cc string) bool { return slices.Contains(references(), cc) }

func hasInnerLoop(cc string) bool {
	return !isReference(cc) && cc != "gcc" && cc != pionrun.Pion && cc != pionrun.PionLeaky
}

// isDefault tells whether an algorithm is GBR-CC as users get it.
func isDefault(cc string) bool { return strings.HasPrefix(cc, "gbrcc") }

// hasGain tells whether an algorithm steers by a gain of the ratio that can be
// changed.
func hasGain(cc string) bool { return strings.HasPrefix(cc, "seed") }

// ingredients names what can be left out.
func ingredients() string {
	var words []string
	for _, i := range []struct {
		i    gbr.Ingredient
		name string
	}{
		{gbr.Correction, "correction"},
		{gbr.HoldBack, "hold-back"},
		{gbr.PathLaw, "path"},
		{gbr.FastGrowth, "growth"},
		{gbr.Bursts, "bursts"},
		{gbr.QuickFall, "quick fall"},
		{gbr.Prediction, "prediction"},
		{gbr.CrossCheck, "cross-check"},
		{gbr.Smoothing, "smoothing"},
	} {
		words = append(words, fmt.Sprintf("%d %s", i.i, i.name))
	}

	return strings.Join(words, ", ")
}

func paramByKey(key string) (param, error) {
	var keys []string
	for _, q := range params() {
		if q.key == key {
			return q, nil
		}
		keys = append(keys, q.key)
	}

	return param{}, fmt.Errorf("unknown parameter %q, choose from %s", key, strings.Join(keys, ", "))
}

// setting is one key=value.
type setting struct {
	param param
	value float64
}

func (s setting) String() string { return s.param.key + "=" + number(s.value) }

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// sweep is the values of one key.
type sweep struct {
	param  param
	values []float64
}

func parseSetting(s string) (setting, error) {
	sw, err := parseSweep(s)
	if err != nil {
		return setting{}, err
	}
	if len(sw.values) != 1 {
		return setting{}, fmt.Errorf("%s has %d values, which is for -sweep", sw.param.key, len(sw.values))
	}

	return setting{sw.param, sw.values[0]}, nil
}

func parseSweep(s string) (sweep, error) {
	key, list, ok := strings.Cut(s, "=")
	if !ok {
		return sweep{}, errors.New("want key=value")
	}
	p, err := paramByKey(strings.TrimSpace(key))
	if err != nil {
		return sweep{}, err
	}
	sw := sweep{param: p}
	for text := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e9 {
			return sweep{}, fmt.Errorf("%s: %q is not a number", key, text)
		}
		if slices.Contains(sw.values, v) {
			return sweep{}, fmt.Errorf("%s: %s is there twice", key, number(v))
		}
		sw.values = append(sw.values, v)
	}

	return sw, nil
}

// variant is one algorithm with its parameters.
type variant struct {
	cc     string
	label  string // "beta=10 target_ms=20": what differs from the defaults
	params sim.Params
	// swept are the values of the swept keys, in the order of -sweep.
	swept []float64
}

// name is what a reader calls it.
func (v variant) name() string { return strings.TrimSpace(v.cc + " " + v.label) }

// variants are the points of the grid for one algorithm: one only if it does not
// look at what is swept.
func (o options) variants(cc string) []variant {
	grid := [][]setting{nil}
	for _, sw := range o.sweeps {
		if !sw.param.of(cc) {
			continue
		}
		var next [][]setting
		for _, g := range grid {
			for _, v := range sw.values {
				next = append(next, append(slices.Clone(g), setting{sw.param, v}))
			}
		}
		grid = next
	}
	var out []variant
	for _, g := range grid {
		v := variant{cc: cc}
		for _, s := range g {
			v.swept = append(v.swept, s.value)
		}
		// In the order of params, so that the order of flags does not matter.
		var words []string
		for _, p := range params() {
			for _, s := range append(slices.Clone(o.settings), g...) {
				if s.param.key == p.key && p.of(cc) {
					s.param.set(&v.params, s.value)
					words = append(words, s.String())
				}
			}
		}
		v.label = strings.Join(words, " ")
		out = append(out, v)
	}

	return out
}

// checkParams finds parameters that are given twice or to no one, and values
// that an algorithm refuses.
func (o options) checkParams(scenarios []sim.Scenario) error {
	var keys []string
	check := func(flag string, p param) error {
		if slices.Contains(keys, p.key) {
			return fmt.Errorf("-%s %s: it is given twice", flag, p.key)
		}
		keys = append(keys, p.key)
		if !slices.ContainsFunc(o.cc, p.of) {
			return fmt.Errorf("-%s %s: no algorithm of -cc has it", flag, p.key)
		}

		return nil
	}
	for _, s := range o.settings {
		if err := check("set", s.param); err != nil {
			return err
		}
	}
	for _, s := range o.sweeps {
		if err := check("sweep", s.param); err != nil {
			return err
		}
	}
	for _, cc := range o.cc {
		for _, v := range o.variants(cc) {
			check := sim.Check
			if pionrun.Known(cc) {
				check = pionrun.Check
			}
			if err := check(scenarios[0], cc, v.params); err != nil {
				return fmt.Errorf("%s: %w", v.name(), err)
			}
		}
	}

	return nil
}
