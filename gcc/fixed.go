// SPDX-License-Identifier: MIT

package gcc

import "time"

// fixedPacing is how much faster than the rate packets may leave: all of
// goog_cc's 2.5, since nothing behind a fixed rate can be flooded for long.
const fixedPacing = 2.5

// Fixed is an end-to-end loop that never changes its rate, but measures what
// arrives and how long it takes: for a path that is known to carry a rate, and
// for experiments with what stands over it. It answers neither to delay nor to
// loss. Under package gbr it is alone until the modem is known, a tenth of a
// second or so, and whenever it is not: a rate that the radio cannot carry then
// fills the phone's buffer.
//
// A Fixed is not safe for concurrent use.
type Fixed struct {
	bps     int
	began   bool
	epoch   time.Time
	acked   ackedRate
	rtt     rtt
	ackBps  float64
	scratch []sample
}

// NewFixed returns a loop of so many bit/s.
func NewFixed(bitrateBps int) *Fixed { return &Fixed{bps: max(bitrateBps, 1)} }

// OnPacketSent implements gbr.Outer.
func (f *Fixed) OnPacketSent(now time.Time, _ SentPacket) { f.begin(now) }

// begin sets where local times count from.
func (f *Fixed) begin(now time.Time) {
	if !f.began {
		f.epoch, f.began = now, true
	}
}

// OnAcked measures; each packet is taken as received at most once, which is the
// caller's to see to.
func (f *Fixed) OnAcked(now time.Time, results []PacketResult) {
	f.begin(now)
	f.scratch = f.scratch[:0]
	for i := range results {
		if s, ok := newSample(f.epoch, &results[i]); ok {
			f.scratch = append(f.scratch, s)
		}
	}
	sortByArrival(f.scratch)
	f.rtt.update(now, f.epoch, f.scratch)
	for _, s := range f.scratch {
		f.acked.add(s)
	}
	f.ackBps, _ = f.acked.bps()
}

// OnDelay does nothing.
func (f *Fixed) OnDelay(time.Time, []PacketResult) {}

// OnTimeout does nothing.
func (f *Fixed) OnTimeout(time.Time) {}

// NextTimeout is never.
func (f *Fixed) NextTimeout() time.Time { return time.Time{} }

// SetEstimate does nothing.
func (f *Fixed) SetEstimate(time.Time, int) {}

// Estimate is the rate with what was measured.
func (f *Fixed) Estimate() Estimate {
	return Estimate{
		BitrateBps: f.bps, DelayBps: f.bps, LossBps: f.bps, PacingBps: int(fixedPacing * float64(f.bps)),
		AckedBps: int(f.ackBps), RTT: f.rtt.latest, State: StateHold,
	}
}
