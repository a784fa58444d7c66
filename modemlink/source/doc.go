// SPDX-License-Identifier: MIT

// Package source is where an agent's telemetry comes from.
//
//	diag    phone: driver or router --+
//	serial  port of a modem ----------+--> port --> session --+
//	tcp     bridge to one ------------+   bytes,   start-up,  |
//	                                      commands log mask   v
//	sim     emulated cell (not on phones) ---bytes--------> Diag ------> emit(gbr.Telemetry)
//	file    capture of a port ---------------bytes, paced---> (diag.Decoder,
//	                                                           diag.RRCConfigs,
//	                                                           ratio.Assembler)
//	file    recording (JSON lines) ------------------------------------> emit
//
// # Ports
//
// A port opens one way to a modem, moves bytes, and undoes on Close what it
// changed. A session makes the modem log: start-up questions, all logs off, how
// many logs there are, the mask of [diag.GBRCodes] and no other. Every answer has a
// timeout. What can be wrong are the errors of port.go.
//
// When a session ends, whatever the reason, it sets the log mask to nothing, and
// the phone's driver or router back to USB. A process that is killed cannot: the
// driver and the router then restore the mode themselves when its file closes. A
// modem on a serial port or behind a bridge goes on logging to nobody, which
// costs it some power, until the next session; every session begins with "all
// off".
//
// Life: a modem with nothing to tell is asked for a sign of life every 100 ms,
// with a command that it answered before. 3 s without a byte end the session. A
// session that ended is tried again after 0.5 s, 1 s, .. 10 s, and meanwhile
// nothing is emitted: clients see a stalled source. Only a first failure is final.
//
// Draining: phones hold logs back and give them away in bursts of some 380 ms.
// The phone's own modem is told every millisecond to give away what it has. Modems
// on serial ports and bridges cannot be told.
//
// # Files
//
//	source.go           the interface and Open
//	port.go             port, errors
//	session.go          start-up, signs of life, end
//	modem.go            sessions one after the other
//	serial.go tcp.go    ports; lock_*.go keeps two agents apart
//	phone*.go           which port a phone has; draining
//	device*.go          its driver on older kernels: /dev/diag, ioctls
//	router.go           its router on newer ones: a socket
//	diag.go stats.go    bytes to telemetry; counters
//	rrc.go              BSR timers out of RRC messages, and nothing else
//	unknown.go          log packets of unknown versions, kept for a report
//	capture.go          replay of a capture
//	line.go encode.go   format of recordings: reading and writing a line
//	lines.go            files of JSON lines
//	file.go writer.go   replay of recordings, their making
//	sim.go nosim.go     the emulated modem
//
// Units are in the names: _ms is milliseconds, _bytes bytes.
//
// A source is run once and from one goroutine; emit is called from the goroutine
// of Run.
//
// Not checked on hardware: external modems behind a phone's driver, and all
// layouts of its logging mode. They follow the public kernel sources and tools
// that are known to work.
package source
