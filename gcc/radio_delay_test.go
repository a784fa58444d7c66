// SPDX-License-Identifier: MIT

package gcc

import (
	"testing"
	"time"
)

// queueing sends a packet each 10 ms through a queue that grows by 5 ms a
// packet in its second half, and returns the reports of 50 ms each. radio says
// whether the phone's model explains that queue.
func queueing(radio bool) (reports [][]PacketResult) {
	var wait time.Duration
	for i := range 200 {
		at := time.Duration(i) * 10 * time.Millisecond
		if i >= 100 {
			wait += 5 * time.Millisecond
		}
		p := PacketResult{
			SentPacket: SentPacket{Seq: int64(i), Size: 1200, At: t0.Add(at)},
			Received:   true, Arrival: RemoteTime(0).Add(at + wait + 20*time.Millisecond),
		}
		if radio {
			p.RadioDelay = wait
		}
		if i%5 == 0 {
			reports = append(reports, nil)
		}
		reports[len(reports)-1] = append(reports[len(reports)-1], p)
	}

	return reports
}

// cuts counts the times that the delay detector reported overuse.
type cuts int

func (c *cuts) Record(_ time.Time, ev Event) {
	if u, ok := ev.(UsageChanged); ok && u.To == UsageOver {
		*c++
	}
}

// What the radio explains is not overuse; what it does not explain is.
func TestRadioDelayIsNotOveruse(t *testing.T) {
	for _, tt := range []struct {
		name   string
		radio  bool
		lo, hi cuts
	}{{"explained", true, 0, 0}, {"unexplained", false, 1, 3}} {
		var n cuts
		c := newTest(t, Config{Recorder: &n})
		for i, r := range queueing(tt.radio) {
			c.OnFeedback(t0.Add(time.Duration(i)*50*time.Millisecond+1200*time.Millisecond), Feedback{Packets: r})
		}
		if n < tt.lo || n > tt.hi {
			t.Errorf("%s: %d overuses, want %d..%d", tt.name, n, tt.lo, tt.hi)
		}
	}
}

// Only the delay detector sees the correction.
func TestRadioDelayLeavesTheRestAlone(t *testing.T) {
	a, b := newTest(t, Config{}), newTest(t, Config{})
	plain, corrected := queueing(false), queueing(true)
	for i := range plain {
		now := t0.Add(time.Duration(i)*50*time.Millisecond + 1200*time.Millisecond)
		a.OnFeedback(now, Feedback{Packets: plain[i]})
		b.OnFeedback(now, Feedback{Packets: corrected[i]})
		x, y := a.Estimate(), b.Estimate()
		if x.AckedBps != y.AckedBps || x.RTT != y.RTT || x.LossRatio != y.LossRatio {
			t.Fatalf("report %d: %+v, corrected %+v", i, x, y)
		}
	}
}

// A held report reaches the detector when OnDelay brings it, and not before.
func TestHeldReports(t *testing.T) {
	held, split := newTest(t, Config{}), newTest(t, Config{})
	for i, r := range queueing(false) {
		now := t0.Add(time.Duration(i)*50*time.Millisecond + 1200*time.Millisecond)
		held.OnFeedback(now, Feedback{Packets: r, DelayHeld: true})
		if held.trend.deltas != split.trend.deltas {
			t.Fatalf("report %d: a held report reached the detector", i)
		}
		if held.Estimate().AckedBps == 0 && i > 10 {
			t.Fatalf("report %d: a held report was not counted", i)
		}
		held.OnDelay(now, r)
		split.OnFeedback(now, Feedback{Packets: r})
		if held.Estimate() != split.Estimate() {
			t.Fatalf("report %d: held %+v, at once %+v", i, held.Estimate(), split.Estimate())
		}
	}
}

// Corrections that cannot be do no harm.
func TestRadioDelayIsBounded(t *testing.T) {
	r := PacketResult{Received: true, Arrival: 5e6}
	for give, want := range map[time.Duration]int64{
		-time.Second: 5e6, 0: 5e6, time.Second: 4e6, 1 << 62: 5e6 - 60e6, -1 << 63: 5e6,
	} {
		r.RadioDelay = give
		if s, ok := newDelaySample(t0, &r); !ok || s.arrivalUs != want {
			t.Errorf("%v: arrival %d us, want %d", give, s.arrivalUs, want)
		}
	}
}
