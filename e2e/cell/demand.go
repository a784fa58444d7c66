// SPDX-License-Identifier: MIT

package cell

import "time"

// Demand is when a phone has data, and how much, for SaturatedBy.
type Demand struct {
	// From and To are when, since the start; a To of 0 is no end.
	From, To time.Duration
	// Bps is how much comes in that time, in bit/s on the link; 0 is data without
	// end.
	Bps int
}

// SaturatedBy is as SaturatedAll for phones that have data at times: demands are
// those of each phone, which add up. A phone without one is silent.
func SaturatedBy(cfg SharedConfig, demands [][]Demand, d time.Duration) ([]Trace, error) {
	if len(demands) != len(cfg.Phones) {
		return nil, bad("demands of %d phones of %d", len(demands), len(cfg.Phones))
	}
	for _, ds := range demands {
		for _, x := range ds {
			if x.From < 0 || x.To != 0 && x.To <= x.From || x.Bps < 0 {
				return nil, bad("a demand of %d bit/s from %v to %v", x.Bps, x.From, x.To)
			}
		}
	}
	return saturated(cfg, d, func(i int) []Demand { return demands[i] })
}

// always is data without end.
func always() []Demand { return []Demand{{}} }

// hunger makes a phone's data as its demands say.
type hunger struct {
	demands []Demand
	endless *traffic
	due     float64 // bytes not yet made a packet
}

func newHunger(demands []Demand) *hunger { return &hunger{demands: demands, endless: endless()} }

// wants is what there is at a time, in bit/s.
func (h *hunger) wants(since time.Duration) (bps int, endless bool) {
	for _, d := range h.demands {
		if since < d.From || d.To > 0 && since >= d.To {
			continue
		}
		bps += d.Bps
		endless = endless || d.Bps == 0
	}
	return bps, endless
}

// feed gives the phone of a user what comes up in the slot that begins at a time.
func (h *hunger) feed(u *user, since time.Duration) {
	bps, greedy := h.wants(since)
	if was := u.station.greedy; was && !greedy || bps == 0 && !greedy && u.phone.bytes > 0 {
		// What it had in reserve is not there any more.
		u.flush(&u.phone.q)
		u.phone.bytes = 0
	}
	u.station.greedy = greedy
	if greedy {
		h.endless.run(u.Phone, since)
		h.due = 0
		return
	}
	most := int(float64(bps) / 8 * demandReserve.Seconds())
	for h.due += float64(bps) / 8 * u.frame.slot.Seconds(); h.due >= demandPacket; h.due -= demandPacket {
		if u.phone.bytes <= most {
			u.accept(Packet{Size: demandPacket}, u.cfg.Start.Add(since))
		}
	}
}

const (
	// demandPacket is the size of a phone's packets.
	demandPacket = 1200
	// demandReserve is how much of what it is not granted a phone keeps.
	demandReserve = 100 * time.Millisecond
)
