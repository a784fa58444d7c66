// SPDX-License-Identifier: MIT

// Package diag decodes the diagnostic stream of Qualcomm modems: what the
// phone reported to the base station (buffer status reports) and what it was
// granted. It also writes the same formats, for emulated modems and tests.
//
//	bytes --Splitter--> Packet --WalkB139 ...--> values --ParseLog--> []Record
//	      container,    header,  one type per log        grants, BSRs,
//	      7E, 7D, CRC   98 wrap  code: all its fields    queue, timers
//	bytes <-AppendHDLC- frame <--AppendLog--- body <-AppendB139, AppendB064, AppendB060- []Record
//	command <- BuildLogMask, AppendLogMaskSet
//
// [Decoder] is the upper row in one, with counters; [Details] gives tools the
// values in the middle of it, and [RRCConfigs] makes records of RRC messages,
// which the row leaves out.
//
// # Files
//
//	crc.go hdlc.go       framing of the port; router.go that of newer phones
//	container.go         formats of files, and how to tell them apart
//	splitter.go          any format to packets
//	packet.go            radio wrapper and log packet header
//	timestamp.go         the modem's clock
//	commands.go          log masks, start of a session, codes never to enable
//	device.go            buffers and ioctl arguments of the kernel's device
//	logcode.go parse.go  registry: log code -> parser; errors
//	details.go           registry: log code -> walk; verified.go versions
//	lte_mac.go           container of the LTE MAC log codes
//	lte_mac_header.go    MAC subheaders, BSR control elements (TS 36.321)
//	lte_b060.go          MAC configuration: BSR timers
//	lte_b064.go          uplink transport blocks: grants and BSRs
//	lte_b066.go          queues inside the phone; lte_b067.go counters
//	lte_b0c0.go          RRC messages; rrc_config.go what they configure
//	lte_b139.go          PUSCH transmissions: grants
//	lte_b16c.go          uplink grants as told by the base station
//	nr_*.go              the same for NR
//	bsr_table.go         3GPP buffer size tables; buffer.go uses them
//	record.go            what all of it comes down to
//	encode.go            records to log bodies
//	decoder.go           the whole path with counters
//
// A further log code is a file with a type, a walk and a parser, and a line in
// parserOf, collectorOf and Codes; a further version of a code is a row in that
// file's table.
//
// # Units and rules
//
// Sizes are bytes. TTI is in subframes (1 ms) since SFN 0 on LTE, in slots
// (1 ms / 2^Numerology) since frame 0 on NR; both wrap after 10.24 s. Integers of
// the log format are little-endian, MAC headers most significant bit first.
// There is no public specification of the formats. [Verified] and
// [CodeStats] tell which versions were checked against real captures. The others
// rest on public descriptions alone; their length checks guard them. A version
// that is not in a table, a length that does not fit and a value out of range
// are errors: a packet is decoded whole or not at all, and [Record] says where a
// layout was inferred.
//
// Nothing is skipped in silence: [Stats] accounts for every frame. Codes that
// hold keys or identities are never enabled ([Forbidden]).
//
// The functions are pure. Deframer, Splitter and Decoder are not safe for
// concurrent use. No function but Details allocates per record when dst has room.
package diag
