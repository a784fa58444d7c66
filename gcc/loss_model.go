// SPDX-License-Identifier: MIT

package gcc

import (
	"math"
	"slices"
)

// goog_cc: loss_based_bwe_v2, CreateConfig.
const (
	lossObservations      = 15
	lossObservationUs     = 250_000
	lossReady             = 3 // observations
	lossWeight            = 0.9
	lossInitialInherent   = 0.01
	lossLowestInherent    = 0.001
	lossBalance           = 100_000.0 // bit/s, of both upper bounds
	lossOffset            = 0.05
	lossNewtonStep        = 0.75
	lossHigherBias        = 0.0002
	lossHigherLogBias     = 0.02
	lossBiasThreshold     = 0.2
	lossBiasSmoothing     = 0.002
	lossRampFactor        = 1.5
	lossRampFactorInHold  = 1.2
	lossHoldThreshold     = 1.3
	lossMaxIncrease       = 1.3
	lossIncreaseWindowUs  = 300_000
	lossHoldUs            = 300_000
	lossHoldFactor        = 2
	lossMaxHoldUs         = 60_000_000
	lossMedianFactor      = 2.0
	lossProbabilityMargin = 1e-6
)

// LossState is what the loss model does to the estimate.
type LossState uint8

// The states of the loss model.
const (
	// LossIdle: the loss model agrees with the delay limit.
	LossIdle LossState = iota
	// LossDecreasing: the loss model limits, and holds for a while after a cut.
	LossDecreasing
	// LossIncreasing: the loss model limits and rises.
	LossIncreasing
)

func (s LossState) String() string {
	switch s {
	case LossIdle:
		return "idle"
	case LossDecreasing:
		return "decreasing"
	case LossIncreasing:
		return "increasing"
	default:
		return "loss"
	}
}

// MarshalText writes the name, so that JSON shows it.
func (s LossState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// lossModel estimates the rate above which a path loses packets for lack of
// capacity, apart from a share that it loses at any rate. It is a maximum
// likelihood search over a few candidates on observations of 250 ms.
type lossModel struct {
	minBps, maxBps float64

	n       int // of obs
	known   bool
	state   LossState
	result  float64
	average float64 // share of lost bytes
	best    lossChannel
	part    lossPart
	// closedUs is the sending time at which the newest observation ended.
	closedUs int64

	upper float64 // instant upper bound

	windowUs  int64 // when the limit of the increase window was set
	windowBps float64
	windowed  bool

	holdUntilUs, holdUs int64
	holdBps             float64

	obs     [lossObservations]lossObservation // newest at (n-1) % len
	weights [lossObservations]float64         // powers of lossWeight, by age
}

// lossObservation is what was sent and lost within a while.
type lossObservation struct {
	kb, lostKB, bps float64
}

// lossPart is an observation in the making.
type lossPart struct {
	bytes, lost int
	begun       bool
}

// lossChannel is a candidate: what the path loses at any rate, and the rate
// from which on it loses the excess too.
type lossChannel struct {
	inherent, bps float64
}

func newLossModel(cfg *Config) lossModel {
	m := lossModel{
		minBps: float64(cfg.MinBps), maxBps: float64(cfg.MaxBps), upper: float64(cfg.MaxBps),
		best: lossChannel{inherent: lossInitialInherent}, holdUs: lossHoldUs, holdBps: math.Inf(1),
	}
	w := 1.0
	for i := range m.weights {
		m.weights[i] = w
		w *= lossWeight
	}

	return m
}

// lossInput is what the rest of the controller knows at an update, in bit/s.
type lossInput struct {
	delayBps float64
	// ackedBps is 0 while unknown.
	ackedBps float64
	// appLimited: the acknowledged rate says nothing about the path.
	appLimited bool
}

// ready tells whether there have been enough observations.
func (m *lossModel) ready() bool { return m.known && m.n >= lossReady }

// count adds bytes whose fate is known by now, sent up to sentUs since the
// controller's epoch. lost may be negative for packets that came after all.
func (m *lossModel) count(firstUs, lastUs int64, bytes, lost int) (closed bool) {
	m.part.bytes += bytes
	m.part.lost += lost
	if !m.part.begun && m.n == 0 {
		m.closedUs = firstUs
	}
	m.part.begun = true
	us := lastUs - m.closedUs
	if us < lossObservationUs || m.part.bytes <= 0 {
		return false
	}
	m.closedUs = lastUs
	lostBytes := min(max(m.part.lost, 0), m.part.bytes)
	m.obs[m.n%lossObservations] = lossObservation{
		kb: float64(m.part.bytes) / 1000, lostKB: float64(lostBytes) / 1000,
		bps: bps(int64(m.part.bytes), us),
	}
	m.n++
	m.part = lossPart{begun: true}
	m.average = m.averageLoss()
	m.upper = m.maxBps
	if m.average > lossOffset {
		m.upper = lossBalance / (m.average - lossOffset)
	}

	return true
}

// update runs after each observation.
func (m *lossModel) update(in lossInput) {
	if !m.known {
		m.best.bps, m.result, m.known = in.delayBps, in.delayBps, true
	}
	was := m.best.bps
	best := m.search(in)
	if m.average > best.inherent && best.bps > was {
		best.bps = was // what is lost is not explained: no time to rise
	}
	if m.state != LossIdle {
		m.boundIncrease(&best, in)
	}

	lower := max(in.ackedBps, m.minBps)
	bounded := max(lower, min(best.bps, m.upper, in.delayBps))
	if bounded < best.bps {
		m.best = lossChannel{bps: bounded}
	} else {
		best.bps = max(best.bps, lower)
		m.best = best
	}
	m.conclude(bounded, lower, in.delayBps)
}

// boundIncrease keeps a limit from rising faster than it can be checked.
func (m *lossModel) boundIncrease(best *lossChannel, in lossInput) {
	if m.windowed && m.closedUs-m.windowUs < lossIncreaseWindowUs {
		best.bps = min(best.bps, m.windowBps)
	}
	if in.ackedBps <= 0 || !m.rises(m.best.bps, best.bps) {
		return
	}
	factor := lossRampFactor
	if in.ackedBps < lossHoldThreshold*m.holdBps && !math.IsInf(m.holdBps, 1) {
		factor = lossRampFactorInHold
	}
	best.bps = max(m.best.bps, min(best.bps, factor*in.ackedBps))
	if m.state == LossDecreasing && best.bps == m.best.bps {
		best.bps++ // enough to change the state
	}
}

// rises tells whether a limit goes up, or goes on where it was while going up.
func (m *lossModel) rises(from, to float64) bool {
	return m.state != LossIdle && (to > from || to == from && m.state == LossIncreasing)
}

// conclude finds the next state and the result.
func (m *lossModel) conclude(bounded, lower, delayBps float64) {
	below := bounded < delayBps && bounded < m.maxBps
	switch {
	case m.state == LossDecreasing && m.holdUntilUs > m.closedUs && bounded < delayBps:
		m.holdBps = max(m.holdBps, lower)
		m.result = min(m.holdBps, bounded)

		return
	case below && m.rises(m.result, bounded):
		m.state = LossIncreasing
	case below:
		if m.state != LossDecreasing {
			m.holdUntilUs = m.closedUs + m.holdUs
			m.holdUs = min(lossMaxHoldUs, m.holdUs*lossHoldFactor)
			m.holdBps = bounded
		}
		m.state = LossDecreasing
	default:
		m.holdUntilUs, m.holdUs, m.holdBps = 0, lossHoldUs, math.Inf(1)
		m.state = LossIdle
	}
	m.result = bounded
	if m.state != LossIdle && (!m.windowed || m.closedUs-m.windowUs > lossIncreaseWindowUs) {
		m.windowBps = max(m.minBps, m.best.bps*lossMaxIncrease)
		m.windowUs, m.windowed = m.closedUs, true
	}
}

// search returns the likeliest channel among the candidates.
func (m *lossModel) search(in lossInput) lossChannel {
	var rates [5]float64
	n := 3
	rates[0], rates[1], rates[2] = 1.02*m.best.bps, m.best.bps, 0.95*m.best.bps
	if in.ackedBps > 0 && !in.appLimited {
		rates[n] = in.ackedBps
		n++
	}
	if in.delayBps > m.best.bps {
		rates[n] = in.delayBps
		n++
	}
	limit := m.maxBps
	if m.state != LossIdle && m.windowed {
		limit = m.windowBps
	}
	limit = max(limit, m.best.bps)

	best, top := m.best, math.Inf(-1)
	for _, rate := range rates[:n] {
		c := lossChannel{inherent: m.best.inherent, bps: min(rate, limit)}
		c.inherent = feasible(c)
		c.inherent -= m.newtonStep(c)
		c.inherent = feasible(c)
		if v := m.objective(c); v > top {
			best, top = c, v
		}
	}

	return best
}

// feasible bounds the inherent loss: a path of little capacity may lose more.
func feasible(c lossChannel) float64 {
	upper := 1.0
	if c.bps > 0 {
		upper = min(lossOffset+lossBalance/c.bps, 1)
	}

	return min(max(c.inherent, lossLowestInherent), upper)
}

// probability is the share that a channel loses of a sending rate.
func (c lossChannel) probability(sendBps float64) float64 {
	p := c.inherent
	if sendBps > c.bps {
		p += (1 - p) * (sendBps - c.bps) / sendBps
	}

	return min(max(p, lossProbabilityMargin), 1-lossProbabilityMargin)
}

// newtonStep goes from a channel's inherent loss towards the likeliest one.
func (m *lossModel) newtonStep(c lossChannel) float64 {
	var first, second float64
	for i := range m.have() {
		o, w := m.at(i)
		p := c.probability(o.bps)
		q := 1 - p
		first += w * (o.lostKB/p - (o.kb-o.lostKB)/q)
		second -= w * (o.lostKB/(p*p) + (o.kb-o.lostKB)/(q*q))
	}
	if second >= 0 {
		return 0 // nothing observed
	}

	return lossNewtonStep * first / second
}

// objective is the likelihood's logarithm, with a bias towards high rates while
// little is lost.
func (m *lossModel) objective(c lossChannel) float64 {
	kbps := c.bps / 1000
	gap := lossBiasThreshold - m.average
	bias := gap / (lossBiasSmoothing + math.Abs(gap)) * (lossHigherBias*kbps + lossHigherLogBias*math.Log1p(kbps))
	var sum float64
	for i := range m.have() {
		o, w := m.at(i)
		p := c.probability(o.bps)
		v := (o.kb-o.lostKB)*math.Log1p(-p) + bias*o.kb
		if o.lostKB > 0 {
			v += o.lostKB * math.Log(p)
		}
		sum += w * v
	}

	return sum
}

func (m *lossModel) have() int { return min(m.n, lossObservations) }

// at returns the i-th newest observation and its weight.
func (m *lossModel) at(i int) (*lossObservation, float64) {
	return &m.obs[(m.n-1-i)%lossObservations], m.weights[i]
}

// averageLoss is the weighted share of lost bytes. The observations with the
// highest and the lowest share are left out, unless the highest one was at a
// rate far above the others: then the loss is its own doing.
func (m *lossModel) averageLoss() float64 {
	type weighted struct{ kb, lost, share float64 }
	lowest, highest := weighted{share: 1}, weighted{}
	var kb, lost, highestBps float64
	var rates [lossObservations]float64
	for i := range m.have() {
		o, w := m.at(i)
		x := weighted{w * o.kb, w * o.lostKB, o.lostKB / o.kb}
		kb += x.kb
		lost += x.lost
		rates[i] = o.bps
		if m.n <= lossReady {
			continue
		}
		if x.share > highest.share {
			highest, highestBps = x, o.bps
		}
		if x.share < lowest.share {
			lowest = x
		}
	}
	slices.Sort(rates[:m.have()])
	if rates[m.have()/2]*lossMedianFactor > highestBps {
		kb -= lowest.kb + highest.kb
		lost -= lowest.lost + highest.lost
	}
	if kb <= 0 {
		return 0
	}

	return min(max(lost/kb, 0), 1)
}

// raise lifts a limit that rises to what the path has carried; false when it is
// not lower, or when there is none.
func (m *lossModel) raise(bps float64) bool {
	bps = min(bps, m.maxBps)
	if m.state != LossIncreasing || bps <= m.result {
		return false
	}
	m.best.bps, m.result = max(m.best.bps, bps), bps
	m.windowBps = max(m.windowBps, bps)

	return true
}

// set moves the model to a rate that somebody else chose.
func (m *lossModel) set(bps float64) {
	if !m.known {
		return
	}
	bps = min(max(bps, m.minBps), m.maxBps)
	m.best.bps = bps
	m.windowBps = max(m.windowBps, bps)
	if m.state != LossIdle {
		m.result = bps
		m.holdBps = bps
	}
}
