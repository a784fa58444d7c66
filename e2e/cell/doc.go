// SPDX-License-Identifier: MIT

// Package cell is the uplink of one phone in an LTE cell, stepped in virtual
// time: packets go in at the phone, come out at the far end of the path, and
// the records that the phone's modem would log come out beside them.
//
//	Enqueue ─> RLC queue ─> PUSCH ─────> HARQ ─> backhaul ─> Advance: Delivered
//	             │   ▲        │ BSR        (path.go)
//	           SR│   │grant   ▼
//	             └─> base station            capacity Trace: bytes per TTI
//	                                         at the time on air
//	PUSCH, BSR ─> modem log (B139, B064) ─> diagnostic port ─> Records or Diag
//
// One step is one TTI of 1 ms. TTI k is on air from Start+k ms to Start+(k+1)
// ms. A report on air in TTI n is known to the base station's scheduler in
// n+4, whose grants are on air from n+8 on: the response lag of LTE FDD.
//
// What is off unless asked for: handovers and outages, RLC recovery of lost
// blocks, a path with CoDel, bursts of loss, reordering, changing rate and
// delay, faults of the telemetry. Each draws its own random numbers, so that
// turning one on leaves the rest of a run as it was. Wire is a path alone, for
// what goes back to the phone's side and for a backhaul of several radios.
//
// # Files
//
//	config.go     Config, defaults, limits      preset.go  telemetry presets
//	types.go      Packet, Delivery, Output      ring.go    queue without garbage
//	trace.go      Trace, Constant, Steps        parse.go   ParseTrace: mahimahi, CSV
//	synth.go      SynthLTE                      leg.go     ParseTraceLeg: LTE and NR of EN-DC
//	synth_more.go SynthNR, Driving, Edge        queue.go   the phone's buffer
//	bsr.go        SR and BSR triggers           grant.go   the base station
//	harq.go       transport blocks on air       rlc.go     blocks that HARQ lost
//	air.go        trace, handovers, outages     handover.go  what a handover does
//	path.go       from base station to far end  path_rate.go  its bottleneck's rate
//	path_codel.go its queue under CoDel         path_impair.go  loss, order, delay
//	path_wire.go  Wire: a path alone            cell.go    Cell: the loop
//	future.go     what is to come
//	telemetry.go  modem log and its delays      telemetry_faults.go  what goes wrong
//
// # Units and concurrency
//
// Sizes are bytes, rates bit/s, times as in package time. A Cell has no clock
// and no goroutine, is not safe for concurrent use, and behaves the same for
// the same Config and the same calls.
//
// # Deviations
//
//   - One uplink grant a TTI, one carrier, one logical channel group, short
//     BSRs only. RLC and MAC headers are 3+2 bytes a transport block, however
//     many packets it holds (a real block spends about 2 more for each).
//   - A regular or periodic BSR is cancelled as soon as a block takes all the
//     data; what room is left then carries a padding BSR of zero.
//     TS 36.321 5.4.5 cancels only where the BSR does not fit.
//   - Synchronous HARQ as in TS 36.321 5.4.2, but the fourth transmission
//     always succeeds unless RLCConfig says otherwise. A retransmission uses
//     its TTI alone.
//   - RLC AM's status round is a delay, not an exchange of PDUs; the report in
//     a lost block is lost.
//   - A handover sends again every packet that the base station has not handed
//     on; that of a real phone may skip some that the old cell had already.
//   - CoDel drops only; it does not mark (ECN), and counts the packet on the
//     link as gone. RFC 8289 allows both.
//   - A trace measured above HARQ has the retransmissions in it already: leave
//     Config.BLER at 0 with such a trace.
//   - The base station polls: a block that came back full and without a report
//     may hide more data, so it grants SRGrantBytes more, and twice as much
//     each time this was too little. Without that a burst that outruns its
//     own report waits for retxBSR-Timer (320 ms); operators' schedulers keep
//     small grants coming for the same reason.
package cell
