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

// These keys have names for values.
const (
	without     = "without"
	withoutEach = "each"
	bsrTable    = "bsr_table"
	pastBy      = "past_by"
)

func (p param) named() bool { return p.key == without || p.key == bsrTable || p.key == pastBy }

// word is how a value is written.
func (p param) word(v float64) string {
	switch p.key {
	case without:
		return gbr.Ingredient(v).String()
	case bsrTable:
		return sim.BSRTables()[int(v)-1]
	case pastBy:
		return sim.Predictors()[int(v)]
	default:
		return number(v)
	}
}

// value reads one.
func (p param) value(text string) (float64, error) {
	switch p.key {
	case without:
		i, err := gbr.IngredientByName(text)

		return float64(i), err
	case bsrTable:
		i := slices.Index(sim.BSRTables(), text)
		if i < 0 {
			return 0, fmt.Errorf("%s: unknown table %q, choose from %s", p.key, text, strings.Join(sim.BSRTables(), ", "))
		}

		return float64(i + 1), nil
	case pastBy:
		i := slices.Index(sim.Predictors(), text)
		if i < 0 {
			return 0, fmt.Errorf("%s: unknown predictor %q, choose from %s", p.key, text, strings.Join(sim.Predictors(), ", "))
		}

		return float64(i), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1e9 {
		return 0, fmt.Errorf("%s: %q is not a number", p.key, text)
	}

	return v, nil
}

// values reads a list of them.
func (p param) values(list string) ([]float64, error) {
	if p.key == without && strings.TrimSpace(list) == withoutEach {
		vs := []float64{0}
		for _, i := range gbr.Ingredients() {
			vs = append(vs, float64(i))
		}

		return vs, nil
	}
	var vs []float64
	for text := range strings.SplitSeq(list, ",") {
		v, err := p.value(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if slices.Contains(vs, v) {
			return nil, fmt.Errorf("%s: %s is there twice", p.key, p.word(v))
		}
		vs = append(vs, v)
	}

	return vs, nil
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
		{without, "ingredients left out: " + ingredients() + ", with + between several; " + withoutEach + " for a sweep of none and each of them", func(p *sim.Params, v float64) { p.GBR.Without = gbr.Ingredient(v) }, isDefault},
		{"memory", "time constant of the radio's rate in TTIs with a backlog", func(p *sim.Params, v float64) { p.GBR.CapacityMemory = v }, isDefault},
		{"safety", "share of the radio's rate for an encoder that follows a rate", func(p *sim.Params, v float64) { p.GBR.Safety = v }, isDefault},
		{"hold_after_ms", "how long after the last sign of life the inner loop is trusted", func(p *sim.Params, v float64) { p.GBR.HoldAfter = ms(v) }, isDefault},
		{"standing_ms", "queue that may be left when the next frame comes", func(p *sim.Params, v float64) { p.GBR.Standing = ms(v) }, isDefault},
		{"drain_ms", "queue above that for which the rate goes down by all of it", func(p *sim.Params, v float64) { p.GBR.Drain = ms(v) }, isDefault},
		{"frame_safety", "safety of frame budgets", func(p *sim.Params, v float64) { p.GBR.FrameSafety = v }, isDefault},
		{"frame_standing_ms", "standing queue of frame budgets", func(p *sim.Params, v float64) { p.GBR.FrameStanding = ms(v) }, isDefault},
		{"band", "how far the rate may go before the encoder's target moves", func(p *sim.Params, v float64) { p.GBR.Band = v }, isDefault},
		{"rise_ms", "for how long the rate must have been higher for the encoder's target to rise", func(p *sim.Params, v float64) { p.GBR.RiseWindow = ms(v) }, isDefault},
		{"pacing", "pacing rate in multiples of the radio's rate", func(p *sim.Params, v float64) { p.GBR.PacingFactor = v }, isDefault},
		{"growth", "factor per second of fast growth", func(p *sim.Params, v float64) { p.GBR.Growth = v }, isDefault},
		{"hold_ms", "how long the outer loop's detector waits for telemetry", func(p *sim.Params, v float64) { p.GBR.HoldDelay = ms(v) }, isDefault},
		{"bsr_ms", "condition: the phone's periodic BSR timer", func(p *sim.Params, v float64) { p.Conditions.BSRPeriod = ms(v) }, hearsModem},
		{"telemetry_ms", "condition: delay of the telemetry's link", func(p *sim.Params, v float64) { p.Conditions.TelemetryLink = ms(v) }, hearsModem},
		{bsrTable, "condition: the table of buffer status reports, and the radio: " + strings.Join(sim.BSRTables(), ", "), func(p *sim.Params, v float64) { p.Conditions.Table = sim.BSRTable(v) }, hearsModem},
		{"encoder_ms", "condition: how old a rate is when the encoder obeys it, 0 for none", func(p *sim.Params, v float64) { p.Conditions.EncoderLag = orNone(ms(v)) }, isController},
		{
			"fixed_kbps", "rate of the algorithm fixed, and of the loop under gbrcc-fixed", func(p *sim.Params, v float64) { p.FixedBps = int(v * 1000) },
			func(cc string) bool { return cc == "fixed" || cc == "gbrcc-fixed" },
		},
		{"past_share", "share of the capacity that the references take from the past", func(p *sim.Params, v float64) { p.Past.Share = v }, knowsPast},
		{"past_ms", "how much of the past that is, for ewma its time constant", func(p *sim.Params, v float64) { p.Past.Window = ms(v) }, knowsPast},
		{pastBy, "and how: " + strings.Join(sim.Predictors(), ", ") + "; the last three are of its frame intervals", func(p *sim.Params, v float64) { p.Past.By = sim.Predictor(v) }, knowsPast},
		{"past_queue_ms", "queue that they may leave when the next frame comes", func(p *sim.Params, v float64) { p.Past.Queue = ms(v) }, knowsPast},
		{"past_skip_ms", "queue above which they leave a frame out, 0 for never", func(p *sim.Params, v float64) { p.Past.Skip = ms(v) }, knowsPast},
		{"horizon_ms", "how far the algorithm oracle sees", func(p *sim.Params, v float64) { p.Horizon = ms(v) }, only("oracle")},
		{"age_ms", "how old what the algorithm causal knows is", func(p *sim.Params, v float64) { p.Age = ms(v) }, only("causal")},
	}
}

// references are not controllers: nobody can build them, or would.
func references() []string { return []string{"fixed", "causal", "causal-rate", "oracle"} }

func isReference(cc string) bool { return slices.Contains(references(), cc) }

func hasInnerLoop(cc string) bool {
	return !isReference(cc) && cc != "gcc" && cc != pionrun.Pion && cc != pionrun.PionLeaky
}

// isController tells that an algorithm is one that could be built, and that it is
// run in package sim, where conditions can be changed.
func isController(cc string) bool {
	return !knowsPast(cc) && cc != "oracle" && !pionrun.Known(cc)
}

// knowsPast tells whether an algorithm is a reference that knows all of the past.
func knowsPast(cc string) bool { return cc == "causal" || cc == "causal-rate" }

// hearsModem is those of them that telemetry makes a difference to.
func hearsModem(cc string) bool { return isController(cc) && hasInnerLoop(cc) }

// orNone makes 0 what stands for none where 0 stands for the usual.
func orNone(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}

	return d
}

// isDefault tells whether an algorithm is GBR-CC as users get it.
func isDefault(cc string) bool { return strings.HasPrefix(cc, "gbrcc") }

// hasGain tells whether an algorithm steers by a gain of the ratio that can be
// changed.
func hasGain(cc string) bool { return strings.HasPrefix(cc, "seed") }

// ingredients names what can be left out.
func ingredients() string {
	var words []string
	for _, i := range gbr.Ingredients() {
		words = append(words, i.String())
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

func (s setting) String() string { return s.param.key + "=" + s.param.word(s.value) }

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
	vs, err := p.values(list)

	return sweep{p, vs}, err
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
