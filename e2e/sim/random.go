// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// Held-out scenarios are made from a number, which is the last part of their name:
// random-cell-17 is the same everywhere and for good, and nobody has tuned
// anything on it. Who develops a controller looks at the catalogue, and measures
// on numbers that were not looked at before; once a number has been looked at,
// take others.
//
// Even numbers have the usual conditions (a report every 5 ms, fresh telemetry,
// 25 ms each way), so that they tell what the kind does; odd ones have those drawn
// as well.
const (
	randomTrace    = "random-trace"
	randomRecorded = "random-recorded"
	randomCell     = "random-cell"
	randomBackhaul = "random-backhaul"

	// RandomNumbers is how many there are of a kind, 1 to that.
	RandomNumbers = 99
	// RandomFew is how many are meant by the kind's name alone, the first ones.
	RandomFew = 8
)

// RandomClasses lists the kinds of held-out scenarios. Those of recordings are
// made by FromRecordings.
func RandomClasses() []Class {
	return []Class{
		{randomTrace, "a capacity from one of several models, drawn by the number"},
		{randomRecorded, "a recorded capacity, scaled, from a random place on, forwards or backwards"},
		{randomCell, "a cell of a random band, scheduler, load, distance and fading"},
		{randomBackhaul, "a random bottleneck, loss and jitter behind a random radio"},
	}
}

// Random lists the held-out scenarios that need no recordings.
func Random() []Scenario {
	var all []Scenario
	for _, k := range []struct {
		class string
		draw  func(d *dice) Scenario
	}{{randomTrace, drawTrace}, {randomCell, drawCell}, {randomBackhaul, drawBackhaul}} {
		for n := 1; n <= RandomNumbers; n++ {
			all = append(all, heldOut(k.class, n, k.draw))
		}
	}

	return all
}

// FromRecordings lists those that are made of recorded capacities, none without
// any. Which recording a number has depends on what there is.
func FromRecordings(traces []cell.Trace, radios []cell.Radio) []Scenario {
	var all []Scenario
	for n := 1; n <= RandomNumbers && len(traces) > 0; n++ {
		all = append(all, heldOut(randomRecorded, n, func(d *dice) Scenario { return d.recorded(traces, radios) }))
	}

	return all
}

func heldOut(class string, n int, draw func(*dice) Scenario) Scenario {
	at := slices.IndexFunc(RandomClasses(), func(c Class) bool { return c.Name == class })
	d := &dice{rand.New(rand.NewPCG(uint64(n), seedRandom+uint64(at)))}
	s := draw(d)
	s.Name, s.Class, s.Number = fmt.Sprintf("%s-%d", class, n), class, n
	if n%2 == 1 {
		d.conditions(&s)
	}

	return s
}

// seedRandom is the stream of what numbers draw, seedCapacity of what seeds do.
const (
	seedRandom   = 0x7a2d0 << 16
	seedCapacity = 0x7a2d1 << 16
)

// dice draw a scenario.
type dice struct{ *rand.Rand }

func (d *dice) chance(p float64) bool { return d.Float64() < p }

func (d *dice) between(a, b float64) float64 { return a + (b-a)*d.Float64() }

// log is uniform in the logarithm.
func (d *dice) log(a, b float64) float64 { return a * math.Exp(d.Float64()*math.Log(b/a)) }

// ms is log in whole milliseconds.
func (d *dice) ms(a, b float64) time.Duration {
	return time.Duration(math.Round(d.log(a, b))) * time.Millisecond
}

func one[T any](d *dice, of ...T) T { return of[d.IntN(len(of))] }

// radio is LTE in every second case.
func (d *dice) radio() cell.Radio { return one(d, cell.LTEFDD, cell.LTEFDD, cell.NRFDD, cell.NRTDD) }

// conditions draws all but what a kind is about.
func (d *dice) conditions(s *Scenario) {
	c := &s.Cell
	c.BSRPeriod = time.Duration(one(d, 5, 5, 10, 20, 40)) * time.Millisecond
	c.SRPeriod = time.Duration(one(d, 5, 10, 20, 40)) * time.Millisecond
	link := d.ms(1, 60)
	telemetry := one(d, cell.TelemetryConfig{}, cell.TelemetryConfig{}, cell.DrainedTelemetry(), cell.BatchedTelemetry())
	s.TelemetryLink, c.Telemetry = link, telemetry
	way := d.ms(8, 60)
	c.Path.Delay, s.ReturnDelay = way, way
	s.FeedbackEvery = time.Duration(one(d, 50, 50, 100)) * time.Millisecond
	s.Source.Noise = d.between(0.08, 0.3)
	if d.chance(0.5) {
		c.BLER = d.between(0.01, 0.1)
	}
	if d.chance(0.3) {
		c.OtherAppsBps = int(d.log(30_000, 400_000))
	}
	if d.chance(0.25) {
		c.RandomHandovers = cell.RandomHandovers{PerMinute: d.between(1, 6), Lowest: 0.5, Highest: 2}
	}
	if s.Shared == nil && c.Radio == cell.LTEFDD {
		c.ReportTTIs, c.GrantTTIs = 3+d.IntN(4), 4+d.IntN(3)
	}
	if s.Shared != nil {
		// The phone is the cell's.
		shared := s.Shared(0)
		shared.Phones[0].Config = *c
		inCell(shared)(s)
	}
}

func drawTrace(d *dice) Scenario {
	m := d.model(d.log(0.8, 15))
	r := d.radio()

	return base("", "", fmt.Sprintf("%v: %v", r, m), on(r), capacity(m.trace))
}

func drawCell(d *dice) Scenario {
	r := d.radio()
	c := cell.SharedConfig{
		Radio: r, Scheduler: one(d, cell.CappedFair, cell.CappedPF, cell.EqualSplit, cell.RoundRobin, cell.WaterPF),
		RBs: one(d, 15, 25, 50, 75, 100), UsersPerTTI: 4 + d.IntN(7),
	}
	far := 380.0
	if tdd(r) {
		c.RBs, far = one(d, 51, 106, 217, 273), 220
	}
	for range d.IntN(13) {
		c.Background = append(c.Background, cell.UserConfig{
			Traffic: one(d, cell.PoissonBursts, cell.OnOff, cell.Upload, cell.Video), Bps: int(d.log(150_000, 1_500_000)),
			FileBytes: int(d.log(100_000, 3_000_000)), Think: d.ms(300, 6000), On: d.ms(300, 5000), Off: d.ms(300, 5000),
			Link: cell.Link{Distance: d.between(50, far)},
		})
	}
	l := cell.Link{Distance: d.between(50, far)}
	if d.chance(0.7) {
		l.FadeSigma, l.FadeTau = d.between(1, 5), d.ms(50, 2000)
	}
	s := base("", "", fmt.Sprintf("%v, %d RBs, %v, %d others; the phone at %.0f m, fading with %.1f dB", r, c.RBs, c.Scheduler, len(c.Background), l.Distance, l.FadeSigma))
	c.Phones = []cell.PhoneConfig{{Config: s.Cell, Link: l}}
	inCell(c)(&s)

	return s
}

func drawBackhaul(d *dice) Scenario {
	mean := d.log(3, 12)
	m := model{kind: steady, mean: mean}
	if d.chance(0.5) {
		m = d.model(mean)
	}
	rate := int(d.between(0.25, 1) * mean * mbit)
	p := cell.PathConfig{RateBps: rate, QueueBytes: max(15_000, queueOf(rate, d.ms(40, 1200)))}
	switch d.IntN(4) {
	case 0:
		p.RateFrom = time.Duration(d.between(15, 35) * float64(second))
	case 1:
		p.RateBps = 0
		for range 2 + d.IntN(3) {
			p.Rate = append(p.Rate, hold(int(d.between(0.2, 1)*mean*mbit), d.between(6, 25)))
		}
	}
	if d.chance(0.25) {
		p.AQM = cell.CoDel
	}
	s := base("", "", "", capacity(m.trace))
	s.Doc = fmt.Sprintf("%v; %.1f Mbit/s behind it with a queue of %d kB", m, float64(rate)/mbit, p.QueueBytes/1000)
	if d.chance(0.25) {
		behind(p)(&s)
		beside(Flow{CC: Cubic, Where: OwnRadio, From: 20 * second, To: 40 * second})(&s)
		s.Doc += ", and a TCP upload from 20 s to 40 s"

		return s
	}
	if d.chance(0.4) {
		p.Loss = d.log(0.001, 0.02)
	}
	if d.chance(0.4) {
		p.JitterMax = d.ms(2, 20)
	}
	p.Delay = s.Cell.Path.Delay
	s.Cell.Path = p

	return s
}

// recorded is a real capacity in another size, from elsewhere on.
func (d *dice) recorded(traces []cell.Trace, radios []cell.Radio) Scenario {
	i := d.IntN(len(traces))
	t, factor, back, from := traces[i], d.log(0.4, 2.5), d.chance(0.5), d.Float64()
	way := "forwards"
	if back {
		way = "backwards"
	}

	return base("", "", fmt.Sprintf("%s from %.1f %% on %s, %.2f times as much", t.Name, 100*from, way, factor), on(radios[i]),
		capacity(func(seed uint64, run time.Duration) cell.Trace {
			_, at := math.Modf(from + phase(seed))
			_, at = math.Modf(at)

			return varied(t, at, factor, back, run)
		}))
}

// varied is another size of a trace, from a place in it on, which is a whole
// number of 20 ms as in excerpt.
func varied(t cell.Trace, at, factor float64, back bool, run time.Duration) cell.Trace {
	const grid = 20
	n := t.Len().Milliseconds()
	from := int64(at*float64(n)) / grid * grid
	bytes := make([]int, min(run, time.Hour).Milliseconds())
	left := 0.0
	for i := range bytes {
		k := (from + int64(i)) % n
		if back {
			k = n - 1 - k
		}
		// 50 Mbit/s is as good as no limit to any source here.
		left += min(factor*float64(t.At(k)), 5*50e6/8000)
		bytes[i] = int(left)
		left -= float64(bytes[i])
	}
	out, err := cell.NewTrace(t.Name, bytes)
	if err != nil {
		return t // it is within the limits
	}

	return out
}
