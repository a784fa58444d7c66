// SPDX-License-Identifier: MIT

// Package tcp is the other traffic behind a bottleneck: bulk data over TCP with
// CUBIC, long or in short transfers, as code without a clock. No bytes are
// moved, only their numbers.
//
//	        Send ──► Segment ──► bottleneck ──► OnSegment
//	Sender                                          Receiver
//	        OnAck ◄── Ack ◄── the way back ◄────────┘ every second one, or 40 ms
//
//	window
//	 wMax |------.------------ .....__________......   C (t-K)^3 + wMax
//	      |      |          .'                      '. and beyond: probing
//	      |      |        .'
//	 0.7  |      '------'   K = cbrt(0.3 wMax / C)
//	      +-------------------------------------------> time
//	             loss
//
// # Files
//
//	segment.go    Segment, Ack, Range
//	config.go     Config
//	sender.go     Sender: what is sent, and what an Ack means
//	scoreboard.go which segments are out, arrived, lost
//	recovery.go   how much is sent after a loss
//	cubic.go      the congestion window
//	hystart.go    the end of slow start before the first loss
//	rtt.go        round trip, retransmission timeout
//	receiver.go   Receiver: reassembly, acknowledgements
//	short.go      Short: transfers with pauses
//
// # Use
//
// A sender has something to do at its NextTimeout and after an Ack: call
// OnTimeout or OnAck, then Send until it returns false. A receiver answers a
// Segment with an Ack or at its NextTimeout. A zero NextTimeout is none.
//
// Sequence numbers and lengths are bytes, windows segments, times the caller's.
// What the other side says is checked: nothing panics, and memory is bounded by
// MaxWindow. Nothing allocates per segment once the window has been as large
// before. Senders and receivers are not safe for concurrent use.
//
// # Sources and deviations
//
// The window is RFC 9438, the timeout RFC 6298, the first window RFC 6928, the
// reduction RFC 6937, the end of slow start RFC 9406. Recovery is RFC 6675's
// with the pipe counted in segments, but for one thing: a segment is lost when
// one that was sent three later has arrived, by the order of sending and not by
// sequence number. Without retransmissions that is the same; and a lost
// retransmission is found without a timeout, as RACK (RFC 8985) does in today's
// senders.
//
// The timeout is at least 200 ms above the round trip, as deployed, and not 1 s.
// There are no handshake, no timestamps (round trips are measured on segments
// sent once, RFC 6298 3), no tail loss probe, no undo of reductions that turn
// out needless, no ECN, no pacing.
package tcp
