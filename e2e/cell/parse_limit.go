// SPDX-License-Identifier: MIT

package cell

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// DropNoLimit leaves the steps of a CSV trace out that are above 1 Gbit/s, with
// which recorders say that there was no limit to be seen: the rate before them
// goes on, and at the end the trace ends before them. The lines that remain keep
// their numbers; dropped is how many steps do not. ParseTrace, which refuses such
// rates, can read the rest.
func DropNoLimit(data []byte) (rest []byte, dropped int) {
	lines := bytes.Split(data, []byte("\n"))
	column, scale := rateColumn(string(lines[0]))
	if column < 0 {
		return data, 0
	}
	before := ""   // the rate
	var open []int // lines without a limit that nothing has followed yet
	for i := range lines {
		fields := strings.Split(string(lines[i]), ",")
		if i == 0 || column >= len(fields) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[column]), 64)
		if err != nil || math.IsInf(v, 0) || !(v*scale > maxBytesPerMs*8000) { // NaN is no number either
			before, open = fields[column], nil
			continue
		}
		open = append(open, i)
		dropped++
		fields[column] = before
		lines[i] = []byte(strings.Join(fields, ","))
		if before == "" {
			lines[i] = nil // blank lines are none to a parser, and the others keep their numbers
		}
	}
	if dropped == 0 {
		return data, 0
	}
	for _, i := range open {
		lines[i] = nil
	}
	return bytes.Join(lines, []byte("\n")), dropped
}

// rateColumn finds the rate in a header, and its unit; -1 for none.
func rateColumn(header string) (column int, bps float64) {
	for i, name := range strings.Split(header, ",") {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "ul_kbps":
			return i, 1e3
		case "ul_mbps":
			return i, 1e6
		}
	}
	return -1, 0
}
