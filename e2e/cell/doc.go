// SPDX-License-Identifier: MIT

// Package cell is the uplink of phones in a mobile cell, stepped in virtual
// time: packets go in at a phone, come out at the far end of its path, and the
// records that the phone's modem would log come out beside them. A Cell has one
// phone, whose capacity is a trace; a Shared has many, and a scheduler that
// divides its resource blocks between them and background users.
//
//	Enqueue ─> RLC queue ─> PUSCH ─────> HARQ ─> backhaul ─> Advance: Delivered
//	             │   ▲        │ BSR        (path.go)
//	           SR│   │grant   ▼
//	             └─> base station            capacity Trace: bytes per TTI
//	                                         at the time on air
//	PUSCH, BSR ─> modem log (B139, B064) ─> diagnostic port ─> Records or Diag
//
// One step is one slot of the radio: LTE FDD's TTI of 1 ms unless Config.Radio
// says otherwise. TTI k is on air from Start+k ms to Start+(k+1) ms. A report on
// air in TTI n is known to the base station's scheduler in n+4, whose grants are
// on air from n+8 on: the response lag of LTE FDD.
//
//	Cell    capacity Trace ──────────────────────> all of a slot to its phone
//	Shared  SNR, fading ─> CQI ─> MCS ─> bytes an RB ┐
//	        reports of all users ─> Scheduler ───────┴─> RBs of a slot to each
//
// What is off unless asked for: a second carrier, handovers and outages, RLC recovery of lost
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
//	parse_limit.go  DropNoLimit: steps that mean no limit
//	synth.go      SynthLTE                      leg.go     ParseTraceLeg: LTE and NR of EN-DC
//	synth_more.go SynthNR, Driving, Edge        queue.go   the phone's buffer
//	bsr.go        SR and BSR triggers           grant.go   the base station
//	harq.go       transport blocks on air       rlc.go     blocks that HARQ lost
//	air.go        trace, handovers, outages     handover.go  what a handover does
//	path.go       from base station to far end  path_rate.go  its bottleneck's rate
//	path_codel.go its queue under CoDel         path_impair.go  loss, order, delay
//	path_wire.go  Wire: a path alone            phone.go   Phone: what one does in a slot
//	radio.go   Radio: slots and patterns        cell.go    Cell: a phone alone
//	sizes.go   tables of buffer sizes
//	shared.go  Shared: many phones              schedule.go  Scheduler
//	link.go    SNR, fading, MCS                 tbs.go, tbs_lte.go  transport block sizes
//	traffic.go background users                 saturated.go  who always has data
//	demand.go  who has data at times
//	future.go  what is to come
//	telemetry.go  modem log and its delays      telemetry_faults.go  what goes wrong
//
// # Units and concurrency
//
// Sizes are bytes, rates bit/s, times as in package time. Cells have no clock
// and no goroutine, are not safe for concurrent use, and behave the same for
// the same configuration and the same calls.
//
// # Deviations
//
//   - One uplink grant a TTI and carrier, two carriers at most, of one radio;
//     one logical channel group, which has short BSRs (long ones on NR with
//     Config.ExtendedBSR). RLC and MAC headers are 3+2 bytes a transport block,
//     however many packets it holds (a real block spends about 2 more for each).
//   - A regular or periodic BSR is cancelled as soon as a block takes all the
//     data; what room is left then carries a padding BSR of zero.
//     TS 36.321 5.4.5 cancels only where the BSR does not fit.
//   - On NR a retransmission goes ahead of new data in the first uplink slot
//     that can be granted (TS 38.321 5.4.2 leaves it to the base station), and
//     there is no PCI in its telemetry: the log code that tells it (B885) is not
//     modelled. The slots at the edge of a pattern (S) carry nothing up.
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
//   - In a Shared cell RBs need not be next to each other, the channel is the
//     same in all of them and known without error every few milliseconds, and
//     nobody interferes: what it is wrong about is in Config.BLER.
package cell
