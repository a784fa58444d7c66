// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// summary says in a few lines what is in the file and what it means.
func (f *facts) summary(w io.Writer) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-8s "+format+"\n", append([]any{name}, args...)...)
	}
	fmt.Fprintf(w, "%s: %s\n", f.in.path, f.in.what())
	row("time", "%s", f.timeText())
	if f.in.kind == kindCapture {
		row("codes", "%s", f.codesText())
	} else {
		row("lines", "%s", f.linesText())
	}
	row("radio", "%s", f.radioText())
	row("grants", "%s", f.grantsText())
	row("reports", "%d (BSRs), %d of them padding", f.reports, f.padding)
	n := f.ratios.n()
	if n+f.idle() == 0 {
		row("samples", "none: %s", f.whyNone())

		return
	}
	row("samples", "%d with a ratio, %d idle (the queue was empty)", n, f.idle())
	if n == 0 {
		return
	}
	q := quantiles(f.ratios.ratio, 0.05, 0.25, 0.5, 0.75, 0.95)
	row("ratio", "p5 %s, p25 %s, p50 %s, p75 %s, p95 %s; %d starved (0: reported, nothing granted)",
		short(q[0]), short(q[1]), short(q[2]), short(q[3]), short(q[4]), f.ratios.starved())
	row("", "granted / reported: 1 and more is room, less is a queue that cannot drain at once")
	waits := quantiles(f.ratios.waits(), 0.5, 0.95)
	row("wait", "p50 %s, p95 %s: how long a byte stood in the phone's queue (window / ratio)", waitText(waits[0]), waitText(waits[1]))
}

// short prints a ratio to two digits.
func short(v float64) string {
	switch {
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2g", v)
	}
}

func waitText(ms float64) string {
	switch {
	case math.IsInf(ms, 0):
		return "until grants come"
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.0f ms", ms)
	}
}

// span is from the first to the last moment that the file tells of.
func (f *facts) span() time.Duration {
	if f.in.kind == kindCapture {
		return f.clock.now.Sub(f.clock.start)
	}

	return f.last - f.first
}

func (f *facts) timeText() string {
	s := fmt.Sprintf("%.1f s", f.span().Seconds())
	if f.in.kind != kindCapture {
		return s
	}
	s += " by the log's time stamps"
	if f.clock.start.Year() > 1980 {
		s += ", from " + f.clock.start.Format("2006-01-02 15:04:05") + " UTC"
	}
	if f.clock.leaps > 0 {
		s += fmt.Sprintf("; %d leaps of the modem's clock taken out", f.clock.leaps)
	}

	return s
}

// codesText counts log packets by code.
func (f *facts) codesText() string {
	packets := map[diag.LogCode]uint64{}
	var all, bad uint64
	for _, c := range f.diag.Codes {
		packets[c.Code] += c.Packets
		all += c.Packets
		bad += c.Unsupported + c.Bad
	}
	codes := slices.SortedFunc(maps.Keys(packets), func(a, b diag.LogCode) int { return int(a) - int(b) })
	const most = 12
	var out []string
	for i, c := range codes {
		if i == most && len(codes) > most+1 {
			out = append(out, fmt.Sprintf("and %d more", len(codes)-most))

			break
		}
		out = append(out, fmt.Sprintf("%v %d", c, packets[c]))
	}
	s := strings.Join(out, ", ") + " packets"
	if bad > 0 {
		s += fmt.Sprintf("; %d of %d not decoded (-stats says why)", bad, all)
	}

	return s
}

func (f *facts) linesText() string {
	s := countsText(f.lines)
	if len(f.otherLines) > 0 {
		s += "; without telemetry: " + countsText(f.otherLines)
	}

	return s
}

func countsText(m map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %d", k, m[k]))
	}

	return strings.Join(out, ", ")
}

func (f *facts) radioText() string {
	c := f.config
	s := strings.ToUpper(c.RAT.String())
	if c.RAT == gbr.RATUnknown {
		s = "unknown"
	}
	if c.PCI >= 0 {
		s += fmt.Sprintf(", cell PCI %d", c.PCI)
	}
	s += ", T "
	if c.Period == 0 {
		s += "unknown"
	} else {
		s += fmt.Sprintf("%d ms", c.Period.Milliseconds())
	}
	s += f.periodSource() + ", L "
	if c.Lag == 0 {
		s += "not learned"
	} else {
		s += fmt.Sprintf("%d ms", c.Lag.Milliseconds())
	}

	return s + " (T: spacing of reports, L: from a report to its first grant)"
}

// periodSource tells where T is from.
func (f *facts) periodSource() string {
	rat := diag.LTE
	if f.config.RAT == gbr.RATNR {
		rat = diag.NR
	}
	for _, k := range f.timerKeys() {
		if k.rat != rat {
			continue
		}
		t := f.timers[k]
		switch {
		case t.b060.told > 0:
			return " from B060"
		case t.rrc.told > 0:
			return " from RRC"
		case f.config.Period > 0:
			return " observed"
		}
	}

	return ""
}

func (f *facts) grantsText() string {
	s := fmt.Sprintf("%d first transmissions, %d bytes", f.grants, f.granted)
	if span := f.span().Seconds(); span > 0 && f.grants > 0 {
		s += ", " + rateText(float64(f.granted)*8/span) + " on average"
	}

	return s
}

func rateText(bps float64) string {
	if bps < 1e6 {
		return fmt.Sprintf("%.0f kbit/s", bps/1e3)
	}

	return fmt.Sprintf("%.2f Mbit/s", bps/1e6)
}

// whyNone says why there is no sample.
func (f *facts) whyNone() string {
	switch {
	case f.in.kind != kindCapture:
		return "there is none in the file"
	case f.ratio.Records == 0:
		return "no grant and no buffer status report in it; log 0xB139 and 0xB064 on LTE, 0xB883 and 0xB872 on NR"
	case f.reports == 0:
		return "no buffer status report in it, and grants alone have no ratio; log 0xB064 on LTE, 0xB872 on NR"
	case f.reports == f.padding:
		return "only padding reports, sent when all data fit: nothing waited"
	default:
		return "it is too short for a window"
	}
}
