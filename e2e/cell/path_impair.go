// SPDX-License-Identifier: MIT

package cell

import "time"

// GilbertElliott is a loss model of two states, in steps of one packet: losses
// come in bursts. The zero value loses nothing. All are shares, 0..1.
// E. O. Elliott, "Estimates of error rates for codes on burst-noise channels",
// 1963; with LossGood 0 and LossBad 1 it is Gilbert's simple model.
type GilbertElliott struct {
	// GoodToBad and BadToGood are the chances to change the state before a
	// packet; the mean burst is 1/BadToGood packets.
	GoodToBad, BadToGood float64
	// LossGood and LossBad are the chances to lose a packet in each.
	LossGood, LossBad float64
}

// Bursts is a model that loses a share of the packets (0..0.9) in bursts of so
// many on average (1 or more; below counts as 1).
func Bursts(share, packets float64) GilbertElliott {
	share = min(max(share, 0), 0.9)
	r := 1 / max(packets, 1)
	// In the bad state for a share of p/(p+r) of the packets.
	p := share * r / (1 - share)
	if p > 1 {
		p, r = 1, (1-share)/share
	}
	return GilbertElliott{GoodToBad: p, BadToGood: r, LossBad: 1}
}

// Reorder lets some packets be overtaken. The zero value keeps the order.
type Reorder struct {
	// Share of packets, 0..1, that are delayed by a time uniform in 0..Max
	// while those behind go on.
	Share float64
	Max   time.Duration
}

// DelayStep is a change of the route: the path's delay from At after Start on.
// Packets on the old, longer route are not overtaken.
type DelayStep struct {
	At, Delay time.Duration
}

// lose draws whether a packet is lost behind the bottleneck.
func (p *path) lose() bool {
	if p.cfg.Loss > 0 && p.rng.Float64() < p.cfg.Loss {
		return true
	}
	g := p.cfg.Burst
	if g == (GilbertElliott{}) {
		return false
	}
	change, loss := g.GoodToBad, g.LossGood
	if p.burst {
		change = g.BadToGood
	}
	if p.rng.Float64() < change {
		p.burst = !p.burst
	}
	if p.burst {
		loss = g.LossBad
	}
	return p.rng.Float64() < loss
}

// delay is the fixed delay of a packet that leaves the bottleneck at a time.
func (p *path) delay(t time.Time) time.Duration {
	d := p.cfg.Delay
	for _, s := range p.cfg.Delays {
		if t.Sub(p.start) < s.At {
			break
		}
		d = s.Delay
	}
	return d
}

// stray holds a packet back now and then.
func (p *path) stray(at time.Time) time.Time {
	if p.cfg.Reorder.Share > 0 && p.rng.Float64() < p.cfg.Reorder.Share {
		at = at.Add(time.Duration(p.rng.Int64N(int64(p.cfg.Reorder.Max) + 1)))
	}
	return at
}

func (p PathConfig) validateImpairments(bad func(string, ...any) error) error {
	share := func(v float64) bool { return v >= 0 && v <= 1 } // false for NaN
	g := p.Burst
	switch {
	case !share(g.GoodToBad) || !share(g.BadToGood) || !share(g.LossGood) || !share(g.LossBad):
		return bad("burst loss %+v is not within 0..1", g)
	case !share(p.Reorder.Share) || p.Reorder.Max < 0 || p.Reorder.Max > time.Hour:
		return bad("reordering of %v by up to %v", p.Reorder.Share, p.Reorder.Max)
	}
	last := time.Duration(-1)
	for _, s := range p.Delays {
		if s.At <= last || s.Delay < 0 || s.Delay > time.Hour {
			return bad("delay step to %v at %v: times must ascend from 0, delays be within 0..1h", s.Delay, s.At)
		}
		last = s.At
	}
	return nil
}
