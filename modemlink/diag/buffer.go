// SPDX-License-Identifier: MIT

package diag

// Buffer returns the bytes that a KindBSR record reports, summed over its LCGs:
// the queue was within [low, high]. extended selects LTE's extended table.
// high is -1 when a group's bin has no upper edge, and for a truncated BSR,
// which is sent because further groups have data that it does not tell.
func (r *Record) Buffer(extended bool) (low, high int) {
	for g := range MaxLCG {
		if r.LCGs>>g&1 == 0 {
			continue
		}
		l, h := r.bin(r.Index[g], extended)
		low += l
		if h < 0 || high < 0 {
			high = -1
		} else {
			high += h
		}
	}
	if r.Form == FormTruncated || r.Form == FormLongTruncated {
		high = -1
	}

	return low, high
}

func (r *Record) bin(idx uint8, extended bool) (low, high int) {
	switch {
	case r.RAT != NR:
		return LTEBufferSize(idx, extended)
	case r.Form == FormLong, r.Form == FormLongTruncated:
		return NRLongBufferSize(idx)
	default:
		return NRShortBufferSize(idx)
	}
}
