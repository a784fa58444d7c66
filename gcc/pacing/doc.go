// SPDX-License-Identifier: MIT

// Package pacing spreads packets over time: a bounded queue behind a token
// bucket, as code without a clock. The simulator and the Pion shell drive the
// same [Pacer].
//
//	Push -------> [ queue ] ---------+ at most
//	PushAhead --> [ goes first ] ----+ MaxQueue long --+
//	                                                   | budget > 0 ?
//	PushUrgent -> [ urgent ] ---- not paced ----+      |
//	                                            v      v
//	SetRate(bps) ~~~> budget <-- minus size -- Pop ----> the network
//
//	budget
//	 +Burst |--------.            .---- rests at Burst while nothing waits
//	      0 |........|......../.../....  a packet may leave above this line
//	        |        |  /|  /|  /         slope = rate
//	  -size |        |/  |/  |/           each packet pulls it down by its size
//	        +-------------------------> time
//
// Files: config.go (Config), pacer.go (Pacer, the accounting), probe.go (probe
// clusters and padding), ring.go (the queue).
//
// # Probes
//
// A [Cluster] is a short burst at a rate above the pacer's that finds out
// whether the path carries it. While one runs its own schedule replaces the
// budget: packets leave when start + bytes so far / rate has come, waiting ones
// first, then padding, which the caller makes. All of it is charged to the
// budget, so what follows a probe waits for it, at most 500 ms.
//
//	Probe(c) -> [ up to 5 clusters ] -- begins with the next packet --> Next
//
//	5 packets and rate x 15 ms at least, by whoever asks; a cluster whose next
//	packet is more than 10 ms late is dropped, one that waits for 5 s too
//
// # Accounting
//
// The budget counts units of 10^-9 bit: a rate in bit/s times a time in
// nanoseconds is a whole number of them, so nothing is rounded and nothing
// drifts, whatever the packet size and however often the pacer is asked. A
// packet leaves when the budget is above zero and pulls it below zero by its
// whole size: packets larger than the budget leave too, and the debt makes the
// next one wait.
//
// The budget grows up to what is queued plus Burst. What is queued is part of
// that limit because a caller that asks late would otherwise lose rate: the
// packets that should have left in the meantime leave at once when it asks,
// and then the budget is where a caller that is never late would have it.
//
// Sizes are bytes, rates bit/s. Times are the caller's; a time before the
// latest one seen counts as the latest one.
//
// A Pacer is not safe for concurrent use.
//
// # Deviations from libwebrtc's pacing controller
//
// No padding outside of probes, no round robin between streams of one priority:
// audio, retransmissions and the rest are a queue each. The queue is bounded by refusing
// packets, where libwebrtc raises its rate to drain a queue that is too old: a
// rate above the estimate is what a pacer is there to prevent. Burst is 5 ms,
// not 40 ms: the queue this pacer protects is the phone's, where 40 ms is more
// than the target. The delay detector of package gcc has groups of its own for
// that. A sender without padding probes with frames that are large
// enough, which libwebrtc breaks off half-way. A packet too many in the queue of
// clusters pushes out the oldest one.
package pacing
