// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"time"
)

// B060, LTE MAC configuration. Of its sub-packets only the uplink one (id 2)
// matters: it gives the BSR timers without decoding RRC. It is sent when the
// configuration changes, so a log that begins later has none.
const (
	b060UplinkID = 2
	// b060Infinite is periodicBSR-Timer "infinity".
	b060Infinite = 0xFFFF
)

// b060Layout places the fields of the uplink sub-packet.
type b060Layout struct{ periodic, retx, size int }

func b060LayoutOf(sub uint8) (b060Layout, bool) {
	switch sub {
	case 1:
		return b060Layout{periodic: 3, retx: 7, size: 9}, true
	case 2: // a sub id in front
		return b060Layout{periodic: 4, retx: 8, size: 10}, true
	default:
		return b060Layout{}, false
	}
}

func parseB060(p Packet, dst []Record) ([]Record, error) { return macSubs(p, dst, parseB060Sub) }

func parseB060Sub(p Packet, s macSub, dst []Record) ([]Record, error) {
	if s.id != b060UplinkID {
		return dst, nil
	}
	l, ok := b060LayoutOf(s.version)
	if !ok {
		return dst, &UnsupportedVersionError{Code: p.Code, Version: uint32(s.version), Sub: true}
	}
	if len(s.body) < l.size {
		return dst, truncated(p.Code, "uplink configuration")
	}
	periodic := binary.LittleEndian.Uint16(s.body[l.periodic:])
	r := Record{
		Code: p.Code, Kind: KindConfig, RAT: LTE, Radio: p.Radio, Logged: p.Logged,
		PeriodicBSR: time.Duration(periodic) * time.Millisecond,
		RetxBSR:     time.Duration(binary.LittleEndian.Uint16(s.body[l.retx:])) * time.Millisecond,
	}
	if periodic == b060Infinite {
		r.PeriodicBSR = Infinite
	}

	return append(dst, r), nil
}
