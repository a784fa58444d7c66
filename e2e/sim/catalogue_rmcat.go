// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
)

// rmcatScenarios are the tests of RFC 8867 section 5, each twice: with the phone
// as the bottleneck and its buffer as the queue, and with a path behind a fast
// radio. One way takes 50 ms, the queue holds 300 ms (drop-tail), video has 150
// kbit/s to 1.5 Mbit/s and begins with 150 (RFC 8867 5: 3, 5.1).
//
// Deviation: the RFC's foreground flows have separate access links; with the
// uplink as the bottleneck they are calls on one phone, whose radio is what they
// share.
func rmcatScenarios() []Scenario {
	var all []Scenario
	for _, b := range []bottleneck{{uplink: true}, {}} {
		all = append(all, b.tests()...)
	}
	for _, load := range []float64{0.7, 2.1, 4.2, 7} {
		all = append(all, cellularLoad(load))
	}

	return all
}

const (
	rmcatDelay = 50 * time.Millisecond
	rmcatQueue = 300 * time.Millisecond
	// rmcatRadio is more than what is behind it.
	rmcatRadio = 10 * mbit
)

// bottleneck is where it is.
type bottleneck struct{ uplink bool }

func (b bottleneck) tests() []Scenario {
	flow := func(from time.Duration) Flow { return Flow{Where: b.where(), From: from} }
	with := func(f Flow, change func(*Flow)) Flow {
		change(&f)

		return f
	}
	long := func(queue time.Duration) []change {
		tcp := Flow{CC: Cubic, Where: b.where()}

		return []change{b.rate(queue, hold(2*mbit, 120)), beside(tcp), from(5 * second), b.length(120, 60)}
	}
	var rtts []Flow
	for i, ms := range []int{25, 50, 100, 150} {
		rtts = append(rtts, with(flow(time.Duration(10*(i+1))*second), func(f *Flow) {
			f.Delay = time.Duration(ms)*time.Millisecond - nearest
		}))
	}

	return []Scenario{
		b.test("5.1", "one flow, variable capacity: 1, 2.5, 0.6 and 1 Mbit/s",
			b.rate(rmcatQueue, hold(1*mbit, 40), hold(2500*kbit, 20), hold(600*kbit, 20), hold(1*mbit, 20)), b.length(100, 100)),
		b.test("5.2", "two flows, variable capacity: 4, 2, 3.5, 1 and 2 Mbit/s", beside(flow(0)),
			b.rate(rmcatQueue, hold(4*mbit, 25), hold(2*mbit, 25), hold(3500*kbit, 25), hold(1*mbit, 25), hold(2*mbit, 25)), b.length(125, 125)),
		b.test("5.3", "congested feedback: a flow each way, 2, 1, 0.5 and 2 Mbit/s there, 2, 0.8 and 2 back",
			b.rate(rmcatQueue, hold(2*mbit, 20), hold(1*mbit, 20), hold(500*kbit, 20), hold(2*mbit, 40)),
			wayBack(cell.PathConfig{Rate: []cell.Step{hold(2*mbit, 35), hold(800*kbit, 35), hold(2*mbit, 30)}, QueueBytes: queueOf(2*mbit, rmcatQueue)}),
			beside(Flow{Name: "back", Where: SamePhone, Reverse: true}), b.length(100, 100)),
		b.test("5.4", "three flows at 3.5 Mbit/s, joining every 20 s", beside(flow(20*second), flow(40*second)),
			b.rate(rmcatQueue, hold(3500*kbit, 120)), b.length(120, 90)),
		b.test("5.5", "five flows at 4 Mbit/s with 10, 25, 50, 100 and 150 ms each way, joining every 10 s", beside(rtts...), oneWay(nearest),
			b.rate(rmcatQueue, hold(4*mbit, 300)), b.length(300, 90)),
		b.test("5.6", "against a long TCP flow at 2 Mbit/s, from 5 s on", long(rmcatQueue)...),
		b.test("5.6-deep", "the same with a queue of 1 s", long(second)...),
		b.test("5.7", "two flows against ten short TCP flows at 2 Mbit/s, from 5 s on", beside(flow(5*second)), times(10, Flow{CC: ShortTCP, Where: b.where()}), from(5*second),
			b.rate(rmcatQueue, hold(2*mbit, 300)), b.length(300, 90)),
		b.test("5.8", "three flows at 3.5 Mbit/s, one of which pauses from 40 s to 60 s",
			beside(with(flow(0), func(f *Flow) { f.Pauses = []Span{{40 * second, 60 * second}} }), flow(0)),
			b.rate(rmcatQueue, hold(3500*kbit, 120)), b.length(120, 90)),
	}
}

func (b bottleneck) String() string {
	if b.uplink {
		return "uplink"
	}

	return "backhaul"
}

func (b bottleneck) where() Place {
	if b.uplink {
		return SamePhone
	}

	return OwnRadio
}

func (b bottleneck) test(section, doc string, changes ...change) Scenario {
	return scenario(fmt.Sprintf("rmcat-%s-%v", section, b), fmt.Sprintf("RFC 8867 %s, %v: %s", section, b, doc),
		append([]change{rmcatDefaults}, changes...)...)
}

func rmcatDefaults(s *Scenario) {
	rates(150*kbit, 150*kbit, 1500*kbit)(s)
	oneWay(rmcatDelay)(s)
}

// rate is the bottleneck's over time.
func (b bottleneck) rate(queue time.Duration, parts ...cell.Step) change {
	highest := 0
	for _, p := range parts {
		highest = max(highest, p.Bps)
	}
	bytes := queueOf(highest, queue)

	return func(s *Scenario) {
		if b.uplink {
			// Not shifted by the seed: the RFC says when.
			capacity(func(uint64, time.Duration) cell.Trace { return cell.Steps(parts...) })(s)
			s.Cell.BufferBytes = bytes

			return
		}
		constant(rmcatRadio)(s)
		behind(cell.PathConfig{Rate: parts, QueueBytes: bytes})(s)
	}
}

// length is the RFC's, in seconds, and what a shorter run must not be below: the
// last change and 30 s or more.
func (b bottleneck) length(full, least int) change {
	return func(s *Scenario) {
		s.Duration, s.MinDuration = time.Duration(full)*second, time.Duration(least)*second
	}
}

// nearest is the way of the flow that has the shortest in 5.5.
const nearest = 10 * time.Millisecond

func from(d time.Duration) change { return func(s *Scenario) { s.From = d } }

// cellularLoad is RFC 8869 3.1 on the uplink: an LTE cell with a proportional
// fair scheduler, where users come as a Poisson process and stay
// for 30 s, with video as above and speech of 20 kbit/s; other users send up to
// 2 Mbit/s. The RFC's intensity is of users a second in 21 cells, so that one
// cell has 30/21 of it at a time, on average. The round trip is 40 ms.
//
// Deviation: one cell, whose users are at 50 to 170 m as in a cell of that
// radius, and do not move. It has 5 MHz and not 10, as there is no interference
// from its neighbours, which would take about as much; the highest load is then
// more than it carries. The call that is measured is there all the time. Who
// comes when is the same for all seeds; those that leave within the warm-up are
// left out.
func cellularLoad(intensity float64) Scenario {
	const stay, cells = 30 * time.Second, 21
	run := 91 * time.Second
	rng := rand.New(rand.NewPCG(8869, uint64(intensity*10)))
	every := float64(time.Second) * cells / intensity
	var flows []Flow
	links := []cell.Link{{Distance: 110}}
	// Those who are there when it begins came up to 30 s before.
	for t := -float64(stay) + rng.ExpFloat64()*every; t < float64(run-stay/2); t += rng.ExpFloat64() * every {
		f := Flow{
			Where: OwnPhone, From: max(time.Duration(t).Round(time.Millisecond), 0), To: time.Duration(t).Round(time.Millisecond) + stay,
			Audio: &media.AudioConfig{Bps: 20 * kbit},
		}
		if f.To > warmup+5*second {
			flows = append(flows, f)
			links = append(links, cell.Link{Distance: 50 + 120*rng.Float64()})
		}
	}
	others := []cell.UserConfig{
		{Traffic: cell.OnOff, Link: cell.Link{Distance: 80}},
		{Traffic: cell.OnOff, Link: cell.Link{Distance: 130}},
		{Traffic: cell.OnOff, Link: cell.Link{Distance: 160}},
		{Traffic: cell.OnOff, Link: cell.Link{Distance: 60}},
	}

	return scenario(fmt.Sprintf("rmcat-8869-3.1-%g", intensity),
		fmt.Sprintf("RFC 8869 3.1, uplink: LTE cell of 5 MHz with users at an intensity of %g, %.0f of them at a time", intensity, intensity*stay.Seconds()/cells),
		rmcatDefaults, withAudio(media.AudioConfig{Bps: 20 * kbit}), beside(flows...), func(s *Scenario) {
			s.Duration, s.MinDuration = run, 61*second
			s.Cell.Path.Delay, s.ReturnDelay = 10*time.Millisecond, 20*time.Millisecond
			var phones []cell.PhoneConfig
			for _, l := range links {
				phones = append(phones, cell.PhoneConfig{Config: s.Cell, Link: l})
			}
			inCell(cell.SharedConfig{RBs: 25, Scheduler: cell.CappedPF, Phones: phones, Background: others})(s)
		})
}
