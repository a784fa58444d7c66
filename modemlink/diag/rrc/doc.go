// SPDX-License-Identifier: MIT

// Package rrc finds the timers of buffer status reporting in the RRC messages
// of LTE (TS 36.331) and NR (TS 38.331). It is no RRC decoder: it walks the bits
// of the unaligned packed encoding (UPER, ITU-T X.691) as far as the MAC
// configuration and passes over everything else.
//
//	LTE  RRCConnectionSetup, -Reestablishment, -Resume    RRCConnectionReconfiguration
//	            |                                          | measConfig, mobilityControlInfo, NAS: passed over
//	            v                                          v
//	     radioResourceConfigDedicated <--------------------+
//	            | srb-, drb-ToAddModList: passed over      | v890 ... v1430: passed over
//	            v                                          v
//	     mac-MainConfig > ul-SCH-Config              v1510 nr-Config
//	            |                                          |
//	            v                                          v
//	         Config                     NR  RRCReconfiguration, RRCSetup, RRCResume
//	            ^                                          | radioBearerConfig: passed over
//	            |                                          v
//	            |                      secondary-, masterCellGroup (octet string)
//	            |                                          | rlc-BearerToAddModList: passed over
//	            |                                          v
//	            +--- bsr-Config <--- drx, SR <--- mac-CellGroupConfig
//
// # What is kept
//
// The fields of [Config]: periodicBSR-Timer, retxBSR-Timer, the delay of
// scheduling requests and whether LTE uses the extended buffer size table.
// Nothing else leaves this package. Identities (C-RNTI, cells, bearers), keys
// and security parameters, NAS messages and measurements are counted in bits
// and never stored, and no error quotes them; errors only name fields of the
// ASN.1 modules.
//
// # Never a guess
//
// UPER has no tags: whoever misses one optional bit reads noise. So a field on
// the way that is not modelled ends the walk with a [SkippedError] that names
// it. Extension additions carry their length and are passed over, known or not.
// Not modelled are, on LTE: objects of other radios in measConfig, secondary
// cells (sCellToAddModList), LTE dual connectivity, WLAN and sidelink; on NR:
// measConfig in front of a masterCellGroup, and NR-NR dual connectivity.
//
// Messages tell changes: ErrNoMAC means that nothing changes, and a field
// without its Has flag stays as it was.
//
// # Files
//
//	walk.go          Walk, WalkAll, Channel, Config; error.go
//	bits.go          the UPER reader
//	timer.go         enumerations to durations
//	lte.go           messages of LTE
//	lte_dedicated.go radioResourceConfigDedicated: bearers, SPS
//	lte_mac.go       mac-MainConfig
//	lte_physical.go  physicalConfigDedicated, only passed over
//	lte_mobility.go  mobilityControlInfo, securityConfigHO, only passed over
//	lte_meas.go      measConfig, only passed over
//	nr.go            messages of NR
//	nr_cellgroup.go  CellGroupConfig
//	nr_bearer.go     radioBearerConfig, only passed over
//
// # Units and rules
//
// Timers are durations; 1 sf is 1 ms on both radios. A spare value of a timer is
// malformed. The functions are pure and have no state, so they are safe for
// concurrent use. They do not allocate, except for a SkippedError and a dst
// without room.
//
// Checked against messages of real networks, and against an independent decoder
// on generated messages of every kind with random optional fields.
package rrc
