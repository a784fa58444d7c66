// SPDX-License-Identifier: MIT

package browser

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Tolerances of one script, and how many of all may have a freeze more or less.
const (
	delayMs      = 10   // of the mean jitter buffer delay
	delayPart    = 0.15 // or this part of it
	frozenPart   = 0.10
	freezesApart = 1
	unequalOf20  = 2
	triesMax     = 3
	// What makes a run say nothing about the model: p95 of decode times, and a
	// timer of the browser's that was late once.
	decodeStallMs = 20
	timerStallMs  = 50
)

// outcome is one script's: the browser's figures and the model's at the end.
type outcome struct {
	Script  string  `json:"script"`
	About   string  `json:"about"`
	Browser figures `json:"browser"`
	Model   figures `json:"model"`
	// DecodeP95 is of the browser's means over 100 ms, in ms; DecodeMax is the
	// largest of them.
	DecodeP95 float64 `json:"decodeP95Ms"`
	DecodeMax float64 `json:"decodeMaxMs"`
	// SendLateP95 is how late packets left, against the script, in ms.
	SendLateP95 float64 `json:"sendLateP95Ms"`
	// StallMs is the largest delay of the browser's timers.
	StallMs float64 `json:"stallMs"`
	// Tries is how often the script was played, for want of processor time.
	Tries int     `json:"tries"`
	Load  float64 `json:"load"`
	Asked struct {
		NACKs int `json:"nacks"`
		PLIs  int `json:"plis"`
	} `json:"asked"`
}

// stalled tells of a run in which it was the browser's machine that was late.
func (o *outcome) stalled() bool { return o.DecodeP95 > decodeStallMs || o.StallMs > timerStallMs }

func (o *outcome) delayAgrees() bool {
	got, want := o.Model.meanDelay(), o.Browser.meanDelay()

	return math.Abs(got-want) <= max(delayMs, delayPart*want)
}

func (o *outcome) freezesAgree() bool { return o.Model.FreezeCount == o.Browser.FreezeCount }

func (o *outcome) frozenAgrees() bool {
	want := o.Browser.TotalFreezesDuration

	return math.Abs(o.Model.TotalFreezesDuration-want) <= frozenPart*want
}

// faults is what is beyond the tolerances.
func (o *outcome) faults() []string {
	var out []string
	b, m := o.Browser, o.Model
	if d := m.FreezeCount - b.FreezeCount; max(d, -d) > freezesApart {
		out = append(out, fmt.Sprintf("%d freezes, the browser counts %d", m.FreezeCount, b.FreezeCount))
	}
	// A freeze more or less has a length of its own.
	if o.freezesAgree() && !o.frozenAgrees() {
		out = append(out, fmt.Sprintf("frozen for %.3f s, the browser says %.3f s", m.TotalFreezesDuration, b.TotalFreezesDuration))
	}
	if !o.delayAgrees() {
		out = append(out, fmt.Sprintf("mean jitter buffer delay %.1f ms, the browser says %.1f ms", m.meanDelay(), b.meanDelay()))
	}
	// Many tries are no excuse, but a reason.
	if len(out) > 0 && o.stalled() {
		out = append(out, fmt.Sprintf("the machine was too busy in %d runs: decode p95 %.0f ms, timers %.0f ms late", o.Tries, o.DecodeP95, o.StallMs))
	}

	return out
}

// allFaults judges the comparison as a whole.
func allFaults(all []outcome) []string {
	var out []string
	unequal := 0
	var got, want float64
	for _, o := range all {
		if !o.freezesAgree() {
			unequal++
		}
		got += o.Model.TotalFreezesDuration
		want += o.Browser.TotalFreezesDuration
	}
	if unequal > unequalOf20 {
		out = append(out, fmt.Sprintf("%d scripts with another number of freezes, want at most %d", unequal, unequalOf20))
	}
	if math.Abs(got-want) > frozenPart*want {
		out = append(out, fmt.Sprintf("frozen for %.3f s in all, the browser says %.3f s", got, want))
	}

	return out
}

// markdown is the table of all scripts.
func markdown(all []outcome) string {
	var b strings.Builder
	b.WriteString("Figures are Chromium's / the model's. Delay: mean jitter buffer delay; target: mean of what it aimed at.\n\n")
	b.WriteString("| script | freezes | frozen s | pauses | delay ms | target ms | decoded | dropped | key requests | NACKs | decode p95 (max) ms | timers late ms | sent late p95 ms | runs | load | |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, o := range all {
		verdict := strings.Join(o.faults(), "; ")
		if verdict == "" && !o.freezesAgree() {
			verdict = "one freeze apart"
		}
		w, m := o.Browser, o.Model
		fmt.Fprintf(&b, "| %s | %d / %d | %.2f / %.2f | %d / %d | %.1f / %.1f | %.1f / %.1f | %d / %d | %d / %d | %d / %d | %d | %.1f (%.0f) | %.0f | %.1f | %d | %.1f | %s |\n",
			o.Script, w.FreezeCount, m.FreezeCount, w.TotalFreezesDuration, m.TotalFreezesDuration, w.PauseCount, m.PauseCount,
			w.meanDelay(), m.meanDelay(), w.meanTarget(), m.meanTarget(), w.FramesDecoded, m.FramesDecoded,
			w.FramesDropped, m.FramesDropped, w.PliCount, m.PliCount, o.Asked.NACKs,
			o.DecodeP95, o.DecodeMax, o.StallMs, o.SendLateP95, o.Tries, o.Load, verdict)
	}

	return b.String()
}

// decodeTimes are means over the intervals between samples, in ms.
func decodeTimes(samples []figures) (p95, most float64) {
	var out []float64
	for i := 1; i < len(samples); i++ {
		if n := samples[i].FramesDecoded - samples[i-1].FramesDecoded; n > 0 {
			out = append(out, (samples[i].TotalDecodeTime-samples[i-1].TotalDecodeTime)/float64(n)*1000)
		}
	}

	return quantile(out, 0.95), quantile(out, 1)
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))

	return v[int(q*float64(len(v)-1))]
}

func TestVerdict(t *testing.T) {
	good := func() outcome {
		f := figures{FreezeCount: 3, TotalFreezesDuration: 1, JitterBufferDelay: 20, JitterBufferEmittedCount: 400}

		return outcome{Browser: f, Model: f, Tries: 1}
	}
	for _, c := range []struct {
		name   string
		change func(o *outcome)
		faults int
		all    int // of 20 like this
	}{
		{"the same", func(*outcome) {}, 0, 0},
		{"a freeze more", func(o *outcome) { o.Model.FreezeCount++ }, 0, 1},
		{"two more", func(o *outcome) { o.Model.FreezeCount += 2 }, 1, 1},
		{"two less", func(o *outcome) { o.Model.FreezeCount -= 2 }, 1, 1},
		{"frozen for 9 % more", func(o *outcome) { o.Model.TotalFreezesDuration = 1.09 }, 0, 0},
		{"frozen for 11 % more", func(o *outcome) { o.Model.TotalFreezesDuration = 1.11 }, 1, 1},
		{"frozen for 11 % less", func(o *outcome) { o.Model.TotalFreezesDuration = 0.89 }, 1, 1},
		{"delay 9 ms off", func(o *outcome) { o.Model.JitterBufferDelay += 3.6 }, 0, 0},
		{"delay 11 ms off", func(o *outcome) { o.Model.JitterBufferDelay -= 4.4 }, 1, 0},
		{"11 of 100 ms off", func(o *outcome) {
			o.Browser.JitterBufferDelay, o.Model.JitterBufferDelay = 40, 44.4
		}, 0, 0},
		{"16 of 100 ms off", func(o *outcome) {
			o.Browser.JitterBufferDelay, o.Model.JitterBufferDelay = 40, 46.4
		}, 1, 0},
		{"a stalled decoder", func(o *outcome) { o.DecodeP95 = 21 }, 0, 0},
		{"a stalled decoder and two freezes more", func(o *outcome) { o.DecodeP95, o.Model.FreezeCount = 21, 5 }, 2, 1},
	} {
		o := good()
		c.change(&o)
		if got := o.faults(); len(got) != c.faults {
			t.Errorf("%s: faults %q, want %d", c.name, got, c.faults)
		}
		if got := allFaults(slices.Repeat([]outcome{o}, 20)); len(got) != c.all {
			t.Errorf("%s, 20 times: faults %q, want %d", c.name, got, c.all)
		}
	}
	for _, c := range []struct {
		decode, timers float64
		want           bool
	}{{20, 50, false}, {20.1, 0, true}, {0, 50.1, true}} {
		o := outcome{DecodeP95: c.decode, StallMs: c.timers}
		if o.stalled() != c.want {
			t.Errorf("decode p95 %v ms, timers %v ms late: stalled %v, want %v", c.decode, c.timers, o.stalled(), c.want)
		}
	}
	one := good()
	one.Model.FreezeCount++
	for n, want := range []int{0, 0, 0, 1} {
		all := append(slices.Repeat([]outcome{good()}, 20-n), slices.Repeat([]outcome{one}, n)...)
		if got := allFaults(all); len(got) != want {
			t.Errorf("%d scripts with a freeze more: %q, want %d faults", n, got, want)
		}
	}
}

func TestDecodeTimes(t *testing.T) {
	samples := make([]figures, 201)
	for i := 1; i < len(samples); i++ {
		samples[i].FramesDecoded = 3 * i
		samples[i].TotalDecodeTime = samples[i-1].TotalDecodeTime + 3*0.002
		if i%10 == 0 {
			samples[i].TotalDecodeTime += 3 * 0.030
		}
	}
	samples[100].FramesDecoded = samples[99].FramesDecoded // a gap without frames
	if p95, most := decodeTimes(samples); math.Abs(p95-32) > 0.1 || most < p95 {
		t.Errorf("p95 %.1f ms, most %.1f ms, want 32 ms", p95, most)
	}
	if p95, most := decodeTimes(samples[:9]); math.Abs(p95-2) > 0.01 || math.Abs(most-2) > 0.01 {
		t.Errorf("p95 %.2f ms, most %.2f ms, want 2 ms", p95, most)
	}
	if p95, _ := decodeTimes(nil); p95 != 0 {
		t.Error("p95 of nothing")
	}
}

// lateness is the 95th percentile of how late first copies left the socket.
func lateness(s *script, log []sent, start time.Time) float64 {
	due := map[[2]int]time.Duration{}
	for _, e := range s.events {
		due[[2]int{e.frame, e.index}] = e.at
	}
	var late []float64
	seen := map[[2]int]bool{}
	for _, p := range log {
		k := [2]int{p.frame, p.index}
		if !seen[k] && !p.asked {
			late = append(late, (p.at.Sub(start)-due[k]).Seconds()*1000)
		}
		seen[k] = true
	}

	return quantile(late, 0.95)
}
