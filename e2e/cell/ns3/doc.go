// SPDX-License-Identifier: MIT

// Package ns3 compares the cell of package cell with runs of ns-3 in the same
// set-up: a phone that sends at a constant rate beside eight others with bursts,
// under three schedulers, from an empty cell to one that is asked for more than
// it has.
//
//	reference files ─> arrivals ─> cell.Shared ─> same statistics ─┐
//	        └────────> summary, thirds of a run ───────────────────┴─> Rows
//
// A Row holds one run's figures on both sides and what is out of its band. Below
// saturation the mean ratio, the distance of BSRs and the one-way delay (median
// and 95th percentile) have to agree within 15 %, or 0.05 and 3 ms. Near the
// critical load, where the reference itself is not steady, what counts is its
// own spread between the thirds of a run; in an overloaded cell only rates and
// ratios are compared, as the delay measures how long the run was.
//
// # What is the same
//
// The radio (10 MHz of LTE, MCS of each phone), packets with their headers, the
// times at which they are sent, the phones' buffers and the figures' definitions.
// LTE: the reference's phones report beside the blocks and without scheduling
// requests (cell.SharedConfig.IdealBSR), known to the scheduler 5 ms later; a
// block is filled 2.2 ms after the scheduler's decision.
//
// NR: requests are known at the end of their slot, reports 3 ms after their block
// (they have to be decoded, and the scheduler runs once in a pattern of 2.5 ms);
// a phone fills a block, or makes a request, when it reads the grant, 1 ms ahead;
// phones lose an uplink slot of 80 to sounding. What sets the reference's ratios
// is how its phones ask (cell.SharedConfig.EagerRequests): every block has a
// report, from which nothing is deducted that was granted since, and a request
// after a block that took everything is taken for 12 bytes in the place of a
// report of thousands. A retransmission has its slot alone
// (cell.SharedConfig.LoneRepeats), which makes the queues near the critical load.
//
// # What differs, on purpose
//
//   - Headers: of LTE 5 bytes a block here; there 2, 2 a packet and 1.5 for every
//     further packet in a block. Below 0.5 % of the capacity either way, and
//     more here for small blocks. Of NR 7 a block here and 4 a packet; there 10,
//     2 a packet and 1.5 for every further one, and reports that count 4 a packet.
//   - Arrivals beyond those that the reference's files show are drawn anew: the
//     ends of runs with more than 8 Mbit/s of others, all of which are
//     overloaded or have a steady state.
//   - HARQ errors: LTE's channel has none in these runs; two of NR's phones have,
//     at the rates that the files show, for blocks of nearly all RBs and for
//     others. What is behind them there is that a phone's MCS is that of its last
//     block, which had fewer RBs with more power each.
//   - NR's blocks are of 13 symbols there, 12 where somebody sounds, and of 12
//     here with one RB less.
//   - Outside of this comparison phones report as phones do, inside of blocks and
//     after scheduling requests, so that cells are slower to answer than here.
//
// # Files
//
//	reference.go  what ns-3 gave: its summary, its raw files
//	replay.go     one set-up through our cell
//	stats.go      figures from grants, reports and deliveries
//	compare.go    bands, Row, Compare
//	lte.go, nr.go  the set-ups of the two
//	table.go      Markdown
//
// The package reads files through fs.FS alone. Nothing in it is shared between
// calls.
package ns3
