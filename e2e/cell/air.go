// SPDX-License-Identifier: MIT

package cell

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// air is what the radio can carry: the trace, with handovers and outages over
// it. Random handovers are made as far ahead as anyone asks.
type air struct {
	frame   *frame
	shared  bool // no trace: the cell has several phones
	traces  [carriers]Trace
	outages []interval
	random  RandomHandovers
	rng     *rand.Rand

	visits  []visit // ascending, the first one is the cell of the start
	gone    int     // visits forgotten before those
	known   int64   // random handovers are made up to this slot
	nextDue float64 // slot of the next random one
}

// interval is slots from..to, without to.
type interval struct{ from, to int64 }

// visit is the time in one cell, the interruption on the way in ahead of it.
type visit struct {
	interval         // of the interruption
	factor   float64 // of the trace, from interval.to on
	keep     bool
	pci      int
	sfn      int64 // offset of the slot number to that of the first cell
}

// maxVisits bounds the memory; what is older is taken for the oldest one.
const maxVisits = 1024

func newAir(cfg Config, f *frame, rng *rand.Rand) *air {
	a := &air{frame: f, traces: [carriers]Trace{cfg.Capacity, cfg.Second}, random: cfg.RandomHandovers, rng: rng}
	a.visits = append(a.visits, visit{factor: 1, keep: true, pci: firstPCI})
	for _, o := range cfg.Outages {
		a.outages = append(a.outages, a.slots(o.At, o.For))
	}
	for _, h := range cfg.Handovers {
		a.enter(visit{interval: a.slots(h.At, h.Interruption), factor: h.RateFactor, keep: h.KeepQueue})
	}
	if a.random.PerMinute > 0 {
		a.nextDue = a.gap()
	}
	return a
}

// slots is those that begin in a stretch of time.
func (a *air) slots(at, length time.Duration) interval {
	up := func(d time.Duration) int64 { return a.frame.slots(d + a.frame.slot - 1) }
	return interval{up(at), up(at + length)}
}

// plain says that there is nothing but the trace.
func (a *air) plain() bool {
	return len(a.visits) == 1 && len(a.outages) == 0 && a.random.PerMinute == 0
}

// enter appends a visit of a cell that is not the one before it.
func (a *air) enter(v visit) {
	last := a.visits[len(a.visits)-1]
	v.pci = (last.pci + 1 + a.rng.IntN(pcis-1)) % pcis
	v.sfn = (last.sfn + a.frame.turn(1+a.rng.Int64N(ttiWrap-1))) % a.frame.wrap()
	if len(a.visits) == maxVisits {
		n := copy(a.visits, a.visits[maxVisits/2:])
		a.gone += maxVisits / 2
		a.visits = a.visits[:n]
	}
	a.visits = append(a.visits, v)
}

// gap draws the slots to the next random handover: they come independently.
func (a *air) gap() float64 {
	return a.rng.ExpFloat64() * float64(a.frame.slots(time.Minute)) / a.random.PerMinute
}

// extend makes the random handovers up to slot k.
func (a *air) extend(k int64) {
	if a.random.PerMinute == 0 || k < a.known {
		return
	}
	a.known = k + 1
	r := a.random
	for int64(a.nextDue) <= k {
		from := int64(a.nextDue)
		length := max(a.frame.slots(r.Shortest+time.Duration(a.rng.Int64N(int64(r.Longest-r.Shortest)+1))), 1)
		// Uniform in the logarithm: half of the cells are worse.
		factor := r.Lowest * math.Pow(r.Highest/r.Lowest, a.rng.Float64())
		keep := a.rng.Float64() >= r.Flush
		a.enter(visit{interval: interval{from, from + length}, factor: factor, keep: keep})
		a.nextDue = max(a.nextDue+a.gap(), float64(from+length+1))
	}
}

// visit is the number of the visit at slot k; its interruption counts to it.
func (a *air) visit(k int64) int {
	a.extend(k)
	i := sort.Search(len(a.visits)-1, func(i int) bool { return a.visits[i+1].from > k })
	return a.gone + i
}

// at is the visit of a number, or the oldest one known.
func (a *air) at(number int) visit { return a.visits[max(number-a.gone, 0)] }

// off says that nothing can be on air in slot k.
func (a *air) off(k int64) bool {
	if a.plain() {
		return false
	}
	return k < a.at(a.visit(k)).to || a.out(k)
}

// out says whether slot k is in an outage.
func (a *air) out(k int64) bool {
	i := sort.Search(len(a.outages), func(i int) bool { return a.outages[i].to > k })
	return i < len(a.outages) && k >= a.outages[i].from
}

// dead says that slot k cannot carry anything on a carrier.
func (a *air) dead(carrier int, k int64) bool {
	if a.shared {
		return a.off(k)
	}
	return a.bytes(carrier, k) == 0
}

// bytes is the capacity of a carrier in uplink slot k: of the time since the
// one before.
func (a *air) bytes(carrier int, k int64) int {
	if k < 0 {
		return 0
	}
	from, to := a.frame.share(k)
	if a.plain() {
		return int(a.traces[carrier].upTo(to) - a.traces[carrier].upTo(from))
	}
	v := a.at(a.visit(k))
	if k < v.to || a.out(k) {
		return 0
	}
	return int(v.bytes(a.traces[carrier], from, to))
}

// bytes is what the trace has from one time in µs to another, times the factor,
// so that what is rounded off in one slot comes in a later one.
func (v visit) bytes(t Trace, from, to int64) int64 {
	if v.factor == 1 {
		return t.upTo(to) - t.upTo(from)
	}
	return int64(v.factor*float64(t.upTo(to))) - int64(v.factor*float64(t.upTo(from)))
}

// meanBps is the mean capacity of all carriers over whole milliseconds, as
// Trace.MeanBps.
func (a *air) meanBps(from, to time.Duration) (bps int) {
	for _, t := range a.traces {
		bps += a.carrierBps(t, from, to)
	}
	return bps
}

func (a *air) carrierBps(t Trace, from, to time.Duration) int {
	if a.plain() {
		return t.MeanBps(from, to)
	}
	lo, hi := max(from.Milliseconds(), 0), to.Milliseconds()
	if hi <= lo {
		return 0
	}
	sum, slot := int64(0), a.frame.micros()
	lo, hi = lo*1000, hi*1000
	last := a.visit(hi / slot)
	for i := a.visit(lo / slot); i <= last; i++ {
		v := a.at(i)
		begin, end := max(lo, v.to*slot), hi
		if i < last {
			end = min(hi, a.at(i+1).from*slot)
		}
		if begin >= end {
			continue
		}
		sum += v.bytes(t, begin, end)
		for _, o := range a.outages {
			if b, e := max(begin, o.from*slot), min(end, o.to*slot); b < e {
				sum -= v.bytes(t, b, e)
			}
		}
	}
	return int(float64(sum) * 8000 / float64((hi-lo)/1000))
}
