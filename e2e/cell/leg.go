// SPDX-License-Identifier: MIT

package cell

import "strings"

// Legs of a trace with dual connectivity (EN-DC): the phone sends on LTE and
// NR at the same time.
const (
	legNR   = "nr"
	legLTE  = "lte"
	legBoth = "both"
)

// Uplink chances in one row of 20 ms, by which a mean block size becomes a
// rate. LTE FDD has a TTI each millisecond; NR at 30 kHz has one uplink slot of
// five (DDDSU) or two of ten (7D1S2U), 8 of 40.
const (
	rowMs       = 20
	lteTTIsARow = 20
	nrSlotsARow = 8
)

// SplitLeg splits FILE#nr, FILE#lte or FILE#both into the file and the leg for
// ParseTraceLeg. Anything else is a file, with leg "".
func SplitLeg(file string) (path, leg string) {
	if i := strings.LastIndexByte(file, '#'); i > 0 {
		switch leg = file[i+1:]; leg {
		case legNR, legLTE, legBoth:
			return file[:i], leg
		}
	}
	return file, ""
}

// ParseTraceLeg is ParseTrace for one leg of a trace: "nr", "lte", or both
// added up ("both", or "" for whatever the file has). The columns are nr_tbs and
// lte_tbs: mean size of a transport block in bytes over a row of 20 ms, as drive
// test tools log it; 20 LTE TTIs and 8 NR uplink slots are taken to be in a row.
//
// A leg that the trace does not have is an error.
func ParseTraceLeg(name string, data []byte, leg string) (Trace, error) {
	switch leg {
	case "", legNR, legLTE, legBoth:
		return parseTrace(name, data, leg)
	}
	p := traceParser{name: name}
	return Trace{}, p.errorf("unknown leg %s, choose from nr, lte and both", clip(leg))
}

// legColumn knows the columns of the legs, with the bit/s of one byte.
func legColumn(name string) (leg string, scale float64, ok bool) {
	const bps = 8 * 1000 / rowMs
	switch name {
	case "nr_tbs":
		return legNR, nrSlotsARow * bps, true
	case "lte_tbs":
		return legLTE, lteTTIsARow * bps, true
	}
	return "", 0, false
}

// wantsLeg says whether a column's leg is asked for.
func wantsLeg(want, leg string) bool { return want == "" || want == legBoth || want == leg }

// noLegs is the error of a leg asked for where there is none.
func (p *traceParser) noLegs() error {
	if p.leg == "" {
		return nil
	}
	return p.errorf("no leg %s in it (columns nr_tbs, lte_tbs)", clip(p.leg))
}
