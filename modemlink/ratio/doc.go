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
// which are regular ones (TS 36.321 5.4.5, TS 38.321 5.4.5). Padding BSRs are
// told as reports but border nothing. A BSR in TTI t is answered from TTI t + L
// on, L being the lag between a BSR and the first transmission that answers it.
// Window k takes the first transmissions in TTIs t_k + 1 to t_k+1 + L - 1: all
// from its report to where the next report is answered. Retransmissions never
// count; they are told as grants without bytes. Sample.At is t_k+1.
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
// Carriers are summed, of one radio always.
//
// # NR
//
// Everything counts in TTIs of 1 ms on NR too, into which its slots are mapped
// (slot >> mu). That is all that is needed: 1024 frames are 10240 ms on both, the
// timer counts subframes of 1 ms (TS 38.331 BSR-Config), the slots for uplink
// of a TDD cell are 2.5 or 5 ms apart, carriers of different numerologies have
// common borders, and both radios' windows can be laid over each other. Whole
// slots would give eight times as many TTIs to walk through and a second set of
// every constant. One thing does need slots: patterns have two uplink slots in a
// row, mostly in one ms. What the slot after the BSR carries belongs to the window
// that the BSR opens, or a queue that it empties would be taken for a starved
// one. So the ring keeps the bytes of a TTI by eighths, and windows begin at a
// slot; they end with a whole TTI. Of several BSRs in one TTI the last is the
// border. A TTI is known when its last slot was told.
//
// L is 5 ms until it is learned, 1 ms at least. T may be 1 ms; windows without
// a next BSR close after 5 ms then, since a TDD cell has none sooner.
//
// B872 has grants and BSRs in one record, B883 grants alone. B872 counts; what
// B883 tells counts only while B872 has not come for 2 s, as the two may place
// a block in different slots. How late they come is not known, so what is
// learned from them is taken, and 20 ms until then. Some versions of B872 do not
// tell why a BSR was sent. Such ones border when the queue was empty, or is, or T
// has passed since the last border. Some do not tell the carrier either:
// several blocks that one log packet has of one slot are of several carriers.
//
// # Sources
//
// On LTE reports are the BSRs of B064. Where a modem tells of grants (B139) for
// a second, or two if it has told of transport blocks before, and of no
// transport block meanwhile, the phone's own queue (B066, diag.KindBuffer) is
// taken for reports instead: user data alone, in the first TTI in which
// something waits, then every T (5 ms while T is unknown) and in the first in
// which nothing does. Low and high are both the exact figure. The queue of a
// TTI is what its transmission left over, so that windows begin after it, as
// with BSRs. As soon as B064 comes, its BSRs win, and the queue changes nothing.
//
// It is second choice: the base station was not told this. It hears of new data
// by a scheduling request and a BSR, so the first windows of a busy period,
// until its first transmission, are short of grants on a free link too. They
// bear FirstGrant, for 2 L or 20 ms. A small packet on a free link thus gives a
// window or two of 0 and then a ratio above 1, where a BSR gives the latter
// alone or nothing: take sums rather than single windows, and compare no ratio
// with one of BSRs. L is not learned from them, since what is sent first answers
// the scheduling request.
//
// A packet in which nothing was sent does not tell its TTIs. Its stamp does, by
// that of another one.
//
// # Both radios (EN-DC)
//
// LTE and NR of one phone have frames, lags and timers of their own: each is a
// leg with its own clock and windows. A leg whose neighbour has had no grant
// and no report of user data in the 200 ms before a window gives the window as
// it is. Otherwise it adds what the other one had outstanding when the window
// began (its last report less what it was granted since, both edges) and was
// granted in the same time, and sets FlagSummed. For that it waits until the
// other one's grants are known, which in silence takes its hold, but not for
// its BSRs: the last one known counts. That the queue of one is empty is told
// only if nothing is outstanding on the other.
//
// Both legs' windows are told, each with the other's bytes, and so cover the same
// bytes twice: each is one view of the same link, as two radios do not report
// at the same time. Their times may interleave; who takes only what is newer
// than the last one loses some. A report counts RLC and PDCP data (TS 38.321
// 5.4.5), and PDCP data of a split bearer above its threshold counts in both
// radios' reports (TS 38.323 5.6): then the sum reports up to twice of what
// waits in PDCP, and the ratio errs on the low side.
//
// Telemetry numbers the carriers of NR from 8 on. The configuration is that of
// the leg which was granted more in the last one or two seconds.
//
// # Flags
//
//   - FirstGrant: nothing was sent in the 2 L, at least 20 ms, before the
//     window's BSR (of the phone's own queue: before data came, and from then
//     on). Silence is ended by a scheduling request, and its grant's size knows
//     nothing of the queue; so it is at the end of an outage, where the grant
//     may also be one of an older report.
//   - Corrected: a grant of a window came within 200 ms after it was told. At the
//     end of that log packet the window is told again, once, with the same At.
//     Only its grants are new: reports of windows that followed from it stay.
//   - Inferred: the report or a grant was in a record that is.
//   - Summed: see above.
//
// Sums are over the windows of the same leg that end within 30 ms, as told.
//
// # What is known when
//
// On LTE: a log code tells of TTIs in order, so its newest TTI tells that all before
// are known. B139 (PUSCH) is 4 to 12 ms old, B064 (transport blocks with their
// BSRs) up to 102 ms. In silence the clock speaks: what has not come within the
// hold was not there. The hold is learned from how late records come, because a
// diagnostic buffer may deliver in bursts. Without a BSR between, "starved" is
// told after 20 silent TTIs already, before B064 can tell of the BSRs before
// the silence: none of them can say that the queue is empty. B066 is up to 40 ms
// old and tells of silent TTIs too, so there nothing is told before it.
//
// Both codes tell of the same first transmission; per TTI the first to tell
// counts. They agree on real phones, and B139 comes first.
//
// # Files
//
//	config.go     hints
//	assembler.go  Assembler: records in, telemetry out; both legs
//	leg.go        one radio: its records, what is known of it
//	own.go        the phone's own queue, where there are no BSRs
//	endc.go       what one radio adds to a window of the other
//	clock.go      frame numbers to the local clock, cell changes
//	ring.go       grants by TTI
//	window.go     windows: the rules above
//	told.go       the last windows: sums, corrections
//	learn.go      T and L from observation
//
// # Units
//
// Bytes; TTIs of 1 ms counted without wrap; local times with µs resolution.
// T and L are [gbr.RadioConfig] Period and Lag. T and the table of LTE's buffer
// sizes are those of the last record that told, be it of B060 or of RRC messages
// (diag.RRCConfigs).
//
// An Assembler follows one SIM of the phone at a time (diag.Record.Radio). It is
// pure and not safe for concurrent use.
//
// Deviation: TS 36.321 lets the phone send periodic BSRs with the first
// transmission after the timer, so observed spacings are T or more; T is the
// smallest that recurs (1 in 8), not the mode.
//
// Deviation: no capture of an NR modem is public. The rules for NR rest on the
// specifications and on what parsers tell of the formats.
package ratio
