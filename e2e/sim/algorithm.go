// SPDX-License-Identifier: MIT

package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// Rates is what an algorithm wants now, in bit/s.
type Rates struct {
	TargetBps, PacingBps int
}

// Algorithm is a sender's controller under test. It follows the rules of the
// pure packages: time is an argument, timers are asked for.
type Algorithm interface {
	OnPacketSent(now time.Time, p gcc.SentPacket)
	OnFeedback(now time.Time, fb gcc.Feedback)
	OnTelemetry(now time.Time, t gbr.Telemetry)
	OnTimeout(now time.Time)
	NextTimeout() time.Time
	Rates() Rates
}

// budgeter is an algorithm that tells an obedient encoder how many media bytes
// the frame captured now may have.
type budgeter interface {
	frameBudget(now time.Time) (bytes int, ok bool)
}

// skipper is an algorithm that tells when a frame had better be left out.
type skipper interface {
	SkipFrame(now time.Time) bool
}

// burster is an algorithm whose pacer may run further ahead than usual.
type burster interface{ burst() time.Duration }

// prober is an algorithm that wants bursts sent to measure the path.
type prober interface {
	NextProbe() (gcc.ProbeCluster, bool)
}

// Limits are the same for all algorithms of a scenario, in bit/s.
type Limits struct {
	StartBps, MinBps, MaxBps int
}

// Params are the controller parameters of `-set key=value`.
type Params struct {
	// GBR applies to the GBR-CC algorithms; zero values are the defaults.
	GBR gbr.Config
	// FixedBps is the rate of "fixed", and of the end-to-end loop under
	// "gbrcc-fixed". Default 2 Mbit/s.
	FixedBps int
	// Horizon is how far "oracle" sees.
	Horizon time.Duration
	// Age is how old what "causal" knows is, at most a frame interval. Default 0.
	Age time.Duration
	// Past is what "causal" and "causal-rate" make of what they know.
	Past Past
	// Conditions change the scenario.
	Conditions Conditions
}

// Algorithms lists the names that New knows.
func Algorithms() []string {
	return append(gbrNames(), "gcc", "gcc-burst", "fixed", "causal", "causal-rate", "oracle")
}

const (
	// withBudget is GBR-CC with an encoder that obeys its frame budget to the byte
	// and at once; "gbrcc" has one that follows the rate, as late as the scenario's
	// is.
	withBudget = "gbrcc-budget"
	// overFixed is GBR-CC over an end-to-end loop that never moves, at the rate of
	// "fixed": what the radio's side does alone.
	overFixed = "gbrcc-fixed"
)

// gbrNames are the algorithms of package gbr.
func gbrNames() []string {
	var names []string
	for _, a := range gbr.Algorithms() {
		names = append(names, a.String())
		if a == gbr.Default {
			names = append(names, withBudget, overFixed)
		}
	}

	return names
}

// newAlgorithm makes an algorithm by name.
func newAlgorithm(name string, l Limits, p Params, v *view) (Algorithm, error) {
	if slices.Contains(gbrNames(), name) {
		return newEstimator(name, l, p)
	}
	if err := p.Past.check(); err != nil {
		return nil, err
	}
	switch name {
	case "gcc", "gcc-burst":
		outer, err := newGCC(l)
		if err != nil {
			return nil, err
		}
		if name == "gcc-burst" {
			return inBursts{endToEnd{outer}}, nil
		}

		return endToEnd{outer}, nil
	case "fixed":
		return fixed(fixedBps(l, p)), nil
	case "causal":
		return newCausal(p.Past, p.Age, v, l)
	case "causal-rate":
		return newCausalRate(p.Past, v, l, v.source), nil
	case "oracle":
		return newOracle(v, p.Horizon, l), nil
	default:
		return nil, fmt.Errorf("sim: unknown algorithm %q, choose from %s", name, strings.Join(Algorithms(), ", "))
	}
}

// Check tells, without running anything, what Run would say about a scenario's
// algorithm and its parameters.
func Check(sc Scenario, alg string, p Params) error {
	if err := p.Conditions.check(); err != nil {
		return err
	}
	_, err := newAlgorithm(alg, sc.Limits, p, &view{})

	return err
}

// KnownAlgorithm tells whether name is one of Algorithms.
func KnownAlgorithm(name string) bool { return slices.Contains(Algorithms(), name) }

func newGCC(l Limits) (*gcc.Controller, error) {
	return gcc.New(gcc.Config{StartBps: l.StartBps, MinBps: l.MinBps, MaxBps: l.MaxBps})
}

func newEstimator(name string, l Limits, p Params) (Algorithm, error) {
	cfg := p.GBR
	cfg.StartBps, cfg.MinBps, cfg.MaxBps = l.StartBps, l.MinBps, l.MaxBps
	var outer gbr.Outer
	var err error
	if name == overFixed {
		outer = gcc.NewFixed(fixedBps(l, p))
	} else if outer, err = newGCC(l); err != nil {
		return nil, err
	}
	if name != withBudget && name != overFixed {
		if cfg.Algorithm, err = gbr.AlgorithmByName(name); err != nil {
			return nil, err
		}
	}
	est, err := gbr.NewEstimator(outer, cfg)
	if err != nil {
		return nil, err
	}
	if name == withBudget {
		return budgeted{estimator{est}}, nil
	}

	return estimator{est}, nil
}

// budgeted is GBR-CC whose frames obey FrameBudget.
type budgeted struct{ estimator }

func (b budgeted) frameBudget(now time.Time) (int, bool) {
	room, ok := b.FrameBudget(now)
	packets := room/(maxPayload+headerBytes) + 1

	return max(minBudget, room-packets*headerBytes), ok
}

// estimator is GBR-CC.
type estimator struct{ *gbr.Estimator }

func (e estimator) Rates() Rates {
	t := e.Target()

	return Rates{t.BitrateBps, t.PacingBps}
}

// endToEnd is GCC alone; telemetry passes it by.
type endToEnd struct{ *gcc.Controller }

func (endToEnd) OnTelemetry(time.Time, gbr.Telemetry) {}

func (g endToEnd) Rates() Rates {
	e := g.Estimate()

	return Rates{e.BitrateBps, e.PacingBps}
}

// inBursts is GCC with libwebrtc's pacer, which lets a frame go in one burst: the
// groups of its delay detector are frames, and each is a queue in the phone. With
// gcc's own groups the plain one has the longer memory too.
type inBursts struct{ endToEnd }

// burst is libwebrtc's. goog_cc: PacingController, burst interval.
func (inBursts) burst() time.Duration { return 40 * time.Millisecond }

// fixedBps is the rate of who never changes it.
func fixedBps(l Limits, p Params) int { return min(cmp.Or(p.FixedBps, 2_000_000), l.MaxBps) }

// fixed never changes its mind.
type fixed int

func (fixed) OnPacketSent(time.Time, gcc.SentPacket) {}
func (fixed) OnFeedback(time.Time, gcc.Feedback)     {}
func (fixed) OnTelemetry(time.Time, gbr.Telemetry)   {}
func (fixed) OnTimeout(time.Time)                    {}
func (fixed) NextTimeout() time.Time                 { return time.Time{} }
func (f fixed) Rates() Rates                         { return Rates{int(f), int(f) * 5 / 2} }
