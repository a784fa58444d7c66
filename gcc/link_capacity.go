// SPDX-License-Identifier: MIT

package gcc

import "math"

// goog_cc: link_capacity_estimator.
const (
	capacityAlpha   = 0.05
	capacityMinVar  = 0.4 // kbit/s, about 14 kbit/s of deviation at 500 kbit/s
	capacityMaxVar  = 2.5
	capacitySpread  = 3
	capacityMinNorm = 1.0
)

// linkCapacity averages the rates that arrived during overuse. While it knows
// one, growth is additive: the limit is near.
type linkCapacity struct {
	kbps     float64
	variance float64 // normalised by kbps
	known    bool
}

func newLinkCapacity() linkCapacity { return linkCapacity{variance: capacityMinVar} }

func (l *linkCapacity) onOveruse(bps float64) {
	v := bps / 1000
	if !l.known {
		l.kbps, l.known = v, true
	} else {
		l.kbps += capacityAlpha * (v - l.kbps)
	}
	err := l.kbps - v
	l.variance += capacityAlpha * (err*err/max(l.kbps, capacityMinNorm) - l.variance)
	l.variance = min(max(l.variance, capacityMinVar), capacityMaxVar)
}

// forget drops the average and keeps the variance, as goog_cc does.
func (l *linkCapacity) forget() { l.known = false }

// bounds are where a measured rate no longer fits the average, in bit/s.
func (l *linkCapacity) bounds() (lo, hi float64) {
	if !l.known {
		return 0, math.Inf(1)
	}
	d := capacitySpread * math.Sqrt(l.variance*l.kbps)

	return max(0, l.kbps-d) * 1000, (l.kbps + d) * 1000
}
