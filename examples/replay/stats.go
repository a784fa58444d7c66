// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// printStats accounts for everything in the file.
func (f *facts) printStats(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", f.in.path, f.in.what())
	if f.in.kind == kindCapture {
		f.printFrames(w)
		f.printCodes(w)
		f.printWalks(w)
		f.printTimers(w)
		f.printAssembler(w)
	} else {
		fmt.Fprintf(w, "\nlines:   %s\n", f.linesText())
	}
	fmt.Fprintf(w, "\ntelemetry: %d samples with a ratio, %d idle; %d grants, %d reports (%d padding)\n",
		f.ratios.n(), f.idle(), f.grants, f.reports, f.padding)
	if len(f.flags) > 0 {
		fmt.Fprintf(w, "flags:     %s\n", countsText(f.flags))
	}
}

// printFrames is the sum of all frames, and what never was one.
func (f *facts) printFrames(w io.Writer) {
	s := &f.diag
	fmt.Fprintf(w, "\nframes:  %d = %d log packets + %d other messages + %d encrypted + %d malformed%s\n",
		s.Frames, s.Logs, s.Other, s.Encrypted, s.Malformed, sumsUp(s.Frames, s.Logs+s.Other+s.Encrypted+s.Malformed))
	fmt.Fprintf(w, "dropped: %d with a bad checksum, %d too short, %d too long; %d bytes between frames, %d at the end\n",
		s.BadCRC, s.Short, s.Oversized, s.Lost, f.tail)
	if f.clock.leaps > 0 {
		fmt.Fprintf(w, "clock:   %d leaps of the modem's clock taken out\n", f.clock.leaps)
	}
}

// sumsUp is empty, or says that something is not accounted for.
func sumsUp(total, parts uint64) string {
	if total == parts {
		return ""
	}

	return fmt.Sprintf(" (%d NOT ACCOUNTED FOR)", int64(total-parts))
}

// printCodes is a row for each log code and version.
func (f *facts) printCodes(w io.Writer) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "code\tversion\tlayout\tpackets\tdecoded\trecords\tskipped\twhy")
	var sum uint64
	for i := range f.diag.Codes {
		c := &f.diag.Codes[i]
		skipped := c.Unsupported + c.Bad
		sum += c.Packets
		fmt.Fprintf(t, "%v\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n",
			c.Code, versionText(c), layoutText(c), c.Packets, c.Packets-skipped, c.Records, skipped, whyText(c))
	}
	if f.diag.Uncounted > 0 {
		fmt.Fprintf(t, "others\t\tunknown\t%d\t\t\t\ttoo many codes and versions to tell apart\n", f.diag.Uncounted)
	}
	_ = t.Flush() // w keeps its error
	fmt.Fprintf(w, "sum: %d packets%s\n", sum+f.diag.Uncounted, sumsUp(f.diag.Logs+f.diag.Encrypted, sum+f.diag.Uncounted))
}

// versionText is the version, and after a colon that of the sub-packet.
func versionText(c *diag.CodeStats) string {
	switch {
	case c.Version < 0:
		return "-"
	case c.Sub >= 0:
		return fmt.Sprintf("%d:%d", c.Version, c.Sub)
	default:
		return diag.NRVersion(c.Version).String()
	}
}

// layoutText tells how far the layout is to be trusted.
func layoutText(c *diag.CodeStats) string {
	switch {
	case c.Verified:
		return "verified"
	case c.Packets == c.Unsupported+c.Bad:
		return "unknown"
	default:
		return "unverified"
	}
}

func whyText(c *diag.CodeStats) string {
	if c.Unsupported+c.Bad == 0 {
		return ""
	}
	why := ""
	if c.Unsupported > 0 && c.Bad > 0 {
		why = fmt.Sprintf("%d unsupported, %d bad, the last: ", c.Unsupported, c.Bad)
	}
	if diag.Forbidden(c.Code) {
		return why + "holds keys or identities, never looked at"
	}

	return why + c.Err.Error()
}

// printWalks is what became of RRC messages.
func (f *facts) printWalks(w io.Writer) {
	if len(f.walks) == 0 {
		return
	}
	fmt.Fprintln(w, "\nRRC messages (0xB0C0, 0xB821), of which only the BSR timers are looked for:")
	for _, k := range slices.Sorted(maps.Keys(f.walks)) {
		fmt.Fprintf(w, "  %6d  %s\n", f.walks[k], k)
	}
}

// printTimers compares what is known of T.
func (f *facts) printTimers(w io.Writer) {
	for _, k := range f.timerKeys() {
		t := f.timers[k]
		name := k.rat.String()
		if len(f.timerKeys()) > 1 && k.sim != 0 {
			name += fmt.Sprintf(", radio %d", k.sim)
		}
		observed := "not enough periodic reports to tell"
		if v, ok := t.observed(); ok {
			observed = periodText(v)
		}
		fmt.Fprintf(w, "\nperiodicBSR-Timer (%s): %s\n", name, t.verdict())
		if k.rat == diag.LTE {
			fmt.Fprintf(w, "  B060      %s\n", &t.b060)
		}
		fmt.Fprintf(w, "  RRC       %s\n  observed  %s\n", &t.rrc, observed)
	}
}

// printAssembler is what was left out between records and samples.
func (f *facts) printAssembler(w io.Writer) {
	s := &f.ratio
	fmt.Fprintf(w, "\nrecords joined: %d; left out: %d of another radio or slot, %d too old or stray, %d while the clock settled, %d twice\n",
		s.Records, s.Ignored, s.Stale, s.Settling, s.Duplicates)
	fmt.Fprintf(w, "windows:        %d told, %d starved, %d idle, %d corrected, %d late records, %d backlogs abandoned, %d restarts of the time line\n",
		s.Samples, s.Starved, s.Idle, s.Corrected, s.Late, s.Abandoned, s.Restarts)
}
