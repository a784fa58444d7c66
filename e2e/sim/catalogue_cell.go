// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// cellScenarios are every radio with every scheduler, and at three loads, then
// what is special: the edge, carrier aggregation. NR has not the whole grid: a cell with many users takes
// several times as long to run as a radio alone.
func cellScenarios() []Scenario {
	var all []Scenario
	for _, r := range []struct {
		name, text string
		radio      cell.Radio
	}{
		{"lte", "LTE cell of 10 MHz", cell.LTEFDD},
		{"nr-fdd", "NR FDD cell of 10 MHz", cell.NRFDD},
		{"nr-tdd", "NR TDD cell of 80 MHz, one slot of five up", cell.NRTDD},
	} {
		for _, sched := range []struct {
			name, text string
			scheduler  cell.Scheduler
		}{
			{"fair", "fair shares, nobody more than it asks for", cell.CappedFair},
			{"pf", "proportional fair, as much as one asks for", cell.CappedPF},
			{"split", "equal shares, needed or not", cell.EqualSplit},
			{"rr", "the whole band to one phone after the other", cell.RoundRobin},
		} {
			for _, load := range []int{30, 70, 100} {
				if r.radio != cell.LTEFDD && sched.scheduler != cell.CappedFair && load != 70 {
					continue
				}
				all = append(all, scenario(fmt.Sprintf("cell-%s-%s-%d", r.name, sched.name, load),
					fmt.Sprintf("%s with others using %d %% of it; %s", r.text, load, sched.text),
					inCell(bandOf(r.radio, sched.scheduler, othersUsing(load, r.radio)))))
			}
		}
	}
	edge := cell.Link{Distance: 450, FadeSigma: 4, FadeTau: 500 * time.Millisecond}
	fading := cell.Link{Distance: 200, FadeSigma: 4}

	return append(all,
		scenario("cell-lte-alone", "LTE cell of 10 MHz with nobody else", inCell(bandOf(cell.LTEFDD, cell.CappedFair, nil))),
		scenario("cell-lte-narrow", "LTE cell of 1.4 MHz with nobody else: about 4 Mbit/s", inCell(cell.SharedConfig{RBs: 6})),
		scenario("cell-lte-fading", "LTE cell of 10 MHz with others using 70 %; the measured phone fades with 4 dB over 200 ms; proportional fair",
			inCell(bandOf(cell.LTEFDD, cell.CappedPF, othersUsing(70, cell.LTEFDD))), received(fading)),
		scenario("cell-lte-edge", "LTE cell of 10 MHz with others using 30 %; the measured phone is at its edge, 450 m, and fades with 4 dB over 500 ms",
			inCell(bandOf(cell.LTEFDD, cell.CappedFair, othersUsing(30, cell.LTEFDD))), received(edge)),
		scenario("cell-nr-tdd-edge", "NR TDD cell of 80 MHz with others using 30 %; the measured phone is at its edge, 240 m, and fades with 4 dB over 500 ms",
			inCell(bandOf(cell.NRTDD, cell.CappedFair, othersUsing(30, cell.NRTDD))), received(cell.Link{Distance: 240, FadeSigma: 4, FadeTau: 500 * time.Millisecond})),
		scenario("cell-nr-tdd-7d", "NR TDD cell of 80 MHz with the pattern 7D1S2U, others using 70 %; fair shares",
			inCell(bandOf(cell.NRTDD7D1S2U, cell.CappedFair, othersUsing(70, cell.NRTDD)))),
		scenario("cell-lte-rush", "LTE cell of 10 MHz with others using 30 %; from 25 s to 40 s five uploads come on top; fair shares",
			inCell(bandOf(cell.LTEFDD, cell.CappedFair, append(othersUsing(30, cell.LTEFDD), rush(25*second, 40*second, 5)...)))),
		scenario("cell-ca", "carrier aggregation on LTE: 4 Mbit/s, and 4 more on a second carrier until 25 s and from 40 s on", constant(4*mbit),
			carrier(hold(4*mbit, 25), hold(0, 15), hold(4*mbit, 20))),
		scenario("cell-ca-driving", "carrier aggregation on LTE: a synthetic drive, and 3 Mbit/s on a second carrier for 8 s of every 12", capacity(cell.SynthDriving),
			carrier(hold(3*mbit, 8), hold(0, 4))),
	)
}

// carrier is a second one beside the capacity.
func carrier(parts ...cell.Step) change {
	return func(s *Scenario) { s.Cell.Second = cell.Steps(parts...) }
}

// received is how well the measured phone is received. It comes last: it copies the
// phone as it is.
func received(l cell.Link) change {
	return func(s *Scenario) {
		c := s.Shared(0)
		c.Phones = []cell.PhoneConfig{{Config: s.Cell, Link: l}}
		inCell(c)(s)
	}
}

// bandOf is 10 MHz of FDD, or 80 MHz of TDD, which carries about as much: one
// slot of five goes up, and a phone's power is spread over the band.
func bandOf(r cell.Radio, s cell.Scheduler, others []cell.UserConfig) cell.SharedConfig {
	c := cell.SharedConfig{Radio: r, Scheduler: s, Background: others, RBs: 50}
	if tdd(r) {
		c.RBs = 217 // TS 38.101-1 table 5.3.2-1: 80 MHz at 30 kHz
	}

	return c
}

func tdd(r cell.Radio) bool { return r == cell.NRTDD || r == cell.NRTDD7D1S2U }

// othersUsing are users of three kinds (on and off, video, files) who use about
// 30, 70 or all 100 percent of a band while nobody else is there.
func othersUsing(percent int, r cell.Radio) []cell.UserConfig {
	// Of each kind; the uploads of a full cell hardly pause.
	n := map[int][3]int{30: {3, 2, 1}, 70: {6, 3, 3}, 100: {3, 2, 4}}[percent]
	file, think := 600*kbit, 3*second
	if percent == 100 {
		file, think = 3*mbit, 100*time.Millisecond
	}
	bps, share := 1*mbit, 100
	if tdd(r) {
		share = 70 // such a cell carries that much less
	}
	metres := []float64{90, 220, 150, 300, 120, 260, 180, 340}
	var all []cell.UserConfig
	for kind, u := range []cell.UserConfig{
		{Traffic: cell.OnOff, Bps: bps * share / 100},
		{Traffic: cell.Video, Bps: 800 * kbit * share / 100},
		{Traffic: cell.Upload, FileBytes: file * share / 100, Think: think},
	} {
		for range n[kind] {
			u.Link.Distance = metres[len(all)%len(metres)]
			all = append(all, u)
		}
	}

	return all
}

// rush are uploads without a pause.
func rush(from, to time.Duration, n int) []cell.UserConfig {
	var all []cell.UserConfig
	for range n {
		all = append(all, cell.UserConfig{Traffic: cell.Upload, FileBytes: 20 * mbit, Think: 10 * time.Millisecond, From: from, To: to})
	}

	return all
}
