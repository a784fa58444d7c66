// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"strconv"
	"time"
)

// The NR log codes (0xB8..) begin with a u32 version and place their samples
// in slots: frame number of 10 bits, slot within the frame, numerology.
//
// Nothing here was checked against a capture of a modem, because none is
// public: the layouts are what public parsers state. What guards them are
// their lengths, which must fit exactly, and the ranges of slot, numerology and
// transport block size. See the comment at each code for who says what.

// NRVersion is the version of an NR log code: major<<16 | minor, or a plain
// small number in the first formats.
type NRVersion uint32

// String returns "2.17", or "4" for a plain number.
func (v NRVersion) String() string {
	if v>>16 == 0 {
		return strconv.FormatUint(uint64(v), 10)
	}

	return strconv.FormatUint(uint64(v>>16), 10) + "." + strconv.FormatUint(uint64(v&0xFFFF), 10)
}

// MarshalText implements encoding.TextMarshaler.
func (v NRVersion) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// nrVersion makes a version of two parts.
func nrVersion(major, minor uint16) NRVersion { return NRVersion(major)<<16 | NRVersion(minor) }

const nrVersionLen = 4

// readNRVersion reads the version word.
func readNRVersion(p Packet) (NRVersion, error) {
	if len(p.Body) < nrVersionLen {
		return 0, truncated(p.Code, "version")
	}

	return NRVersion(binary.LittleEndian.Uint32(p.Body)), nil
}

func unsupportedNR(code LogCode, v NRVersion) error {
	return &UnsupportedVersionError{Code: code, Version: uint32(v)}
}

const (
	// frames is the number of radio frames until SFN wraps, on LTE and NR.
	frames = 1024
	// maxNumerology is 240 kHz: a slot number of 8 bits holds no more.
	maxNumerology = 4
	// nrMaxTB bounds transport blocks, in bytes. TS 38.214 5.1.3.2 gives at
	// most 160 kB (four layers); the widest field, B883's, has 18 bits.
	nrMaxTB = 1 << 18
)

// NRSlotTime is when an NR sample was on air.
type NRSlotTime struct {
	// Frame is 0..1023, Slot counts within the frame.
	Frame uint16 `json:"frame"`
	Slot  uint8  `json:"slot"`
	// Numerology is mu, TS 38.211 4.2: subcarriers 15 kHz * 2^mu apart, slots
	// of 1 ms / 2^mu.
	Numerology uint8 `json:"numerology"`
}

// valid tells whether the frame has such a slot, TS 38.211 4.3.2.
func (t NRSlotTime) valid() bool {
	return t.Frame < frames && t.Numerology <= maxNumerology && int(t.Slot) < 10<<t.Numerology
}

// TTI is slots since frame 0.
func (t NRSlotTime) TTI() int { return int(t.Frame)*(10<<t.Numerology) + int(t.Slot) }

// TTIs returns how many TTIs there are until the count begins again: 10240 on
// LTE, 10240 * 2^Numerology slots on NR. It is 10.24 s on both.
func (r *Record) TTIs() int { return frames * 10 << r.Numerology }

// TTILength returns the length of a TTI: 1 ms on LTE, 1 ms / 2^Numerology on NR.
func (r *Record) TTILength() time.Duration { return time.Millisecond >> r.Numerology }

// nrRecord is what all records of a sample share.
func nrRecord(p Packet, kind Kind, t NRSlotTime) Record {
	return Record{
		Code: p.Code, Kind: kind, RAT: NR, Radio: p.Radio, Logged: p.Logged,
		TTI: t.TTI(), Numerology: t.Numerology,
	}
}
