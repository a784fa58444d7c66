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
		bps := w.main.phone.up.CapacityBps(w.start.Add(to), to-from)
		m.bits += float64(bps) * (to - from).Seconds()
	}
}

// capacityBps is the mean capacity of the measured phone's radio after warm-up.
func (w *world) capacityBps() int {
	counted := w.sc.Duration - w.sc.Warmup
	if w.shared == nil {
		return w.main.phone.up.CapacityBps(w.end, counted)
	}
	w.meter.read(w, w.sc.Duration)
	w.meter.add(w, w.sc.Duration)

	return int(w.meter.bits / counted.Seconds())
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
	if n == 0 {
		// It knows its capacity from when it is first asked.
		up.CapacityBps(w.start, meterEvery)
	}
	config := w.cell.Phones[n].Config
	p := &phone{w: w, up: up, path: config.Path, pathBacklog: up.PathBacklog, nextBeat: w.start}
	p.future = func(ms int64) int { return w.grants(n).At(ms) }

	return p, w.equip(p, config.ExtendedBSR, w.seed+uint64(n)*1_000_003)
}

// grants are what a phone of the shared cell would be granted if it always had
// data, as all others that have a flow. They are worked out when first asked
// for: for the oracle alone.
func (w *world) grants(phone int) cell.Trace {
	if w.future == nil {
		d := w.sc.Duration + time.Second
		if w.joined == 1 {
			t, err := cell.Saturated(w.cell, 0, d)
			if err == nil {
				w.future = []cell.Trace{t}
			}
		} else if t, err := cell.SaturatedAll(w.cell, d); err == nil {
			w.future = t
		}
		if w.future == nil { // the same cell was fine before
			w.future = make([]cell.Trace, len(w.cell.Phones))
		}
	}

	return w.future[phone]
}
