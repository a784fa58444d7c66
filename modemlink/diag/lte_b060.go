// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"time"
)

// B060 is the uplink part of log code 0xB060, the LTE MAC configuration. Of its
// sub-packets only that one (id 2) matters: it gives the BSR timers without
// decoding RRC. It is sent when the configuration changes, so a log that begins
// later has none.
type B060 struct {
	K          string `json:"k"`
	SubVersion uint8  `json:"subver"`
	// Index is the sub id, 0 in sub-version 1.
	Index uint8 `json:"sub_id"`
	// SR tells of scheduling requests, SRPeriod their spacing in subframes.
	SR       uint8  `json:"sr"`
	SRPeriod uint16 `json:"sr_period"`
	// PeriodicBSR and RetxBSR are timers in milliseconds; 65535 is infinity.
	PeriodicBSR uint16 `json:"periodic_bsr"`
	// SPS is how many empty transmissions release semi-persistent scheduling.
	SPS     uint16 `json:"sps"`
	RetxBSR uint16 `json:"retx_bsr"`
}

const (
	b060ID = 2
	// b060Infinite is a timer of "infinity".
	b060Infinite = 0xFFFF
	b060Len      = 9
)

// WalkB060 calls fn for each uplink configuration of a B060 packet.
func WalkB060(p Packet, fn func(B060)) error {
	return macSubs(p, b060ID, func(s macSub) error {
		v, b := B060{K: "b060", SubVersion: s.version}, s.body
		switch s.version {
		case 1:
		case 2: // a sub id in front
			if len(b) > 0 {
				v.Index, b = b[0], b[1:]
			}
		default:
			return unsupportedSub(p, s)
		}
		if len(b) < b060Len {
			return truncated(p.Code, "uplink configuration")
		}
		v.SR = b[0]
		v.SRPeriod = binary.LittleEndian.Uint16(b[1:])
		v.PeriodicBSR = binary.LittleEndian.Uint16(b[3:])
		v.SPS = binary.LittleEndian.Uint16(b[5:])
		v.RetxBSR = binary.LittleEndian.Uint16(b[7:])
		fn(v)

		return nil
	})
}

func parseB060(p Packet, dst []Record) ([]Record, error) {
	err := WalkB060(p, func(v B060) {
		r := Record{
			Code: p.Code, Kind: KindConfig, RAT: LTE, Radio: p.Radio, Logged: p.Logged,
			PeriodicBSR: time.Duration(v.PeriodicBSR) * time.Millisecond,
			RetxBSR:     time.Duration(v.RetxBSR) * time.Millisecond,
		}
		if v.PeriodicBSR == b060Infinite {
			r.PeriodicBSR = Infinite
		}
		dst = append(dst, r)
	})

	return dst, err
}
