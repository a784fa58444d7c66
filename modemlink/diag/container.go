// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"strconv"
)

// Format is how log packets lie in a stream or file.
type Format uint8

// Formats.
const (
	// FormatHDLC is frames with escapes and checksums: a diagnostic port,
	// QMDL, mi2log and QMDL2 without a header.
	FormatHDLC Format = iota
	// FormatRouter is frames with a length and no checksum, as between modem
	// and diag-router on newer phones.
	FormatRouter
	// FormatQMDL2 is a header and then one of the two before.
	FormatQMDL2
	// FormatDLF is log packets one after the other, without command byte.
	FormatDLF
	// FormatScan is any file that has log packets somewhere in it, as the
	// proprietary HDF and ISF do: they are found by their header.
	FormatScan
)

func (f Format) String() string {
	switch f {
	case FormatHDLC:
		return "hdlc"
	case FormatRouter:
		return "router"
	case FormatQMDL2:
		return "qmdl2"
	case FormatDLF:
		return "dlf"
	case FormatScan:
		return "scan"
	default:
		return "format(" + strconv.Itoa(int(f)) + ")"
	}
}

// SniffLen is how much of a file Sniff should see, if there is that much: a few
// of the longest frames.
const SniffLen = 256 << 10

// Sniff tells the format of a file from its first bytes. ok is false when
// nothing in them looks like a log packet.
func Sniff(head []byte) (f Format, ok bool) {
	head = head[:min(len(head), SniffLen)]
	if n, _ := qmdl2Header(head); n > 0 {
		return FormatQMDL2, true
	}
	var d Deframer
	d.Write(head)
	for {
		if _, err := d.Next(); err != nil {
			break
		}
	}
	// Chance gives a good checksum to one of 65536 frames.
	if s := d.Stats(); s.Frames > 0 && s.Frames >= s.BadCRC+s.Short+s.Oversized {
		return FormatHDLC, true
	}
	if payload, _ := routerFrame(head); payload != nil {
		return FormatRouter, true
	}
	if looksLikeDLF(head) {
		return FormatDLF, true
	}
	s := Splitter{Format: FormatScan}
	s.Write(head)
	if _, err := s.Next(); err == nil {
		return FormatScan, true
	}

	return FormatHDLC, false
}

// looksLikeDLF tells that b begins with two packets, or with one that fills it.
func looksLikeDLF(b []byte) bool {
	for i := range 2 {
		if !plausibleLog(b) {
			return i == 1 && len(b) == 0
		}
		n := int(binary.LittleEndian.Uint16(b))
		if n > len(b) {
			return i == 1
		}
		b = b[n:]
	}

	return true
}

// plausibleLog tells whether b begins with the inner header of a log packet:
// length, log code, time stamp.
func plausibleLog(b []byte) bool {
	const maxTicks = 1 << 42 // the year 2154
	if len(b) < logInnerHeader || int(binary.LittleEndian.Uint16(b)) < logInnerHeader {
		return false
	}
	switch b[3] >> 4 { // the equipment id: of these no log code is known
	case 0, 2, 3, 9, 0xE, 0xF:
		return false
	}
	ts := binary.LittleEndian.Uint64(b[4:])

	return ts&0xFFFF < chipsPerTick && ts>>16 < maxTicks
}

// qmdl2HeaderLen is the header without its list of identifiers:
//
//	length u32 | version u8 | 0 router frames, 1 HDLC | identifiers u32 | 16 bytes each
const (
	qmdl2HeaderLen = 10
	qmdl2GUIDLen   = 16
	qmdl2MaxGUIDs  = 4096
)

// qmdl2Header returns the length of the header that b begins with, 0 if that is
// none, and the format of what follows.
func qmdl2Header(b []byte) (n int, inner Format) {
	if len(b) < qmdl2HeaderLen {
		return 0, 0
	}
	guids := binary.LittleEndian.Uint32(b[6:])
	if guids > qmdl2MaxGUIDs || binary.LittleEndian.Uint32(b) != qmdl2HeaderLen+qmdl2GUIDLen*guids || b[4] == 0 || b[5] > 1 {
		return 0, 0
	}
	inner = FormatRouter
	if b[5] == 1 {
		inner = FormatHDLC
	}

	return int(qmdl2HeaderLen + qmdl2GUIDLen*guids), inner
}

// AppendQMDL2Header appends the header of a QMDL2 file without identifiers, for
// content in FormatHDLC or FormatRouter.
func AppendQMDL2Header(dst []byte, inner Format) []byte {
	dst = append(dst, qmdl2HeaderLen, 0, 0, 0, 1, 0, 0, 0, 0, 0)
	if inner == FormatHDLC {
		dst[len(dst)-5] = 1
	}

	return dst
}

// AppendDLF appends a log packet as DLF files have it. A body longer than 65523
// bytes does not fit and appends nothing.
func AppendDLF(dst []byte, code LogCode, logged Timestamp, body []byte) []byte {
	if len(body) > maxBody {
		return dst
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(body)+logInnerHeader))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(code))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(logged))

	return append(dst, body...)
}
