// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"encoding/json"
)

// B067 is log code 0xB067, LTE uplink transmission statistics of about 100 ms:
// a coarse check of what the finer codes tell. It makes no records.
type B067 struct {
	K          string `json:"k"`
	SubVersion uint8  `json:"subver"`
	// Index is the sub id, 0 in sub-version 1.
	Index  uint8      `json:"sub_id"`
	Values B067Values `json:"vals"`
}

// B067Values is the counters of the interval; JSON has a list in this order.
type B067Values struct {
	// Subframes is the interval in milliseconds.
	Subframes uint8
	// BSRs by why they were sent, or not sent.
	PaddingBSRs, RegularBSRs, PeriodicBSRs, CancelledBSRs uint8
	// Granted is bytes of grants, Utilised what of them was not padding.
	Granted, Utilised uint32
}

// MarshalJSON implements json.Marshaler.
func (v B067Values) MarshalJSON() ([]byte, error) {
	return json.Marshal([...]uint32{
		uint32(v.Subframes), uint32(v.PaddingBSRs), uint32(v.RegularBSRs), uint32(v.PeriodicBSRs), uint32(v.CancelledBSRs),
		v.Granted, v.Utilised,
	})
}

const (
	b067ID  = 11
	b067Len = 13
)

// WalkB067 calls fn for each interval of a B067 packet.
func WalkB067(p Packet, fn func(B067)) error {
	return macSubs(p, b067ID, func(s macSub) error {
		v, b := B067{K: "b067", SubVersion: s.version}, s.body
		switch s.version {
		case 1:
		case 2: // a sub id in front
			if len(b) > 0 {
				v.Index, b = b[0], b[1:]
			}
		default:
			return unsupportedSub(p, s)
		}
		if len(b) < b067Len {
			return truncated(p.Code, "statistics")
		}
		v.Values = B067Values{
			Subframes: b[0], PaddingBSRs: b[1], RegularBSRs: b[2], PeriodicBSRs: b[3], CancelledBSRs: b[4],
			Granted: binary.LittleEndian.Uint32(b[5:]), Utilised: binary.LittleEndian.Uint32(b[9:]),
		}
		fn(v)

		return nil
	})
}

// parseB067 checks the packet; the counters are no records.
func parseB067(p Packet, dst []Record) ([]Record, error) {
	return dst, WalkB067(p, func(B067) {})
}
