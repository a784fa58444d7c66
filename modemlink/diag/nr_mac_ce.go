// SPDX-License-Identifier: MIT

package diag

import (
	"errors"
	mathbits "math/bits"
)

// MAC control elements of the NR uplink, TS 38.321 table 6.2.1-2 and 6.1.3, as
// the L2 log codes show them: an LCID byte, for those of variable size a length
// byte L, then the payload.
//
//	59, 61  short (truncated) BSR   LCG bits 7-5, index of the 5-bit table bits 4-0
//	60, 62  long (truncated) BSR    L | LCG bits | indices of the 8-bit table
//	57      single entry PHR        2 bytes
const (
	nrSinglePHR          = 57
	nrShortTruncatedBSR  = 59
	nrLongTruncatedBSR   = 60
	nrShortBSR           = 61
	nrLongBSR            = 62
	nrSinglePHRLen       = 2
	nrShortBSRGroupShift = 5
	nrShortBSRIndexMask  = 0x1F
)

var (
	errNRCE      = errors.New("MAC control element cut off at")
	errNRLongBSR = errors.New("long BSR of length")
	errNRTwoBSRs = errors.New("second BSR at")
)

// NRBSR is a BSR control element of NR as sent. LCID 0 is none.
type NRBSR struct {
	LCID uint8 `json:"lcid"`
	// LCGs is a bit set of the groups that Index holds.
	LCGs uint8 `json:"lcgs"`
	// Index is by group: of the 5-bit table for LCID 59 and 61, of the 8-bit
	// one for 60 and 62.
	//
	// A long truncated BSR may have fewer indices than groups, by their
	// priority (TS 38.321 5.4.5), which the log does not tell. They are given
	// to the lowest groups in the bit set, and LCGs keeps those: the sum is
	// right, the group may not be.
	Index [MaxLCG]uint8 `json:"idx"`
	// More is the groups with data that a long truncated BSR tells nothing of.
	More uint8 `json:"more,omitempty"`
}

// form is the record's; 0 for none.
func (b *NRBSR) form() Form {
	switch b.LCID {
	case nrShortBSR:
		return FormShort
	case nrLongBSR:
		return FormLong
	case nrShortTruncatedBSR:
		return FormTruncated
	case nrLongTruncatedBSR:
		return FormLongTruncated
	default:
		return 0
	}
}

// truncated tells of the two forms that only padding BSRs have, TS 38.321 5.4.5.
func (b *NRBSR) truncated() bool {
	return b.LCID == nrShortTruncatedBSR || b.LCID == nrLongTruncatedBSR
}

// parseNRCEs walks control elements and returns the BSR, of which a MAC PDU has
// at most one (TS 38.321 5.4.5). An element of unknown LCID has unknown size:
// the walk ends there with what it has. at is where it failed, or the value
// that the error names.
func parseNRCEs(b []byte) (bsr NRBSR, at int, err error) {
	for pos := 0; pos < len(b); {
		lcid, p := b[pos], b[pos+1:]
		size := 0
		switch lcid {
		case nrSinglePHR:
			size = nrSinglePHRLen
		case nrShortBSR, nrShortTruncatedBSR:
			size = 1
		case nrLongBSR, nrLongTruncatedBSR:
			if len(p) < 1 {
				return bsr, pos, errNRCE
			}
			size = 1 + int(p[0])
		default:
			return bsr, 0, nil
		}
		if len(p) < size {
			return bsr, pos, errNRCE
		}
		if lcid != nrSinglePHR {
			if bsr.LCID != 0 {
				return bsr, pos, errNRTwoBSRs
			}
			if !bsr.parse(lcid, p[:size]) {
				return bsr, size - 1, errNRLongBSR
			}
		}
		pos += 1 + size
	}

	return bsr, 0, nil
}

// parse reads a payload, TS 38.321 6.1.3.1.
func (b *NRBSR) parse(lcid uint8, p []byte) bool {
	b.LCID = lcid
	if lcid == nrShortBSR || lcid == nrShortTruncatedBSR {
		g := p[0] >> nrShortBSRGroupShift
		b.LCGs = 1 << g
		b.Index[g] = p[0] & nrShortBSRIndexMask

		return true
	}
	if len(p) < 2 {
		return false
	}
	groups, indices := p[1], p[2:]
	n := mathbits.OnesCount8(groups)
	if len(indices) > n || len(indices) < n && lcid == nrLongBSR {
		return false
	}
	for g := range uint8(MaxLCG) {
		switch {
		case groups>>g&1 == 0:
		case len(indices) == 0:
			b.More |= 1 << g
		default:
			b.LCGs |= 1 << g
			b.Index[g] = indices[0]
			indices = indices[1:]
		}
	}

	return true
}
