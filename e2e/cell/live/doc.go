// SPDX-License-Identifier: MIT

// Package live runs a simulated cell in real time between two sockets, or with
// a load of its own and no sockets at all.
//
//	phone side                 Link                       far side
//	  WriteTo ──> Uplink ──> cell.Cell ──────────────────> out of the phone's socket
//	                           └──> Diag: byte stream of the modem's port
//	  socket of the far side <── ReturnDelay <── Downlink <── WriteTo
//
// Uplink and Downlink wrap the sockets of an application, so every datagram it
// sends passes: media, feedback, ICE and DTLS alike. Reading goes straight to
// the socket.
//
//	link.go  Link: the loop           conn.go  the wrapped sockets
//	tap.go   readers of the port      load.go  NewLoad: traffic without sockets
//
// One goroutine (Start, or the caller's in Run) moves everything. It sleeps
// until something can happen, at most a millisecond while the radio is busy;
// the cell is stepped by absolute time, so a late wake-up delays a datagram but
// changes nothing in the cell, and two Links with the same cell configuration,
// Start included, offer the same capacity at the same time. All methods are
// safe for concurrent use.
//
// Clock, timers and sockets are the only outside world, and the sockets may be
// fakes: a Link runs in a bubble of testing/synctest.
package live
