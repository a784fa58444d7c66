// SPDX-License-Identifier: MIT

package diag

import "encoding/binary"

// B881 is one record of log code 0xB881, counters of NR uplink transport
// blocks, about one a second: for checks, not for control. It makes no records.
//
//	2.0: header 20, records u8@15; record 92: 5 u64, 12 u32, 2 u16
//	2.1: header 20, records u8@15; record 96: 6 u64, 10 u32, 2 u16, 4 bytes
//	3.1: header 12, records u8@7;  record 80: 5 u64, 9 u32, 2 u16
//
// Unverified, each in one public parser; the parts add up to the sizes. Fields
// that a version does not have are 0.
type B881 struct {
	K       string    `json:"k"`
	Version NRVersion `json:"v"`
	// NewBytes and RetxBytes are of new blocks and of retransmissions.
	NewBytes  uint64 `json:"new_bytes"`
	RetxBytes uint64 `json:"retx_bytes"`
	// Sums over blocks: MCS index, resource blocks, power headroom, power.
	MCSSum   uint64 `json:"mcs_sum"`
	PRBSum   uint64 `json:"prb_sum"`
	PHRSum   uint64 `json:"phr_sum"`
	Power    uint64 `json:"power"`
	NewTBs   uint32 `json:"new_tbs"`
	RetxTBs  uint32 `json:"retx_tbs"`
	DTX      uint32 `json:"dtx"`
	NumRI    uint32 `json:"num_ri"`
	RI       uint32 `json:"ri"`
	NumCQI   uint32 `json:"num_cqi"`
	CQI      uint32 `json:"cqi"`
	NumPHR   uint32 `json:"num_phr"`
	TPC      uint32 `json:"tpc"`
	Sched    uint32 `json:"sched"`
	NotSched uint32 `json:"not_sched"`
	PCMax    uint16 `json:"pcmax"`
	FlushGap uint16 `json:"flush_gap"`
}

// WalkB881 calls fn for each record of a B881 packet.
func WalkB881(p Packet, fn func(B881)) error {
	version, err := readNRVersion(p)
	if err != nil {
		return err
	}
	header, count, size := 20, 15, 0
	switch version {
	case nrVersion(2, 0):
		size = 92
	case nrVersion(2, 1):
		size = 96
	case nrVersion(3, 1):
		header, count, size = 12, 7, 80
	default:
		return unsupportedNR(p.Code, version)
	}
	b := p.Body
	if len(b) < header {
		return truncated(p.Code, "header")
	}
	n := int(b[count])
	b = b[header:]
	switch {
	case len(b) < n*size:
		return truncated(p.Code, "records")
	case len(b) > n*size:
		return malformed(p.Code, "bytes of records", len(b))
	}
	for ; len(b) > 0; b = b[size:] {
		v := B881{K: "b881", Version: version}
		v.read(b)
		fn(v)
	}

	return nil
}

func (v *B881) read(b []byte) {
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	v.NewBytes, v.RetxBytes, v.MCSSum, v.PRBSum, v.PHRSum = u64(0), u64(1), u64(2), u64(3), u64(4)
	u32 := func(i int) uint32 { return binary.LittleEndian.Uint32(b[40+4*i:]) }
	tail := 88
	switch v.Version {
	case nrVersion(2, 0):
		v.Power, v.NewTBs, v.RetxTBs, v.DTX = uint64(u32(0)), u32(1), u32(2), u32(3)
		v.NumRI, v.RI, v.NumCQI, v.CQI = u32(4), u32(5), u32(6), u32(7)
		v.NumPHR, v.TPC, v.Sched, v.NotSched = u32(8), u32(9), u32(10), u32(11)
	case nrVersion(2, 1):
		v.Power, v.NewTBs, v.RetxTBs = u64(5), u32(2), u32(3)
		v.NumRI, v.RI, v.NumCQI, v.CQI = u32(4), u32(5), u32(6), u32(7)
		v.NumPHR, v.TPC, v.Sched, v.NotSched = u32(8), u32(9), u32(10), u32(11)
	default:
		v.Power, v.NewTBs, v.RetxTBs, v.RI, v.CQI = uint64(u32(0)), u32(1), u32(2), u32(3), u32(4)
		v.NumPHR, v.Sched, v.NotSched = u32(5), u32(7), u32(8)
		tail = 76
	}
	v.PCMax, v.FlushGap = binary.LittleEndian.Uint16(b[tail:]), binary.LittleEndian.Uint16(b[tail+2:])
}

// parseB881 checks the packet.
func parseB881(p Packet, dst []Record) ([]Record, error) {
	return dst, WalkB881(p, func(B881) {})
}
