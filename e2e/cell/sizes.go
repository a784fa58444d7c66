// SPDX-License-Identifier: MIT

package cell

import "github.com/gbrcc/gbrcc/modemlink/diag"

// sizes is a format of BSRs with its table of buffer sizes.
type sizes uint8

const (
	lteSizes    sizes = iota // TS 36.321 table 6.1.3.1-1
	lteExtended              // TS 36.321 table 6.1.3.1-2
	nrShort                  // TS 38.321 table 6.1.3.1-1, 5 bits
	nrLong                   // TS 38.321 table 6.1.3.1-2, 8 bits
)

// sizesOf is what a phone of a configuration uses.
func sizesOf(rat diag.RAT, extended bool) sizes {
	switch {
	case rat == diag.NR && extended:
		return nrLong
	case rat == diag.NR:
		return nrShort
	case extended:
		return lteExtended
	default:
		return lteSizes
	}
}

// ce is the length of the control element for one group, subheader included.
// TS 36.321 6.1.3.1, TS 38.321 6.1.2 and 6.1.3.1.
func (t sizes) ce() int {
	if t == nrLong {
		return 4 // LCID, length, groups, one buffer size
	}
	return 2
}

func (t sizes) form() diag.Form {
	if t == nrLong {
		return diag.FormLong
	}
	return diag.FormShort
}

// index is the table's for a number of bytes.
func (t sizes) index(bytes int) uint8 {
	switch t {
	case nrShort:
		return diag.NRShortIndex(bytes)
	case nrLong:
		return diag.NRLongIndex(bytes)
	case lteSizes, lteExtended:
	}
	return diag.LTEIndex(bytes, t == lteExtended)
}

// upper is how much the base station believes there is; for the index that has
// no upper edge just what it says for sure.
func (t sizes) upper(index uint8) int {
	low, high := t.bin(index)
	return max(low-1, high)
}

// open says that an index has no upper edge.
func (t sizes) open(index uint8) bool {
	_, high := t.bin(index)
	return high < 0
}

// bin is what an index stands for, in bytes; high is -1 without upper edge.
func (t sizes) bin(index uint8) (low, high int) {
	switch t {
	case nrShort:
		return diag.NRShortBufferSize(index)
	case nrLong:
		return diag.NRLongBufferSize(index)
	case lteSizes, lteExtended:
	}
	return diag.LTEBufferSize(index, t == lteExtended)
}
