// SPDX-License-Identifier: MIT

// Package diag decodes the diagnostic stream of Qualcomm modems: what the
// phone reported to the base station (buffer status reports) and what it was
// granted. It also writes the same formats, for emulated modems and tests.
//
//	bytes --Deframer--> frame --ParseFrame--> Packet --ParseLog--> []Record
//	      7E, 7D, CRC         98 wrapper, log         one file per
//	                          header, time stamp      log code
//	bytes <-AppendHDLC- frame <--AppendLog--- body <-AppendB139, AppendB064, AppendB060- []Record
//
// [Decoder] is the upper row in one, with counters.
//
// # Files
//
//	crc.go hdlc.go       framing
//	packet.go            radio wrapper and log packet header
//	timestamp.go         the modem's clock
//	logcode.go parse.go  registry: log code -> parser; errors
//	lte_mac.go           container of the LTE MAC log codes
//	lte_mac_header.go    MAC subheaders, BSR control elements (TS 36.321)
//	lte_b060.go          MAC configuration: BSR timers
//	lte_b064.go          uplink transport blocks: grants and BSRs
//	lte_b139.go          PUSCH transmissions: grants
//	bsr_table.go         3GPP buffer size tables; buffer.go uses them
//	encode.go            records to log bodies
//	decoder.go           the whole path with counters
//
// A further log code is a file with a parser and a line in parserOf; a further
// version of a code is a row in that file's table.
//
// # Units and rules
//
// Sizes are bytes. TTI is in subframes (1 ms) since SFN 0 on LTE. Integers of
// the log format are little-endian, MAC headers most significant bit first.
// There is no public specification of the formats. Checked against real
// captures: B139 versions 43, 102, 161; B064 sub-versions 1, 2; B060 sub-version
// 1. The other versions in the tables rest on other public parsers alone; their
// length checks guard them. A version that is not in a table, a length that
// does not fit and a value out of range are errors: nothing is guessed, and a
// packet is decoded whole or not at all.
//
// The functions are pure. Deframer and Decoder are not safe for concurrent
// use. No function allocates per record when dst has room.
package diag
