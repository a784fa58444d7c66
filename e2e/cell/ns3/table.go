// SPDX-License-Identifier: MIT

package ns3

import (
	_ "embed" // for Checked
	"fmt"
	"strings"
)

//go:embed testdata/ns3.golden
var checked string

// Checked is Table of all runs as this package's test last found it: the test
// fails when the cell gives other figures.
func Checked() string { return checked }

// Table is the rows in Markdown: the reference's figure, then ours.
func Table(list []Row) string {
	var b strings.Builder
	b.WriteString("| run | regime | mean ratio | sum ratio | load | BSR spacing p50, p95 (ms) | delay p50, p95 (ms) | rate (Mbit/s) | of all | out of band |\n" +
		"|-----|--------|------------|-----------|------|---------------------------|---------------------|---------------|--------|-------------|\n")
	for _, r := range list {
		a, o := r.Reference, r.Ours
		fmt.Fprintf(&b, "| %s | %s | %.3g / %.3g | %.3g / %.3g | %s / %.2f | %.3g, %.3g / %.3g, %.3g | %s, %s / %s, %s | %.2f / %.2f | %.1f / %.1f | %s |\n",
			r.Run, r.Regime, a.Eta, o.Eta, a.Ratio, o.Ratio, load(a.Load), o.Load, a.SpacingP50, a.SpacingP95, o.SpacingP50, o.SpacingP95,
			delay(a.DelayP50), delay(a.DelayP95), delay(o.DelayP50), delay(o.DelayP95), a.Rate, o.Rate, a.RateAll, o.RateAll, strings.Join(r.Misses, "; "))
	}
	return b.String()
}

// load is that of the reference, which does not tell it of NR.
func load(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

// delay is ms, finer where they are few.
func delay(ms float64) string {
	if ms < 100 {
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}
