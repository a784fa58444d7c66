// SPDX-License-Identifier: MIT

// Package fakemodem is a Qualcomm modem for tests: it speaks the diagnostic
// protocol on the ports that live sources open.
//
//	ServeStream: bytes of HDLC --+
//	ListenTCP, OpenPTY ----------+--> commands --> Modem --> answers
//	ListenRouter: messages ------+                   +-----> log packets, if their
//	                                                         code is in the mask
//
// It answers what a session asks at its start, refuses a log mask that is longer
// than it has logs, and a second client. Its log packets come in bursts of 380 ms,
// as real ones do, until somebody drains its buffer; then every 1 to 2 ms.
//
// Map: modem.go the modem, stream.go byte streams and TCP, play.go log packets
// in real time, records.go log packets to play; pty_linux.go and
// router_linux.go ports that only Linux has.
//
// All methods are safe for concurrent use.
package fakemodem
