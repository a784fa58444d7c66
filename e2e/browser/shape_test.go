// SPDX-License-Identifier: MIT

package browser

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

const (
	// sourceBps is the most that either sender's picture gets, more than any
	// link carries.
	sourceBps = 5_000_000
	// shapeBin is the resolution of a curve.
	shapeBin = 200 * ms
	// settledPart of a phase, its last, is where the rate has settled.
	settledPart = 0.4

	settledWithin = 0.20
	timeFactor    = 2.0
	// medianOf so many runs the tolerances are meant.
	medianOf = 3
	// timeSlack is two bins: what a time is known to.
	timeSlack = 0.4
)

// course is a path over time that both senders are sent through. All have 25 ms
// each way and a drop-tail queue of 300 ms at their highest rate.
type course struct {
	name, about string
	path        cell.PathConfig
	phases      []phase
}

// phase is a part of a course in which nothing changes.
type phase struct {
	from, to time.Duration
	bps      float64
}

func (c *course) length() time.Duration { return c.phases[len(c.phases)-1].to }

func courses() []course {
	var out []course
	add := func(name, about string, change func(*cell.PathConfig), steps ...cell.Step) {
		c := course{name: name, about: about, path: cell.PathConfig{Delay: 25 * ms, Rate: steps}}
		at, peak := time.Duration(0), 0
		for _, s := range steps {
			c.phases = append(c.phases, phase{at, at + s.For, float64(s.Bps)})
			at += s.For
			peak = max(peak, s.Bps)
		}
		c.path.QueueBytes = peak / 8 * 300 / 1000
		if change != nil {
			change(&c.path)
		}
		out = append(out, c)
	}
	const minute = 60 * time.Second
	add("constant-1", "1 Mbit/s", nil, cell.Step{Bps: 1_000_000, For: minute})
	add("constant-3", "3 Mbit/s", nil, cell.Step{Bps: 3_000_000, For: minute})
	add("steps", "3, 0.7 and 3 Mbit/s", nil, cell.Step{Bps: 3_000_000, For: 25 * time.Second},
		cell.Step{Bps: 700_000, For: 25 * time.Second}, cell.Step{Bps: 3_000_000, For: 40 * time.Second})
	add("loss-2-percent", "3 Mbit/s, 2 % lost at random",
		func(p *cell.PathConfig) { p.Loss = 0.02 }, cell.Step{Bps: 3_000_000, For: minute})
	// Uniform, and no packet overtakes another: one that is held back holds up
	// those behind, so that they come in bursts.
	add("jitter-100", "3 Mbit/s, up to 100 ms of jitter in order",
		func(p *cell.PathConfig) { p.JitterMax = 100 * ms }, cell.Step{Bps: 3_000_000, For: minute})

	return out
}

// curve is one sender's run of a course, in bit/s by shapeBin.
type curve struct {
	Estimate []float64 `json:"estimate"`
	Received []float64 `json:"received"`
	Drops    int64     `json:"drops"`
	// LagP99 is how late the relay handed packets on, in ms; the estimators are
	// told the right times, but late.
	LagP99 float64 `json:"lagP99Ms"`
}

// shape is what is compared of a phase.
type shape struct {
	// Estimate and Received are the means at the end of the phase, bit/s.
	Estimate, Received float64
	// Reach is when the estimate first is within a fifth of where it settles, in
	// s since the phase began: over 80 % after a rise, under 125 % after a drop.
	Reach float64
	// Back is when it is over 80 % again after a drop went too far; 0 if that
	// was no drop.
	Back float64
}

// bins are those of a phase.
func (p phase) bins(all []float64) []float64 {
	from, to := int(p.from/shapeBin), int(p.to/shapeBin)

	return all[min(from, len(all)):min(to, len(all))]
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}

	return sum / float64(len(v))
}

// shapeOf measures a phase; before is the rate of the one before it, 0 for none.
func shapeOf(c curve, p phase, before float64) shape {
	estimate, received := p.bins(c.Estimate), p.bins(c.Received)
	tail := int(float64(len(estimate)) * (1 - settledPart))
	s := shape{Estimate: mean(estimate[tail:]), Received: mean(received[min(tail, len(received)):])}
	first := func(ok func(v float64) bool, from int) float64 {
		for i := from; i < len(estimate); i++ {
			if ok(estimate[i]) {
				return float64(i) * shapeBin.Seconds()
			}
		}

		return (p.to - p.from).Seconds()
	}
	over := func(v float64) bool { return v >= 0.8*s.Estimate }
	if before <= p.bps {
		s.Reach = first(over, 0)

		return s
	}
	s.Reach = first(func(v float64) bool { return v <= 1.25*s.Estimate }, 0)
	lowest := 0
	for i, v := range estimate[:tail] {
		if v < estimate[lowest] {
			lowest = i
		}
	}
	s.Back = first(over, lowest)

	return s
}

// shapes are those of all phases.
func (c *course) shapes(v curve) []shape {
	var out []shape
	before := 0.0
	for _, p := range c.phases {
		out = append(out, shapeOf(v, p, before))
		before = p.bps
	}

	return out
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))

	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// medians are the medians of each figure over several runs, by phase.
func (c *course) medians(runs []curve) []shape {
	out := make([]shape, len(c.phases))
	for i := range out {
		var all [4][]float64
		for _, r := range runs {
			s := c.shapes(r)[i]
			for k, v := range [...]float64{s.Estimate, s.Received, s.Reach, s.Back} {
				all[k] = append(all[k], v)
			}
		}
		out[i] = shape{median(all[0]), median(all[1]), median(all[2]), median(all[3])}
	}

	return out
}

// near says whether two rates are within a share of each other.
func near(got, want, share float64) bool {
	return got <= want*(1+share) && got >= want*(1-share)
}

// soon says whether two times are within a factor of each other.
func soon(got, want, factor float64) bool {
	return got <= want*factor+timeSlack && want <= got*factor+timeSlack
}

// duel is a course with the runs of both.
type duel struct {
	Course   string  `json:"course"`
	Chromium []curve `json:"chromium"`
	Ours     []curve `json:"ours"`
	course   course
}

// slack widens the tolerances by half while there are too few runs for medians.
func (d *duel) slack() float64 {
	if min(len(d.Chromium), len(d.Ours)) < medianOf {
		return 1.5
	}

	return 1
}

// faults is what is beyond the tolerances, which slack widens: 1 leaves them.
func (d *duel) faults(slack float64) []string {
	var out []string
	theirs, ours := d.course.medians(d.Chromium), d.course.medians(d.Ours)
	for i, p := range d.course.phases {
		t, o := theirs[i], ours[i]
		where := ""
		if len(theirs) > 1 {
			where = fmt.Sprintf("from %v on: ", p.from)
		}
		if !near(o.Estimate, t.Estimate, settledWithin*slack) {
			out = append(out, fmt.Sprintf("%sestimate settles at %.0f kbit/s, Chromium's at %.0f", where, o.Estimate/1e3, t.Estimate/1e3))
		}
		if !near(o.Received, t.Received, settledWithin*slack) {
			out = append(out, fmt.Sprintf("%s%.0f kbit/s arrive at the end, of Chromium's %.0f", where, o.Received/1e3, t.Received/1e3))
		}
		if !soon(o.Reach, t.Reach, timeFactor*slack) {
			out = append(out, fmt.Sprintf("%sthere after %.1f s, Chromium after %.1f s", where, o.Reach, t.Reach))
		}
		if !soon(o.Back, t.Back, timeFactor*slack) {
			out = append(out, fmt.Sprintf("%sback after %.1f s, Chromium after %.1f s", where, o.Back, t.Back))
		}
	}

	return out
}

// comparison is the table of all courses: the figures, then both curves by the
// second.
func comparison(all []duel) string {
	var b strings.Builder
	b.WriteString("Figures are Chromium's / ours, medians of the runs. The tolerances are half as wide again where there are\n" +
		"less than 3 runs. Settled: mean over the last 40 % of a phase, kbit/s.\n" +
		"There: s until the estimate is within a fifth of that; back: s until it is so again after a drop that went too far.\n\n" +
		"| course | phase | runs | link kbit/s | estimate settled | received settled | there s | back s | drops | relay late p99 ms | |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i := range all {
		d := &all[i]
		theirs, ours := d.course.medians(d.Chromium), d.course.medians(d.Ours)
		verdict := strings.Join(d.faults(d.slack()), "; ")
		for k, p := range d.course.phases {
			t, o := theirs[k], ours[k]
			back := ""
			if t.Back > 0 || o.Back > 0 {
				back = fmt.Sprintf("%.1f / %.1f", t.Back, o.Back)
			}
			drops := func(c []curve) (n []float64) {
				for _, c := range c {
					n = append(n, float64(c.Drops))
				}

				return n
			}
			lag := func(c []curve) (v float64) {
				for _, c := range c {
					v = max(v, c.LagP99)
				}

				return v
			}
			fmt.Fprintf(&b, "| %s | %.0f..%.0f s | %d / %d | %.0f | %.0f / %.0f | %.0f / %.0f | %.1f / %.1f | %s | %.0f / %.0f | %.1f / %.1f | %s |\n",
				d.Course, p.from.Seconds(), p.to.Seconds(), len(d.Chromium), len(d.Ours), p.bps/1e3,
				t.Estimate/1e3, o.Estimate/1e3, t.Received/1e3, o.Received/1e3, t.Reach, o.Reach, back,
				median(drops(d.Chromium)), median(drops(d.Ours)), lag(d.Chromium), lag(d.Ours), verdict)
			verdict = ""
		}
	}
	b.WriteString("\nBy the second, estimate / received in kbit/s, medians:\n\n| s |")
	for _, d := range all {
		fmt.Fprintf(&b, " %s: Chromium | ours |", d.Course)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|---|", len(all)) + "\n")
	for s := 0; ; s++ {
		row, some := fmt.Sprintf("| %d |", s), false
		for _, d := range all {
			for _, runs := range [][]curve{d.Chromium, d.Ours} {
				e, r := bySecond(runs, func(c curve) []float64 { return c.Estimate }), bySecond(runs, func(c curve) []float64 { return c.Received })
				if s >= len(e) || s >= len(r) {
					row += " |"

					continue
				}
				some = true
				row += fmt.Sprintf(" %.0f / %.0f |", e[s]/1e3, r[s]/1e3)
			}
		}
		if !some {
			break
		}
		b.WriteString(row + "\n")
	}

	return b.String()
}

// bySecond are the means of the seconds, medians over the runs.
func bySecond(runs []curve, of func(curve) []float64) []float64 {
	n := math.MaxInt
	for _, r := range runs {
		n = min(n, len(of(r)))
	}
	per := int(time.Second / shapeBin)
	var out []float64
	for i := 0; i+per <= n && len(runs) > 0; i += per {
		var all []float64
		for _, r := range runs {
			all = append(all, mean(of(r)[i:i+per]))
		}
		out = append(out, median(all))
	}

	return out
}

// gridOf puts samples on bins of a grid that begins at a time: the last one
// before the end of a bin counts.
func gridOf(n int, value func(i int) (at time.Duration, v float64), samples int) []float64 {
	out := make([]float64, n)
	k, last := 0, 0.0
	for i := range out {
		end := time.Duration(i+1) * shapeBin
		for k < samples {
			at, v := value(k)
			if at >= end {
				break
			}
			last = v
			k++
		}
		out[i] = last
	}

	return out
}

func TestCourses(t *testing.T) {
	names := map[string]bool{}
	for _, c := range courses() {
		if names[c.name] || c.about == "" {
			t.Errorf("%s: a second one, or no word about it", c.name)
		}
		names[c.name] = true
		if got := c.length(); got < 30*time.Second || got > 90*time.Second {
			t.Errorf("%s takes %v, want 30..90 s", c.name, got)
		}
		if _, err := cell.NewWire(cell.WireConfig{Start: time.Unix(1, 0), Path: c.path}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		peak := 0.0
		for _, p := range c.phases {
			peak = max(peak, p.bps)
		}
		if got := float64(c.path.QueueBytes) * 8 / peak; got < 0.299 || got > 0.301 {
			t.Errorf("%s: queue of %.3f s, want 0.3", c.name, got)
		}
		if peak >= sourceBps {
			t.Errorf("%s: the source does not fill the link", c.name)
		}
	}
}

// fake is a curve that rises to a rate in a time, drops to low after 25 s and is
// back at after within back s.
func fake(bps, rise, low, after, back float64) curve {
	var c curve
	for t := 0.0; t < 90; t += shapeBin.Seconds() {
		v := bps * min(1, t/rise)
		switch {
		case t >= 50:
			v = min(bps, after+(bps-after)*(t-50)/rise)
		case t >= 25:
			v = low + (after-low)*min(1, (t-25)/back)
		}
		c.Estimate, c.Received = append(c.Estimate, v), append(c.Received, v)
	}

	return c
}

func TestShapes(t *testing.T) {
	all := courses()
	steps := all[slices.IndexFunc(all, func(c course) bool { return c.name == "steps" })]
	base := fake(2.7e6, 5, 0.3e6, 0.6e6, 10)
	s := steps.shapes(base)
	for _, c := range []struct {
		what            string
		got, want, slop float64
	}{
		{"settled", s[0].Estimate, 2.7e6, 1e3},
		{"there", s[0].Reach, 4, 0.2},
		{"settled low", s[1].Estimate, 0.6e6, 1e3},
		{"down", s[1].Reach, 0.2, 0.01},
		{"back", s[1].Back, 6.2, 0.2},
		{"settled again", s[2].Received, 2.7e6, 1e3},
	} {
		if math.Abs(c.got-c.want) > c.slop {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	for _, c := range []struct {
		what   string
		other  curve
		faults int
	}{
		{"the same", base, 0},
		{"19 % higher", fake(2.7e6*1.19, 5, 0.3e6, 0.6e6*1.19, 10), 0},
		{"25 % higher", fake(2.7e6*1.25, 5, 0.3e6, 0.6e6*1.25, 10), 6},
		{"1.9 times as slow", fake(2.7e6, 9.5, 0.3e6, 0.6e6, 10), 0},
		{"3 times as slow", fake(2.7e6, 15, 0.3e6, 0.6e6, 10), 2},
		{"3 times as fast", fake(2.7e6, 5./3, 0.3e6, 0.6e6, 10), 2},
		{"not back for long", fake(2.7e6, 5, 0.01e6, 0.6e6, 22), 1},
	} {
		d := duel{course: steps, Chromium: []curve{base}, Ours: []curve{c.other}}
		if got := d.faults(1); len(got) != c.faults {
			t.Errorf("%s: %d faults, want %d: %q", c.what, len(got), c.faults, got)
		}
		if got := d.faults(3); len(got) > 0 {
			t.Errorf("%s: faults with everything three times as wide: %q", c.what, got)
		}
	}
	// One run of three that went wrong does not count.
	d := duel{course: steps, Chromium: []curve{base, base, base}, Ours: []curve{base, fake(1e6, 50, 1e5, 2e5, 20), base}}
	if got := d.faults(1); len(got) > 0 {
		t.Errorf("one run in three: %q", got)
	}
}

func TestGrid(t *testing.T) {
	at := []time.Duration{-50 * ms, 100 * ms, 150 * ms, 450 * ms, 900 * ms}
	got := gridOf(5, func(i int) (time.Duration, float64) { return at[i], float64(i + 1) }, len(at))
	if want := []float64{3, 3, 4, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
