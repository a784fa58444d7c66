// SPDX-License-Identifier: MIT

// Package ratio joins what the phone reported to the base station (BSRs) with
// what it was granted, into the telemetry that package gbr steers by.
//
//	BSR     b0        b1                           b0 bytes reported
//	        |    T    |
//	TTI ----t0--------t1---------------------> 1 ms each
//	        :<-- L -->:<-- L -->
//	        (===================)               window 0
//	                  (===================)     window 1
//	grants  #  #      # #   # # #   #   #       ratio 0 = sum in window 0 / b0
//	        └─ on   ┘ └ first that can answer b0
//	        their way
//
// # The window
//
// Borders are regular and periodic BSRs, and those of the retransmission timer,
// which are regular ones (TS 36.321 5.4.5). Padding BSRs are told as reports but
// border nothing. A BSR in TTI t is answered from TTI t + L on, L being the lag
// between a BSR and the first transmission that answers it. Window k takes the
// first transmissions in TTIs t_k + 1 to t_k+1 + L - 1: all from its report to
// where the next report is answered. Retransmissions never count. Sample.At is
// t_k+1.
//
// Grants before t_k + L were decided before the base station read the report,
// but they carry bytes that the report counts as waiting, so they belong to
// it: a report that they cover is no sign of congestion. Leaving them out
// (window t_k + L to t_k+1 + L - 1) makes the last report of every frame look
// starved; in the emulated cell that kept a sender at a fifth of a free link.
// Sample.Window is the time that the grants took: T + L - 1, or T when
// nothing was on its way, since the first L TTIs could not bring anything
// then. Either way window / ratio is the time a byte waits in a queue that does
// not run empty. Neighbouring windows share L - 1 TTIs.
//
// Without a next BSR the window ends as follows. The base station's belief is
// the last report less all transmissions since.
//
//   - Its upper edge is granted, or its lower edge and nothing came for longer
//     than T: the queue is empty. The window ends at t_k + T (later, if it took
//     longer), an idle sample (reported 0) follows, and then nothing until the
//     next BSR.
//   - A backlog remains and L TTIs pass in silence after T: the window ends
//     there, and the next one begins with what remains. So an outage gives one
//     sample of 0 per T (at most 20 ms; 10 ms while T is unknown), until the
//     modem has said nothing at all for 2 s.
//   - At the latest after 1 s.
//
// A report of 0 gives an idle sample at once. The length of an idle sample is
// nominal. A bin without upper edge counts with its lower one. A window without
// grants whose lower edge is 0 says nothing and is left out.
//
// # What is known when
//
// A log code tells of TTIs in order, so its newest TTI tells that all before
// are known. B139 (PUSCH) is 4 to 12 ms old, B064 (transport blocks with their
// BSRs) up to 102 ms. In silence the clock speaks: what has not come within the
// hold was not there. The hold is learned from how late records come, because a
// diagnostic buffer may deliver in bursts. Without a BSR between, "starved" is
// told after 20 silent TTIs already, before B064 can tell of the BSRs before
// the silence: none of them can say that the queue is empty.
//
// Both codes tell of the same first transmission; per TTI the first to tell
// counts. They agree on real phones, and B139 comes first.
//
// # Files
//
//	config.go     hints
//	assembler.go  Assembler: records in, telemetry out
//	clock.go      frame numbers to the local clock, cell changes
//	ring.go       grants by TTI
//	window.go     windows: the rules above
//	learn.go      T and L from observation
//
// # Units
//
// Bytes; TTIs of 1 ms counted without wrap; local times with µs resolution.
// T and L are [gbr.RadioConfig] Period and Lag.
//
// LTE only; NR records are ignored. An Assembler follows one radio of the phone
// at a time. It is pure and not safe for concurrent use.
//
// Deviation: TS 36.321 lets the phone send periodic BSRs with the first
// transmission after the timer, so observed spacings are T or more; T is the
// smallest that recurs (1 in 8), not the mode.
package ratio
