// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"slices"
)

// Verified tells whether the layout of a version was checked against captures of
// real phones. The others rest on public descriptions alone: their lengths are
// checked, and their values deserve a second look. For LTE MAC codes (B060,
// B064, B066, B067) version is the sub-version.
func Verified(code LogCode, version uint32) bool {
	return slices.Contains(verifiedVersions(code), version)
}

func verifiedVersions(code LogCode) []uint32 {
	switch code {
	case LogB060:
		return []uint32{1}
	case LogB064:
		return []uint32{1, 2}
	case LogB066:
		return []uint32{3, 24}
	case LogB067:
		return []uint32{2}
	case LogB0C0:
		return []uint32{8, 9, 13, 15, 20, 26}
	case LogB139:
		return []uint32{43, 102, 161}
	case LogB16C:
		return []uint32{7, 48, 49}
	case LogB821:
		return []uint32{8}
	default:
		return nil
	}
}

// Version returns the version of a packet's layout and, for LTE MAC codes, that
// of its sub-packet; -1 is not there. It is 32 bits, major above minor, for the
// codes of NR (0xB8xx) and 8 for all others.
func (p Packet) Version() (version, sub int) {
	b := p.Body
	switch {
	case len(b) == 0:
		return -1, -1
	case p.Code>>8 == 0xB8 && len(b) >= 4:
		return int(binary.LittleEndian.Uint32(b)), -1
	}
	sub = -1
	if id, ok := macSubID(p.Code); ok {
		// The error is the parser's to report.
		_ = macSubs(p, id, func(s macSub) error {
			if sub < 0 {
				sub = int(s.version)
			}

			return nil
		})
	}

	return int(b[0]), sub
}
