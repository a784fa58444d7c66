// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// meterEvery is how often a shared cell is asked what it could have carried: it
// does not remember for ever.
const meterEvery = time.Second

// meter adds up what the measured phone's radio could have carried.
type meter struct {
	at   time.Duration // what is later is still to be asked
	bits float64       // after warm-up
}

// read goes on to a time.
func (m *meter) read(w *world, to time.Duration) {
	for ; m.at+meterEvery <= to; m.at += meterEvery {
		m.add(w, m.at+meterEvery)
	}
}

func (m *meter) add(w *world, to time.Duration) {
	if from := max(m.at, w.sc.Warmup); from < to {
		bps := w.main.phone.capacityBps(to, to-from)
		m.bits += float64(bps) * (to - from).Seconds()
	}
}

// capacityBps is the mean capacity of the measured phone's radio after warm-up.
func (w *world) capacityBps() int {
	counted := w.sc.Duration - w.sc.Warmup
	if w.shared == nil {
		return w.main.phone.capacityBps(w.sc.Duration, counted)
	}
	w.meter.read(w, w.sc.Duration)
	w.meter.add(w, w.sc.Duration)

	return int(w.meter.bits / counted.Seconds())
}

// capacityBps is the mean of what the phone's radio could have carried in a window
// that ends at a time, which is not to come.
func (p *phone) capacityBps(to, window time.Duration) int {
	if p.cell == 0 && p.w.sole() {
		return p.w.grants(0).MeanBps(to-window, to)
	}

	return p.up.CapacityBps(p.w.start.Add(to), window)
}

// addShared makes the cell that several phones share.
func (w *world) addShared() error {
	w.cell = w.sc.Shared(w.seed)
	w.cell.Start, w.cell.Seed = w.start, w.seed
	phones := 1
	for _, f := range w.sc.Flows {
		if f.Where == OwnPhone {
			phones++
		}
	}
	w.cell.Phones = append([]cell.PhoneConfig(nil), w.cell.Phones...)
	for len(w.cell.Phones) < phones {
		w.cell.Phones = append(w.cell.Phones, cell.PhoneConfig{Config: w.sc.Cell})
	}
	var err error
	w.shared, err = cell.NewShared(w.cell)

	return err
}

// joinShared makes the next phone of the shared cell.
func (w *world) joinShared() (*phone, error) {
	if w.shared == nil {
		return nil, fmt.Errorf("sim: a phone in a cell that is not shared")
	}
	n := w.joined
	w.joined++
	up := w.shared.Phone(n)
	config := w.cell.Phones[n].Config
	p := &phone{w: w, up: up, cell: n, path: config.Path, pathBacklog: up.PathBacklog, nextBeat: w.start}
	p.future = func(ms int64) int { return w.grants(n).At(ms) }

	return p, w.equip(p, config.ExtendedBSR, w.seed+uint64(n)*1_000_003)
}

// grants are what a phone of the shared cell would be granted if it had all that
// its flows may send, as all others: when they are there, up to their limits.
// They are worked out when first asked for, if nobody has before.
func (w *world) grants(phone int) cell.Trace {
	if w.future == nil {
		w.future = w.foresee()
	}

	return w.future[phone]
}

func (w *world) foresee() []cell.Trace {
	d := w.sc.Duration + time.Second
	if w.sole() {
		if t, err := cell.Saturated(w.cell, 0, d); err == nil {
			return []cell.Trace{t}
		}
	} else if t, err := cell.SaturatedBy(w.cell, w.demands(), d); err == nil {
		return t
	}

	return make([]cell.Trace, len(w.cell.Phones)) // the same cell was fine before
}

// Foresight is what the phones of a scenario's shared cell would be granted,
// whatever the algorithm; see Options.
type Foresight struct{ traces []cell.Trace }

// Foresee has it for all runs of a scenario and seed; nil without a shared cell.
func Foresee(sc Scenario, seed uint64) (*Foresight, error) {
	if sc.Shared == nil {
		return nil, nil //nolint:nilnil // there is nothing to foresee
	}
	w, err := newWorld(sc, "fixed", seed, epoch(), Params{}, Options{})
	if err != nil {
		return nil, err
	}

	return &Foresight{w.foresee()}, nil
}

// sole tells whether nobody has a phone in the shared cell but the measured
// call: what it could carry is then the same whoever asks, and known ahead.
func (w *world) sole() bool { return w.joined == 1 }

// demands are what the flows want of the shared cell, by phones.
func (w *world) demands() [][]cell.Demand {
	all := make([][]cell.Demand, len(w.cell.Phones))
	for _, r := range w.routes {
		if r.phone.cell >= 0 && !r.spec.Reverse {
			all[r.phone.cell] = append(all[r.phone.cell], r.demand()...)
		}
	}

	return all
}

// burstiness is how much more a flow may want than its limit: its frames come at
// once, not evenly.
const burstiness = 2

// demand is all that a flow may send, whenever it is there. Short transfers have
// too little to count.
func (r *route) demand() []cell.Demand {
	bps := 0
	switch r.spec.CC {
	case ShortTCP:
		return nil
	case Cubic:
	default:
		bps = burstiness * r.w.limits(r.spec).MaxBps
		if r.spec.Audio != nil {
			bps += r.spec.Audio.Bps
		}
	}
	var all []cell.Demand
	from := r.spec.From
	for _, p := range r.spec.Pauses {
		if p.From > from {
			all = append(all, cell.Demand{From: from, To: p.From, Bps: bps})
		}
		if from = p.To; from == 0 {
			return all
		}
	}
	if r.spec.To == 0 || from < r.spec.To {
		all = append(all, cell.Demand{From: from, To: r.spec.To, Bps: bps})
	}

	return all
}
