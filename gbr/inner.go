// SPDX-License-Identifier: MIT

package gbr

import "time"

// Bounds of the target ratio that a sample's window gives. Above 0.8 the
// ratio says "nearly empty" rather than a delay; below 0.02 the BSR's bins are
// coarser than the target.
const (
	minTargetRatio = 0.02
	maxTargetRatio = 0.8
	// maxHigh keeps room for growth between the neutral zone and ratio 1.
	maxHigh = 0.9
	// historyTimeout is how long a smoothed ratio means anything.
	historyTimeout = time.Second
)

// inner turns samples into gains.
type inner struct {
	cfg Config

	ratio   float64
	ratioAt time.Time // when the last ratio was taken in, zero before
	// lastAt is the newest sample's own time, by radio: those of EN-DC do not
	// come in one order.
	lastAt  [RATNR + 1]time.Time
	window  time.Duration
	curve   curve // for windows of curveOf
	curveOf time.Duration
}

// verdict is what the inner loop made of a sample.
type verdict uint8

const (
	verdictUsed verdict = iota
	verdictIdle
	verdictStale     // too old to steer by
	verdictDuplicate // not newer than one already seen
	verdictInvalid
)

func (v verdict) String() string {
	switch v {
	case verdictUsed:
		return "used"
	case verdictIdle:
		return "idle"
	case verdictStale:
		return "stale"
	case verdictDuplicate:
		return "duplicate"
	case verdictInvalid:
		return "invalid"
	default:
		return "unknown"
	}
}

// onSample returns the gain for one sample; it means something only when the
// sample was used.
func (in *inner) onSample(now time.Time, s *Sample) (float64, verdict) {
	if s.Window <= 0 || s.Window > 10*time.Second || s.Granted < 0 || s.Reported < 0 || s.RAT > RATNR {
		return 1, verdictInvalid
	}
	at := s.At
	if at.After(now) { // a clock offset that is a little off
		at = now
	}
	if now.Sub(at) > in.cfg.MaxSampleAge {
		return 1, verdictStale
	}
	if last := in.lastAt[s.RAT]; !last.IsZero() && !at.After(last) {
		return 1, verdictDuplicate
	}
	in.lastAt[s.RAT] = at
	ratio, ok := s.Ratio()
	if !ok || s.Granted == 0 && s.Flags&FlagFirstGrant != 0 {
		// Data that waits for its scheduling request to be answered is not
		// starved yet; if it is, the next windows say so.
		return 1, verdictIdle
	}
	// Above 1 the radio took all there was; how much more is noise of the
	// scheduler's rounding.
	ratio = min(ratio, 1)
	if in.ratioAt.IsZero() || now.Sub(in.ratioAt) > historyTimeout {
		in.ratio = ratio
	} else {
		in.ratio += in.cfg.RatioWeight * (ratio - in.ratio)
	}
	in.ratioAt = now
	in.window = s.Window

	if in.curveOf != s.Window {
		in.curve, in.curveOf = newCurve(in.params(s.Window)), s.Window
	}

	return in.curve.gain(in.ratio), verdictUsed
}

// params expresses the target delay as ratios for a window of length w, since
// ratio = window / delay.
func (in *inner) params(w time.Duration) GainParams {
	target := w.Seconds() / in.cfg.TargetDelay.Seconds()
	target = max(minTargetRatio, min(maxTargetRatio, target))

	return GainParams{
		Beta: in.cfg.Beta,
		Low:  target * in.cfg.ZoneLow,
		High: min(target*in.cfg.ZoneHigh, maxHigh),
		Min:  in.cfg.GainMin,
		Max:  in.cfg.GainMax,
	}
}

// queueDelay is the time a byte waits in the phone by the latest ratio; not ok
// when the ratio is unknown, nearly 1 (no queue to speak of: delay is below the
// window) or 0 (nothing granted).
func (in *inner) queueDelay() (time.Duration, bool) {
	if in.ratioAt.IsZero() || in.ratio <= 0.001 {
		return 0, false
	}

	return time.Duration(float64(in.window) / in.ratio), true
}
